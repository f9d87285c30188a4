"""Mean scores over families of instances: regret, or the share of trials that miss the best arm."""

import math

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dpbandits.comparisons.choosing.players import NONE, PLAYERS
from dpbandits.reporting.lines import LEVEL

SETTING = ["arms", "horizon", "epsilon"]
"""What a question is: number of arms, horizon or budget of pulls, and budget epsilon."""

REGRET, MISSED = "pseudo_regret", "success"
"""Metrics that are compared; of successes it is the share of trials that miss the best arm."""

_WHO = ["algorithm", "variant", "interpretation"]


FULL_FIELD = 0.8
"""Share of the algorithms that an answer needs; the longest horizons have the fastest alone."""


def full_field(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of those horizons at which nearly all algorithms were played, for each K.

    Args:
        table: one row for each setting and algorithm.
    """
    played = table.groupby(["arms", "horizon"])["algorithm"].transform("nunique")
    most = played.groupby(table["arms"]).transform("max")
    return table[played >= FULL_FIELD * most]


def family_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each setting, algorithm and family: score, its variance, and runs.

    The smaller score is the better one. ``variance`` is that of the mean; of trials it is taken at
    the share after one more success and one more failure, so that it is never 0.

    Args:
        rows: results in the long form of ``engine.results``; their tags are those of ``SETTING``
            and ``instance``, where epsilon is empty for algorithms that have no budget.
    """
    groups = rows.groupby([*SETTING, *_WHO, "instance"], dropna=False, sort=False)
    if (rows["metric"] == MISSED).all():
        counted = groups[["value", "trials"]].sum().reset_index()
        runs = counted.pop("trials")
        hits = counted.pop("value")
        share = (runs - hits + 1.0) / (runs + 2.0)
        missed = {"score": 1.0 - hits / runs, "variance": share * (1.0 - share) / runs}
        return counted.assign(**missed, runs=runs)
    found = groups["value"].agg(["mean", "var", "size"]).reset_index()
    found = found.rename(columns={"mean": "score", "var": "variance", "size": "runs"})
    return found.assign(variance=found["variance"] / found["runs"])


def mean_scores(families: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each setting and algorithm: the mean of its scores, families alike.

    Columns beside the names: score, lo and hi (a 95 % interval, Welch and Satterthwaite), variance
    and degrees of the mean, runs; of the family with the largest score over that of the best
    algorithm without privacy: worst_instance, and worst, that ratio; price, the ratio of the means.

    Args:
        families: as ``family_scores`` has them.
    """
    kept = families.assign(kind=[PLAYERS[each][1] for each in families["algorithm"]])
    open_scores = kept[kept["kind"] == NONE]
    base = open_scores.groupby(["arms", "horizon", "instance"])["score"].min().rename("base")
    kept = kept.merge(base, on=["arms", "horizon", "instance"], how="left")
    kept["ratio"] = _ratio(kept["score"], kept["base"])
    groups = kept.groupby([*SETTING, *_WHO, "kind"], dropna=False, sort=False)
    found = pd.DataFrame([_mean_of(names, own) for names, own in groups])
    open_means = found[found["kind"] == NONE].groupby(["arms", "horizon"])["score"].min()
    found = found.merge(open_means.rename("base"), on=["arms", "horizon"], how="left")
    found["price"] = _ratio(found["score"], found.pop("base"))
    return found


def _ratio(score: pd.Series, base: pd.Series) -> pd.Series:
    """Return a ratio; nothing where the best algorithm without privacy has score 0."""
    return score / base.where(base > 0.0)


def _mean_of(names: tuple[object, ...], own: pd.DataFrame) -> dict[str, object]:
    """Return the mean over the families of one setting and algorithm."""
    count = len(own)
    parts = own["variance"].to_numpy() / count**2
    variance, score = float(parts.sum()), float(own["score"].mean())
    degrees = _degrees(parts, own["runs"].to_numpy())
    half = float(stdtrit(degrees, 0.5 + LEVEL / 2)) * math.sqrt(variance)
    worst = own.iloc[int(own["ratio"].fillna(-math.inf).to_numpy().argmax())]
    return {
        **dict(zip([*SETTING, *_WHO, "kind"], names, strict=True)),
        "score": score,
        "lo": score - half,
        "hi": score + half,
        "variance": variance,
        "degrees": degrees,
        "runs": int(own["runs"].min()),
        "worst": float(worst["ratio"]),
        "worst_instance": worst["instance"],
    }


def _degrees(parts: np.ndarray, runs: np.ndarray) -> float:
    """Return the degrees of freedom of a sum of variances (Welch and Satterthwaite)."""
    total = float(parts.sum())
    return total**2 / float((parts**2 / (runs - 1)).sum()) if total > 0.0 else 1.0
