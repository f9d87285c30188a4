"""The winner of every question, where chance is excluded; ties elsewhere.

One algorithm is the winner where the hypothesis that another is at least as good is rejected. The
p-value of a question is that of the closest competitor (Welch's test, one-sided), times the number
of competitors, since the candidate is the one of the smallest score. Over the whole map the false
discovery rate is controlled by Benjamini and Yekutieli (2001), whatever the dependence: of the
winners that are named, an expected share of at most ``RATE`` is wrong.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import false_discovery_control

from dpbandits.comparisons.choosing.players import CLASSES, PLAYERS
from dpbandits.comparisons.choosing.scores import SETTING

RATE = 0.05
"""False discovery rate of a map: expected share of wrong winners among those that are named."""

WINNER, TIE = "winner", "tie"


def winners(means: pd.DataFrame, rate: float = RATE) -> pd.DataFrame:
    """Return one row for each class of privacy and setting that two algorithms or more played.

    Columns: class, arms, horizon, epsilon, verdict (``winner`` or ``tie``), first and second (the
    algorithms of the smallest scores), score and second_score, margin (their ratio), q (the level
    of the false discovery rate at which there is a winner), tied (the first, and all that are not
    shown to be worse at the level that the winners of the map meet), left_out (those that were not
    played).

    Args:
        means: as ``scores.mean_scores`` has them.
        rate: false discovery rate over all rows.
    """
    private = means[means["epsilon"].notna()].sort_values(["score", "algorithm"])
    found = []
    for name, kinds in CLASSES.items():
        own = private[private["kind"].isin(kinds)]
        for setting, field in own.groupby(SETTING, sort=True):
            met = set(own["algorithm"][own["epsilon"] == setting[2]])
            if len(field) > 1:
                found.append(
                    {"class": name, **dict(zip(SETTING, setting, strict=True))} | _first(field, met)
                )
    table = pd.DataFrame(found)
    if table.empty:
        return table
    table["q"] = false_discovery_control(table["p"], method="by")
    table["verdict"] = np.where(table["q"] <= rate, WINNER, TIE)
    won = table["p"][table["verdict"] == WINNER]
    # Without any winner, the level that the first one would have needed.
    steps = len(table) * (1.0 / np.arange(1, len(table) + 1)).sum()
    threshold = float(won.max()) if len(won) else rate / steps
    table["tied"] = [
        " ".join([first, *(name for name, p_value in others.items() if p_value > threshold)])
        for first, others in zip(table["first"], table.pop("others"), strict=True)
    ]
    return table.drop(columns="p")


def _first(field: pd.DataFrame, met: Iterable[str]) -> dict[str, object]:
    """Return what is known of one question; the field is sorted by score."""
    first, second = field.iloc[0], field.iloc[1]
    p_values = np.minimum(1.0, (len(field) - 1) * worse(first, field.iloc[1:]))
    return {
        "first": first["algorithm"],
        "second": second["algorithm"],
        "score": first["score"],
        "second_score": second["score"],
        "margin": second["score"] / first["score"] if first["score"] > 0.0 else np.nan,
        "p": float(p_values.max()),
        "others": dict(zip(field["algorithm"].iloc[1:], p_values.tolist(), strict=True)),
        "left_out": " ".join(each for each in PLAYERS if each in set(met) - {*field["algorithm"]}),
    }


def worse(first: pd.Series, others: pd.DataFrame) -> np.ndarray:
    """Return the one-sided p-value of each other algorithm being no worse than the first (Welch).

    Args:
        first: its score, variance and degrees.
        others: the same of the others.
    """
    one, many = float(first["variance"]), others["variance"].to_numpy(np.float64)
    variance = one + many
    parts = one**2 / float(first["degrees"]) + many**2 / others["degrees"].to_numpy(np.float64)
    gap = others["score"].to_numpy(np.float64) - float(first["score"])
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = stdtr(variance**2 / parts, -gap / np.sqrt(variance))
    return np.where(variance > 0.0, chance, np.where(gap > 0.0, 0.0, 1.0))
