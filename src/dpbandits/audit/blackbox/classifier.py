"""A logistic regression of which table was played, on the decisions of every round."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from dpbandits.audit.blackbox.candidates import Runs
from dpbandits.audit.blackbox.play import Outputs
from dpbandits.audit.blackbox.statistics import Statistic, Values

MOST_ROUNDS = 64
"""Weights are named in the words of an event."""

MOST_RUNS = 50_000
"""Of the fitting runs of each table; more hardly move the weights."""

DIGITS = 3
"""Weights are rounded, so that the score can be computed from its words."""

RIDGE = 1e-3


def classifier_score(arms: int, fitting: Runs) -> Statistic | None:
    """Return the log odds of x' as fitted to other runs; None where rounds are many.

    Args:
        arms: number of arms K.
        fitting: arms by round.
    """
    if fitting.x.shape[1] > MOST_ROUNDS:
        return None
    parts = [_decisions(part[:MOST_RUNS], arms) for part in (fitting.x, fitting.other)]
    labels = np.repeat([0.0, 1.0], [len(part) for part in parts])
    weights = np.round(fit_weights(np.concatenate(parts), labels)[1:], DIGITS)
    if not weights.any():
        return None
    by_round = weights.reshape(fitting.x.shape[1], arms - 1)

    def of(outputs: Outputs) -> Values:
        score = np.zeros(len(outputs))
        for number, row in enumerate(by_round):
            for arm, weight in enumerate(row):
                if weight:
                    score += weight * (outputs[:, number] == arm)
        # Sums of rounded weights that are equal compare equal.
        return np.asarray(np.round(score, DIGITS))

    listed = [
        f"{weight:+g} if arm {arm + 1} in round {number + 1}"
        for number, row in enumerate(by_round)
        for arm, weight in enumerate(row)
        if weight
    ]
    return Statistic(f"score {', '.join(listed)}", of)


def fit_weights(features: NDArray[np.float64], labels: Values) -> NDArray[np.float64]:
    """Return the constant and the weights of a logistic regression with a small ridge.

    Args:
        features: shape (runs, features).
        labels: 0 or 1, shape (runs,).
    """
    design = np.column_stack([np.ones(len(features)), features])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = design @ weights
        value = float(np.mean(np.logaddexp(0.0, scores) - labels * scores))
        gradient = design.T @ (expit(scores) - labels) / len(labels)
        return value + RIDGE * float(weights @ weights) / 2.0, gradient + RIDGE * weights

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def _decisions(outputs: Outputs, arms: int) -> NDArray[np.float64]:
    """Return one column a round and arm but the last, 1 where the arm is pulled in the round."""
    chosen = [outputs == arm for arm in range(arms - 1)]
    return np.stack(chosen, axis=2).reshape(len(outputs), -1).astype(np.float64)
