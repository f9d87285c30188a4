"""The witness of GDP-NCB where Phase II begins with carried private means (claim NCB-C15).

The changed arm's private mean of Phase I is consulted by the first decision of Phase II, one
release more than in `phase_two`; the other arm's is a random level that all decisions share. Given
it the releases are independent, so that the chance of the event is an integral over that level.
"""

import math

import numpy as np
from scipy.special import logsumexp

from dpbandits.audit.releases.laplace import Values, log_cdf
from dpbandits.audit.releases.phase_two import PhaseTwo, log_counts
from dpbandits.audit.releases.stop_test import Witness

NODES, REACH = 12, 40.0
"""Nodes of a piece of the integral, and where it ends, in scales; pieces are one scale long."""

_Episode = tuple[int, int, float]
"""(rewards in the private mean, pulls that its index counts, sum of the rewards)."""


def carried_witness(rules: PhaseTwo, other: int, changed: int) -> Witness:
    """Return the witness in the releases of both phases.

    All rewards of Phase I are 0 under X; under X' one of the changed arm is 1. The event: Phase I
    has these pulls, that round among the changed arm's, and all later rounds pull the changed arm,
    as long as it can where the other arm's private mean is 0. Rewards of the episodes sum to one
    less than what is needed then, where they can.

    Args:
        rules: of Phase II.
        other: pulls of the other arm in Phase I.
        changed: pulls of the changed arm; arm 1, which wins ties, if they are at most as many.
    """
    unchanged = _episodes(rules, other, changed)
    means, log_weights = _levels(rules, other, unchanged)
    wins_ties = changed <= other
    chances = []
    for added in (0.0, 1.0):
        episodes = [(n, m, total + added) for n, m, total in unchanged]
        terms = [
            _log_passed(rules, rules.index(mean, other + 1), episodes, wins_ties) for mean in means
        ]
        chances.append(float(logsumexp(np.array(terms) + log_weights)))
    return Witness(chances[1] - chances[0], chances[0], log_counts(other, changed))


def releases(rules: PhaseTwo, other: int, changed: int) -> int:
    """Return how many private means of the changed arm the event of ``carried_witness`` consults.

    Args:
        rules: as in ``carried_witness``, likewise the others.
        other: pulls of the other arm.
        changed: pulls of the changed arm.
    """
    return len(_episodes(rules, other, changed))


def _levels(rules: PhaseTwo, other: int, episodes: list[_Episode]) -> tuple[Values, Values]:
    """Return values and log weights of the other arm's private mean, 0 clipped to [0, 1].

    The integral is over its root, of which the index is a smooth function, and is cut where a
    release of the changed arm begins or ceases to be decided by noise.
    """
    scale = rules.scale / other
    end = min(1.0, REACH * scale)
    cuts = [scale * step for step in range(math.ceil(end / scale) + 1)]
    lowest = rules.index(0.0, other + 1)
    for _, pulls, _ in episodes:
        turns = (rules.index(0.0, pulls), rules.index(1.0, pulls))
        cuts += [rules.mean_at(turn, other + 1) for turn in turns if turn > lowest]
    ends = np.sqrt(np.unique([cut for cut in cuts if cut < end] + [end]))
    unit, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(ends)[:, None] / 2.0
    roots = (ends[:-1, None] + half * (unit + 1.0)).ravel()
    inside = roots**2
    log_inside = np.log((half * weights).ravel() * roots / scale) - inside / scale
    log_half = -math.log(2.0)
    means = np.concatenate([[0.0], inside, [1.0]])
    return means, np.concatenate([[log_half], log_inside, [log_half - 1.0 / scale]])


def _episodes(rules: PhaseTwo, other: int, changed: int) -> list[_Episode]:
    """Return the private means of the changed arm, the first one that of Phase I.

    They end where the changed arm cannot come next if the other arm's private mean is 0.
    """
    level = rules.index(0.0, other + 1)
    episodes = []
    for length in (0, *rules.episodes()):
        index_pulls = changed + max(length, 1)
        if rules.index(1.0, index_pulls) <= level:
            break
        lacking = level > rules.index(0.0, index_pulls)
        needed = (changed + length) * rules.mean_at(level, index_pulls) if lacking else 0.0
        total = min(max(needed - 1.0, 0.0), float(length))
        episodes.append((changed + length, index_pulls, total))
    return episodes


def _log_passed(rules: PhaseTwo, level: float, episodes: list[_Episode], wins_ties: bool) -> float:
    """Return ln of the chance that every private mean has an index above the level."""
    short = []
    for n, index_pulls, total in episodes:
        lowest = rules.index(0.0, index_pulls)
        if lowest > level or (lowest == level and wins_ties):
            continue
        if rules.index(1.0, index_pulls) <= level:
            return -math.inf
        short.append(total - n * rules.mean_at(level, index_pulls))
    return float(np.sum(log_cdf(np.array(short) / rules.scale)))
