"""Exact law of the log-likelihood ratio of the arm sequence, any number of arms, small T.

As `lattice`, over all vectors of pull counts: C(T + K, K) of them, so that three arms reach
T = 60 in seconds.
"""

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.gaussian.choice import choice_chances
from dpbandits.audit.gaussian.lattice import GOLDEN, LossLaw
from dpbandits.audit.gaussian.scores import Sampler

Values = NDArray[np.float64]


def loss_law_many(
    sampler: Sampler, tables: Values, *, step: float = 0.02, width: float = 12.0
) -> LossLaw:
    """Return the law of the rounded log-likelihood ratio of the whole arm sequence.

    Args:
        sampler: of the decisions, with its horizon.
        tables: rewards of both inputs by arm and pull, shape (2, K, rounds or more).
        step: of the ratio, above 0.
        width: outputs whose ratio ever reaches it, either way, are absorbed at that end.
    """
    arms = tables.shape[1]
    centres, deviations = sampler.centres(tables), np.sqrt(sampler.variances())
    middle = round(width / step)
    every = np.arange(arms)
    begin = np.zeros((2, 2 * middle + 1))
    begin[:, middle] = 1.0
    states = {(sampler.forced_pulls,) * arms: begin}
    dither = 0.0
    for _ in range(arms * sampler.forced_pulls, sampler.rounds):
        dither = (dither + GOLDEN) % 1.0
        following: dict[tuple[int, ...], Values] = {}
        for pulls, masses in states.items():
            index = np.array(pulls)
            chances = [choice_chances(row[every, index], deviations[index]) for row in centres]
            moves = np.floor((chances[1] - chances[0]) / step + dither).astype(np.int64)
            for arm in range(arms):
                key = (*pulls[:arm], pulls[arm] + 1, *pulls[arm + 1 :])
                factors = np.exp([chances[0][arm], chances[1][arm]])[:, None]
                target = following.setdefault(key, np.zeros_like(begin))
                _add_moved(factors * masses, int(moves[arm]), target)
        states = following
    total = np.asarray(np.sum(list(states.values()), axis=0), np.float64)
    ratios = step * np.arange(-middle, middle + 1, dtype=np.float64)
    return LossLaw(ratios, total[0], total[1])


def _add_moved(masses: Values, move: int, target: Values) -> None:
    """Add the masses to the target, so many cells further; the outermost cells absorb."""
    last = masses.shape[1] - 1
    cells = np.clip(np.arange(1, last) + move, 0, last)
    inside = (cells > 0) & (cells < last)
    target[:, 0] += masses[:, 0] + masses[:, 1:last][:, cells == 0].sum(axis=1)
    target[:, last] += masses[:, last] + masses[:, 1:last][:, cells == last].sum(axis=1)
    target[:, cells[inside]] += masses[:, 1:last][:, inside]
