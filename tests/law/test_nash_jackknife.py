"""Standard error and bias of the Nash regret, against replication, the bootstrap and known laws.

Everything has a fixed seed. Each statement about rates says how often it would fail by chance, and
has a control: with an error or a bias that is planted wrong the same test must fail.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compute import compute_series
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.metrics.names import QUANTITIES
from dpbandits.metrics.nash import enter_window, nash_accumulator, quantities

pytestmark = pytest.mark.slow

BANDIT = dpbandits.bernoulli([0.9, 0.5, 0.2])
HORIZON = 200
TIMES = (60, HORIZON)
RUNS, CURVES = 25, 1000
LEVEL = 0.95
ALGORITHMS: dict[str, dict[str, Any]] = {"ucb1": {}, "dp-ts-ucb": {"alpha": 1.0}}

Values = NDArray[np.float64]


@cache
def replicated(algorithm: str) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return the quantities of many curves, shape (curves, times), and of all their runs as one.

    Five curves of 5,000 of the same 25,000 runs stand, averaged, for the truth: its own error is 32
    times smaller than that of the others, its bias 200 times.
    """
    cell = make_cell(
        algorithm=algorithm,
        parameters=ALGORITHMS[algorithm],
        bandit=BANDIT,
        horizon=HORIZON,
        metrics=["nash_regret"],
        grid=TIMES,
    )
    series = [
        Series(str(first), {}, cell, range(first, first + RUNS * count), together)
        for first, count, together in [(0, CURVES, RUNS), *((5000 * i, 200, 0) for i in range(5))]
    ]
    curves, *parts = compute_series(series, root_seed=11)
    by_name = dict(zip(QUANTITIES, np.moveaxis(curves["nash_regret"], 1, 0), strict=True))
    pooled = np.mean([part["nash_regret"][0] for part in parts], axis=0)
    return by_name, dict(zip(QUANTITIES, pooled, strict=True))


def covered(algorithm: str, shrunk: float = 1.0) -> int:
    """Return how many jackknife intervals at T hold the truth, the bias being subtracted."""
    found, truth = replicated(algorithm)
    half = shrunk * stats.t.ppf(0.5 + LEVEL / 2, RUNS - 1) * found["nash_standard_error"]
    corrected = found["nash_log_mean"] + found["nash_bias"]
    return int((np.abs(corrected - truth["nash_log_mean"]) <= half)[:, -1].sum())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_intervals_cover_the_truth(algorithm: str) -> None:
    # An exact 95 % interval covers 916 to 979 of 1000 with probability 1 - 1e-5. The jackknife is
    # one to first order, so that three points less are let pass.
    low, high = stats.binom.interval(1 - 1e-5, CURVES, LEVEL)
    assert low - 30 <= covered(algorithm) <= high
    assert covered(algorithm, shrunk=0.7) < low - 30, "the control: errors that are too small"
    assert covered(algorithm, shrunk=1.5) > high, "the control: errors that are too large"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_standard_errors_are_those_of_replication(algorithm: str) -> None:
    found, _ = replicated(algorithm)
    for index in range(len(TIMES)):
        across = found["nash_log_mean"][:, index].std(ddof=1)
        within = np.sqrt((found["nash_standard_error"][:, index] ** 2).mean())
        # A standard deviation of 1000 values is known to 2.2 % (kurtosis of a Gaussian), the mean
        # of 1000 variances likewise; 12 % are four of their deviations and 3 % of second order.
        assert within == pytest.approx(across, rel=0.12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_biases_are_those_of_replication(algorithm: str) -> None:
    found, truth = replicated(algorithm)
    short = truth["nash_log_mean"] - found["nash_log_mean"].mean(axis=0)
    stated = found["nash_bias"].mean(axis=0)
    # The truth is of the same runs, so that chance is left in the quadratic terms alone: they vary
    # by their own size from curve to curve, by 3 % over 1000. Five deviations, and 1/R = 4 % for
    # the next order. A bias off by a factor 2, or none, is far outside.
    np.testing.assert_allclose(short, stated, rtol=0.2)


def arms_of_runs(algorithm: str, runs: range) -> NDArray[np.int64]:
    """Return the arm of every round, shape (R, T), from the plain reference."""
    cell = make_cell(
        algorithm=algorithm,
        parameters=ALGORITHMS[algorithm],
        bandit=BANDIT,
        horizon=HORIZON,
    )
    key, played = stream_key(cell.stream_description), []
    for run in runs:
        chunks = cell.definition.reference(cell.settings, BANDIT, run_generator(11, key, run))  # type: ignore[attr-defined]
        played.append([arm for arm, length, _ in chunks for _ in range(length)])
    return np.array(played)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_standard_errors_are_those_of_the_bootstrap(algorithm: str) -> None:
    """Whole runs drawn with replacement, the curve computed anew from every round of each."""
    found, _ = replicated(algorithm)
    generator = np.random.default_rng(5)
    ratios = []
    for number in range(12):
        runs = range(number * RUNS, (number + 1) * RUNS)
        scored = BANDIT.means[arms_of_runs(algorithm, runs)]
        log_mean = np.log(scored.mean(axis=0)).mean()
        assert found["nash_log_mean"][number, -1] == pytest.approx(log_mean, rel=1e-12)
        weights = generator.multinomial(RUNS, np.full(RUNS, 1 / RUNS), size=2000) / RUNS
        resampled = np.log(weights @ scored).mean(axis=1).std()
        ratios.append(found["nash_standard_error"][number, -1] / resampled)
    # 2000 resamples know a deviation to 1.6 %, their mean over 12 to 0.5 %; the bootstrap's own
    # factor sqrt((R - 1)/R) is 2 %, and 6 % are left to the second order.
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.08)


