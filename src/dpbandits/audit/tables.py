"""Neighbouring inputs of an audit: fixed tables of rewards that differ in one place.

In a table by pulls x[i][n] is the reward of the n-th pull of arm i, in a table by rounds that of
arm i in round n. Arms, pulls and rounds are numbered from 1 in words, from 0 in arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.bandits.draws import AFTER, FIRST
from dpbandits.errors import InputError

PULL_TABLE, ROUND, LOCAL = "pull table", "round", "local"

MAXIMAL_CELLS = 10_000_000


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables of rewards, x and x'. Make one with ``make_pair``.

    Attributes:
        first: x, one row an arm; shape (K, N).
        second: x', of the same shape.
        after: reward of each arm beyond its row, shape (K,).
        words: both tables in words.
        arm: the arm whose reward differs; the first one where a whole round does.
        notion: ``pull table`` or ``round``.
    """

    first: tuple[tuple[float, ...], ...]
    second: tuple[tuple[float, ...], ...]
    after: tuple[float, ...]
    words: str
    arm: int
    notion: str = PULL_TABLE

    @property
    def arms(self) -> int:
        """Number of arms K."""
        return len(self.first)

    @property
    def reversed(self) -> "Pair":
        """The pair with x and x' exchanged."""
        return Pair(self.second, self.first, self.after, self.words, self.arm, self.notion)

    def rows(self, second: bool) -> NDArray[np.float64]:
        """Return a new array of x, or of x', as kernels draw from it; shape (K, 2 + N)."""
        rewards = np.array(self.second if second else self.first)
        rows = np.zeros((self.arms, FIRST + rewards.shape[1]))
        rows[:, AFTER], rows[:, FIRST:] = self.after, rewards
        return rows

    def describe(self) -> dict[str, Any]:
        """Return what names the pair in seeds and caches."""
        return {"x": self.first, "x'": self.second, "after": self.after, "notion": self.notion}


def make_pair(
    first: ArrayLike,
    second: ArrayLike,
    *,
    after: Sequence[float] | None = None,
    words: str = "",
    notion: str = PULL_TABLE,
) -> Pair:
    """Return two neighbouring tables, validated.

    Args:
        first: x, rewards from 0 to 1, one row an arm; shape (K, N) with K >= 2 and N >= 1.
        second: x', of the same shape; it differs in one cell, or for ``round`` in one column.
        after: reward of each arm beyond its row, shape (K,); by default the last of its row.
        words: the pair in words; by default the cell that differs and the tables.
        notion: ``pull table`` or ``round``.

    Raises:
        InputError: wrong shapes, rewards outside [0, 1], or tables that are no neighbours.
    """
    if notion not in (PULL_TABLE, ROUND):
        raise InputError(f"notion is {notion!r}; allowed: {PULL_TABLE}, {ROUND}")
    tables = [_table(name, values) for name, values in (("x", first), ("x'", second))]
    if tables[0].shape != tables[1].shape:
        shapes = " and ".join(" x ".join(map(str, table.shape)) for table in tables)
        raise InputError(f"tables x and x' have shapes {shapes}; allowed: one shape")
    beyond = _beyond(tables[0][:, -1] if after is None else after, len(tables[0]))
    differs = tables[0] != tables[1]
    places = differs.sum() if notion == PULL_TABLE else differs.any(axis=0).sum()
    if places > 1:
        what = "cells" if notion == PULL_TABLE else "rounds"
        raise InputError(f"tables x and x' differ in {places} {what}; allowed: one, or none")
    x, other = (tuple(tuple(map(float, row)) for row in table) for table in tables)
    arm = int(differs.any(axis=1).argmax())
    return Pair(x, other, tuple(map(float, beyond)), words or _words(x, other), arm, notion)


def _table(name: str, values: ArrayLike) -> NDArray[np.float64]:
    allowed = "allowed: one row of rewards an arm, at least 2 arms, all rows of one length"
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"table {name} is no table of numbers; {allowed}") from None
    if table.ndim != 2 or table.shape[0] < 2 or not 1 <= table.size <= MAXIMAL_CELLS:
        raise InputError(f"table {name} has shape {' x '.join(map(str, table.shape))}; {allowed}")
    _require_rewards(f"table {name}", table)
    return table


def _beyond(values: ArrayLike, arms: int) -> NDArray[np.float64]:
    beyond = np.asarray(values, dtype=np.float64)
    if beyond.shape != (arms,):
        raise InputError(f"after has {beyond.size} rewards; allowed: one an arm, {arms}")
    _require_rewards("after", beyond)
    return beyond


def _require_rewards(name: str, rewards: NDArray[np.float64]) -> None:
    outside = rewards[~((rewards >= 0.0) & (rewards <= 1.0))]
    if outside.size:
        raise InputError(f"{name} has the reward {outside[0]:.6g}; allowed: 0 to 1")


def _words(x: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> str:
    """Return both tables in words, in full where they are short."""
    changed = [
        f"reward {n + 1} of arm {arm + 1} is {a:g} or {b:g}"
        for arm, rows in enumerate(zip(x, other, strict=True))
        for n, (a, b) in enumerate(zip(*rows, strict=True))
        if a != b
    ]
    rows = [
        f"arm {arm + 1} pays {' '.join(f'{reward:g}' for reward in row[:16])}"
        + (" ..." if len(row) > 16 else "")
        for arm, row in enumerate(x)
    ]
    return f"{', '.join(rows)}; {', '.join(changed) or 'x and x-prime are equal'}"
