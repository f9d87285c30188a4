"""Who is compared, mean scores over families of instances, and the winner of every question.

One algorithm is the winner where the hypothesis that another is at least as good is rejected. The
p-value of a question is that of the closest competitor (Welch's test, one-sided), times the number
of competitors, since the candidate is the one of the smallest score. Over the whole map the false
discovery rate is controlled by Benjamini and Yekutieli (2001), whatever the dependence: of the
winners that are named, an expected share of at most ``RATE`` is wrong.

The base of some logarithms is not settled. A winner has the smaller score whichever base itself and
each competitor have: the p-value of a pair is the largest over the bases of both.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from scipy.stats import false_discovery_control

from dpbandits.metrics.intervals import LEVEL

COMPARISON = "choosing"
"""Name of the comparison."""

TABLES = Path("docs/tables") / COMPARISON
"""Folder of its published numbers, in a folder with config."""

APPROXIMATE, PURE, LOCAL, NONE = "approximate", "pure", "local", "none"

DELTA = 1e-6
"""Delta of the class ``approximate``."""

CLASSES = {
    PURE: (PURE, LOCAL),
    APPROXIMATE: (APPROXIMATE, PURE, LOCAL),
    LOCAL: (LOCAL,),
}
"""What is asked for -> the models of privacy that give it.

An epsilon-DP algorithm is (epsilon, delta)-DP for every delta. A local one is epsilon-DP in the
central model too, as every reward enters one report.
"""

DESCRIPTIONS = {
    PURE: "epsilon-DP, central",
    APPROXIMATE: "(epsilon, 1e-6)-DP, central",
    LOCAL: "epsilon-DP, local",
}
"""Class -> what is asked for, in words."""

SHOWN = (PURE, LOCAL)
"""Classes that the maps and the page show.

Of (epsilon, delta)-DP the page says where it is of use: an algorithm that is epsilon-DP has it too.
"""

LOGARITHMS = ("base2", "natural")
"""Bases of a logarithm that a paper leaves open: values of the interpretation ``log``."""

OTHERS = tuple(f"log={base}" for base in LOGARITHMS)
"""Interpretations, as results have them, of what is played with the base that is no default."""

REGRET = {
    "m-ts-gaussian": ("Modified TS", APPROXIMATE),
    "dp-ts-ucb": ("DP-TS-UCB", APPROXIMATE),
    "dp-se": ("DP-SE", PURE),
    "anytime-lazy-ucb": ("Anytime-Lazy-UCB", PURE),
    "lazy-dp-ts": ("Lazy-DP-TS", PURE),
    "dp-ts": ("DP-TS", PURE),
    "adap-ucb": ("AdaP-UCB", PURE),
    "gdp-ncb": ("GDP-NCB", PURE),
    "anytime-gdp-ncb": ("Anytime GDP-NCB", PURE),
    "ldp-ucb-l": ("LDP-UCB-L", LOCAL),
    "ldp-ncb": ("LDP-NCB", LOCAL),
    "anytime-ldp-ncb": ("Anytime LDP-NCB", LOCAL),
    "ts-gaussian": ("TS-Gaussian", NONE),
    "ucb1": ("UCB1", NONE),
    "ncb": ("NCB", NONE),
    "kl-ucb": ("KL-UCB", NONE),
    "ts-beta": ("TS-Beta", NONE),
}
"""Algorithms that are judged by regret: name, and what a budget epsilon means.

``none`` keeps no budget of the grid: UCB1 and NCB claim nothing, and TS-Gaussian is worth
sqrt(T/2)-Gaussian DP alone.
"""

BEST_ARM = {
    "dp-bai": ("DP-BAI", PURE),
    "baseline": ("Baseline", PURE),
    "dp-od": ("DP-OD", PURE),
    "dp-bai-gauss": ("DP-BAI-Gauss", APPROXIMATE),
    "od-linbai": ("OD-LinBAI", NONE),
    "sequential-halving": ("Sequential Halving", NONE),
}
"""Algorithms that name a best arm, likewise."""

PLAYERS = {**REGRET, **BEST_ARM}


SETTING = ["arms", "horizon", "epsilon"]
"""What a question is: number of arms, horizon or budget of pulls, and budget epsilon."""

REGRET_METRIC, SUCCESS_METRIC = "pseudo_regret", "success"
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
    if (rows["metric"] == SUCCESS_METRIC).all():
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
