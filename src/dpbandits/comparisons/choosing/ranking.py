"""The answer to one question: a ranking at the nearest setting that was measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpbandits.comparisons.choosing.players import CLASSES, DESCRIPTIONS, NONE, OTHERS
from dpbandits.comparisons.choosing.scores import SETTING
from dpbandits.comparisons.choosing.winners import INTERPRETATIONS, WINNER
from dpbandits.errors import InputError

BEST, TIED, BEHIND, NOT_PRIVATE = "best", "tied", "behind", "not private"
"""What a ranking says of an algorithm."""

DEPENDS = "best by the default logarithms"
"""What it says of the first where another base may change the winner, or was not played."""


TEXTS = ("variant", "interpretation", "tied", "left_out", *INTERPRETATIONS)
"""Columns of the tables that may be empty texts."""


def read_table(path: Path) -> pd.DataFrame:
    """Return a table of scores or of winners, as it was written.

    Raises:
        InputError: it does not exist.
    """
    if not path.is_file():
        raise InputError(
            f"{path}: does not exist; allowed: a project with the comparison, built by snakemake "
            f"extras (--scale) or published"
        )
    frame = pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str))
    return frame.fillna({name: "" for name in TEXTS if name in frame})


@dataclass(frozen=True)
class Question:
    """What someone asks.

    Attributes:
        arms: number of arms K, at least 2.
        horizon: number of rounds, or of pulls for best arms, at least 1.
        epsilon: budget, above 0.
        privacy: class of privacy, a key of ``players.CLASSES``.
    """

    arms: int
    horizon: int
    epsilon: float
    privacy: str = "pure"

    def __post_init__(self) -> None:
        """Raise InputError for what is no question."""
        if self.privacy not in CLASSES:
            raise InputError.unknown("class", self.privacy, CLASSES)
        for key, least in (("arms", 2), ("horizon", 1)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{key} is {value!r}; allowed: a whole number of at least {least}")
        is_number = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool)
        if not is_number or not 0.0 < self.epsilon < math.inf:
            raise InputError(f"epsilon is {self.epsilon!r}; allowed: a number above 0")


def nearest(rows: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the rows of the setting that is nearest to a question, by ratios.

    The number of arms comes first, then the horizon, then the budget, where they have one.

    Args:
        rows: one row for each setting and algorithm, at least one.
        question: what is asked.
    """
    for key in SETTING:
        if rows[key].notna().any():
            asked = float(getattr(question, key))
            distance = (rows[key] / asked).map(math.log).abs()
            rows = rows[distance == distance.min()]
            # Between two that are equally near the smaller one, which promises less.
            rows = rows[rows[key] == rows[key].min()]
    return rows


def outside(table: pd.DataFrame, question: Question) -> list[str]:
    """Return what of a question lies outside of what was measured, in words."""
    words = []
    for key in SETTING:
        asked, values = getattr(question, key), table[key].dropna()
        if not values.min() <= asked <= values.max():
            ends = f"{values.min():,g} to {values.max():,g}"
            words.append(f"{key} {asked:,g} (measured: {ends})")
    return words


def ranked(
    table: pd.DataFrame, winners: pd.DataFrame, question: Question, measure: str
) -> pd.DataFrame:
    """Return the ranking at the nearest setting, then what is not private there.

    Columns: place, algorithm, name, variant, verdict (``best`` whatever the open logarithms,
    ``DEPENDS``, ``tied`` with the best, ``behind`` or ``not private``), the measure with its 95 %
    interval as lo and hi, what else the table has, and the setting. Algorithms have their default
    logarithms.

    Args:
        table: one row for each setting and algorithm, as ``tables.regret`` has them.
        winners: as ``winners.winners`` has them.
        question: what is asked.
        measure: ``regret``, which is to be small, or ``success``, which is to be large.

    Raises:
        InputError: no algorithm of the class was measured.
    """
    table = table[~table["interpretation"].isin(OTHERS)]
    met = table[table["class"].isin(CLASSES[question.privacy]) & table["epsilon"].notna()]
    if met.empty:
        allowed = ", ".join(sorted(set(table["class"]) - {NONE}))
        raise InputError(
            f"class is {question.privacy!r}, of which no algorithm was measured; allowed: {allowed}"
        )
    own = nearest(met, question)
    setting = {key: own[key].iloc[0] for key in SETTING}
    is_here = (table["arms"] == setting["arms"]) & (table["horizon"] == setting["horizon"])
    best_first = [measure == "regret", True]
    own = own.sort_values([measure, "algorithm"], ascending=best_first).assign(verdict=BEHIND)
    row = _row(winners, {**setting, "class": question.privacy})
    tied = str(row["tied"]).split() if row else own["algorithm"].tolist()
    own.loc[own["algorithm"].isin(tied), "verdict"] = TIED
    if row and row["default"]:
        is_sure = row["verdict"] == WINNER and "log=" not in str(row["left_out"])
        own.loc[own["algorithm"] == row["default"], "verdict"] = BEST if is_sure else DEPENDS
    own.insert(0, "place", range(1, len(own) + 1))
    free = table[is_here & (table["class"] == NONE)]
    free = free.sort_values([measure, "algorithm"], ascending=best_first)
    answer: pd.DataFrame = pd.concat([own, free.assign(verdict=NOT_PRIVATE)], ignore_index=True)
    return answer


def _row(winners: pd.DataFrame, where: Mapping[str, object]) -> dict[str, object]:
    """Return the one row of the winners with these values; empty where there is none."""
    if winners.empty:
        return {}
    for key, value in where.items():
        winners = winners[winners[key] == value]
    return {str(key): value for key, value in winners.iloc[0].items()} if len(winners) else {}


def described(question: Question) -> str:
    """Return a question in words."""
    asked = f"K = {question.arms}, T = {question.horizon:,}, epsilon = {question.epsilon:g}"
    return f"{asked}, {DESCRIPTIONS[question.privacy]}"
