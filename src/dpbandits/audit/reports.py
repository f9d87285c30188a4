"""Engine C: the privacy of one noisy report, Y = reward + location + Laplace(b).

The ratio of its densities for the rewards 0 and 1 is exp(1/b) beyond both centres, and nowhere
larger, whatever the location is; what is done to Y later loses nothing more.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpbandits.algorithms import ldp_ncb, ldp_ucb_l
from dpbandits.algorithms.base import Algorithm
from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.2, 0.5, 1.0, 2.0)

HORIZON = 1000
"""T, on which no report depends."""


@dataclass(frozen=True)
class Report:
    """The law of a report: the reward plus Laplace noise.

    Attributes:
        location: of the noise.
        scale: b, above 0.
        when: the rounds that it is made in.
    """

    location: float
    scale: float
    when: str


def report_loss(report: Report) -> tuple[float, float, float]:
    """Return the largest log ratio and the log chances of {Y > location + 1} for rewards 0 and 1.

    Args:
        report: its law.
    """
    likely, unlikely = math.log(0.5), math.log(0.5) - 1.0 / report.scale
    return likely - unlikely, unlikely, likely


def reports_of(algorithm: Algorithm, variant: str, epsilon: float) -> list[Report]:
    """Return the reports of a locally private algorithm of the registry.

    Args:
        algorithm: LDP-NCB, its anytime version or LDP-UCB-L.
        variant: of the algorithm.
        epsilon: above 0.
    """
    every = Report(0.0, 1.0 / epsilon, "every round")
    if algorithm is ldp_ucb_l.ALGORITHM:
        return [every]
    interpretations = algorithm.interpretations_from({}, variant)
    core = {name: interpretations[name] for name in ldp_ncb.ALGORITHM.interpretations}
    settings = ldp_ncb.settings(HORIZON, 2, epsilon=epsilon, **core)
    location, scale = settings.exploration_location, settings.exploration_scale
    return [Report(location, scale, "Phase I"), Report(0.0, 1.0 / epsilon, "Phase II")]


def report_rows(
    algorithms: Sequence[Algorithm], epsilons: Sequence[float] = EPSILONS
) -> list[AuditRow]:
    """Return the rows of AUD-16 (LDP-NCB) and of AUD-18 (LDP-UCB-L).

    Args:
        algorithms: locally private ones.
        epsilons: above 0.
    """
    return [
        row
        for algorithm in algorithms
        for variant in algorithm.variants
        for epsilon in epsilons
        for row in _rows(algorithm, variant, epsilon)
    ]


def _rows(algorithm: Algorithm, variant: str, epsilon: float) -> Iterator[AuditRow]:
    is_ncb = algorithm is not ldp_ucb_l.ALGORITHM
    audited = Audited(
        "AUD-16" if is_ncb else "AUD-18",
        "NCB-C16" if is_ncb else "",
        algorithm.id,
        variant,
        "local",
        "C",
    )
    for report in reports_of(algorithm, variant, epsilon):
        loss, unlikely, likely = report_loss(report)
        yield audited.row(
            arms=2,
            horizon=HORIZON,
            parameters=f"epsilon={epsilon:g}",
            claimed=epsilon,
            pair=f"one user's reward in {report.when} is 0 or 1",
            event=f"the report exceeds {report.location + 1.0:g}",
            lower=loss,
            log_alpha=unlikely,
            log_likely=likely,
        )
