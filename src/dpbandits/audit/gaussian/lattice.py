"""Exact law of the log-likelihood ratio of the arm sequence, with two arms.

For a pull-indexed table, centres and variances are functions of the number of pulls, and n_2 =
t - n_1. So (t, n_1, ratio) is a Markov chain under both inputs. The ratio is kept in whole steps,
rounded with a deterministic dither. Rounding costs nothing in validity: the number of steps is a
function of the output, and its law is exact under both inputs; so it is with the absorbing cells
of outputs whose ratio leaves the lattice, or that reach too many pulls of arm 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpbandits.audit.gaussian.scores import Sampler
from dpbandits.errors import InputError
from dpbandits.kernels import njit

Values = NDArray[np.float64]

GOLDEN = 0.618034
"""Step of the dither: multiples of it fill the unit interval evenly."""

_VANISHING = 1e-40
"""Cells at the ends of a row with less mass are absorbed: it saves time, and no mass is lost."""


@dataclass(frozen=True)
class LossLaw:
    """Law of a function of the output that rises with the log-likelihood ratio ln(Q/P).

    Attributes:
        ratios: approximate log-likelihood ratio of each cell, ascending, shape (cells,).
        p: mass of each cell under x, shape (cells,).
        q: mass of each cell under x', shape (cells,).
    """

    ratios: Values
    p: Values
    q: Values


def loss_law(
    sampler: Sampler,
    tables: Values,
    *,
    step: float = 0.02,
    width: float = 60.0,
    most_pulls: int | None = None,
) -> LossLaw:
    """Return the law of the rounded log-likelihood ratio of the whole arm sequence.

    Args:
        sampler: of the decisions, with its horizon.
        tables: rewards of both inputs by arm and pull, shape (2, 2, rounds or more).
        step: of the ratio, above 0.
        width: outputs whose ratio ever reaches it, either way, are absorbed at that end.
        most_pulls: an output is cut when arm 1 has more pulls than this; none by default.

    Raises:
        InputError: other than two inputs and two arms, or wrong rewards.
    """
    if tables.shape[:2] != (2, 2):
        raise InputError(f"tables have shape {tables.shape}; allowed: (2, 2, rounds)")
    start, rounds = sampler.forced_pulls, sampler.rounds
    centres, variances = sampler.centres(tables), sampler.variances()
    most = rounds if most_pulls is None else min(most_pulls, rounds)
    middle = round(width / step)
    # The first and the last cell absorb, and so does the last row.
    masses = np.zeros((most + 2, 2, 2 * middle + 1))
    ranges = np.full((most + 2, 2), middle)
    row = min(start, most + 1)
    masses[row, :, middle], ranges[row, 1] = 1.0, middle + 1
    dither = 0.0
    for t in range(2 * start, rounds):
        dither = (dither + GOLDEN) % 1.0
        pulls = np.arange(start, min(t - start, most) + 1)
        spread = np.sqrt(variances[pulls] + variances[t - pulls])
        scores = (centres[:, 0, pulls] - centres[:, 1, t - pulls]) / spread
        chances = np.stack([log_ndtr(scores), log_ndtr(-scores)])
        moves = np.floor((chances[:, 1] - chances[:, 0]) / step + dither).astype(np.int64)
        _play_round(masses, ranges, start, np.exp(chances), moves)
    total = np.asarray(masses.sum(axis=0), np.float64)
    ratios = step * np.arange(-middle, middle + 1, dtype=np.float64)
    return LossLaw(ratios, total[0], total[1])


@njit
def _play_round(masses, ranges, start, chances, moves):
    """Play one round in place: a row gets its mass that stays and that of the row below it.

    Args:
        masses: by n_1, input and cell.
        ranges: by n_1, first inner cell with mass and first one after.
        start: smallest n_1 with mass.
        chances: of arm 1 and of arm 2, by input and by n_1 from ``start`` on.
        moves: cells by which the ratio moves, by the arm pulled and by n_1.
    """
    rows = chances.shape[2]
    buffer = np.zeros((2, masses.shape[2]))
    certain = np.ones(2)
    for offset in range(rows, -1, -1):
        row = start + offset
        if offset < rows:
            low, high = _add(
                masses[row], ranges[row], chances[1, :, offset], moves[1, offset], buffer
            )
        else:
            low, high = _add(masses[row], ranges[row], certain, 0, buffer)
        if offset > 0:
            factors, move = chances[0, :, offset - 1], moves[0, offset - 1]
            first, after = _add(masses[row - 1], ranges[row - 1], factors, move, buffer)
            low, high = min(low, first), max(high, after)
        _keep(masses[row], ranges[row], buffer, low, high)


@njit
def _add(source, cells, factors, move, buffer):
    """Add the source's mass, times the input's factor, to the buffer, so many cells further.

    Returns the inner cells that it reaches: the first one and the first one after; if it reaches
    none, the end of the buffer and its beginning.
    """
    last = buffer.shape[1] - 1
    low, high = cells[0], cells[1]
    first, after = min(max(low, 1 - move), high), max(min(high, last - move), low)
    for i in range(2):
        factor = factors[i]
        buffer[i, 0] += factor * (source[i, 0] + source[i, low:first].sum())
        buffer[i, last] += factor * (source[i, last] + source[i, after:high].sum())
        if first < after:
            target, origin = buffer[i, first + move : after + move], source[i, first:after]
            for k in range(origin.size):
                target[k] += factor * origin[k]
    return (first + move, after + move) if first < after else (last, 0)


@njit
def _keep(row, cells, buffer, low, high):
    """Store the buffer as the row and empty it; outermost cells that hardly have mass go."""
    last = buffer.shape[1] - 1
    row[:, cells[0] : cells[1]] = 0.0
    while low < high and max(buffer[0, low], buffer[1, low]) < _VANISHING:
        for i in range(2):
            buffer[i, 0] += buffer[i, low]
            buffer[i, low] = 0.0
        low += 1
    while low < high and max(buffer[0, high - 1], buffer[1, high - 1]) < _VANISHING:
        for i in range(2):
            buffer[i, last] += buffer[i, high - 1]
            buffer[i, high - 1] = 0.0
        high -= 1
    for i in range(2):
        row[i, 0], row[i, last] = buffer[i, 0], buffer[i, last]
        buffer[i, 0], buffer[i, last] = 0.0, 0.0
        if low < high:
            row[i, low:high] = buffer[i, low:high]
            buffer[i, low:high] = 0.0
    cells[0], cells[1] = low, max(low, high)
