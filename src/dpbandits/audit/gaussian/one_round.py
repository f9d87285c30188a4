"""One decision between two arms: Lemma 3 and Theorems 6 and 7 of ts-is-dp, exactly.

With more arms, give the others so many pulls and so low means that they never win.
"""

import math
from dataclasses import dataclass

from dpbandits.privacy import report_noisy_max_true_delta

PULLS = (1, 2, 3, 5, 10)
"""Pulls of the arm with the changed reward."""

OTHER_PULLS = (1, 2, 5, 10, 100, 1_000, 10_000)
"""Pulls of the other arm."""

ROUND_DELTAS = (0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6)
"""Delta of one decision at which Theorems 6 and 7 are checked."""


@dataclass(frozen=True)
class Decision:
    """A decision that needs a delta.

    Attributes:
        pulls: of the arm with the changed reward.
        others: pulls of the other arm.
        chosen: 1 if the event is that the arm with the changed reward is pulled, 2 otherwise.
        needed: Phi(score + shift) - exp(epsilon) Phi(score).
        score: of the chosen arm over the other one under the less likely input.
        shift: by which the changed reward moves it.
    """

    pulls: int
    others: int
    chosen: int
    needed: float
    score: float
    shift: float


def score_shift(pulls: int, others: int) -> float:
    """Return by how much one changed reward moves the score of a decision at most.

    It is the mu of that decision, exactly: 1/(n_1 + 1) over sqrt(1/(n_1 + 1) + 1/(n_2 + 1)), below
    1/sqrt(n_1 + 1) (ts-is-dp, Lemma 3), and 0 before the arm's first pull.

    Args:
        pulls: n_1, of the arm with the changed reward, 0 or above.
        others: n_2, of the other arm, 0 or above.
    """
    if pulls == 0:
        return 0.0
    return 1.0 / (pulls + 1) / math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))


def worst_decision(epsilon: float) -> Decision:
    """Return the decision that needs the largest delta at epsilon, rewards being in [0, 1].

    Args:
        epsilon: 0 or above.
    """
    decisions = [
        _decision(epsilon, pulls, others, chosen)
        for pulls in PULLS
        for others in OTHER_PULLS
        for chosen in (1, 2)
    ]
    return max(decisions, key=lambda decision: decision.needed)


def _decision(epsilon: float, pulls: int, others: int, chosen: int) -> Decision:
    """Return the worst rewards at these pulls; scores cannot fall below that of rewards 0 to 1."""
    shift = score_shift(pulls, others)
    deviation = math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))
    # Under the less likely input the chosen arm may have seen zeros and its rival ones.
    rival = others / (others + 1) if chosen == 1 else pulls / (pulls + 1)
    lowest = -rival / deviation
    needed = report_noisy_max_true_delta(epsilon, shift, lowest)
    score = max(-epsilon / shift - shift / 2.0, lowest)
    return Decision(pulls, others, chosen, float(needed), float(score), shift)