def random_arms(runs: int, shares: Values, generator: np.random.Generator) -> Values:
    """Return the quantities at T of runs whose arms are independent in every round."""
    arms = generator.choice(shares.size, size=(runs, HORIZON), p=shares).astype(np.int64)
    ledger = nash_accumulator(
        BANDIT.means, BANDIT.log_means, runs, HORIZON, np.array([HORIZON], np.int64)
    )
    filled, starts = np.full(runs, HORIZON), np.zeros(runs, np.int64)
    enter_window(ledger, arms, np.ones_like(arms), filled, starts, (0, HORIZON))
    return quantities(ledger)[:, 0]


@pytest.mark.parametrize("runs", [10, 40])
def test_errors_and_biases_of_independent_arms(runs: int) -> None:
    """Every round has the same mean and variance: both are known, to first order in 1/R."""
    shares = np.array([0.6, 0.1, 0.3])
    mean = shares @ BANDIT.means
    spread = shares @ BANDIT.means**2 / mean**2 - 1.0
    generator = np.random.default_rng(6)
    values = np.array([random_arms(runs, shares, generator) for _ in range(600)])
    found = dict(zip(QUANTITIES, values.T, strict=True))
    # log of a mean over R runs has a deviation of sqrt(spread / R); T rounds are independent.
    error = np.sqrt(spread / (runs * HORIZON))
    assert found["nash_log_mean"].std(ddof=1) == pytest.approx(error, rel=0.15)
    # The influences of R runs know a variance to sqrt(2/R), 600 curves of them to 2 % and less;
    # the next order is 1/R of it.
    within = np.sqrt((found["nash_standard_error"] ** 2).mean())
    assert within == pytest.approx(error, rel=0.05 + 1.0 / runs)
    bias = spread / (2 * runs)
    assert found["nash_bias"].mean() == pytest.approx(bias, rel=2.0 / runs)
    short = np.log(mean) - found["nash_log_mean"].mean()
    # Five deviations of the mean over 600 curves, and the next order.
    allowed = 5 * error / np.sqrt(600) + bias * 1.5 / runs
    assert abs(short - bias) < allowed
    assert short > allowed, "the control: without a bias it would not pass"
    # Means over bins of all rounds leave a bias that is T times smaller.
    assert abs(np.log(mean) - np.log(found["average_mean"]).mean()) < allowed


def test_differences_in_time_come_from_influences() -> None:
    """A statement on two times at once: the deviation of a difference, by the same influences."""
    cell = make_cell(
        algorithm="ucb1",
        parameters={},
        bandit=BANDIT,
        horizon=HORIZON,
        metrics=["nash_regret", "nash_influence"],
        grid=TIMES,
    )
    series = Series("a", {}, cell, range(RUNS * CURVES), RUNS)
    [block] = compute_series([series], root_seed=11)
    log_means = block["nash_regret"][:, 0]
    across = (log_means[:, 1] - log_means[:, 0]).std(ddof=1)
    influences = block["nash_influence"].reshape(CURVES, RUNS, len(TIMES))
    difference = influences[:, :, 1] - influences[:, :, 0]
    within = np.sqrt(((difference**2).sum(axis=1) / (RUNS * (RUNS - 1))).mean())
    assert within == pytest.approx(across, rel=0.12)
    # The control: as if the two times were independent.
    apart = np.sqrt((influences**2).sum(axis=(1, 2)) / (RUNS * (RUNS - 1))).mean()
    assert apart != pytest.approx(across, rel=0.12)
