"""Rows of the tables: scores of every algorithm, the winners, and what tuning gains."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from dpbandits.comparisons.field import PLAYERS, SETTING
from dpbandits.comparisons.scores import PLANE, family_scores, mean_interval, mean_scores, winners

Frames = Mapping[str, pd.DataFrame]

TUNED = "m-ts-gaussian"
"""The algorithm whose gain by tuning is shown."""


def _families(frames: Frames) -> pd.DataFrame:
    return family_scores(pd.concat(frames.values(), ignore_index=True))


def _named(means: pd.DataFrame, *measured: str) -> pd.DataFrame:
    """Return means with name and class of each algorithm, in the order of the table."""
    order = {algorithm: place for place, algorithm in enumerate(PLAYERS)}
    table = means.assign(name=[PLAYERS[algorithm][0] for algorithm in means["algorithm"]])
    table = table.rename(columns={"kind": "class"})
    table["place"] = table["algorithm"].map(order)
    table = table.sort_values(["arms", "horizon", "place", "epsilon"], ignore_index=True)
    names = ["algorithm", "name", "class", "variant", "interpretation", *SETTING]
    return table[[*names, *measured, "instances", "runs"]]


def regret(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: price of privacy and mean regret.

    An algorithm with an open logarithm has one row for each base. Tuned parameters are the columns
    b, c and alpha, empty for other algorithms.
    """
    rows = pd.concat(frames.values(), ignore_index=True)
    names = ["algorithm", "interpretation", *SETTING]
    chosen = rows.groupby(names, dropna=False)[["b", "c", "alpha"]].first().reset_index()
    means = mean_scores(family_scores(rows)).rename(
        columns={"score": "regret", "lo": "regret_lo", "hi": "regret_hi"}
    )
    means = means.rename(columns={"price_lo": "lo", "price_hi": "hi"})
    table = _named(means, "price", "lo", "hi", "tail", "regret", "regret_lo", "regret_hi")
    return table.merge(chosen, on=names, how="left", validate="one_to_one")


def best_arm(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: mean share of trials that find the best arm.

    The column ``plane`` is the share on twenty arms in two dimensions, empty elsewhere.
    """
    families = _families(frames)
    means = mean_scores(families)
    success = {"success": 1.0 - means["score"], "lo": 1.0 - means["hi"], "hi": 1.0 - means["lo"]}
    table = _named(means.assign(**success), "success", "lo", "hi")
    plane = families[families["instance"] == PLANE]
    names = ["algorithm", *SETTING]
    plane = plane[names].assign(plane=1.0 - plane["score"])
    return table.merge(plane, on=names, how="left", validate="one_to_one")


def winning(frames: Frames) -> pd.DataFrame:
    """Return one row for each class of privacy and setting: its winner, or the tie."""
    table = winners(mean_scores(_families(frames)))
    for column in ("first", "second"):
        table[f"{column}_name"] = [PLAYERS[algorithm][0] for algorithm in table[column]]
    table["best"] = table["first_name"].where(
        table["verdict"] == "winner", "tie: " + table["first_name"]
    )
    return table


def tuning(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting: regret of Modified TS without pre-pulls over the tuned one.

    gain is the geometric mean of the ratios over the instances.
    """
    rows = frames["regret"]
    rows = rows[rows["algorithm"] == TUNED]
    chosen = rows.groupby(SETTING)[["b", "c"]].first().reset_index()
    scales = [
        family_scores(frame).set_index([*SETTING, "instance"])["scale"]
        for frame in (frames["untuned"], rows)
    ]
    ratios = (scales[0] - scales[1]).dropna().groupby(SETTING)
    gains = pd.DataFrame(
        [np.exp(mean_interval(gaps)) for _, gaps in ratios],
        columns=["gain", "lo", "hi"],
        index=pd.MultiIndex.from_tuples([setting for setting, _ in ratios], names=SETTING),
    )
    return chosen.merge(gains.reset_index(), on=SETTING)


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regret": regret,
    "best-arm": best_arm,
    "winning": winning,
    "tuning": tuning,
}
