"""The bounds on the error of DP-BAI on the grids of the figures (C12)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms.best_arm.schedule import phase_schedule
from dpbandits.papers.dp_bai.curves import curve, joined
from dpbandits.papers.dp_bai.hardness import (
    Hardness,
    asymptotic_budget,
    proof_bound,
    theorem_bound,
    union_bound,
    union_budget,
)
from dpbandits.papers.dp_bai.regime_tables import INSTANCES, instance_hardness

DIMENSION = 2
BOUNDS = ("theorem", "proof", "union")

BUDGETS = {
    "section5": (100, 200, 400, 800, 1000, 1600, 3200, 6400, 400_000),
    "two-armed": (
        *(100, 200, 400, 500, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
        *(2400, 2800, 3200, 3600, 4000, 4400, 5000, 6400, 10_000, 80_000),
    ),
}
"""T of the figures and of the claims, by instance; the last one is beyond ``union_budget``."""

EPSILONS = {
    "section5": (
        *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        *(1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    ),
    "two-armed": (0.1, 0.5, 1.0),
}

FIXED_BUDGET = 1000
"""T of the panel over epsilon."""


def bounds() -> pd.DataFrame:
    """Bound the error of DP-BAI on I-A and I-B, at every budget with every epsilon.

    Tags: instance, ``section5`` or ``two-armed``; bound, ``theorem`` (exp(-T' / (65 M H))),
    ``proof`` (with the prefactor of the proof, which leaves out d = 2) or ``union`` (for d = 2,
    BAI-E21); epsilon; horizon (T); hardness (H); phases (M); effective_budget (T'); applies_from
    and follows_from, the T from which the theorem follows from its proof, and from ``union``;
    against, ``budget`` (x is T) or ``epsilon`` (I-A at T = 1000: x is epsilon). y: the bound, which
    may exceed 1.
    """
    found = joined(
        row
        for instance in INSTANCES
        for epsilon in EPSILONS[instance]
        for row in _curves(instance, epsilon)
    )
    fixed = found[(found["instance"] == "section5") & (found["horizon"] == FIXED_BUDGET)]
    labels = fixed["bound"] + f", section5, T={FIXED_BUDGET}"
    again = fixed.assign(series=labels, against="epsilon", x=fixed["epsilon"])
    return joined([found, again])


def _curves(instance: str, epsilon: float) -> Iterator[pd.DataFrame]:
    arms = len(INSTANCES[instance].arms)
    schedule = phase_schedule(arms, DIMENSION)
    hard: Hardness = instance_hardness(instance, epsilon)
    budgets = np.array(BUDGETS[instance])
    values = {
        "theorem": [theorem_bound(schedule, budget, hard) for budget in budgets],
        "proof": [proof_bound(schedule, budget, hard) for budget in budgets],
        "union": [union_bound(schedule, arms, DIMENSION, budget, hard) for budget in budgets],
    }
    for bound in BOUNDS:
        tags = {
            "instance": instance,
            "bound": bound,
            "epsilon": epsilon,
            "horizon": budgets,
            "hardness": hard.total,
            "phases": schedule.phases,
            "effective_budget": budgets - schedule.reserved,
            "applies_from": asymptotic_budget(schedule, hard),
            "follows_from": union_budget(schedule, arms, hard),
            "against": "budget",
        }
        series = f"{bound}, {instance}, epsilon={epsilon:g}"
        yield curve(series, tags, budgets.astype(np.float64), values[bound])
