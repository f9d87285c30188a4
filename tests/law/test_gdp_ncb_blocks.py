"""Phase I of GDP-NCB in blocks against the same phase pull by pull, by Kolmogorov-Smirnov tests.

Without a stop test no mean is released in the phase, and the means that Phase II begins with are
compared. At most 150 true hypotheses are tested, each at LINE (Bonferroni), so that correct code
fails this file with probability 0.001 at most over the choice of seeds, which are fixed.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.gdp_ncb import (
    EXPLORED,
    Window,
    _pull_uniformly,
    _pulls_before_exceeding,
    advance_window,
    explore_by_blocks,
    explore_by_rounds,
    open_window,
    start_phase_two,
)
from dpbandits.bandits import Bandit, Bernoulli, FourthRoot, TwoPoint, Uniform
from dpbandits.kernels import RANDOM_ARM, new_segments
from support import settings_of

pytestmark = pytest.mark.slow

LINE = 0.001 / 150
RUNS = 2000
LONGEST = 1 << 17

GDP = REGRET["gdp-ncb"]
Ends = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Case:
    """What is played: an instance, the scale of the noise in a sum, and the threshold."""

    bandit: Bandit
    noise: float
    threshold: float
    stop_test: str = "private"
    cap: int = LONGEST


CASES = {
    # The last thousand pulls and more are played by themselves.
    "small noise": Case(dpbandits.bernoulli([0.9, 0.5, 0.2]), 20.0, 5000.0),
    # Most blocks end with a noise above their bound, and the phase in a block or at the cap.
    "large noise": Case(dpbandits.bernoulli([0.9, 0.3]), 20_000.0, 240_000.0, cap=60_000),
    "mixed laws": Case(
        Bandit((Bernoulli(0.75), FourthRoot(), TwoPoint(), Uniform(1.0))), 300.0, 6000.0
    ),
    "clean test": Case(dpbandits.bernoulli([0.9, 0.8, 0.2]), 50.0, 5000.0, "clean"),
    "no test": Case(dpbandits.bernoulli([0.8, 0.5, 0.2]), 20.0, 1.0, "off", cap=3000),
}


def ends(case: Case, exploration: str, seed: int) -> Ends:
    """Return what phase I leaves, one value a run."""
    interpretations = GDP.interpretations_from(
        {"exploration": exploration, "stop_test": case.stop_test}
    )
    told = settings_of(GDP, {"epsilon": 1.0}, interpretations, case.bandit, case.cap)
    window = Window(case.cap, case.cap, case.threshold, case.noise, 1.0)
    explore = explore_by_blocks if exploration == "blocks" else explore_by_rounds
    count = len(case.bandit.arms)
    arms, lengths, sums = out = new_segments(LONGEST)
    names = ["length", "ended", "in blocks", "ended in one", "largest"]
    names += [f"{what} of arm {arm}" for what in ("pulls", "sum", "noise") for arm in range(count)]
    rows = np.zeros((RUNS, len(names)))
    for row, stream in zip(rows, np.random.SeedSequence(seed).spawn(RUNS), strict=True):
        state, generator = GDP.state(count), np.random.default_rng(stream)
        written = explore(told, window, case.cap, state, case.bandit.arrays, generator, out, 0)
        stopped = state.phase[0] == EXPLORED
        if case.stop_test == "off":
            start_phase_two(told, window, state, generator)
        noisy_sums = state.private_means * state.explored
        in_blocks = lengths[:written][arms[:written] == RANDOM_ARM].sum()
        ended_in_one = stopped and arms[written - 1] == RANDOM_ARM
        row[:5] = state.clock[0], stopped, in_blocks, ended_in_one, noisy_sums.max()
        row[5:] = [*state.explored, *state.explored_sums, *(noisy_sums - state.explored_sums)]
        assert state.clock[0] == lengths[:written].sum() == state.explored.sum()
        # The sums of whole numbers are exact.
        assert sums[:written].sum() == pytest.approx(state.explored_sums.sum(), rel=1e-12)
    return dict(zip(names, rows.T, strict=True))


@cache
def yardstick(name: str) -> Ends:
    return ends(CASES[name], "rounds", seed=1)


def p_values(name: str, found: Ends) -> dict[str, float]:
    """Return the p-value of every quantity that is not the same in all runs."""
    return {
        quantity: float(stats.ks_2samp(values, found[quantity]).pvalue)
        for quantity, values in yardstick(name).items()
        if quantity not in ("in blocks", "ended", "ended in one") and np.unique(values).size > 1
    }


@pytest.mark.parametrize("exploration", ["blocks", "rounds"])
@pytest.mark.parametrize("name", CASES)
def test_blocks_have_the_law_of_rounds(name: str, exploration: str) -> None:
    # "rounds" is the null control.
    found = ends(CASES[name], exploration, seed=2)
    values = p_values(name, found)
    assert min(values.values()) > LINE, values
    assert len(values) > 3 * len(CASES[name].bandit.arms) - 3
    ended = [int(each["ended"].sum()) for each in (yardstick(name), found)]
    table = [[count, RUNS - count] for count in ended]
    assert ended[0] == ended[1] or stats.fisher_exact(table).pvalue > LINE
    if exploration == "blocks":
        assert (found["in blocks"] / found["length"]).mean() > 0.2


def test_phases_end_in_blocks_and_between_them_and_at_the_cap() -> None:
    large, small = (ends(CASES[name], "blocks", seed=2) for name in ("large noise", "small noise"))
    assert 0.05 < large["ended in one"].mean() < large["ended"].mean() < 0.95
    assert small["ended"].mean() == 1
    assert small["ended in one"].mean() == 0


def test_a_noise_and_rewards_five_percent_off_are_caught() -> None:
    for name in ("large noise", "mixed laws", "small noise", "clean test"):
        case = CASES[name]
        if name in ("large noise", "mixed laws"):
            wrong = replace(case, noise=1.05 * case.noise)
        else:
            means = [0.95 * arm.mean for arm in case.bandit.arms]
            wrong = replace(case, bandit=dpbandits.bernoulli(means))
        assert p_values(name, ends(wrong, "blocks", seed=3))["length"] < LINE


def bulk(noise: float, bound: float, runs: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return pulls of five arms in blocks of 1000 pulls, and the noises in their sums."""
    bandit = dpbandits.bernoulli([0.9, 0.7, 0.5, 0.3, 0.1])
    told = settings_of(GDP, {"epsilon": 1.0}, GDP.interpretations_from({}), bandit, 10**6)
    window = Window(10**6, 10**6, 1e9, noise, 1.0)
    generator = np.random.default_rng(1)
    pulls, noises = np.empty((runs, 5), np.int64), np.empty((runs, 5))
    for run in range(runs):
        state = GDP.state(5)
        _pull_uniformly(told, window, state, 1000, bound, bandit.arrays, generator)
        pulls[run] = state.explored
        noises[run] = state.private_means * state.explored - state.explored_sums
    return pulls, noises


