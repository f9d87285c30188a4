"""Parameters that meet a budget, and those of them that tuning chose.

Tuning minimises the mean final pseudo-regret over instances and seeds that are not compared on, for
each number of arms, horizon and budget.
"""

from dataclasses import replace

from dpbandits.comparisons.equal_privacy.formulas import least_alpha, share_b, share_c
from dpbandits.config import Context, Formula
from dpbandits.errors import InputError

SETTING = ("arms", "horizon", "epsilon")
"""Tags for each of whose values a parameter is tuned."""


def raised_alpha(context: Context) -> float:
    """Return alpha of DP-TS-UCB: the least one that meets the budget, raised towards 1.

    The tag ``share`` says by how much of the way.
    """
    least = least_alpha(context)
    return least + float(context.tags["share"]) * (1.0 - least)


def tuned_share(algorithm: str, context: Context) -> Context:
    """Return the context with the tag ``share`` of the smallest regret on the tuning instances.

    Equal regrets are decided for the smaller share.

    Raises:
        InputError: the simulation names no ``tuned_by``.
    """
    if context.tuned is None:
        raise InputError("a tuned parameter needs the key tuned_by")
    frame = context.tuned
    is_own = (frame["algorithm"] == algorithm) & (frame["metric"] == "pseudo_regret")
    for tag in SETTING:
        is_own &= frame[tag] == context.tags[tag]
    means = frame[is_own].groupby(["share", "instance"])["value"].mean()
    regret = means.groupby("share").mean()
    best = float(regret.index[int(regret.to_numpy().argmin())])
    return replace(context, tags={**context.tags, "share": best})


def tuned_b(context: Context) -> int:
    """Return the tuned number of pre-pulls of Modified TS."""
    return share_b(tuned_share("m-ts-gaussian", context))


def tuned_c(context: Context) -> float:
    """Return the variance factor that belongs to these pre-pulls by Lemma 5."""
    return share_c(tuned_share("m-ts-gaussian", context))


def tuned_alpha(context: Context) -> float:
    """Return the tuned alpha of DP-TS-UCB."""
    return raised_alpha(tuned_share("dp-ts-ucb", context))


FORMULAS: dict[str, Formula] = {
    "share_b": share_b,
    "share_c": share_c,
    "raised_alpha": raised_alpha,
    "tuned_b": tuned_b,
    "tuned_c": tuned_c,
    "tuned_alpha": tuned_alpha,
}
