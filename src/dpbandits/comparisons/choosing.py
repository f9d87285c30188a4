"""Scores over instances, the winner of every setting, and the tables of both.

The score of an algorithm is the geometric mean of its regret over instances that are drawn at
random, of which every one counts alike. Two algorithms are compared instance by instance (paired
t), so that intervals speak of arms like these. The families by design are no sample: of them a
range is shown. Of best arms the score is the share of trials that miss, and intervals and
comparisons speak of trials on these instances.

There are two answers: with the printed constants, and with those of the tuning. One algorithm is
the winner where the hypothesis that another is at least as good is rejected. The p-value of a
setting is that of the closest competitor (one-sided), times the number of competitors, since the
candidate is the one of the smallest score. Over each answer the false discovery rate is controlled
by Benjamini and Yekutieli (2001), whatever the dependence: of the winners that are named, an
expected share of at most ``RATE`` is wrong.

The base of some logarithms decides. One rule ranks: each algorithm has the base that its paper
prints, or, where none is printed, its least favourable. A winner has the smaller score whichever
base itself and each competitor have: the p-value of a pair is the largest over the bases of both.
A tuned constant takes the base in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr
from scipy.stats import false_discovery_control, hypergeom

from dpbandits.comparisons.field import (
    AS_PRINTED,
    BASES,
    CLASSES,
    CONSTANTS,
    LEAST,
    NAMES,
    NONE,
    OPEN,
    PLAYERS,
    SETTING,
    TUNED,
    by_value,
    tuned,
)
from dpbandits.config import Context
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import difference_interval, mean_interval, rate_interval

TAIL = 0.9
"""Share of runs whose ratio to the non-private floor is below ``tail``."""

BINARY = "Bernoulli"
"""Family of the instances that are ranked; others have rewards that are not 0 or 1."""

DRAWN = {"drawn": BINARY, "uniform": "uniform", "exponential": "exponential", "few": "", "many": ""}
"""Beginning of the name of an instance that is drawn at random -> its family."""

RATE = 0.05
"""False discovery rate of an answer: expected share of wrong winners among those named."""

WINNER, TIE = "winner", "tie"

_WHO = ["algorithm", "variant", "interpretation", "constant"]

Frames = Mapping[str, pd.DataFrame]
Row = Mapping[Any, Any]
Values = NDArray[np.float64]


def both_answers(results: pd.DataFrame) -> pd.DataFrame:
    """Return both answers: an algorithm without a constant has the same rows in either.

    Constants that are the printed ones are filled in; ``is_drawn`` says whether the instance is one
    of those drawn at random.
    """
    printed = results["algorithm"].map(CONSTANTS)
    constant = results["constant"].fillna(printed) if "constant" in results else printed
    rows = results.assign(answer=results.get("answer", AS_PRINTED), constant=constant)
    kinds = rows["instance"].str.replace(r"-\d+$", "", regex=True)
    rows["is_drawn"] = kinds.isin(DRAWN)
    if "dimensions" in rows:
        return rows.assign(family=rows["dimensions"].astype(int).astype(str) + " dimensions")
    rows["family"] = kinds.map(DRAWN).fillna(BINARY)
    shared = rows[rows["constant"].isna()]
    others = shared["answer"].map({AS_PRINTED: TUNED, TUNED: AS_PRINTED})
    return pd.concat([rows, shared.assign(answer=others)], ignore_index=True)


def instance_scores(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each answer, setting, algorithm and instance: its score and runs.

    The smaller score is the better one. ``scale`` is what is averaged over instances: the logarithm
    of regret, of which ``error`` is the standard error over runs, or the share of misses itself.
    """
    rows = both_answers(results)
    groups = rows.groupby(
        ["answer", *SETTING, *_WHO, "instance", "is_drawn"], dropna=False, sort=False
    )
    if (rows["metric"] == "success").all():
        counted = groups[["value", "trials"]].sum().reset_index()
        runs, hits = counted.pop("trials"), counted.pop("value")
        scores = counted.assign(score=1.0 - hits / runs, runs=runs, error=0.0, values=None)
        return scores.assign(scale=scores["score"])
    scores = groups["value"].agg(score="mean", spread="std", runs="size", values=list).reset_index()
    spread = scores.pop("spread") / scores["runs"] ** 0.5  # missing where there is one run
    level = scores["score"].clip(lower=LEAST)
    return scores.assign(scale=np.log(level), error=spread / level)


