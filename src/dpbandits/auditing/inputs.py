"""Neighbouring inputs of an audit: tables of rewards that differ in one place.

In a table by pulls x[i][n] is the reward of the n-th pull of arm i, in a table by rounds that of
arm i in round n. Arms, pulls and rounds are numbered from 1 in words, from 0 in arrays.

The loss at a decision is the shift of a centre over the noise. It is large where an early reward
differs, where that arm is rarely pulled again, and where the others act as known thresholds.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.auditing.events import Values
from dpbandits.bandits import Bernoulli, LinearBandit
from dpbandits.bandits.draws import AFTER, FIRST, TABLE, draw_reward_sum
from dpbandits.bandits.instances import require_rewards
from dpbandits.errors import InputError

PULL_TABLE, ROUND, LOCAL = "pull table", "round", "local"


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables of rewards, x and x'. Make one with ``audit_pair``.

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

    def rows(self, second: bool) -> Values:
        """Return a new array of x, or of x', as kernels draw from it; shape (K, 2 + N)."""
        rewards = np.array(self.second if second else self.first)
        rows = np.zeros((self.arms, FIRST + rewards.shape[1]))
        rows[:, AFTER], rows[:, FIRST:] = self.after, rewards
        return rows

    def tables(self, rounds: int) -> Values:
        """Return the first rewards of every arm in x and in x', shape (2, K, rounds)."""
        tables = np.empty((2, self.arms, rounds))
        tables[:] = np.array(self.after)[:, None]
        given = np.array([self.first, self.second])[..., :rounds]
        tables[..., : given.shape[-1]] = given
        return tables

    def describe(self) -> dict[str, Any]:
        """Return what names the pair in seeds and caches."""
        return {"x": self.first, "x'": self.second, "after": self.after, "notion": self.notion}


def audit_pair(
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
    beyond = np.asarray(tables[0][:, -1] if after is None else after, dtype=np.float64)
    if beyond.shape != (len(tables[0]),):
        raise InputError(f"after has {beyond.size} rewards; allowed: one an arm, {len(tables[0])}")
    require_rewards("after", beyond)
    differs = tables[0] != tables[1]
    places = differs.sum() if notion == PULL_TABLE else differs.any(axis=0).sum()
    if places > 1:
        what = "cells" if notion == PULL_TABLE else "rounds"
        raise InputError(f"tables x and x' differ in {places} {what}; allowed: one, or none")
    x, other = (tuple(tuple(map(float, row)) for row in table) for table in tables)
    arm = int(differs.any(axis=1).argmax())
    return Pair(x, other, tuple(map(float, beyond)), words or _words(x, other), arm, notion)


def _table(name: str, values: ArrayLike) -> Values:
    allowed = "allowed: one row of rewards an arm, at least 2 arms, all rows of one length"
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"table {name} is no table of numbers; {allowed}") from None
    if table.ndim != 2 or table.shape[0] < 2 or not 1 <= table.size <= 10_000_000:
        raise InputError(f"table {name} has shape {' x '.join(map(str, table.shape))}; {allowed}")
    return require_rewards(f"table {name}", table)


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


@dataclass(frozen=True)
class TableBandit(LinearBandit):
    """A linear bandit whose rewards are the rows of a table, as kernels draw from them.

    Of the bandit, algorithms see the features alone.
    """

    laws: NDArray[np.int64] = field(kw_only=True, compare=False)
    law_parameters: Values = field(kw_only=True, compare=False)

    def draw(self, arm: int, generator: np.random.Generator) -> float:
        """Return the next reward of an arm, in plain Python."""
        return self.draw_sum(arm, 1, generator)

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        """Return the sum of the next rewards of an arm, in plain Python."""
        return float(draw_reward_sum.py_func(TABLE, self.law_parameters[arm], count, generator))


def table_bandit(features: ArrayLike | None, pair: Pair, second: bool = False) -> TableBandit:
    """Return the instance that pays x, or x'."""
    rows = np.eye(pair.arms) if features is None else np.array(features)
    if len(rows) != pair.arms or not np.isfinite(rows).all() or not rows.any():
        raise InputError(
            f"features have shape {' x '.join(map(str, rows.shape))}; allowed: {pair.arms} rows of "
            "finite numbers of one length, not all 0"
        )
    # The means of the laws are used nowhere: rewards come from the table.
    laws = (Bernoulli(0.5),) * pair.arms
    vectors = tuple(tuple(map(float, row)) for row in rows)
    codes, table = np.full(pair.arms, TABLE), pair.rows(second)
    theta = (0.0,) * rows.shape[1]
    return TableBandit(laws, vectors, theta, laws=codes, law_parameters=table)


