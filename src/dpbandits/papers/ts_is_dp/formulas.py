"""Parameters that the experiments file names instead of printing them."""

from dpbandits.config import Context, Formula
from dpbandits.errors import InputError
from dpbandits.privacy.thompson import required_c

PRINTED_EPSILON = {1: 4.88, 5: 35.57, 10: 96.71}
"""Epsilon at delta = 1e-6 of eta-Gaussian DP, as Appendix D prints it."""


def lemma5_c(context: Context) -> float:
    """Return the factor that makes b pre-pulls eta-GDP by Lemma 5: c = T / (eta^2 (b + 1))."""
    return float(required_c(context.tags["b"], context.tags["eta"], context.horizon))


def printed_epsilon(context: Context) -> float:
    """Return the epsilon that the paper prints for the level eta."""
    return PRINTED_EPSILON[context.tags["eta"]]


def tuned(context: Context) -> tuple[int, float]:
    """Return b and c of the smallest mean final pseudo-regret on the tuning seeds.

    The tag ``c_range`` keeps all pairs (``any``) or those with c of at least 1.

    Raises:
        InputError: the best b is the largest of the grid, which then has to be extended.
    """
    if context.tuned is None:
        raise InputError("a tuned parameter needs the key tuned_by")
    frame = context.tuned
    frame = frame[(frame["metric"] == "pseudo_regret") & (frame["eta"] == context.tags["eta"])]
    largest = frame["b"].max()
    if context.tags["c_range"] == "at-least-1":
        frame = frame[frame["c"] >= 1]
    regret = frame.groupby(["b", "c"], as_index=False)["value"].mean()
    best = regret.loc[regret["value"].idxmin()]
    if best["b"] == largest:
        raise InputError(
            f"tuning at eta = {context.tags['eta']}: the best b is {largest:.0f}, the end of the "
            f"grid; allowed: a grid that goes beyond the best b"
        )
    return int(best["b"]), float(best["c"])


def tuned_b(context: Context) -> int:
    """Return the pre-pulls of the tuned pair."""
    return tuned(context)[0]


def tuned_c(context: Context) -> float:
    """Return the variance factor of the tuned pair."""
    return tuned(context)[1]


FORMULAS: dict[str, Formula] = {
    "lemma5_c": lemma5_c,
    "printed_epsilon": printed_epsilon,
    "tuned_b": tuned_b,
    "tuned_c": tuned_c,
}
