"""Phase I of LDP-NCB in blocks: against the same phase pull by pull, and against exact laws.

Single blocks are compared by Kolmogorov-Smirnov tests with as many pulls by themselves, in windows
that let some of them stop. Of few pulls the law of the stop and of the pulls of each arm is
computed: without noise from all transcripts, with it from the densities of the sums. At most 150
true hypotheses are tested, each at LINE (Bonferroni), so that correct code fails this file with
probability 0.001 at most over the choice of seeds, which are fixed.
"""

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET, ldp_ncb
from dpbandits.algorithms.ldp_ncb import EXPLORING, Window, advance_window, play_block
from dpbandits.bandits import Bandit, Bernoulli, FourthRoot, TwoPoint, Uniform
from dpbandits.kernels import RANDOM_ARM, new_segments
from support import settings_of

pytestmark = pytest.mark.slow

LINE = 0.001 / 150
RUNS = 100_000
WHOLE_RUNS = 2000

LDP = REGRET["ldp-ncb"]
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """What is played: an instance, a window, how many pulls a block has, and what was before it."""

    bandit: Bandit
    window: Window
    length: int
    interpretations: dict[str, str] = field(default_factory=dict)
    scale: float = 1.0  # times the noise of epsilon = 1
    before: tuple[int, float] = (20, 10.0)  # pulls of each arm, and their sum

    @property
    def settings(self) -> Any:
        told = settings_of(LDP, {"epsilon": 1.0}, self.interpretations, self.bandit, self.length)
        return told._replace(exploration_scale=self.scale * told.exploration_scale)


def window(base: float, slope: float = 0.0, test_width: float = 0.0) -> Window:
    return Window(10**6, 10**6, base, slope, test_width, 1.0, 1.0, 1.0)


TWO, THREE = dpbandits.bernoulli([0.9, 0.4]), dpbandits.bernoulli([0.9, 0.5, 0.2])
HIGH = dpbandits.bernoulli([0.9, 0.8])
MIXED = Bandit((Bernoulli(0.75), FourthRoot(), TwoPoint(), Uniform(1.0)))
BOTH = {"stop_test": "floored", "clipped_phases": "both", "exploration_noise": "located"}
CASES = {
    # Some blocks are known not to stop, and some stop; both widths matter, and so do the pulls.
    "some stop": Case(HIGH, window(7.7, 6.0, 0.5), 8),
    "floored": Case(HIGH, window(11.0, 6.0, 0.5), 8, BOTH),
    "mixed laws": Case(MIXED, window(10.0, 26.0), 16, scale=2.0, before=(20, 15.0)),
    "none is near": Case(MIXED, window(1e9), 700, scale=5.0),
    "no test": Case(THREE, window(0.0), 300, {"stop_test": "off"}),
}


@numba.njit
def _by_blocks(play, told, opened, length, before, state, arms, rng, rows):  # type: ignore[no-untyped-def]
    for row in range(rows.shape[0]):
        state.phase[0] = 0
        state.counts[:], state.private_sums[:] = before
        rounds, rewards = play(told, opened, length, state, arms, rng)
        rows[row, 0], rows[row, 1], rows[row, 2] = rounds, rewards, state.phase[0]
        for i in range(state.counts.size):
            rows[row, 3 + 2 * i] = state.counts[i]
            rows[row, 4 + 2 * i] = state.private_sums[i]


@numba.njit
def _by_rounds(told, opened, length, before, state, arms, rng, out, rows):  # type: ignore[no-untyped-def]
    for row in range(rows.shape[0]):
        state.clock[0] = state.phase[0] = 0
        state.counts[:], state.private_sums[:] = before
        rounds = ldp_ncb._explore(told, opened, length, state, arms, rng, out, 0)
        rows[row, 0], rows[row, 1], rows[row, 2] = rounds, out.sums[:rounds].sum(), state.phase[0]
        for i in range(state.counts.size):
            rows[row, 3 + 2 * i] = state.counts[i]
            rows[row, 4 + 2 * i] = state.private_sums[i]


