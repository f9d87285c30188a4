"""Kernels that skip have the law of the plain ones, by enumeration and Kolmogorov-Smirnov tests.

Over a few rounds the chance of every sequence of arms is computed from the laws of the draws alone,
and compared with how often a kernel plays it. At most 130 true hypotheses are tested, each at LINE
(Bonferroni), so that correct code fails this file with probability 0.001 at most over the choice
of seeds, which are fixed. Wrong laws and wrong blocks are caught at the same line.
"""

import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import dpbandits
from agreement import chi_square
from dpbandits.algorithms import REGRET, lazy, thompson
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Work, make_cell
from dpbandits.kernels import new_segments
from support import settings_of

LINE = 0.001 / 130
RUNS = 4000
Kernel = Callable[..., int]
Sequence = tuple[int, ...]


def changed(module: ModuleType, old: str, new: str) -> Kernel:
    """Return the skipping kernel of a module with one change, compiled without numba's disk."""
    source = inspect.getsource(module)
    assert source.count(old) == 1, old
    source = source.replace(old, new).replace("blank, njit, write", "blank, write")
    made = ModuleType(f"changed_{module.__name__.rsplit('.', 1)[1]}")
    sys.modules[made.__name__] = made
    exec(f"from numba import njit\n{source}", vars(made))
    kernel: Kernel = made.skip
    return kernel


@dataclass(frozen=True)
class Case:
    """What is played; in each, more than a fifth of the rounds stand in longer segments."""

    algorithm: str
    parameters: tuple[tuple[str, float], ...]
    bandit: Bandit
    horizon: int
    interpretations: tuple[tuple[str, str], ...] = ()

    @property
    def settings(self) -> Any:
        algorithm = REGRET[self.algorithm]
        chosen = dict(self.interpretations)
        return settings_of(algorithm, dict(self.parameters), chosen, self.bandit, self.horizon)


COINS = dpbandits.bernoulli([0.9, 0.6, 0.3])
CASES = {
    "modified": Case("m-ts-gaussian", (("b", 10), ("c", 0.5)), COINS, 400),
    "modified, count n": Case(
        "m-ts-gaussian", (("b", 3), ("c", 0.2)), COINS, 400, (("count", "n"),)
    ),
    "gaussian": Case("ts-gaussian", (), dpbandits.bernoulli([0.95, 0.1]), 600),
    "other laws": Case(
        "m-ts-gaussian", (("b", 5), ("c", 0.2)), dpbandits.truncated_exponential([0.1, 5.0]), 300
    ),
    "lazy": Case("lazy-dp-ts", (("epsilon", 20.0),), COINS, 1000),
    "lazy, base2": Case("lazy-dp-ts", (("epsilon", 100.0),), COINS, 1000, (("log", "base2"),)),
    "lazy, less": Case("lazy-dp-ts", (("epsilon", 2.0), ("constant", 0.3)), COINS, 1000),
}


