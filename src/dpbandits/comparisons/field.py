"""Who is compared, and at which parameters: those that meet a budget, or that tuning chose.

Of a budget (epsilon, delta) the algorithms of pure epsilon-DP take epsilon as it is. Tuning
minimises the mean final pseudo-regret over instances and seeds that are not compared on, for each
number of arms, horizon and budget.
"""

import math
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpbandits.config import Context, Formula
from dpbandits.errors import InputError
from dpbandits.privacy.gaussian import eta_from
from dpbandits.privacy.thompson import dp_ts_ucb_gdp, required_c

COMPARISON = "choosing"
"""Name of the comparison."""

PUBLISHED = Path("docs/tables") / COMPARISON
"""Folder of its published numbers, in a folder with config."""

APPROXIMATE, PURE, LOCAL, NONE = "approximate", "pure", "local", "none"

DELTA = 1e-6
"""Delta of the class ``approximate``, and of the Gaussian algorithms; the others have none."""

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
"""Classes that the map and the page show: what is epsilon-DP is (epsilon, delta)-DP too."""

PRINTED = {"lazy-dp-ts": "log=base2", "dp-ts": ""}
"""Algorithm -> the interpretation, as results have it, with the base that its paper prints.

Those of Hu and Hegde (2022), whose notation says base 2; that is the default of DP-TS. No public
copy settles the base of Anytime-Lazy-UCB.
"""

TWINS = {"dp-bai": "baseline"}
"""Algorithm -> the one that it is where every arm has a dimension of its own."""

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
NAMES = {algorithm: name for algorithm, (name, _) in PLAYERS.items()}

UNIT = "The unit of privacy is one reward: a person who returns with another one is not covered."
"""Of every answer: the unit of privacy."""

CONSTANTS = (
    "The constants decide: 3 of Lazy-DP-TS and 3.1 of AdaP-UCB come from regret proofs. Privacy "
    "does not need them, and other constants may turn the order."
)
"""Of the central classes."""

LOCAL_FIELD = (
    "The local field is three algorithms, of which LDP-NCB and its anytime form are made for Nash "
    "regret."
)
"""Of the local class."""

ONE_RUN = (
    "A price divides one run on each instance by one run of the best algorithm without a budget, "
    "so that it is rough, most of all with two arms."
)
"""Of prices."""

AXES = (
    "Every arm has a dimension of its own here, with which DP-BAI is Baseline. Intervals are over "
    "trials on families of arms by design."
)
"""Of best arms."""

SETTING = ["arms", "horizon", "epsilon"]
"""What a question is: number of arms, horizon or budget of pulls, and budget epsilon."""


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


def raised_alpha(context: Context) -> float:
    """Return alpha of DP-TS-UCB: the least one that meets the budget, raised towards 1.

    The tag ``share`` says by how much of the way.
    """
    least = least_alpha(context)
    return least + float(context.tags["share"]) * (1.0 - least)


def tuned(formula: Formula, algorithm: str, context: Context) -> Any:
    """Return a formula's value at the ``share`` of the smallest regret on the tuning instances.

    Equal regrets are decided for the smaller share.
    """
    if context.tuned is None:
        raise InputError("a tuned parameter needs the key tuned_by")
    frame = context.tuned
    is_own = (frame["algorithm"] == algorithm) & (frame["metric"] == "pseudo_regret")
    for tag in context.tags.keys() & SETTING:
        is_own &= frame[tag] == context.tags[tag]
    # Every share is played on the same instances, with as many runs on each.
    best = frame[is_own].groupby("share")["value"].mean().idxmin()
    return formula(replace(context, tags={**context.tags, "share": best}))


FORMULAS: dict[str, Formula] = {
    "share_b": share_b,
    "share_c": share_c,
    "least_alpha": least_alpha,
    "raised_alpha": raised_alpha,
    # Of Modified TS, its pre-pulls and the variance factor that belongs to them; of DP-TS-UCB.
    "tuned_b": partial(tuned, share_b, "m-ts-gaussian"),
    "tuned_c": partial(tuned, share_c, "m-ts-gaussian"),
    "tuned_alpha": partial(tuned, raised_alpha, "dp-ts-ucb"),
}