def blocks(case: Case, seed: int, runs: int = RUNS, play: Any = play_block) -> Rows:
    """Return what single blocks leave: rounds, rewards, phase; by arm its pulls and its sum."""
    state, arms = LDP.state(len(case.bandit.arms)), case.bandit.arrays
    rows = np.zeros((runs, 3 + 2 * state.counts.size))
    generator = np.random.default_rng(seed)
    _by_blocks(
        play, case.settings, case.window, case.length, case.before, state, arms, generator, rows
    )
    return rows


def rounds(case: Case, seed: int, runs: int = RUNS) -> Rows:
    """Return the same of as many pulls by themselves."""
    state, arms = LDP.state(len(case.bandit.arms)), case.bandit.arrays
    rows, out = np.zeros((runs, 3 + 2 * state.counts.size)), new_segments(case.length)
    generator = np.random.default_rng(seed)
    _by_rounds(
        case.settings, case.window, case.length, case.before, state, arms, generator, out, rows
    )
    return rows


def smallest_p(one: Rows, other: Rows) -> float:
    """Return the smallest p-value of the columns that are not the same in all runs."""
    columns = [pair for pair in zip(one.T, other.T, strict=True) if np.unique(pair[0]).size > 1]
    return float(min(stats.ks_2samp(*pair).pvalue for pair in columns))


@pytest.mark.parametrize("played", [blocks, rounds])
@pytest.mark.parametrize("name", CASES)
def test_a_block_has_the_law_of_its_pulls(name: str, played: Callable[..., Rows]) -> None:
    # "rounds" is the null control.
    case = CASES[name]
    expected = rounds(case, seed=1)
    assert smallest_p(expected, played(case, seed=2)) > LINE
    assert (expected[:, 2].mean() > 0.05) == (name not in ("none is near", "no test"))


# Faults that are planted in the block.

FAULTS = {
    "noise 5 % off, known not to stop": (
        "positive_noise[i] - scale * rng.standard_gamma",
        "positive_noise[i] - 1.05 * scale * rng.standard_gamma",
    ),
    "noise 5 % off, by pulls": ("(part - scale * rng", "(1.05 * part - 1.05 * scale * rng"),
    "a share of n instead of n - 1": ("/ (own[arm] - 1))", "/ own[arm])"),
    "the stop is seen a round late": ("return played + 1, rewards", "return played + 2, rewards"),
    "the stop is tested a pull early": ("counts[arm], shown)", "counts[arm] - 1, shown)"),
    "known not to stop without noise": (" + positive_noise[i]\n", "\n"),
    "an order that leaves out the last arm": ("(length - played)", "(length - played - 1)"),
}


def edited(old: str, new: str) -> Any:
    """Return the function that plays a block with one edit in it."""
    source = inspect.getsource(play_block.py_func).replace("@njit\n", "")
    assert source.count(old) == 1
    names = dict(vars(ldp_ncb))
    exec(source.replace(old, new), names)
    return numba.njit(names["play_block"])


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_a_block_are_caught(fault: str) -> None:
    play = edited(*FAULTS[fault])
    cases = [CASES[name] for name in ("some stop", "floored", "none is near")]
    assert min(smallest_p(rounds(case, 1), blocks(case, 2, play=play)) for case in cases) < LINE


def test_some_blocks_are_known_not_to_stop() -> None:
    counted = edited("    if is_safe:\n", "    rewards += 1000 * is_safe\n    if is_safe:\n")
    for name in ("some stop", "floored", "mixed laws"):
        case = CASES[name]
        shares = (
            (blocks(case, 1, play=counted)[:, 1] >= 1000).mean(),
            (rounds(case, 1)[:, 2]).mean(),
        )
        assert 0.005 < min(shares) < max(shares) < 0.9


# Exact laws of the stop.