def mean_scores(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each answer, setting and algorithm: its score over the drawn instances.

    mean is that of the scores, scales the scale of each instance in ``drawn`` and designed those by
    design, misses and trials the sums over instances, share with lo and hi that of misses (Clopper
    and Pearson for the sum, which varies less than if all instances had the mean share: Hoeffding,
    1956). Of regret, over the non-private floor, the algorithm without a budget that has the
    smallest score: price, the geometric mean of the ratios, lo and hi its 95 % interval over
    instances (t), least and most the range over the instances by design, worst the largest ratio of
    any instance and ``worst_on`` its name, tail the ratio that one run in ten exceeds. ``seeds`` is
    by how much two seeds differ (95 %) over half of the interval. ``ranked`` says which base of a
    logarithm counts.
    """
    scores = instance_scores(results).sort_values("instance", kind="stable", ignore_index=True)
    names = ["answer", *SETTING, *_WHO]
    codes = scores.groupby(names, dropna=False, sort=False).ngroup().to_numpy()
    scores = scores.iloc[np.argsort(codes, kind="stable")]
    starts = np.flatnonzero(np.diff(np.sort(codes), prepend=-1))
    is_regret = bool(scores["values"].notna().all())
    keys = ["instance", "is_drawn", "score", "runs", "scale", "error", "values"]
    columns = [np.split(scores[key].to_numpy(), starts[1:]) for key in keys]
    rows = []
    for named, *column in zip(scores.iloc[starts][names].to_dict("records"), *columns, strict=True):
        instance, is_drawn, score, runs, scale, error, values = column
        trials = int(runs[is_drawn].sum())
        measured: dict[str, Any] = {"misses": np.nan, "trials": trials, "values": values[is_drawn]}
        if not is_regret:
            missed = round((score * runs)[is_drawn].sum())
            share = map(float, rate_interval(missed, trials))
            measured |= {"misses": missed, **dict(zip(("share", "lo", "hi"), share, strict=True))}
        counts = {"instances": int(is_drawn.sum()), "runs": int(runs.min())}
        measured |= {"scales": scale[is_drawn], "errors": error[is_drawn]}
        measured |= {"designed": dict(zip(instance[~is_drawn], scale[~is_drawn], strict=True))}
        measured |= {"drawn": tuple(instance[is_drawn]), "level": float(scale[is_drawn].mean())}
        means = {"privacy": PLAYERS[named["algorithm"]][1], "mean": score[is_drawn].mean()}
        rows.append({**named, **means, **measured, **counts})
    table = pd.DataFrame(rows)
    _require_the_same(table)
    table["ranked"] = table.index.isin(_by_rule(table).index)
    if is_regret:
        table = table.join(pd.DataFrame(_priced(table), table.index))
    return table.drop(columns="values")


def _require_the_same(means: pd.DataFrame) -> None:
    """Raise InputError where algorithms are compared on other instances than their rivals."""
    kinds = means.groupby(SETTING[:3])["drawn"].nunique()
    if (kinds > 1).any():
        wrong = ", ".join(map(str, kinds.index[kinds > 1]))
        raise InputError(f"{wrong}: not all are played on the same instances; allowed: the same")


def _by_rule(means: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each setting and algorithm: the printed base, or the least favourable."""
    base = means["algorithm"].map(BASES)
    is_printed = (means["interpretation"] == base) & ~means["algorithm"].isin(OPEN)
    order = means.assign(is_printed=is_printed | base.isna())
    order = order.sort_values(["is_printed", "level"], ascending=False, kind="stable")
    return order.drop_duplicates(["answer", *SETTING, "algorithm"])


def _priced(means: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the ratios of each row to the non-private floor of its answer and setting."""
    place = ["answer", *SETTING[:3]]
    free = means[means["privacy"] == NONE].sort_values("level").drop_duplicates(place)
    floors = {tuple(row[name] for name in place): row for row in free.to_dict("records")}
    nothing = dict.fromkeys(("price", "lo", "hi", "least", "most", "tail", "worst"), np.nan)
    prices = []
    for row in means.to_dict("records"):
        floor = floors.get(tuple(row[name] for name in place))
        price = {"seeds": _seeds(row["errors"], row["scales"]), "floor": "", "worst_on": ""}
        if floor is None:
            prices.append({**price, **nothing})
            continue
        ratios = row["scales"] - floor["scales"]
        designed = _over(row, floor)
        every = dict(zip(row["drawn"], np.exp(ratios), strict=True)) | designed
        base = np.exp(floor["scales"])
        over = [np.array(runs) / one for runs, one in zip(row["values"], base, strict=True)]
        ends = dict(zip(("price", "lo", "hi"), np.exp(mean_interval(ratios)), strict=True))
        price |= {**ends, "least": _least(designed), "most": _most(designed)}
        price |= {"worst": _most(every), "worst_on": max(every, key=every.__getitem__)}
        price["tail"] = float(np.quantile(np.concatenate(over), TAIL))
        prices.append({**price, "floor": floor["algorithm"]})
    return prices


def _over(row: Row, other: Row) -> dict[str, float]:
    """Return the ratio of two regrets on each instance by design that both have."""
    scales = other["designed"]
    return {on: np.exp(scale - scales[on]) for on, scale in row["designed"].items() if on in scales}


def _least(ratios: Mapping[str, float]) -> float:
    return min(ratios.values(), default=np.nan)


def _most(ratios: Mapping[str, float]) -> float:
    return max(ratios.values(), default=np.nan)


def _seeds(errors: Values, gaps: Values) -> float:
    """Return the difference of two seeds that 95 % do not exceed, over half of the interval."""
    difference = ndtri(0.975) * (2.0 * (errors**2).sum()) ** 0.5 / len(errors)
    mean, low, _ = mean_interval(gaps)
    return float(difference / (mean - low)) if mean > low else np.nan


def winners(means: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each answer, class of privacy and setting that two or more played.

    first and second have the smallest scores by the ranked logarithms, margin is their ratio with
    its 95 % interval over the drawn instances (of best arms: that of misses, and ``gain`` the
    difference of the shares with Newcombe's), margin_least and margin_most the range over the
    instances by design. q is the level of the false discovery rate at which the first is a winner
    whatever the logarithms, tied the first and all that are not shown to be worse at the level that
    the winners meet; ``as_ranked`` names the winner with the ranked logarithms alone, ``otherwise``
    those that another choice of bases puts before the first, ``unplayed`` who is not played here.
    """
    is_twin = (means["algorithm"] == "dp-bai") & (
        means["family"] == means["arms"].astype(str) + " dimensions"
    )
    private = means[means["epsilon"].notna() & ~is_twin].sort_values(["level", "algorithm"])
    rows = []
    for name, kinds in CLASSES.items():
        fields: dict[Any, list[Row]] = {}
        for row in private[private["privacy"].isin(kinds)].to_dict("records"):
            fields.setdefault(tuple(row[key] for key in ("answer", *SETTING)), []).append(row)
        members = {row["algorithm"] for field in fields.values() for row in field}
        for setting, field in sorted(fields.items()):
            unplayed = members - {row["algorithm"] for row in field}
            named = dict(zip(["answer", *SETTING], setting, strict=True))
            if len(members - unplayed) > 1:
                absent = " ".join(each for each in PLAYERS if each in unplayed)
                rows.append({**named, "privacy": name, **_answer(field), "unplayed": absent})
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    parts = [_with_winners(part) for _, part in table.groupby("answer", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _with_winners(table: pd.DataFrame) -> pd.DataFrame:
    """Return one answer with its winners and ties."""
    ranked = _discovery(table["p_ranked"])
    table = table.assign(as_ranked=table["first"].where(ranked <= RATE, ""))
    table["q"] = _discovery(table["p"])
    table["verdict"] = np.where(table["q"] <= RATE, WINNER, TIE)
    won = table["p"][table["verdict"] == WINNER]
    # Without any winner, the level that the first one would have needed.
    steps = len(table) * (1.0 / np.arange(1, len(table) + 1)).sum()
    threshold = float(won.max()) if len(won) else RATE / steps
    table["tied"] = [
        " ".join([first, *(name for name, p_value in others.items() if p_value > threshold)])
        for first, others in zip(table["first"], table.pop("others"), strict=True)
    ]
    return table.drop(columns=["p", "p_ranked"])


def _discovery(p_values: pd.Series) -> pd.Series:
    """Return the false discovery rates at which the rows are rejected."""
    q_values = false_discovery_control(p_values.to_numpy(np.float64), method="by")
    return pd.Series(q_values, index=p_values.index)


def _answer(field: Sequence[Row]) -> dict[str, object]:
    """Return what is known of one setting, from its rows by ascending level."""
    ranking = [row for row in field if row["ranked"]]
    first, second = ranking[:2]
    own = [row for row in field if row["algorithm"] == first["algorithm"]]
    rivals = [row for row in field if row["algorithm"] != first["algorithm"]]
    others = _p_values(own, rivals)
    ahead = [row["algorithm"] for row in rivals if row["level"] < own[-1]["level"]]
    return {
        **{"first": first["algorithm"], "second": second["algorithm"], **_margin(first, second)},
        **{"logarithm": logarithm(first), "constant": first["constant"]},
        "second_constant": second["constant"],
        "price": first.get("price", np.nan),
        "p_ranked": max(_p_values([first], ranking[1:]).values()),
        "otherwise": " ".join(dict.fromkeys(ahead)),
        "p": max(others.values()),
        "others": {row["algorithm"]: others[row["algorithm"]] for row in ranking[1:]},
    }


def logarithm(row: Row) -> str:
    """Return the base of the logarithm of an algorithm whose base decides, else nothing."""
    if row["algorithm"] not in BASES:
        return ""
    default = "natural" if row["algorithm"] == "lazy-dp-ts" else "base2"
    return str(row["interpretation"]).removeprefix("log=") or default


def _margin(first: Row, second: Row) -> dict[str, float]:
    """Return the ratio of two regrets, or of two shares of misses with their difference."""
    if not np.isnan(first["misses"]):
        ratio = second["misses"] / first["misses"] if first["misses"] else np.nan
        shares = [(int(row["misses"]), int(row["trials"])) for row in (second, first)]
        gain = difference_interval(shares[0], shares[1])
        return {"margin": ratio, **dict(zip(("gain", "gain_lo", "gain_hi"), gain, strict=True))}
    gaps, designed = second["scales"] - first["scales"], _over(second, first)
    ends = zip(("margin", "margin_lo", "margin_hi"), np.exp(mean_interval(gaps)), strict=True)
    errors = (first["errors"] ** 2 + second["errors"] ** 2) ** 0.5
    return {
        **dict(ends),
        **{"margin_least": _least(designed), "margin_most": _most(designed)},
        "seeds": _seeds(errors, gaps),
    }


def _p_values(candidate: Sequence[Row], others: Sequence[Row]) -> dict[str, float]:
    """Return, for each other algorithm, the largest p-value over its rows and the candidate's."""
    largest: dict[str, float] = {}
    for other in others:
        p_value = max(no_worse(first, other) for first in candidate)
        largest[other["algorithm"]] = max(p_value, largest.get(other["algorithm"], 0.0))
    return {name: min(len(largest) * p_value, 1.0) for name, p_value in largest.items()}


def no_worse(first: Row, other: Row) -> float:
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


def _all(frames: Frames) -> pd.DataFrame:
    return pd.concat(frames.values(), ignore_index=True)


def _named(means: pd.DataFrame, *measured: str) -> pd.DataFrame:
    """Return rows with the name and the logarithm of each algorithm, in the order of the table."""
    table = means.assign(
        name=means["algorithm"].map(NAMES),
        place=means["algorithm"].map([*PLAYERS].index),
        logarithm=[logarithm(row) for row in means.to_dict("records")],
    )
    table = table.sort_values(["answer", *SETTING[:3], "place", "epsilon"], ignore_index=True)
    names = ["answer", "algorithm", "name", "privacy", "variant", "interpretation", "logarithm"]
    return table[[*names, "constant", "ranked", *SETTING, *measured, "instances", "runs"]]


def regret(frames: Frames) -> pd.DataFrame:
    """Return one row for each answer, setting, algorithm and base: price, score and mean regret.

    The ranking is by ``score``, the geometric mean of regret, and by the base that is ``ranked``. b
    and c are those of Modified TS.
    """
    rows = _all(frames)
    names = ["algorithm", *SETTING[1:]]
    chosen = rows.groupby(names, dropna=False)[["b", "c"]].first().reset_index()
    measured = ["price", "lo", "hi", "least", "most", "tail", "worst", "worst_on", "floor"]
    means = mean_scores(rows).rename(columns={"mean": "regret"})
    means = means.assign(score=np.exp(means["level"]))
    table = _named(means, *measured, "score", "regret", "seeds")
    return table.merge(chosen, on=names, how="left", validate="many_to_one")


def best_arm(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm: the share of trials that find the best arm.

    ``least`` and ``most`` are the shares on the worst and the best instance. Intervals are over
    trials.
    """
    means = mean_scores(_all(frames))
    shares = {"success": 1.0 - means["share"], "lo": 1.0 - means["hi"], "hi": 1.0 - means["lo"]}
    shares |= {
        "least": 1.0 - means["scales"].map(np.max),
        "most": 1.0 - means["scales"].map(np.min),
    }
    return _named(means.assign(**shares), *shares)


def winning(frames: Frames) -> pd.DataFrame:
    """Return one row for each answer, class of privacy and setting: its winner, or the tie."""
    table = winners(mean_scores(_all(frames)))
    first, second = (table[place].map(NAMES) for place in ("first", "second"))
    best = first.where(table["verdict"] == WINNER, "tie: " + first)
    return table.assign(first_name=first, second_name=second, best=best)


def constants(frames: Frames) -> pd.DataFrame:
    """Return one row for each setting and algorithm whose constants were all played there.

    constant is the tuned one and ``at_end`` whether it is the smallest that was tried; gain is the
    regret with the printed constant over that with it, and missed that with it over that with the
    ``best`` of the constants there: geometric means over the instances ``on`` which they are
    played, with 95 % intervals. Those of the check are the tuning's own, at a longer horizon.
    """
    tuning, rows, names = frames["tuning"], [], ["algorithm", *SETTING[1:]]
    least = tuning.groupby("algorithm")["constant"].min()
    for frame, on in (("grid", "those of the comparison"), ("check", "those of the tuning")):
        results = frames[frame]
        # The quick scale has no series of the check.
        for _, own in results.groupby(names, dropna=False, sort=False) if len(results) else ():
            row = own.iloc[0].to_dict()
            algorithm, tags = row["algorithm"], {"epsilon": row["epsilon"]}
            context = Context({} if np.isnan(row["epsilon"]) else tags, row["horizon"], row["arms"])
            constant = tuned("constant", algorithm, replace(context, tuned=tuning))
            logs = by_value(own, "constant")
            best: Any = logs.mean().idxmin()
            printed = CONSTANTS[algorithm]
            found = {"constant": constant, "printed": printed, "best": best}
            for key, gaps in (
                ("gain", logs[printed] - logs[constant]),
                ("missed", logs[constant] - logs[best]),
            ):
                ends = np.exp(mean_interval(gaps))
                found |= dict(zip((key, f"{key}_lo", f"{key}_hi"), map(float, ends), strict=True))
            label = {"name": NAMES[algorithm], "privacy": PLAYERS[algorithm][1], "family": BINARY}
            label |= {"on": on, "logarithm": logarithm(row)}
            counts = {"at_end": constant == least[algorithm], "instances": len(logs)}
            rows.append({**{key: row[key] for key in names}, **label, **counts, **found})
    return pd.DataFrame(rows)


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regret": regret,
    "best-arm": best_arm,
    "winning": winning,
    "constants": constants,
}
