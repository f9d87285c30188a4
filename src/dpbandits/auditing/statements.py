"""The audited statements: which results have which rows, and what these are swept over.

A generator makes the rows of a statement, beside the mathematics of its events; its defaults are
the full scale. Here are those of a few algorithms together, and all by the name of their results.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpbandits.algorithms import anytime_ncb, ldp_ncb, ldp_ucb_l
from dpbandits.algorithms.base import Algorithm
from dpbandits.auditing import best_arm, gdp_ncb, index_policies, lattice, support, thompson
from dpbandits.auditing.events import Event
from dpbandits.auditing.rows import AuditRow, exact_row

Rows = Iterator[AuditRow]


def episode_rows(
    epsilons: Sequence[float] = (0.2, 1.0),
    adap_horizon: int = 60,
    lazy_horizon: int = 24,
    se_horizon: int = 100_000,
) -> Rows:
    """Yield AUD-17 as written, and AUD-18 on Anytime-Lazy-UCB and on the first epoch of DP-SE."""
    for epsilon in epsilons:
        policy = index_policies.adap_ucb_policy(adap_horizon, epsilon)
        adap = list(index_policies.sequence_rows("AUD-17", "adap-ucb", policy))
        # The repaired variant is the original.
        yield from (*adap, *(replace(row, variant="repaired") for row in adap))
        policy = index_policies.anytime_lazy_ucb_policy(lazy_horizon, epsilon)
        yield from index_policies.sequence_rows("AUD-18", "anytime-lazy-ucb", policy)
        yield from best_arm.dp_se_rows(se_horizon, epsilon)


REPORT_HORIZON = 1000  # T, on which no report depends


def reports_of(
    algorithm: Algorithm, variant: str, epsilon: float
) -> list[tuple[float, float, str]]:
    """Return location and scale of the noise of local reports, and the rounds that get it."""
    if algorithm is ldp_ucb_l.ALGORITHM:
        return [(0.0, 1.0 / epsilon, "every round")]
    interpretations = algorithm.interpretations_from({}, variant)
    core = {name: interpretations[name] for name in ldp_ncb.ALGORITHM.interpretations}
    settings = ldp_ncb.ALGORITHM.settings(REPORT_HORIZON, 2, epsilon=epsilon, **core)
    location, scale = settings.exploration_location, settings.exploration_scale
    return [(location, scale, "Phase I"), (0.0, 1.0 / epsilon, "Phase II")]


def report_event(location: float, scale: float) -> Event:
    """Return the event of a report's largest loss: it exceeds both centres.

    Y = reward + location + Laplace(b): the ratio of its densities for the rewards 0 and 1 is
    exp(1/b) beyond both centres, and nowhere larger; what is done to Y later loses nothing more.
    """
    likely = math.log(0.5)
    return Event(f"the report exceeds {location + 1.0:g}", likely - 1.0 / scale, likely)


def report_rows(epsilons: Sequence[float] = (0.2, 0.5, 1.0, 2.0)) -> Rows:
    """Yield AUD-16 (LDP-NCB) and AUD-18 (LDP-UCB-L)."""
    for algorithm in (ldp_ncb.ALGORITHM, anytime_ncb.LOCAL, ldp_ucb_l.ALGORITHM):
        for variant, epsilon in itertools.product(algorithm.variants, epsilons):
            for location, scale, when in reports_of(algorithm, variant, epsilon):
                yield exact_row(
                    report_event(location, scale),
                    f"one user's reward in {when} is 0 or 1",
                    epsilon=epsilon,
                    statement="AUD-18" if algorithm is ldp_ucb_l.ALGORITHM else "AUD-16",
                    algorithm=algorithm.id,
                    variant=variant,
                    notion="local",
                    engine="local",
                    horizon=REPORT_HORIZON,
                )


Swept = tuple[Callable[..., Rows], Mapping[str, Any]]

_FAR = {"far": (10, 30, 100, 1_000, 100_000)}

SWEPT: Mapping[str, tuple[Swept, ...]] = {
    "releases": (
        (best_arm.dp_bai_rows, {}),
        (best_arm.dp_od_rows, {}),
        (best_arm.dp_bai_gauss_rows, {}),
        (
            gdp_ncb.split_rows,
            {
                "epsilons": (0.2, 2.0),
                "horizons": (10**4, 10**6),
                "doublings": (3, 5, 8),
                "window": 2**16,
            },
        ),
        (gdp_ncb.stop_rows, {"toy_horizons": (16,)}),
        (
            episode_rows,
            {"epsilons": (1.0,), "adap_horizon": 12, "lazy_horizon": 10, "se_horizon": 20_000},
        ),
        (index_policies.abandoned_rows, {"epsilons": (1.0,), "horizons": (8, 16)}),
        (report_rows, {}),
        (support.support_rows, {}),
    ),
    "decisions": ((thompson.decision_rows, {}),),
    "thompson": (
        (lattice.theorem_3_rows, {"horizons": (2, 3, 10, 30, 100), "three_armed": (10,)}),
        (thompson.far_rows, _FAR),
        (thompson.sampled_rows, {"sampled": ((2, 30, 10_000), (3, 10, 2_000))}),
        (lattice.epsilon_rows, {"horizons": (10, 30, 100)}),
    ),
    "thompson-long": (
        (partial(lattice.theorem_3_rows, horizons=(3_000,), three_armed=()), {"horizons": ()}),
    ),
    "modified": ((lattice.modified_rows, {"horizon": 100, "pre_pulls": (0, 1, 5, 20, 40)}),),
    "budgets": (
        (thompson.quoted_rows, _FAR),
        (lattice.budget_rows, {"horizons": (100, 1_000), "alphas": (0.0, 0.5, 1.0)}),
    ),
}
"""Name of results -> generators of their rows, with what differs at quick scale."""


def swept_rows(results: str, *, quick: bool = False, seed: int) -> list[AuditRow]:
    """Return the rows of some results; those of simulated outputs depend on the seed."""
    rows: list[AuditRow] = []
    for generate, smaller in SWEPT[results]:
        seeded = {"seed": seed} if generate is thompson.sampled_rows else {}
        rows += generate(**(smaller if quick else {}), **seeded)
    return rows
