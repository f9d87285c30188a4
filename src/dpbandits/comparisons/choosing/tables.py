"""Rows of the tables: scores of every algorithm, the winners, and what tuning gains."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dpbandits.comparisons.choosing.scores import (
    PLAYERS,
    SETTING,
    family_scores,
    mean_scores,
    winners,
)
from dpbandits.metrics.intervals import LEVEL

Frames = Mapping[str, pd.DataFrame]

TUNED = "m-ts-gaussian"
"""The algorithm whose gain by tuning is shown."""


def _scored(frames: Frames) -> pd.DataFrame:
    return mean_scores(family_scores(pd.concat(frames.values(), ignore_index=True)))


def _named(means: pd.DataFrame) -> pd.DataFrame:
    """Return means with name and class of each algorithm, in the order of the table."""
    order = {each: place for place, each in enumerate(PLAYERS)}
    table = means.assign(name=[PLAYERS[each][0] for each in means["algorithm"]])
    table = table.rename(columns={"kind": "class"})
    table["place"] = table["algorithm"].map(order)
    table = table.sort_values(["arms", "horizon", "place", "epsilon"], ignore_index=True)
    columns = ["algorithm", "name", "class", "variant", "interpretation", *SETTING]
    measured = ["score", "lo", "hi", "price", "worst", "worst_instance", "runs"]
    return table[columns + measured]


def regret(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: mean regret over the families, and the worst.

    An algorithm with an open logarithm has one row for each base. Tuned parameters are the columns
    b, c and alpha, empty for other algorithms.

    Args:
        frames: the comparison, and the logarithms that are no defaults.
    """
    rows = pd.concat(frames.values(), ignore_index=True)
    names = ["algorithm", "interpretation", *SETTING]
    chosen = rows.groupby(names, dropna=False)[["b", "c", "alpha"]].first().reset_index()
    table = _named(_scored(frames)).merge(chosen, on=names, how="left", validate="one_to_one")
    return table.rename(columns={"score": "regret"})


def best_arm(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: mean share of trials that find the best arm.

    Args:
        frames: the comparison of best arms.
    """
    table = _named(_scored(frames))
    success = {"success": 1.0 - table["score"], "lo": 1.0 - table["hi"], "hi": 1.0 - table["lo"]}
    columns = ["price", "worst", "worst_instance", "score"]
    return table.assign(**success).drop(columns=columns)


def winning(frames: Frames) -> pd.DataFrame:
    """Return one row for each class of privacy and setting: its winner, or the tie.

    Args:
        frames: the comparison, of regret with the logarithms that are no defaults, or of best arms.
    """
    table = winners(_scored(frames))
    for column in ("first", "second"):
        table[f"{column}_name"] = [PLAYERS[each][0] for each in table[column]]
    table["best"] = table["first_name"].where(
        table["verdict"] == "winner", "tie: " + table["first_name"]
    )
    return table


def tuning(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting: regret of Modified TS tuned and without pre-pulls.

    Columns beside the setting: b and c that tuning chose, tuned, untuned, and gain, their ratio,
    with a 95 % interval as lo and hi (delta method for the logarithm, Welch).

    Args:
        frames: ``regret`` and ``untuned``.
    """
    rows = frames["regret"]
    rows = rows[rows["algorithm"] == TUNED]
    chosen = rows.groupby(SETTING)[["b", "c"]].first().reset_index()
    tuned, untuned = (mean_scores_of(each) for each in (rows, frames["untuned"]))
    table = tuned.merge(untuned, on=SETTING, suffixes=("_tuned", "_untuned"))
    table = table.merge(chosen, on=SETTING)
    one, other = (
        table[f"variance_{each}"] / table[f"score_{each}"] ** 2 for each in ("tuned", "untuned")
    )
    degrees = (one + other) ** 2 / (
        one**2 / table["degrees_tuned"] + other**2 / table["degrees_untuned"]
    )
    is_equal = table["score_tuned"] == table["score_untuned"]
    half = stdtrit(degrees, 0.5 + LEVEL / 2) * np.sqrt(one + other)
    half = np.where(is_equal, 0.0, half)
    gain = table["score_untuned"] / table["score_tuned"]
    found = {"gain": gain, "lo": gain * np.exp(-half), "hi": gain * np.exp(half)}
    table = table.rename(columns={"score_tuned": "tuned", "score_untuned": "untuned"})
    return table[[*SETTING, "b", "c", "tuned", "untuned"]].assign(**found)


def mean_scores_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score of each setting of one algorithm, without others to compare with."""
    own = family_scores(rows).assign(algorithm=TUNED)
    return mean_scores(own)[[*SETTING, "score", "variance", "degrees"]]


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regret": regret,
    "best-arm": best_arm,
    "winning": winning,
    "tuning": tuning,
}
