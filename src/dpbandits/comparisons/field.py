"""Who is compared, and at which parameters: those that meet a budget, or that tuning chose.

Of a budget (epsilon, delta) the algorithms of epsilon-DP take epsilon as it is.
"""

import math
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.config import Context, Formula
from dpbandits.errors import InputError
from dpbandits.privacy.gaussian import eta_from
from dpbandits.privacy.thompson import dp_ts_ucb_gdp, required_c

if TYPE_CHECKING:
    import pandas as pd

COMPARISON = "choosing"
"""Name of the comparison."""

PUBLISHED = Path("docs/tables") / COMPARISON
"""Folder of its published numbers, in a folder with config."""

AS_PRINTED, TUNED = "as printed", "tuned"
"""The two answers, as the tag ``answer`` has them."""

DELTA = 1e-6
"""Delta of the class ``APPROXIMATE``, and of the Gaussian algorithms; the others have none."""

PURE, LOCAL = "central, epsilon-DP", "local, epsilon-DP"
APPROXIMATE = "central, (epsilon, 1e-6)-DP"
NONE = "meets no budget that is asked"

CLASSES = {PURE: (PURE, LOCAL), APPROXIMATE: (APPROXIMATE, PURE, LOCAL), LOCAL: (LOCAL,)}
"""What is asked for -> the classes of privacy that give it.

An epsilon-DP algorithm is (epsilon, delta)-DP for every delta. A local one is epsilon-DP in the
central model too, as every reward enters one report.
"""

OPEN = ("anytime-lazy-ucb",)
"""Algorithms whose paper prints no base of the logarithm; the least favourable one counts."""

BASES = {"lazy-dp-ts": "log=base2", "dp-ts": "", "anytime-lazy-ucb": ""}
"""Algorithm whose base decides -> its interpretation with base 2, the printed one; "": the default.

Those of Hu and Hegde (2022), whose notation says base 2; that is the default of DP-TS. We found no
text that settles the base of Anytime-Lazy-UCB.
"""

