"""Certified lower bounds of the black-box audit beside those by a classifier's threshold.

    python benchmarks/audit.py [--runs 200000] [--seeds 20]

The comparison is with the method of DP-Sniper (Bichsel, Steffen, Bogunovic and Vechev, 2021), from
its published description: a logistic regression estimates the posterior of the input, the event is
posterior above a threshold, ties included at random, such that its chance under the less likely
input is 0.01, and a Clopper-Pearson bound is certified with fresh runs. Here a quarter of the runs
trains, a quarter sets the threshold, and half certify, as in the audit. Both methods get the same
numbers of runs and level 0.05. The mechanisms are 1-DP.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.blackbox import (
    CERTIFY,
    CHOOSE,
    Budget,
    Mechanism,
    certify,
)
from dpbandits.auditing.events import Measure
from dpbandits.auditing.statistics import (
    Candidates,
    Runs,
    column,
    fit_weights,
    of_sequences,
    of_statistic,
)

EPSILON, INPUTS = Measure("epsilon"), (False, True)
TARGET = 0.01
"""Chance of DP-Sniper's event under the less likely input, its published value."""

LARGEST = 5
Features = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def laplace(second: bool, rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """A count of 0 or 1 with Laplace noise of scale 1."""
    return (second + rng.laplace(size=runs))[:, None]


def geometric(second: bool, rng: np.random.Generator, runs: int) -> NDArray[np.int64]:
    """A count of 2 or 3 with two-sided geometric noise, truncated to 0, ..., 5."""
    one, other = rng.geometric(1.0 - np.exp(-1.0), (2, runs))
    return np.clip(2 + second + one - other, 0, LARGEST)[:, None]


def noisy_max(second: bool, rng: np.random.Generator, runs: int) -> NDArray[np.int64]:
    """The index of the largest of five counts with Laplace noise of scale 2."""
    counts = np.array([2.0, 0.0, 0.0, 0.0, 0.0] if second else [1.0, 1.0, 1.0, 1.0, 1.0])
    return (counts + rng.laplace(scale=2.0, size=(runs, 5))).argmax(axis=1)[:, None]


def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield thresholds on the number released, and sets of numbers where they are few."""
    yield of_statistic(column(0, "value"), ranking)
    if fitting.x.dtype.kind == "i":
        yield from of_sequences(1, "value", lambda value: str(value[0]), fitting, ranking)


def one_hot(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an indicator of each index."""
    return (values == np.arange(LARGEST)).astype(float)


MECHANISMS: dict[str, tuple[Mechanism, Features]] = {
    "Laplace": (Mechanism(laplace, INPUTS, propose, "Laplace"), lambda values: values),
    "truncated geometric": (
        Mechanism(geometric, INPUTS, propose, "geometric"),
        lambda values: values.astype(float),
    ),
    "report-noisy-max": (Mechanism(noisy_max, INPUTS, propose, "noisy max"), one_hot),
}


def audit_bound(mechanism: Mechanism, budget: Budget) -> float:
    """Return the bound of the audit by the same events."""
    return certify(mechanism, 1.0, EPSILON, budget).lower


def sniper_bound(mechanism: Mechanism, features: Features, budget: Budget) -> float:
    """Return the bound by DP-Sniper's event, in the direction that its threshold runs favour."""
    half = budget.runs // 2
    training, setting = mechanism.outputs(CHOOSE, half, budget).split()
    parts = [features(part) for part in (training.x, training.other)]
    labels = np.repeat([0.0, 1.0], [len(part) for part in parts])
    weights = fit_weights(np.concatenate(parts), labels)[1:]
    fresh = mechanism.outputs(CERTIFY, budget.runs - half, budget)
    rng = np.random.default_rng(budget.seed)
    found = []
    for sign in (1.0, -1.0):
        scores = [
            sign * features(part) @ weights
            for part in (setting.x, setting.other, fresh.x, fresh.other)
        ]
        less, more = (0, 1) if sign > 0 else (1, 0)
        threshold = np.quantile(scores[less], 1.0 - TARGET, method="higher")
        above = float(np.mean(scores[less] > threshold))
        ties = float(np.mean(scores[less] == threshold))
        share = min(max((TARGET - above) / ties, 0.0), 1.0)
        hits = [
            int(
                np.sum(
                    (score > threshold) | ((score == threshold) & (rng.random(score.size) < share))
                )
            )
            for score in scores
        ]
        ranked = EPSILON.bound(hits[more], hits[less], setting.count, budget.level)
        certified = EPSILON.bound(hits[2 + more], hits[2 + less], fresh.count, budget.level)
        found.append((ranked, certified))
    return max(found)[1]


def main() -> int:
    """Print a row for each mechanism; the status is 1 where a mean is below the classifier's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200_000, help="per input (default: 200000)")
    parser.add_argument("--seeds", type=int, default=20, help="default: 20")
    arguments = parser.parse_args()
    print(f"{'mechanism':22s}{'audit':>8s}{'smallest':>10s}{'classifier':>12s}{'smallest':>10s}")
    behind = False
    for name, (mechanism, features) in MECHANISMS.items():
        budgets = [Budget(arguments.runs, seed=seed) for seed in range(arguments.seeds)]
        audit = np.array([audit_bound(mechanism, budget) for budget in budgets])
        other = np.array([sniper_bound(mechanism, features, budget) for budget in budgets])
        behind |= bool(audit.mean() < other.mean())
        columns = f"{audit.mean():8.4f}{audit.min():10.4f}{other.mean():12.4f}{other.min():10.4f}"
        print(f"{name:22s}{columns}", flush=True)
    return int(behind)


if __name__ == "__main__":
    raise SystemExit(main())
