"""Scores over instances, the winner of every question, and the tables of both.

The score of an algorithm is the geometric mean of its regret over the instances, seven families by
design and others drawn at random, of which every one counts alike. Two algorithms are compared
instance by instance (paired t), so that intervals speak of arms like these, not of runs on fixed
arms. Of best arms the score is the mean share of trials that miss, over families by design:
intervals and comparisons speak of trials on these.

One algorithm is the winner where the hypothesis that another is at least as good is rejected. The
p-value of a setting is that of the closest competitor (one-sided), times the number of
competitors, since the candidate is the one of the smallest score. Over the whole map the false
discovery rate is controlled by Benjamini and Yekutieli (2001), whatever the dependence: of the
winners that are named, an expected share of at most ``RATE`` is wrong.

The base of some logarithms is not settled. One rule ranks: each algorithm has the base that its
paper prints, or, where none is printed, its least favourable. A winner has the smaller score
whichever base itself and each competitor have: the p-value of a pair is the largest over the bases
of both.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import false_discovery_control, hypergeom

from dpbandits.comparisons.field import CLASSES, NAMES, NONE, PLAYERS, PRINTED, SETTING, TWINS
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import mean_interval, rate_interval

PLANE = "two-dimensions"
"""Instance of best arms that is shown beside the others, and is no part of their score."""

TAIL = 0.9
"""Share of the instances on which the ratio to the best without a budget is below ``tail``."""

LEAST = 1.0
"""Least regret, one reward: ratios of smaller ones say nothing."""

_WHO = ["algorithm", "variant", "interpretation"]


def family_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each setting, algorithm and instance: its score and number of runs.

    The smaller score is the better one. ``scale`` is what is averaged over instances: the logarithm
    of regret, or the share of misses itself.
    """
    groups = rows.groupby([*SETTING, *_WHO, "instance"], dropna=False, sort=False)
    if (rows["metric"] == "success").all():
        counted = groups[["value", "trials"]].sum().reset_index()
        runs, hits = counted.pop("trials"), counted.pop("value")
        scores = counted.assign(score=1.0 - hits / runs, runs=runs)
        return scores.assign(scale=scores["score"])
    scores = groups["value"].agg(score="mean", runs="size").reset_index()
    return scores.assign(scale=np.log(scores["score"].clip(lower=LEAST)))