def ends(
    case: Case, kernel: Kernel, told: Any, seed: int, runs: int = RUNS
) -> dict[str, NDArray[np.float64]]:
    """Return pulls of each arm, halfway too, and rewards, one value a run, in small buffers."""
    algorithm, count = REGRET[case.algorithm], len(case.bandit.arms)
    names = [
        f"{what} of arm {i}" for what in ("pulls", "early pulls", "rewards") for i in range(count)
    ]
    rows, out = np.zeros((runs, 3, count)), new_segments(150)
    together = np.zeros(runs)
    for run, row in enumerate(rows):
        state, generator = algorithm.state(count), np.random.default_rng([seed, run])
        while (t := state.clock[0]) < case.horizon:
            written = kernel(told, state, case.bandit.arrays, generator, out)
            arms, lengths, sums = (column[:written] for column in out)
            starts = t + np.cumsum(lengths) - lengths
            early = np.clip(case.horizon // 2 - starts, 0, lengths)
            for of, values in enumerate((lengths, early, sums)):
                row[of] += np.bincount(arms, values, count)
            together[run] += lengths[lengths > 1].sum()
    return dict(zip(names, rows.reshape(runs, -1).T, strict=True)) | {"together": together}


@cache
def yardstick(name: str, runs: int = RUNS) -> dict[str, NDArray[np.float64]]:
    case = CASES[name]
    return ends(case, REGRET[case.algorithm].advance, case.settings, seed=1, runs=runs)


def p_values(name: str, found: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    return {
        quantity: float(stats.ks_2samp(values, found[quantity]).pvalue)
        for quantity, values in yardstick(name, found["together"].size).items()
        if quantity != "together" and np.unique(values).size > 1
    }


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["skip", "advance"])
@pytest.mark.parametrize("name", CASES)
def test_skipping_has_the_law_of_the_plain_kernel(name: str, kernel: str) -> None:
    # "advance" is the null control.
    case = CASES[name]
    found = ends(case, getattr(REGRET[case.algorithm], kernel), case.settings, seed=2)
    assert min(p_values(name, found).values()) > LINE, p_values(name, found)
    if kernel == "skip":
        assert found["together"].mean() > case.horizon / 5, found["together"].mean()


# A wrong scale of the noise moves Lazy-DP-TS less, by its bonus alone: it takes more runs to see.
SCALED = {
    "modified": ("variance_factor", 1.05**2, RUNS),
    "lazy": ("epsilon", 1 / 1.05, 4 * RUNS),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALED)
def test_a_scale_five_percent_off_is_caught(name: str) -> None:
    case, (setting, factor, runs) = CASES[name], SCALED[name]
    wrong = case.settings._replace(**{setting: factor * getattr(case.settings, setting)})
    found = ends(case, REGRET[case.algorithm].skip, wrong, seed=3, runs=runs)
    assert min(p_values(name, found).values()) < LINE, p_values(name, found)


# Every sequence of arms over a few rounds.

TRIALS = 15_000
ROUNDS = 6
PULLS, SUMS = (60, 40), (46, 11)
CHOICE = dpbandits.bernoulli([0.8, 0.25])


def modified_settings() -> Any:
    algorithm = REGRET["m-ts-gaussian"]
    return settings_of(algorithm, {"b": 1, "c": 0.9}, {}, CHOICE, sum(PULLS) + ROUNDS)


@cache
def modified_chances() -> dict[Sequence, float]:
    """Return the chance of the arms of every round after ``PULLS``, then final sums.

    With two arms an arm is played with the chance that the difference of two normals is above 0.
    """
    told = modified_settings()
    chances = {((), PULLS, SUMS): 1.0}
    for _ in range(ROUNDS):
        following: Counter[tuple[Sequence, Sequence, Sequence]] = Counter()
        for (seen, pulls, sums), chance in chances.items():
            counts = [count + 1 for count in pulls]
            gap = sums[0] / counts[0] - sums[1] / counts[1]
            deviation = math.sqrt(told.variance_factor * (1 / counts[0] + 1 / counts[1]))
            for arm in (0, 1):
                chosen = chance * stats.norm.cdf((gap if arm == 0 else -gap) / deviation)
                after = tuple(count + (i == arm) for i, count in enumerate(pulls))
                for reward in (0, 1):
                    got = tuple(total + reward * (i == arm) for i, total in enumerate(sums))
                    paid = CHOICE.means[arm] if reward else 1.0 - CHOICE.means[arm]
                    following[(*seen, arm), after, got] += chosen * paid
        chances = following
    return {seen + sums: chance for (seen, _, sums), chance in chances.items()}


def modified_counts(kernel: Kernel, told: Any, seed: int) -> tuple[Counter[Sequence], float]:
    """Return how often a kernel plays what ``modified_chances`` has, and its share of stretches."""
    algorithm, out = REGRET["m-ts-gaussian"], new_segments(2 * ROUNDS)
    counts: Counter[Sequence] = Counter()
    together, generator = 0, np.random.default_rng(seed)
    for _ in range(TRIALS):
        state = algorithm.state(2)
        state.clock[0] = sum(PULLS)
        state.pulls[:], state.reward_sums[:] = PULLS, SUMS
        written = kernel(told, state, CHOICE.arrays, generator, out)
        lengths = out.lengths[:written]
        arms = np.repeat(out.arms[:written], lengths).tolist()
        counts[(*arms, *state.reward_sums.astype(int).tolist())] += 1
        together += lengths[lengths > 1].sum()
    return counts, together / (TRIALS * ROUNDS)


@pytest.mark.slow
def test_all_transcripts_of_modified_thompson_sampling() -> None:
    assert sum(modified_chances().values()) == pytest.approx(1.0, abs=1e-12)
    algorithm = REGRET["m-ts-gaussian"]
    for kernel in (algorithm.advance, algorithm.skip):
        counts, together = modified_counts(kernel, modified_settings(), seed=1)
        assert chi_square(counts, modified_chances()) > LINE
    assert together > 0.1, together


LAZY_COUNTS, LAZY_MEANS = np.array([64, 32, 16]), np.array([0.75, 0.5, 0.32])
BEGUN = 1000


def lazy_settings(constant: float = 3.0) -> Any:
    parameters = {"epsilon": 20.0, "constant": constant}
    return settings_of(REGRET["lazy-dp-ts"], parameters, {}, COINS, BEGUN + ROUNDS)


@cache
def lazy_chances(constant: float = 3.0) -> dict[Sequence, float]:
    """Return the chance of the arms of every round after ``BEGUN``, by integrals over densities."""
    told, chances = lazy_settings(), {(): 1.0}
    for t in range(BEGUN + 1, BEGUN + ROUNDS + 1):
        raised = LAZY_MEANS + constant * math.log(t) / (told.epsilon * LAZY_COUNTS)
        laws = [
            stats.beta(mean * count + 1, (1 - mean) * count + 1)
            for mean, count in zip(np.clip(raised, 0, 1), LAZY_COUNTS, strict=True)
        ]
        played = [
            integrate.quad(
                lambda x, arm=arm: (
                    laws[arm].pdf(x)
                    * math.prod(law.cdf(x) for i, law in enumerate(laws) if i != arm)
                ),
                0,
                1,
                points=(0.4, 0.6, 0.8),
            )[0]
            for arm in range(3)
        ]
        chances = {
            (*seen, arm): chance * played[arm]
            for seen, chance in chances.items()
            for arm in range(3)
        }
    return chances


def lazy_counts(kernel: Kernel, told: Any, seed: int) -> tuple[Counter[Sequence], float]:
    algorithm, out = REGRET["lazy-dp-ts"], new_segments(2 * ROUNDS)
    counts: Counter[Sequence] = Counter()
    together, generator = 0, np.random.default_rng(seed)
    for _ in range(TRIALS):
        state = algorithm.state(3)
        state.clock[0] = BEGUN
        state.counts[:], state.private_means[:] = LAZY_COUNTS, LAZY_MEANS
        written = kernel(told, state, COINS.arrays, generator, out)
        lengths = out.lengths[:written]
        counts[tuple(np.repeat(out.arms[:written], lengths).tolist())] += 1
        together += lengths[lengths > 1].sum()
    return counts, together / (TRIALS * ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("constant", [0.3, 3.0, 5.0])
def test_all_sequences_of_lazy_thompson_sampling(constant: float) -> None:
    assert sum(lazy_chances(constant).values()) == pytest.approx(1.0, abs=1e-6)
    algorithm = REGRET["lazy-dp-ts"]
    for kernel in (algorithm.advance, algorithm.skip):
        counts, together = lazy_counts(kernel, lazy_settings(constant), seed=1)
        assert chi_square(counts, lazy_chances(constant)) > LINE
    assert together > 0.1, together
    # Another constant would be seen.
    assert chi_square(counts, lazy_chances(9.0)) < LINE


FAULTS = [
    (
        "thompson",
        "block if waiting >= block else int(waiting)",
        "block if waiting >= block else min(int(waiting) + 1, block - 1)",
    ),
    (
        "thompson",
        "0.5 * math.erfc(z * math.sqrt(0.5))",
        "0.5 * math.erfc(z * math.sqrt(0.5) * 1.2)",
    ),
    ("thompson", "-math.expm1(logs[i])) < chances[i]", "1.0) < chances[i]"),
    (
        "lazy",
        "left if waiting >= left else int(waiting)",
        "left if waiting >= left else min(int(waiting) + 1, left - 1)",
    ),
    ("lazy", "math.exp(density - bound)", "1.0"),
]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_caught(fault: tuple[str, str, str]) -> None:
    module, old, new = fault
    if module == "thompson":
        counts, _ = modified_counts(changed(thompson, old, new), modified_settings(), seed=3)
        assert chi_square(counts, modified_chances()) < LINE
    else:
        counts, _ = lazy_counts(changed(lazy, old, new), lazy_settings(), seed=3)
        assert chi_square(counts, lazy_chances()) < LINE


def test_realised_regret_along_t_is_played_round_by_round() -> None:
    # Inside a stretch it does not exist: whoever asks for it has the plain kernel, on any grid.
    for name, params in (("m-ts-gaussian", {"b": 5, "c": 0.2}), ("lazy-dp-ts", {"epsilon": 20.0})):
        told: dict[str, Any] = {"algorithm": name, "parameters": params, "bandit": COINS}
        told |= {"horizon": 2000, "grid": range(1, 2001, 7)}
        both = Work(make_cell(**told, metrics=["pseudo_regret", "realised_regret"]), range(3)).play(
            1
        )
        assert np.isfinite(both["realised_regret"]).all()
        alone = Work(make_cell(**told, metrics=["pseudo_regret"]), range(3)).play(1)
        assert (alone["pseudo_regret"] != both["pseudo_regret"]).any()
        assert np.isfinite(alone["pseudo_regret"]).all()
