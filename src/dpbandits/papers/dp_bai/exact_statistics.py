"""Statistics of the exact claims: numbers read off what is computed in ``analytic``.

``schedule`` is the reading of the phases, ``consistent``, ``literal`` or ``printed`` (spec E1).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims import Estimate, Evidence, Statistic, exact

PRIVACY = "privacy-loss"
GAUSS = "gauss-privacy"


def largest_coefficient(evidence: Evidence) -> Estimate:
    """Largest |coefficient| over a Max-Det collection, of all random sets."""
    return exact(evidence.analytic("max-det", quantity="coefficient")["y"].max())


def coefficients_above(evidence: Evidence) -> Estimate:
    """Number of random sets with a |coefficient| above 1 + 1e-8."""
    return exact(evidence.analytic("max-det", quantity="above")["y"].sum())


def subsets_below(evidence: Evidence) -> Estimate:
    """Number of random sets where another subset has a smaller v than the Max-Det collection."""
    return _compared(evidence, "smaller")


def compared_sets(evidence: Evidence, *, quantity: str) -> Estimate:
    """Another number of that comparison, over all ranks (a quantity of ``max_det_table``)."""
    return _compared(evidence, quantity)


def _compared(evidence: Evidence, quantity: str) -> Estimate:
    return exact(evidence.analytic("max-det", quantity=quantity, rank=0)["y"].item())


def printed_number(evidence: Evidence, *, schedule: str, quantity: str, p: int = 0) -> Estimate:
    """What we compute in place of a number of Appendix B; p is its phase, 0 for none."""
    found = evidence.analytic("appendix-b", schedule=schedule, quantity=quantity, x=p)
    return exact(found["y"].item())


def overruns(evidence: Evidence, *, algorithm: str, schedule: str) -> Estimate:
    """Number of (K, d, T) that lead to more than T pulls."""
    return _overshoot(evidence, algorithm, schedule, "overruns")


def overrun(evidence: Evidence, *, algorithm: str, schedule: str, quantity: str) -> Estimate:
    """Their share, or the worst of them: ``share``, ``worst`` or ``worst_relative``."""
    return _overshoot(evidence, algorithm, schedule, quantity)


def _overshoot(evidence: Evidence, algorithm: str, schedule: str, quantity: str) -> Estimate:
    tags = {"algorithm": algorithm, "schedule": schedule, "quantity": quantity}
    return exact(evidence.analytic("overshoot", **tags)["y"].item())


def first_overruns(evidence: Evidence, *, algorithm: str, schedule: str) -> Mapping[str, Estimate]:
    """Pulls beyond T at the smallest T of each (K, d) that has one, the first twelve of them."""
    found = evidence.analytic("overshoot", algorithm=algorithm, schedule=schedule)
    listed = _records(found[found["quantity"] == "counterexample"])
    return {
        f"K={row['arms']:.0f}, d={row['dimension']:.0f}, T={row['budget']:.0f}": exact(
            row["y"] - row["budget"]
        )
        for row in listed
    } or {"none": exact(0.0)}


def privacy_losses(
    evidence: Evidence,
    *,
    algorithm: str,
    norm: str = "none",
    features: str = "any",
    largest_reward: float = 1.0,
) -> Mapping[str, Estimate]:
    """Largest privacy loss over epsilon at each epsilon, of all budgets and outputs."""
    tags = {"algorithm": algorithm, "norm": norm, "features": features}
    found = evidence.analytic(PRIVACY, **tags, largest_reward=largest_reward)
    return _largest(found, "epsilon")


def losses_by_reward(
    evidence: Evidence,
    *,
    algorithm: str,
    norm: str = "none",
    features: str = "any",
    largest_reward: float = 1.0,
) -> Mapping[str, Estimate]:
    """The same over epsilon times the largest reward."""
    losses = privacy_losses(
        evidence, algorithm=algorithm, norm=norm, features=features, largest_reward=largest_reward
    )
    return {point: exact(loss.value / largest_reward) for point, loss in losses.items()}


def needed_deltas(
    evidence: Evidence, *, calibration: str, tables: str, epsilons: str
) -> Mapping[str, Estimate]:
    """Delta that DP-BAI-Gauss needs over its delta, by epsilon; the largest over delta, d and T.

    Args:
        calibration: of the noise, ``classical`` or ``analytic`` (E9).
        tables: rewards are 0 or 1 (``binary``), or anything between as well (``all``).
        epsilons: ``asked`` (up to 5) or ``larger``.
    """
    tags = {"calibration": calibration, "tables": tables, "epsilons": epsilons}
    found = evidence.analytic(GAUSS, **tags)
    return _largest(found.assign(epsilon=found["x"]), "epsilon")


def crossing_errors(evidence: Evidence) -> Mapping[str, Estimate]:
    """Error below which DP-BAI-Gauss errs more rarely than DP-BAI under pure noise, by delta."""
    found = evidence.analytic("pure-noise", quantity="crossing")
    return {f"delta={row['x']:g}": exact(row["error"]) for row in _records(found)}


def deviation_ratios(evidence: Evidence) -> Mapping[str, Estimate]:
    """Deviation of the noise of DP-BAI-Gauss over that of DP-BAI, by delta."""
    found = evidence.analytic("pure-noise", quantity="deviation")
    return {f"delta={row['x']:g}": exact(row["y"]) for row in _records(found)}


def misplaced_draws(evidence: Evidence) -> Estimate:
    """Number of random draws that meet no condition of Table 1, or several."""
    return exact(sum(_table1(evidence, quantity) for quantity in ("none", "several")))


def lost_draws(evidence: Evidence, *, row: int) -> Estimate:
    """Number of random draws where the ticked bound of that row has not the larger exponent.

    In row 2, where we find no tick, those where that of DP-BAI-Gauss is the smaller one.
    """
    return exact(_table1(evidence, "zero loses" if row == 4 else "loses", x=row))


def _table1(evidence: Evidence, quantity: str, **where: Any) -> float:
    return float(evidence.analytic("table1-grid", quantity=quantity, **where)["y"].item())


def draws_of_section5(evidence: Evidence, *, quantity: str) -> Mapping[str, Estimate]:
    """A number of I-A over many draws of its omegas, and at the end of their range."""
    return {
        name: exact(evidence.analytic("instances", instance=name, quantity=quantity)["y"].item())
        for name in ("section5 draws", "section5 limit")
    }


def rounds_of_dp_od(evidence: Evidence) -> Mapping[str, Estimate]:
    """Rounds of DP-OD on I-A (over many draws of its omegas) and I-B (over ratios)."""
    found = evidence.analytic("rounds")
    named = found[found["instance"].str.startswith(("section5", "two-armed"))]
    return {str(row["instance"]): exact(row["y"]) for row in _records(named)}


def phase_deviations(evidence: Evidence, *, schedule: str) -> Mapping[str, Estimate]:
    """Largest distance of the number of phases from log d + 2 log2 d, by how K depends on d."""
    return _phase_distances(evidence, schedule, "expected")


def phase_residuals(evidence: Evidence, *, schedule: str) -> Mapping[str, Estimate]:
    """Largest residual of the number of phases on 1 and log d, by how K depends on d."""
    return _phase_distances(evidence, schedule, "fit")


def _phase_distances(evidence: Evidence, schedule: str, against: str) -> Mapping[str, Estimate]:
    found = evidence.analytic("phase-counts", schedule=schedule)
    distances = {}
    for arms in found["arms"].unique():
        own = found[found["arms"] == arms].pivot(index="x", columns="quantity", values="y")
        distances[f"K={arms}"] = exact(np.abs(own["phases"] - own[against]).max())
    return distances


def _largest(found: pd.DataFrame, by: str) -> Mapping[str, Estimate]:
    return {f"{by}={value:g}": exact(y) for value, y in found.groupby(by)["y"].max().items()}


def _records(found: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in found.to_dict("records")]


EXACT_STATISTICS: dict[str, Statistic] = {
    statistic.__name__: statistic
    for statistic in (
        largest_coefficient,
        coefficients_above,
        subsets_below,
        compared_sets,
        printed_number,
        overruns,
        overrun,
        first_overruns,
        privacy_losses,
        losses_by_reward,
        needed_deltas,
        crossing_errors,
        deviation_ratios,
        misplaced_draws,
        lost_draws,
        draws_of_section5,
        rounds_of_dp_od,
        phase_deviations,
        phase_residuals,
    )
}
"""Statistics of the exact claims by the name that the claims file gives them."""
