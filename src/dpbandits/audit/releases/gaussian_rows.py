"""Rows of DP-BAI-Gauss: the delta that it needs at its epsilon (AUD-12)."""

from collections.abc import Sequence

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.releases.gaussian_means import (
    CALIBRATIONS,
    INSTANCES,
    deviation,
    gaussian_witness,
    pulls_of,
)
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.1, 0.5, 1.0, 5.0, 8.0, 9.0, 10.0, 20.0)
DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
"""Those of the paper's experiments."""

BUDGET = 10_002

_PAIRS = {
    "witness": (
        "features u, u/2 and u/4; phase 1 pulls arm 1 alone",
        "phase 2 does not pull arm 1",
    ),
    "line": ("features 1 and 0 on a line; arm 1 alone is pulled", "the recommended arm is arm 2"),
    "plane": ("two independent features", "the recommended arm is arm 2"),
}


def gaussian_rows(
    epsilons: Sequence[float] = EPSILONS,
    deltas: Sequence[float] = DELTAS,
    budget: int = BUDGET,
) -> list[AuditRow]:
    """Return the rows of AUD-12; rewards may be anything in [0, 1].

    Args:
        epsilons: above 0.
        deltas: strictly between 0 and 1.
        budget: T, at least 6.
    """
    return [
        _row(calibration, instance, epsilon, delta, budget)
        for calibration in CALIBRATIONS
        for instance in INSTANCES
        for epsilon in epsilons
        for delta in deltas
    ]


def _row(calibration: str, instance: str, epsilon: float, delta: float, budget: int) -> AuditRow:
    audited = Audited(
        "AUD-12",
        "BAI-C24",
        "dp-bai-gauss",
        "as-written",
        "pull table",
        interpretation=f"calibration={calibration}",
    )
    witness = gaussian_witness(
        epsilon,
        deviation(epsilon, delta, calibration),
        pulls_of(instance, budget),
        two_sums=instance == "plane",
        binary=False,
    )
    of_sum = "minus those of arm 2 sum to" if instance == "plane" else "sum to"
    features, event = _PAIRS[instance]
    return audited.row(
        arms=INSTANCES[instance][0],
        horizon=budget,
        parameters=f"delta={delta:g}, epsilon={epsilon:g}",
        claimed=delta,
        pair=f"{features}; rewards of arm 1 {of_sum} {witness.total:.6g}, or to 1 more",
        event=event,
        lower=witness.delta,
        log_alpha=witness.log_unlikely,
        log_likely=witness.log_likely,
        direction="x over x'",
        measure="delta",
    )