def fit(drawn: ArrayLike, law: Any, edges: NDArray[np.int64]) -> float:
    """Return the p-value of whole numbers in cells between edges."""
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * np.size(drawn)
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=edges.size + 1)
    return float(stats.chisquare(observed, expected).pvalue)


def test_pulls_and_noises_of_a_block() -> None:
    # With a bound of half a scale one noise in three is drawn anew.
    noise, bound = 10.0, 5.0
    pulls, noises = bulk(noise, bound, runs=20_000)
    assert (pulls.sum(axis=1) == 1000).all()
    below = stats.laplace(scale=noise).cdf
    edges = np.arange(160, 245, 5)
    for arm in range(5):
        assert fit(pulls[:, arm], stats.binom(1000, 0.2), edges) > LINE
        assert fit(pulls[:, arm], stats.binom(1000, 1.05 * 0.2), edges) < LINE
        drawn = noises[:, arm]
        cut = stats.kstest(drawn, lambda x: below(np.minimum(x, bound)) / below(bound))
        assert cut.pvalue > LINE
        assert stats.kstest(drawn, below).pvalue < LINE


def test_pulls_before_a_noise_exceeds() -> None:
    # Geometric: P(J >= j) = (1 - q)^j for q = exp(-2) / 2, and for a probability that is 0 as a
    # number there is none.
    generator = np.random.default_rng(1)
    q = np.exp(-2.0) / 2
    drawn = [int(_pulls_before_exceeding(6.0, 3.0, generator)) for _ in range(50_000)]
    edges = np.arange(0, 80, 4)
    assert fit(drawn, stats.geom(q, loc=-1), edges) > LINE
    assert fit(drawn, stats.geom(1.05 * q, loc=-1), edges) < LINE
    assert _pulls_before_exceeding(1e6, 3.0, generator) == np.inf


def p_of_scale(noises: NDArray[np.float64], scale: float) -> float:
    """Return the two-sided p-value of a Laplace scale; the sum of |noise| has a gamma law."""
    below = stats.gamma(noises.size, scale=scale).cdf(np.abs(noises).sum())
    return float(2.0 * min(below, 1.0 - below))


def test_means_of_phase_two_have_the_noise_of_one_release() -> None:
    # Those that it begins with, and the one after an episode. Means of 400 pulls come nowhere
    # near their clip, those of 10 often do.
    natural, base2 = 5.0 * np.log(2.0), 5.0
    for release_log, scale, wrong in (("natural", natural, base2), ("base2", base2, natural)):
        interpretations = {"stop_test": "off", "release_log": release_log}
        bandit, law = dpbandits.bernoulli([0.0] * 3), stats.laplace(scale=scale)
        told = settings_of(GDP, {"epsilon": 4.0}, interpretations, bandit, 2**20)
        window, generator = open_window(told, 2**20), np.random.default_rng(1)
        means, out = np.empty((20_000, 4)), new_segments(1)
        for row in means:
            state = GDP.state(3)
            state.explored[:], state.explored_sums[:] = (400, 10, 0), (200.0, 5.0, 0.0)
            start_phase_two(told, window, state, generator)
            row[:3] = state.private_means
            state.explored[:], state.explored_sums[:] = 400, 200.0
            advance_window(told, window, 2**20, state, bandit.arrays, generator, out, 0)
            row[3] = state.private_means[out.arms[0]]
        for noises in (means[:, 0] * 400 - 200.0, means[:, 3] * 402 - 200.0):
            assert stats.kstest(noises, law.cdf).pvalue > LINE
            assert p_of_scale(noises, scale) > LINE
            # Noise 5 % off and by the other logarithm is caught, and so is another law.
            assert max(p_of_scale(1.05 * noises, scale), p_of_scale(noises, wrong)) < LINE
        normal = generator.normal(scale=scale * np.sqrt(2.0), size=noises.size)
        assert stats.kstest(normal, law.cdf).pvalue < LINE
        for end in (0.0, 1.0):
            count, chance = int((means[:, 1] == end).sum()), law.sf(5.0)
            assert stats.binomtest(count, noises.size, chance).pvalue > LINE
            assert stats.binomtest(count, noises.size, 1.2 * chance).pvalue < LINE
        assert not means[:, 2].any()
