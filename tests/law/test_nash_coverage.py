"""Intervals of Nash regret hold the truth as often as they say, for every algorithm.

POOL runs are played, and curves of 10 and of 50 runs drawn from them with replacement: the truth is
the curve of the whole pool. At most 100 counts of CURVES intervals that miss it are tested, each
between the binomial quantiles at LINE of miss rates of 2 and of 7 % (the jackknife is one to first
order, and t intervals of few skewed runs another), so that correct code fails this file with
probability 0.001 at most over the choice of seeds, which are fixed. Errors and biases are those of
the formulas in test_metrics_curves.py.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits import NashCurve
from dpbandits.algorithms import REGRET
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compute import compute_series
from dpbandits.kernels import new_segments
from dpbandits.metrics.nash import enter_window, nash_accumulator, quantities
from support import settings_of

pytestmark = pytest.mark.slow

POOL, CURVES, LEVEL = 800, 1000, 0.95
LINE = 0.001 / 100

Values = NDArray[np.float64]

TWENTY_ARMS = dpbandits.bernoulli(np.random.RandomState(42).uniform(0.005, 1, 20))
TWO_ARMS = dpbandits.bernoulli([0.656, 0.5])


@dataclass(frozen=True)
class Case:
    """What is played."""

    algorithm: str
    parameters: dict[str, Any] = field(default_factory=dict)
    variant: str = "as-written"
    bandit: Bandit = TWENTY_ARMS
    horizon: int = 1000


EPSILON: dict[str, Any] = {"epsilon": 20.0}
PARAMETERS: dict[str, dict[str, Any]] = {
    **{name: EPSILON for name, each in REGRET.items() if "epsilon" in each.example},
    "m-ts-gaussian": {"b": 5, "c": 0.5},
    "dp-ts-ucb": {"alpha": 1.0},
}


def case_of(name: str, variant: str) -> Case:
    """Return a case on twenty arms; of DP-SE on two, of which it drops one in half of the runs."""
    if name == "dp-se":
        return Case(name, {"epsilon": 0.5}, bandit=TWO_ARMS, horizon=3500)
    return Case(name, PARAMETERS.get(name, {}), variant)


CASES = {
    f"{name}, {variant}": case_of(name, variant)
    for name, each in REGRET.items()
    for variant in each.variants[:2][-1:]
}
CASES |= {f"{name}, repaired": case_of(name, "repaired") for name in ("gdp-ncb", "ldp-ncb")}


@cache
def pool(name: str) -> NDArray[np.int64]:
    """Return the arm of every round of every run, shape (POOL, T)."""
    case = CASES[name]
    algorithm = REGRET[case.algorithm]
    interpretations = algorithm.interpretations_from({}, case.variant)
    told = settings_of(algorithm, case.parameters, interpretations, case.bandit, case.horizon)
    out, bandit = new_segments(case.horizon), case.bandit
    played = np.empty((POOL, case.horizon), np.int64)
    for row, stream in zip(played, np.random.SeedSequence(1).spawn(POOL), strict=True):
        state, generator, t = algorithm.state(len(bandit.arms)), np.random.default_rng(stream), 0
        while t < case.horizon:
            written = algorithm.advance(told, state, bandit.arrays, generator, out)
            arms = np.repeat(out.arms[:written], out.lengths[:written])
            row[t : t + arms.size] = arms
            t += arms.size
    return played


def curve_of(case: Case, arms: NDArray[np.int64]) -> NashCurve:
    """Return the curve of runs at T, from the ledger; arms has shape (R, T)."""
    runs, grid = len(arms), np.array([case.horizon])
    ledger = nash_accumulator(case.bandit.means, case.bandit.log_means, runs, case.horizon, grid)
    filled, starts = np.full(runs, case.horizon), np.zeros(runs, np.int64)
    enter_window(ledger, arms, np.ones_like(arms), filled, starts, (0, case.horizon))
    influences = ledger.records.influences
    return NashCurve.of_parts(grid, quantities(ledger), len(influences), influences)


def parts_of(scored: Values) -> tuple[float, float, Values]:
    """Return log G, its bias and the influences of runs from the means that they play, (R, T)."""
    runs = len(scored)
    inverse = 1.0 / scored.mean(axis=0)
    spread = np.einsum("rt,rt,t,t->", scored, scored, inverse, inverse) / scored.size - 1.0
    influences = scored @ inverse / len(inverse) - 1.0
    return -np.log(inverse).mean(), spread / (2 * (runs - 1)), influences


@cache
def curves(name: str, runs: int) -> tuple[float, NashCurve]:
    """Return the true Nash regret, and CURVES curves in the place of times."""
    case, played = CASES[name], pool(name)
    truth = float(curve_of(case, played).with_bias("kept").nash_regret[0])
    generator = np.random.default_rng(runs)
    chosen = generator.integers(0, POOL, (CURVES, runs))
    scored = case.bandit.means[played]
    log_means, biases, influences = zip(*(parts_of(scored[each]) for each in chosen), strict=True)
    errors = np.std(influences, axis=1, ddof=0) / (runs - 1) ** 0.5
    unused, best = np.full(CURVES, np.nan), np.full(CURVES, case.bandit.means.max())
    known = np.array([log_means, errors, biases, unused, unused, unused, best])
    found = NashCurve.of_parts(np.arange(CURVES), known, runs, np.transpose(influences))
    for index in range(2):
        one = curve_of(case, played[chosen[index]])
        # The ledger of the library.
        np.testing.assert_allclose(found.nash_regret[index], one.nash_regret[0], rtol=1e-9)
        np.testing.assert_allclose(found.standard_error[index], one.standard_error[0], rtol=1e-7)
    return truth, found


def misses(name: str, runs: int, bias: str = "subtracted", factor: float = 1.0) -> int:
    """Return how many intervals, their length multiplied, do not hold the truth."""
    truth, found = curves(name, runs)
    low, high = found.with_bias(bias).interval(LEVEL)
    return int((np.abs(low + high - 2.0 * truth) > factor * (high - low)).sum())


LEAST = int(stats.binom.ppf(LINE, CURVES, 0.02))
LARGEST = int(stats.binom.isf(LINE, CURVES, 0.07))
SIZES = (10, 50)


@pytest.mark.parametrize("name", CASES)
def test_intervals_miss_as_often_as_they_say(name: str) -> None:
    for runs in SIZES:
        assert LEAST <= misses(name, runs) <= LARGEST
        assert misses(name, runs, factor=0.5) > LARGEST, "a wrong standard error"
        assert misses(name, runs, factor=4.0) <= LEAST


def test_null_control() -> None:
    for runs in SIZES:
        truth, found = curves("ncb, as-coded", runs)
        drawn = np.random.default_rng(3).standard_t(runs - 1, CURVES) * found.standard_error
        log_mean = np.log(found.best_mean - truth - drawn)
        shifted = replace(found, log_mean=log_mean, log_bias=np.zeros(CURVES))
        # Standard errors of G are proportional to it.
        shifted = replace(shifted, influences=found.influences * np.exp(found.log_mean - log_mean))
        low, high = shifted.interval(LEVEL)
        assert LEAST <= int(((truth < low) | (truth > high)).sum()) <= LARGEST


PLAIN_FAILS = {
    10: ("ncb, as-coded", "ucb1, as-coded", "adap-ucb, as-coded"),
    50: ("ncb, as-coded",),
}
"""Where intervals of 95 % around the plain average miss in a quarter of the curves and more."""


def test_the_plain_average_fails() -> None:
    for runs in SIZES:
        for name in PLAIN_FAILS[runs]:
            assert misses(name, runs, bias="kept") > 2 * LARGEST > 2 * misses(name, runs)


def test_differences_in_time_come_from_influences() -> None:
    """A statement on two times at once: the deviation of a difference, by the same influences."""
    cell = make_cell(
        algorithm="ucb1",
        parameters={},
        bandit=dpbandits.bernoulli([0.9, 0.5, 0.2]),
        horizon=200,
        metrics=["nash_regret", "nash_influence"],
        grid=[60, 200],
    )
    series = Series("a", {}, cell, range(25 * CURVES), 25)
    [block] = compute_series([series], root_seed=11)
    log_means = block["nash_regret"][:, 0]
    across = (log_means[:, 1] - log_means[:, 0]).std(ddof=1)
    influences = block["nash_influence"].reshape(CURVES, 25, 2)
    difference = influences[:, :, 1] - influences[:, :, 0]
    within = np.sqrt(((difference**2).sum(axis=1) / (25 * 24)).mean())
    assert within == pytest.approx(across, rel=0.12)
    # The control: as if the two times were independent.
    apart = np.sqrt((influences**2).sum(axis=(1, 2)) / (25 * 24)).mean()
    assert apart != pytest.approx(across, rel=0.12)
