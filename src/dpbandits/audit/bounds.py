"""Certified lower bounds on a privacy loss from counts of one event under two inputs.

The event and its direction must be chosen without the counted runs. Q is the law under which the
event is more likely. Each statement uses a lower end for Q(E) and an upper end for P(E) by Clopper
and Pearson (1934), each of which is missed with probability level/2 at most; by the union bound
the statement is wrong with probability ``level`` at most, for any number of runs and any laws.
"""

import math
from collections.abc import Callable

from scipy.special import ndtri

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import rate_interval


def clopper_pearson(hits: int, runs: int, level: float) -> tuple[float, float]:
    """Return a lower and an upper bound on a probability.

    Args:
        hits: runs in which the event occurred, 0 to ``runs``.
        runs: independent runs, at least 1.
        level: each bound is missed with probability level/2 at most; strictly between 0 and 1.

    Raises:
        InputError: an argument is outside its range.
    """
    if runs < 1 or not 0 <= hits <= runs:
        raise InputError(f"hits is {hits} of {runs} runs; allowed: 0 to runs, with runs >= 1")
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level!r}; allowed: strictly between 0 and 1")
    _, low, high = rate_interval(hits, runs, 1.0 - level)
    return float(low), float(high)


def epsilon_bound(
    hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, delta: float = 0.0, level: float = 0.05
) -> float:
    """Return a lower bound on epsilon at delta: ln((Q(E) - delta) / P(E)), 0 if negative.

    Args:
        hits_q: runs in the event under Q, the input that makes it more likely.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        delta: from 0 to 1, 1 excluded; 0 for pure differential privacy.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta is {delta!r}; allowed: from 0 to 1, 1 excluded")
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    return max(math.log(low - delta) - math.log(high), 0.0) if low > delta else 0.0


def mu_bound(hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, level: float = 0.05) -> float:
    """Return a lower bound on mu of Gaussian differential privacy: z(P(E)) - z(Q(E)).

    z(p) is the (1 - p)-quantile of the standard normal law; the bound is 0 if negative. mu-GDP
    says that no test separates the inputs better than N(0, 1) from N(mu, 1).

    Args:
        hits_q: as in ``epsilon_bound``, likewise the others.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    return max(float(ndtri(low) - ndtri(high)), 0.0) if low > 0.0 and high < 1.0 else 0.0


def delta_bound(
    hits_q: int, runs_q: int, hits_p: int, runs_p: int, *, epsilon: float, level: float = 0.05
) -> float:
    """Return a lower bound on delta at epsilon: Q(E) - exp(epsilon) P(E), 0 if negative.

    Args:
        hits_q: as in ``epsilon_bound``, likewise the others.
        runs_q: runs under Q.
        hits_p: runs in the event under P.
        runs_p: runs under P.
        epsilon: 0 or above.
        level: probability that the statement is wrong, at most.

    Raises:
        InputError: an argument is outside its range.
    """
    if not epsilon >= 0.0:
        raise InputError(f"epsilon is {epsilon!r}; allowed: 0 or above")
    low, high = _ends(hits_q, runs_q, hits_p, runs_p, level)
    # Written so that a large epsilon cannot overflow.
    excess = -math.expm1(min(epsilon + math.log(high) - math.log(low), 1.0)) if low > 0.0 else 0.0
    return max(low * excess, 0.0)


def p_value(bound: Callable[[float], float], claimed: float) -> float:
    """Return the smallest level at which a bound exceeds what is claimed.

    It is a p-value of the hypothesis that the claim is true, since a bound at a level is wrong with
    at most that probability. The family-wise level over an audit then follows from
    `dpbandits.claims.verdict.holm_levels`.

    Args:
        bound: level -> lower bound, one of the bounds above at fixed counts.
        claimed: 0 or above; infinity gives 1.
    """
    if not bound(1.0 - 1e-9) > claimed:
        return 1.0
    low, high = -700.0, 0.0
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (low, middle) if bound(math.exp(middle)) > claimed else (middle, high)
    return math.exp(high)


def _ends(hits_q: int, runs_q: int, hits_p: int, runs_p: int, level: float) -> tuple[float, float]:
    """Return the lower end of Q(E) and the upper end of P(E)."""
    return clopper_pearson(hits_q, runs_q, level)[0], clopper_pearson(hits_p, runs_p, level)[1]