def mean_scores(families: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each setting and algorithm: its score over the instances.

    score is the mean, lo and hi its 95 % interval, scales the scale of each instance by name,
    misses and trials the sums over instances. Of regret, compared with the best algorithm that
    keeps no budget: price, the geometric mean of the ratios, with its interval, and tail, which one
    ratio in ten exceeds. ``ranked`` says which base of an algorithm's logarithm the ranking is by.

    Intervals of regret are over instances (t). Those of shares are over trials on these instances
    (Clopper and Pearson for the sum, which varies less than if all had the mean share: Hoeffding,
    1956).
    """
    families = families[families["instance"] != PLANE].sort_values("instance", kind="stable")
    groups = families.groupby([*SETTING, *_WHO], dropna=False, sort=False)
    played = groups["instance"].agg(tuple).groupby("arms").nunique()
    if (played > 1).any():
        arms = ", ".join(map(str, played.index[played > 1]))
        raise InputError(
            f"arms {arms}: not all are played on the same instances; allowed: the same"
        )
    is_regret = bool((families["scale"] != families["score"]).any())
    rows = []
    for names, group in groups:
        named = dict(zip([*SETTING, *_WHO], names, strict=True))
        trials = int(group["runs"].sum())
        misses = np.nan if is_regret else round((group["score"] * group["runs"]).sum())
        interval = mean_interval(group["score"]) if is_regret else rate_interval(misses, trials)
        score, lo, hi = map(float, interval)
        measured = {"score": score, "lo": lo, "hi": hi, "misses": misses, "trials": trials}
        counts = {"instances": len(group), "runs": int(group["runs"].min())}
        kind, scales = PLAYERS[group["algorithm"].iloc[0]][1], group["scale"].to_numpy(float)
        rows.append({**named, "kind": kind, **measured, "scales": scales, **counts})
    means = pd.DataFrame(rows)
    means["ranked"] = means.index.isin(_by_rule(means).index)
    is_free = (means["kind"] == NONE) & is_regret
    level = means["scales"][is_free].map(np.mean)
    best = level.groupby([means["arms"], means["horizon"]]).idxmin()
    bases = means.loc[best].set_index(["arms", "horizon"])["scales"].rename("base")
    ratios = means["scales"] - means.join(bases, on=["arms", "horizon"])["base"]
    prices = [np.exp([*mean_interval(each), np.quantile(each, TAIL)]) for each in ratios]
    columns = ["price", "price_lo", "price_hi", "tail"]
    return means.join(pd.DataFrame(prices, means.index, columns))


RATE = 0.05
"""False discovery rate of a map: expected share of wrong winners among those that are named."""

WINNER, TIE = "winner", "tie"


def _by_rule(means: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each setting and algorithm: the printed base, or the least favourable."""
    is_printed = means["interpretation"] == means["algorithm"].map(PRINTED)
    order = means.assign(is_printed=is_printed, level=means["scales"].map(np.mean))
    order = order.sort_values(["is_printed", "level"], ascending=False, kind="stable")
    return order.drop_duplicates([*SETTING, "algorithm"])


def winners(means: pd.DataFrame, rate: float = RATE) -> pd.DataFrame:
    """Return one row for each class of privacy and setting that all of the class played.

    first and second have the smallest scores by the ranked logarithms, margin is their ratio with
    its 95 % interval, q the level of the false discovery rate at which the first is a winner
    whatever the logarithms, tied the first and all that are not shown to be worse at the level that
    the winners of the map meet; ``as_ranked`` names the winner with the ranked logarithms alone,
    ``otherwise`` those that another choice of bases puts before the first. Both may be empty.
    """
    private = means[means["epsilon"].notna() & ~means["algorithm"].isin(TWINS)]
    rows = []
    for name, kinds in CLASSES.items():
        members = private[private["kind"].isin(kinds)]
        for setting, field in members.groupby(SETTING, sort=True):
            everyone = _played(members[members["epsilon"] == setting[2]])
            if field["algorithm"].nunique() > 1 and _played(field) == everyone:
                names = {"class": name, **dict(zip(SETTING, setting, strict=True))}
                rows.append({**names, **_answer(field)})
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    table["as_ranked"] = table["first"].where(_discovery(table.pop("p_ranked")) <= rate, "")
    table["q"] = _discovery(table["p"])
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


def _discovery(p_values: pd.Series) -> pd.Series:
    """Return the false discovery rates at which the rows are rejected."""
    q_values = false_discovery_control(p_values.to_numpy(np.float64), method="by")
    return pd.Series(q_values, index=p_values.index)


def _played(field: pd.DataFrame) -> set[str]:
    """Return the algorithms, each by itself for every logarithm that it was played with."""
    return set(field["algorithm"] + " " + field["interpretation"])


def _answer(field: pd.DataFrame) -> dict[str, object]:
    """Return what is known of one setting."""
    field = field.assign(level=field["scales"].map(np.mean)).sort_values(["level", "algorithm"])
    ranking = field[field["ranked"]]
    first, second = ranking.iloc[0], ranking.iloc[1]
    is_first = field["algorithm"] == first["algorithm"]
    others = _p_values(field[is_first], field[~is_first]).reindex(ranking["algorithm"].iloc[1:])
    is_ahead = ~is_first & (field["level"] < field["level"][is_first].max())
    return {
        **{"first": first["algorithm"], "second": second["algorithm"], **_margin(first, second)},
        "p_ranked": float(_p_values(ranking.iloc[:1], ranking.iloc[1:]).max()),
        "otherwise": " ".join(field["algorithm"][is_ahead].unique()),
        "p": float(others.max()),
        "others": others.to_dict(),
    }


def _margin(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Return the ratio of two regrets, or of two shares of misses, which have no interval."""
    if np.isnan(first["price"]):
        ratio = second["score"] / first["score"] if first["score"] > 0.0 else np.nan
        return {"margin": ratio, "margin_lo": np.nan, "margin_hi": np.nan}
    margin, lo, hi = np.exp(mean_interval(second["scales"] - first["scales"]))
    return {"margin": margin, "margin_lo": lo, "margin_hi": hi}


def _p_values(candidate: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """Return, for each other algorithm, the largest p-value over its rows and the candidate's."""
    firsts, rivals = candidate.to_dict("records"), others.to_dict("records")
    pairs = [[no_worse(first, other) for other in rivals] for first in firsts]
    largest = pd.Series(np.max(pairs, axis=0), index=others["algorithm"]).groupby(level=0).max()
    return (len(largest) * largest).clip(upper=1.0)


def no_worse(first: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    """Return the one-sided p-value of another being no worse than the first.

    Of regret by a paired t test over the instances, of shares by Fisher's exact test over trials.
    """
    if not np.isnan(first["misses"]):
        misses, trials = first["misses"] + other["misses"], first["trials"] + other["trials"]
        return float(hypergeom.cdf(first["misses"], trials, misses, first["trials"]))
    gaps = other["scales"] - first["scales"]
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    if error > 0.0:
        return float(stdtr(len(gaps) - 1, -gaps.mean() / error))
    return 0.0 if gaps.mean() > 0.0 else 1.0


Frames = Mapping[str, pd.DataFrame]

TUNED = "m-ts-gaussian"
"""The algorithm whose gain by tuning is shown."""


def _named(means: pd.DataFrame, *measured: str) -> pd.DataFrame:
    """Return means with name and class of each algorithm, in the order of the table."""
    table = means.rename(columns={"kind": "class"})
    place = table["algorithm"].map([*PLAYERS].index)
    table = table.assign(name=table["algorithm"].map(NAMES), place=place)
    table = table.sort_values(["arms", "horizon", "place", "epsilon"], ignore_index=True)
    names = ["algorithm", "name", "class", "variant", "interpretation", "ranked", *SETTING]
    return table[[*names, *measured, "instances", "runs"]]


def regret(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: price of privacy and mean regret.

    An algorithm with an open logarithm has one row for each base, of which the ranking is by the
    one that is ``ranked``. Tuned parameters are the columns b, c and alpha, empty for other
    algorithms.
    """
    rows = pd.concat(frames.values(), ignore_index=True)
    names = ["algorithm", "interpretation", *SETTING]
    chosen = rows.groupby(names, dropna=False)[["b", "c", "alpha"]].first().reset_index()
    ends = {"lo": "regret_lo", "hi": "regret_hi", "price_lo": "lo", "price_hi": "hi"}
    means = mean_scores(family_scores(rows)).rename(columns={"score": "regret"} | ends)
    table = _named(means, "price", "lo", "hi", "tail", "regret", "regret_lo", "regret_hi")
    return table.merge(chosen, on=names, how="left", validate="one_to_one")


def best_arm(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: mean share of trials that find the best arm.

    ``least`` and ``most`` are the shares of the worst and the best family. The column ``plane`` is
    the share on as many arms in two dimensions. Intervals are over trials.
    """
    families = family_scores(pd.concat(frames.values(), ignore_index=True))
    means = mean_scores(families)
    shares = {"success": 1.0 - means["score"], "lo": 1.0 - means["hi"], "hi": 1.0 - means["lo"]}
    shares |= {
        "least": 1.0 - means["scales"].map(np.max),
        "most": 1.0 - means["scales"].map(np.min),
    }
    table = _named(means.assign(**shares), *shares)
    plane = families[families["instance"] == PLANE]
    names, trials = ["algorithm", *SETTING], plane["runs"]
    ends = rate_interval((trials * (1.0 - plane["score"])).round(), trials)
    plane = plane[names].assign(**dict(zip(("plane", "plane_lo", "plane_hi"), ends, strict=True)))
    return table.merge(plane, on=names, how="left", validate="one_to_one")


def winning(frames: Frames) -> pd.DataFrame:
    """Return one row for each class of privacy and setting: its winner, or the tie."""
    rows = pd.concat(frames.values(), ignore_index=True)
    table = winners(mean_scores(family_scores(rows)))
    first, second = (table[place].map(NAMES) for place in ("first", "second"))
    best = first.where(table["verdict"] == WINNER, "tie: " + first)
    return table.assign(first_name=first, second_name=second, best=best)


def tuning(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting: regret of Modified TS without pre-pulls over the tuned one.

    gain is the geometric mean of the ratios over the instances.
    """
    rows = frames["regret"]
    rows = rows[rows["algorithm"] == TUNED]
    chosen = rows.groupby(SETTING)[["b", "c"]].first().reset_index()
    untuned, tuned = (
        family_scores(frame).set_index([*SETTING, "instance"])["scale"]
        for frame in (frames["untuned"], rows)
    )
    gaps = (untuned - tuned).dropna().groupby(SETTING)
    gains = gaps.apply(lambda each: pd.Series(np.exp(mean_interval(each)), ["gain", "lo", "hi"]))
    return chosen.merge(gains.unstack().reset_index(), on=SETTING)


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regret": regret,
    "best-arm": best_arm,
    "winning": winning,
    "tuning": tuning,
}