DRAWS = 400_000
Law = dict[tuple[int, int, int, int], float]
"""(rounds, whether Phase I has ended, pulls of either arm) -> probability."""


def transcripts(length: int, base: int, late: int = 0) -> Law:
    """Return the law without noise from all sequences of arms and rewards.

    A reward stops the phase that takes its arm above the base, ``late`` rounds after it.
    """
    law: Law = Counter()
    for pulls in product(product((0, 1), (0, 1)), repeat=length):
        chance, counts, sums, stop = 1.0, [0, 0], [0, 0], length + 1
        for number, (arm, reward) in enumerate(pulls, 1):
            mean = TWO.means[arm]
            chance *= 0.5 * (mean if reward else 1.0 - mean)
            if number <= stop:
                counts[arm] += 1
                sums[arm] += reward
                if sums[arm] > base and stop > length:
                    stop = min(number + late, length)
        law[min(stop, length), int(stop <= length), *counts] += chance
    return law


def survival(mean: float, base: float, scale: float, most: int) -> Iterator[float]:
    """Yield the chance that no sum of 0, ..., ``most`` private values is above the base.

    Densities of the sums on a grid that has their kinks; the trapezoidal rule errs by 3e-5.
    """
    step = 0.02
    grid = np.arange(round(base / step), -round(25 * scale / step), -1) * step
    weights = np.full(grid.size, step)
    weights[[0, -1]] /= 2

    def density(distance: Rows) -> Rows:
        of = stats.laplace(scale=scale).pdf
        return np.asarray(mean * of(distance - 1.0) + (1.0 - mean) * of(distance))

    yield 1.0
    present, moves = density(grid), density(grid[:, None] - grid[None, :])
    for _ in range(most):
        yield float(present @ weights)
        present = moves @ (present * weights)


def by_densities(length: int, base: float, scale: float) -> Law:
    """Return the law with noise: arms alternate at random, and their sums do not depend on it."""
    alive = [[*survival(mean, base, scale, length)] for mean in TWO.means]
    law: Law = Counter()
    for a in range(length + 1):
        b = length - a
        law[length, 0, a, b] += math.comb(length, a) * alive[0][a] * alive[1][b] / 2**length
    for end in range(1, length + 1):
        for a in range(end + 1):
            b = end - a
            for own, other, arm in ((a, b, 0), (b, a, 1)):
                if own > 0:
                    stops = alive[arm][own - 1] - alive[arm][own]
                    orders = math.comb(end - 1, own - 1) / 2**end
                    law[end, 1, a, b] += orders * stops * alive[1 - arm][other]
    return law


def fit(rows: Rows, law: Law) -> float:
    """Return the p-value of the law of blocks."""
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-3)
    found = Counter(map(tuple, rows[:, [0, 2, 3, 5]].astype(int).tolist()))
    if not found.keys() <= law.keys():
        return 0.0
    rare = [key for key, chance in law.items() if chance * len(rows) < 20]
    often = [key for key in law if key not in rare]
    observed = [found[key] for key in often] + [sum(found[key] for key in rare)]
    expected = [law[key] for key in often] + [1.0 - sum(law[key] for key in often)]
    kept = [number for number, chance in enumerate(expected) if chance * len(rows) >= 5]
    expected = np.array(expected)[kept] / np.array(expected)[kept].sum()
    observed = np.array(observed)[kept]
    return float(stats.chisquare(observed, expected * observed.sum()).pvalue)


def test_all_transcripts_without_noise() -> None:
    # Blocks of three pulls an arm, 0.31 of all, are known not to stop.
    case = Case(TWO, window(3.5), 6, scale=0.0, before=(0, 0.0))
    found = blocks(case, 1, DRAWS)
    assert fit(found, transcripts(6, 3)) > LINE
    assert fit(rounds(case, 1, DRAWS), transcripts(6, 3)) > LINE
    assert fit(found, transcripts(6, 3, late=1)) < LINE
    assert 0.05 < found[:, 2].mean() < 0.95