def constant(
    level: float, others: float, *, arms: int = 2, pull: int = 1, before: float | None = None
) -> Pair:
    """Return the pair in which arm 1 always pays ``level`` and all others ``others``.

    The given pull of arm 1 pays 0 in x and 1 in x', earlier ones pay ``before``.
    """
    first = level if before is None or pull == 1 else before
    rewards = f"always {level:g}"
    if first != level:
        rewards = f"{first:g} before pull {pull}, {level:g} after"
    words = f"arm 1 {rewards}, {_others(arms)} always {others:g}; reward {pull} of arm 1 is 0 or 1"
    rest = [[others] * pull for _ in range(arms - 1)]
    rows = [[[first] * (pull - 1) + [cell], *rest] for cell in (0.0, 1.0)]
    return audit_pair(*rows, after=[level] + [others] * (arms - 1), words=words)


def hold(zeta: float, horizon: int, *, arms: int = 2) -> Pair:
    """Return two tables that differ in the first reward of arm 1, which then seems to pay less.

    Its later rewards keep it ``zeta`` standard deviations below 1, which all others always pay.
    The sum of the first n rewards of arm 1 follows (n + 1) - zeta sqrt(n + 1) - 1/2 as closely as
    rewards from 0 to 1 allow: a draw has the variance 1/(n + 1).
    """
    row, total = [0.0], 0.5
    for n in range(2, horizon + 1):
        aim = (n + 1) - zeta * math.sqrt(n + 1) - 0.5
        row.append(min(max(aim - total, 0.0), 1.0))
        total += row[-1]
    words = (
        f"rewards of arm 1 sum to about (n + 1) - {zeta:g} sqrt(n + 1) - 1/2 in n pulls, "
        f"{_others(arms)} always 1; reward 1 of arm 1 is 0 or 1"
    )
    rest = [[1.0] * horizon for _ in range(arms - 1)]
    return audit_pair([row, *rest], [[1.0, *row[1:]], *rest], words=words)


def ladder(level: float, arms: int) -> Pair:
    """Return the pair in which the other arms, at least 2, pay a descending ladder from 1 to 0."""
    steps = [1.0 - i / (arms - 2) for i in range(arms - 1)]
    words = (
        f"arm 1 always {level:g}, arms 2 to {arms} from 1 down to 0 in equal steps; "
        f"reward 1 of arm 1 is 0 or 1"
    )
    rest = [[step] for step in steps]
    return audit_pair([[0.0], *rest], [[1.0], *rest], after=[level, *steps], words=words)


def shift(level: float, others: float, *, arms: int = 2) -> Pair:
    """Return the pair by rounds in which all rewards of round 1 are 0 in x and 1 in x'."""
    words = (
        f"from round 2 on arm 1 always {level:g}, {_others(arms)} always {others:g}; "
        f"all rewards of round 1 are 0 or 1"
    )
    after = [level] + [others] * (arms - 1)
    x, other = ([[cell]] * arms for cell in (0.0, 1.0))
    return audit_pair(x, other, after=after, words=words, notion=ROUND)


def search_pairs(notion: str, arms: int, horizon: int) -> Iterator[Pair]:
    """Yield the pairs that a search tries, in a fixed order."""
    levels = (0.0, 0.25, 0.5, 0.75, 1.0)
    for level, others in itertools.product(levels, levels):
        if notion == ROUND:
            yield shift(level, others, arms=arms)
        else:
            # With these begin the first two batches of algorithms whose batches double from 1 on.
            yield from (constant(level, others, arms=arms, pull=pull) for pull in (1, 2))
    if notion == PULL_TABLE:
        for zeta in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
            yield hold(zeta, horizon, arms=arms)
        if arms > 2:
            yield from (ladder(level, arms) for level in levels)


def _others(arms: int) -> str:
    return "arm 2" if arms == 2 else f"arms 2 to {arms}"