REGRET_FIELD = {
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
"""Algorithms that are judged by regret: name, and class of privacy.

TS-Gaussian is sqrt(T/2)-Gaussian DP, which meets no budget that is asked; the others without a
class claim nothing.
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

PLAYERS = {**REGRET_FIELD, **BEST_ARM}
NAMES = {algorithm: name for algorithm, (name, _) in PLAYERS.items()}

CONSTANTS = {"lazy-dp-ts": 3.0, "dp-ts": 6.0, "adap-ucb": 3.1}
CONSTANTS |= dict.fromkeys(("anytime-lazy-ucb", "dp-se", "ldp-ucb-l"), 1.0)
CONSTANTS |= dict.fromkeys(("gdp-ncb", "ldp-ncb", "anytime-gdp-ncb", "anytime-ldp-ncb"), 1.0)
CONSTANTS |= {"ucb1": 2.0, "ncb": 1.0, "kl-ucb": 1.0}
"""Algorithm with a constant that its privacy does not depend on -> the printed one.

The scale of TS-Gaussian is its privacy, as that of Modified TS is; TS-Beta has no constant.
"""

UNIT = "The unit of privacy is one reward: a person who returns with another one is not covered."
"""Of every answer: the unit of privacy."""

WARNING = (
    "These constants were chosen on made-up arms. Trying several on your users' rewards uses up "
    "privacy, so take the table's. No regret theorem covers a tuned constant."
)
"""Of every tuned answer."""

LOCAL_FIELD = (
    "The local field is LDP-UCB-L, LDP-NCB and Anytime LDP-NCB: only one of the four papers plays "
    "in the local model, and these are its algorithms and its one local rival. The last two are "
    "made for Nash regret."
)
"""Of the local class: its rivals, and why they are few."""

AXES = "With a dimension for each arm DP-BAI is the same as Baseline, and is left out."
"""Of best arms."""

SETTING = ["family", "arms", "horizon", "epsilon"]
"""Law of the rewards, or number of dimensions; arms; rounds, or pulls for best arms; epsilon."""

LEAST = 1.0
"""Least regret, one reward: ratios of smaller ones say nothing."""


@cache
def level(epsilon: float) -> float:
    """Return the eta of Gaussian DP that is worth (epsilon, ``DELTA``)-DP, no less and no more."""
    return float(eta_from(epsilon, DELTA))


def least_alpha(context: Context) -> float:
    """Return the smallest alpha of DP-TS-UCB that meets the budget by Theorem 4.4.

    The theorem's eta is sqrt(2 phi / ln(T)^alpha) = sqrt(2 c0) X^((1 - alpha)/2) with
    X = sqrt(T) ln(T)^1.5, which falls in alpha; a smaller alpha has the smaller regret bound.
    """
    epsilon, horizon = context.tags["epsilon"], context.horizon
    weakest, strongest = (dp_ts_ucb_gdp(alpha, horizon) for alpha in (0.0, 1.0))
    alpha = math.log(weakest / level(epsilon)) / math.log(weakest / strongest)
    if alpha > 1:
        raise InputError(
            f"epsilon is {epsilon}: DP-TS-UCB is {strongest:.4g}-Gaussian DP at alpha = 1, its "
            f"most private; allowed: epsilon whose level at delta = {DELTA} is at least that"
        )
    return max(alpha, 0.0)


def share_b(context: Context) -> int:
    """Return b pre-pulls of every arm: the tag ``share`` of the T/K that fit, rounded down.

    At most T/K: beyond it the arms that come first would be pulled more than the others.
    """
    return int(context.tags["share"] * (context.horizon // context.arms))


def share_c(context: Context) -> float:
    """Return the variance factor that makes these pre-pulls meet the budget by Lemma 5."""
    return float(required_c(share_b(context), level(context.tags["epsilon"]), context.horizon))


def by_value(rows: "pd.DataFrame", key: str) -> "pd.DataFrame":
    """Return the logarithm of mean regret: a row an instance, a column for each value of a key."""
    groups = rows.assign(instance=rows.get("instance", "")).groupby(["instance", key])
    return groups["value"].mean().clip(lower=LEAST).unstack(key).map(math.log)


def choice(rows: "pd.DataFrame", key: str) -> float:
    """Return the value of ``constant`` or ``share`` with the smallest geometric mean of regret.

    Of those within a standard error of it (paired over the instances) it is the one nearest to what
    is printed: the largest constant, or the fewest pre-pulls.
    """
    logs = by_value(rows, key)
    gaps = logs.sub(logs[logs.mean().idxmin()], axis=0)
    is_tied = gaps.mean() <= gaps.std(ddof=1).fillna(0.0) / len(gaps) ** 0.5
    return float((max if key == "constant" else min)(is_tied.index[is_tied]))


_CHOICES: dict[tuple[object, ...], tuple["pd.DataFrame", float]] = {}
"""What was chosen before, with its results: as many series ask as there are instances."""


def tuned(key: str, algorithm: str, context: Context) -> float:
    """Return the value that the tuning chose at the K, T and epsilon of a series.

    K and T are the largest that were tuned at and do not exceed those of the series.
    """
    if context.tuned is None:
        raise InputError("a tuned parameter needs the key tuned_by")
    epsilon = context.tags.get("epsilon")
    place = id(context.tuned), key, algorithm, context.arms, context.horizon, epsilon
    if place not in _CHOICES:
        rows = context.tuned[context.tuned["algorithm"] == algorithm]
        _CHOICES[place] = context.tuned, _chosen(rows, key, context)
    return _CHOICES[place][1]


def _chosen(rows: "pd.DataFrame", key: str, context: Context) -> float:
    for name, asked in (("arms", context.arms), ("horizon", context.horizon)):
        if name in rows:
            rows = rows[rows[name] == max(value for value in rows[name] if value <= asked)]
    if "epsilon" in context.tags:
        rows = rows[rows["epsilon"] == context.tags["epsilon"]]
    return choice(rows, key)


def _at_share(formula: Formula, context: Context) -> Any:
    """Return what a formula makes of the tuned share of pre-pulls."""
    share = tuned("share", "m-ts-gaussian", context)
    return formula(replace(context, tags={**context.tags, "share": share}))


FORMULAS: dict[str, Formula] = {
    "share_b": share_b,
    "share_c": share_c,
    "least_alpha": least_alpha,
    # Of Modified TS, its pre-pulls and the variance factor that belongs to them.
    "tuned_b": partial(_at_share, share_b),
    "tuned_c": partial(_at_share, share_c),
    # The constants of the others.
    **{f"tuned_{name.replace('-', '_')}": partial(tuned, "constant", name) for name in CONSTANTS},
}
