"""The winner of every question, where chance is excluded; ties elsewhere.

One algorithm is the winner where the hypothesis that another is at least as good is rejected. The
p-value of a question is that of the closest competitor (Welch's test, one-sided), times the number
of competitors, since the candidate is the one of the smallest score. Over the whole map the false
discovery rate is controlled by Benjamini and Yekutieli (2001), whatever the dependence: of the
winners that are named, an expected share of at most ``RATE`` is wrong.

The base of some logarithms is not settled. A winner has the smaller score whichever base itself and
each competitor have: the p-value of a pair is the largest over the bases of both.
"""

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import false_discovery_control

from dpbandits.comparisons.choosing.players import CLASSES, LOGARITHMS, OTHERS
from dpbandits.comparisons.choosing.scores import SETTING

RATE = 0.05
"""False discovery rate of a map: expected share of wrong winners among those that are named."""

WINNER, TIE = "winner", "tie"

INTERPRETATIONS = ("default", *LOGARITHMS)
"""Bases that the ranking is asked with: each algorithm's default, or one base for all."""


def winners(means: pd.DataFrame, rate: float = RATE) -> pd.DataFrame:
    """Return one row for each class of privacy and setting that two algorithms or more played.

    Columns: class, arms, horizon, epsilon, verdict (``winner`` or ``tie``), first and second (the
    algorithms of the smallest scores by their default logarithms), score and second_score, margin
    (their ratio), q (the level of the false discovery rate at which the first is a winner whatever
    the logarithms), tied (the first, and all that are not shown to be worse at the level that the
    winners of the map meet), left_out (what was played elsewhere alone). ``default``, ``base2`` and
    ``natural`` name the winner with these logarithms alone, empty where there is none.

    Questions that not all were played at have a false discovery rate of their own.

    Args:
        means: as ``scores.mean_scores`` has them.
        rate: false discovery rate over all rows.
    """
    private = means[means["epsilon"].notna()]
    found = []
    for name, kinds in CLASSES.items():
        own = private[private["kind"].isin(kinds)]
        for setting, field in own.groupby(SETTING, sort=True):
            if field["algorithm"].nunique() > 1:
                everyone = _played(own[own["epsilon"] == setting[2]])
                left_out = ", ".join(sorted(everyone - _played(field)))
                names = {"class": name, **dict(zip(SETTING, setting, strict=True))}
                found.append({**names, **_first(field), "left_out": left_out})
    table = pd.DataFrame(found)
    if table.empty:
        return table
    family = table["left_out"] == ""
    for key in INTERPRETATIONS:
        firsts, p_values = table.pop(f"first_{key}"), table.pop(f"p_{key}")
        table[key] = firsts.where(_discovery(p_values, family) <= rate, "")
    table["q"] = _discovery(table["p"], family)
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


def with_logarithm(field: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the rows of one setting with some logarithms, one for each algorithm.

    Args:
        field: rows of one setting.
        key: ``default``, or a base that every algorithm has that was played with it.
    """
    other = field[field["interpretation"] == f"log={key}"]
    is_usual = ~field["interpretation"].isin(OTHERS)
    usual = field[is_usual & ~field["algorithm"].isin(other["algorithm"])]
    return pd.concat([usual, other]).sort_values(["score", "algorithm"])


def _discovery(p_values: pd.Series, family: pd.Series) -> pd.Series:
    """Return the false discovery rates at which the rows of each family are rejected."""
    return p_values.groupby(family).transform(
        lambda own: false_discovery_control(own.to_numpy(np.float64), method="by")
    )


def _played(field: pd.DataFrame) -> set[str]:
    """Return the algorithms, each by itself for every logarithm that it was played with."""
    others = field["interpretation"].where(field["interpretation"].isin(OTHERS), "")
    return set((field["algorithm"] + " " + others).str.strip())


def _first(field: pd.DataFrame) -> dict[str, object]:
    """Return what is known of one question."""
    usual = with_logarithm(field, "default")
    first, second = usual.iloc[0], usual.iloc[1]
    answer = {
        "first": first["algorithm"],
        "second": second["algorithm"],
        "score": first["score"],
        "second_score": second["score"],
        "margin": second["score"] / first["score"] if first["score"] > 0.0 else np.nan,
    }
    for key in INTERPRETATIONS:
        ranked = with_logarithm(field, key)
        answer[f"first_{key}"] = ranked["algorithm"].iloc[0]
        answer[f"p_{key}"] = float(_p_values(ranked.iloc[:1], ranked.iloc[1:]).max())
    is_first = field["algorithm"] == first["algorithm"]
    others = _p_values(field[is_first], field[~is_first]).reindex(usual["algorithm"].iloc[1:])
    return {**answer, "p": float(others.max()), "others": others.to_dict()}


def _p_values(candidate: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """Return, for each other algorithm, the largest p-value over its rows and the candidate's."""
    pairs = [worse(row, others) for _, row in candidate.iterrows()]
    largest = pd.Series(np.max(pairs, axis=0), index=others["algorithm"]).groupby(level=0).max()
    return (len(largest) * largest).clip(upper=1.0)


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