def test_the_exact_law_of_the_stop_with_noise() -> None:
    case, law = Case(TWO, window(4.0), 4, before=(0, 0.0)), by_densities(4, 4.0, 1.0)
    found = blocks(case, 1, DRAWS)
    assert 0.1 < found[:, 2].mean() < 0.9
    assert fit(found, law) > LINE
    assert fit(rounds(case, 2, DRAWS), law) > LINE
    louder = Case(TWO, window(4.0), 4, scale=1.05, before=(0, 0.0))
    assert fit(blocks(louder, 1, DRAWS), law) < LINE


# The phase as a whole: blocks of any length, and pulls between them.


@dataclass(frozen=True)
class Phase:
    """A phase to its end, or to the cap."""

    bandit: Bandit
    window: Window
    scale: float = 1.0


PHASES = {
    "ends": Phase(THREE, Window(10**6, 10**6, 3000.0, 20_000.0, 3.0, 1.0, 3.0, 1.0), 5.0),
    "at the cap, or before": Phase(
        THREE, Window(100_000, 100_000, 30_000.0, 0.0, 0.0, 1.0, 0.0, 1.0), 40.0
    ),
}


def phase_ends(phase: Phase, exploration: str, seed: int) -> Rows:
    """Return how Phase I ends, a row a run: its length, rounds in blocks, pulls and sums."""
    told = settings_of(LDP, {"epsilon": 1.0}, {"exploration": exploration}, phase.bandit, 10**6)
    told = told._replace(exploration_scale=phase.scale)
    rows, out = np.zeros((WHOLE_RUNS, 8)), new_segments(1 << 17)
    cap = phase.window.cap
    for row, stream in zip(rows, np.random.SeedSequence(seed).spawn(WHOLE_RUNS), strict=True):
        state, generator = LDP.state(3), np.random.default_rng(stream)
        explore = ldp_ncb._explore_by_blocks if exploration == "blocks" else ldp_ncb._explore
        written = explore(told, phase.window, cap, state, phase.bandit.arrays, generator, out, 0)
        assert state.phase[0] != EXPLORING
        in_blocks = out.lengths[:written][out.arms[:written] == RANDOM_ARM].sum()
        assert out.lengths[:written].sum() == state.clock[0] == state.counts.sum()
        row[:] = state.clock[0], in_blocks, *state.counts, *state.private_sums
    return rows


@pytest.mark.parametrize("name", PHASES)
def test_the_phase_has_the_law_of_rounds(name: str) -> None:
    phase = PHASES[name]
    expected, found = (phase_ends(phase, each, 1) for each in ("rounds", "blocks"))
    control = phase_ends(phase, "rounds", 2)
    compared = [0, *range(2, 8)]
    assert smallest_p(expected[:, compared], control[:, compared]) > LINE
    assert smallest_p(expected[:, compared], found[:, compared]) > LINE
    assert (found[:, 1] / found[:, 0]).mean() > 0.5
    changed = dpbandits.bernoulli(0.8 * phase.bandit.means)
    wrong = phase_ends(Phase(changed, phase.window, phase.scale), "blocks", 3)
    assert smallest_p(expected[:, compared], wrong[:, compared]) < LINE


def test_phase_two_begins_where_a_block_ends() -> None:
    # A block that the cap ends, of any length, and its sums as Phase II finds them.
    told = settings_of(LDP, {"epsilon": 1.0}, {"exploration": "blocks"}, THREE, 5000)
    state, out = LDP.state(3), new_segments(10)
    opened = Window(5000, 4001, 1e9, 1.0, 1.0, 1.0, 1.0, 1.0)
    generator = np.random.default_rng(1)
    written = advance_window(told, opened, 5000, state, THREE.arrays, generator, out, 0)
    assert (out.arms[0], out.lengths[0]) == (RANDOM_ARM, 4001)
    assert written > 1
    assert state.counts.sum() == state.clock[0] == out.lengths[:written].sum()
