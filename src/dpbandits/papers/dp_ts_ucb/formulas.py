"""Parameters that the experiments file names instead of printing them."""

import math

from dpbandits import privacy
from dpbandits.config import Context, Formula

EQUAL_BOUND_FACTOR = 5.0
"""c over ln(T)^alpha in Section 5.2."""


def equal_bound_c(context: Context) -> float:
    """Return variance factor 5 ln(T)^alpha, of the same regret bound as DP-TS-UCB (Section 5.2)."""
    return float(EQUAL_BOUND_FACTOR * math.log(context.horizon) ** context.tags["alpha"])


def equal_privacy_c(context: Context) -> float:
    """Return the factor that gives b pre-pulls the level of Theorem 4.4 (Appendix E.1, no root)."""
    tags = context.tags
    return float(privacy.equal_privacy_c(tags["alpha"], tags["b"], context.horizon))


FORMULAS: dict[str, Formula] = {
    "equal_bound_c": equal_bound_c,
    "equal_privacy_c": equal_privacy_c,
}
