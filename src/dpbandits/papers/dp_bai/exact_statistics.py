"""Statistics of the exact claims: numbers read off what is computed in ``analytic``."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Estimate, exact

PRIVACY = "privacy-loss"
GAUSS = "gauss-privacy"


def largest_coefficient(evidence: Evidence) -> Estimate:
    """Return the largest |coefficient| over a Max-Det collection, of all random sets."""
    return exact(evidence.analytic("max-det", quantity="coefficient")["y"].max(skipna=False))


def coefficients_above(evidence: Evidence, *, found_by: str) -> Estimate:
    """Return the number of random sets with a |coefficient| above 1 + 1e-8.

    Args:
        evidence: the results.
        found_by: how the collection was found, ``searched`` (all subsets) or ``exchanged``.
    """
    return exact(evidence.analytic("max-det", quantity=f"above {found_by}")["y"].sum(skipna=False))


def sets_of_features(evidence: Evidence, *, found_by: str) -> Estimate:
    """Return the number of random sets whose collection was found in that way."""
    return exact(evidence.analytic("max-det", quantity=found_by)["y"].sum(skipna=False))


def compared_sets(evidence: Evidence, *, quantity: str) -> Estimate:
    """Return a number of the comparison of Max-Det collections with other subsets, of all ranks."""
    return exact(evidence.number("max-det", quantity=quantity, rank=0))


def printed_number(
    evidence: Evidence, *, quantity: str, p: int = 0, schedule: str = "consistent"
) -> Estimate:
    """Return what is computed in place of a number of Appendix B; p is its phase, 0 for none.

    ``schedule`` is the interpretation of the phases, ``consistent``, ``literal`` or ``printed``
    (BAI-E1).
    """
    return exact(evidence.number("appendix-b", schedule=schedule, quantity=quantity, x=p))


def overrun(evidence: Evidence, *, algorithm: str, schedule: str, quantity: str) -> Estimate:
    """Return a number of the enumerated (K, d, T) that lead to more than T pulls.

    Args:
        evidence: the results.
        algorithm: its id.
        schedule: a tag of ``overshoot``.
        quantity: ``triples``, ``overruns``, ``share``, ``worst``, ``worst_relative``, ``worst on
            section5`` or ``worst on two-armed``.
    """
    tags = {"algorithm": algorithm, "schedule": schedule, "quantity": quantity}
    return exact(evidence.number("overshoot", **tags))


def first_overruns(evidence: Evidence, *, algorithm: str, schedule: str) -> Mapping[str, Estimate]:
    """Return the pulls beyond T at the smallest T of each (K, d) that has one, for twelve."""
    frame = evidence.analytic("overshoot", algorithm=algorithm, schedule=schedule)
    listed = _records(frame[frame["quantity"] == "counterexample"])
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
    features: list[str] | None = None,
    is_admissible: bool = True,
    largest_reward: float = 1.0,
) -> Mapping[str, Estimate]:
    """Return the largest privacy loss over epsilon at each epsilon, of all budgets and outputs.

    Args:
        evidence: the results.
        algorithm: its id.
        norm: of DP-OD, ``l2`` or ``l1``.
        features: tags of ``privacy_loss``; all where it is None.
        is_admissible: whether the instances are of the kind that the paper speaks of.
        largest_reward: 1, or 1.1 as on the two-armed instance of the paper.
    """
    tags = {"algorithm": algorithm, "norm": norm, "is_admissible": float(is_admissible)}
    losses = evidence.analytic(PRIVACY, **tags, largest_reward=largest_reward)
    if features is not None:
        losses = losses[losses["features"].isin(features)]
    return _largest(losses, "epsilon")


def needed_deltas(
    evidence: Evidence, *, epsilons: str, calibration: str = "classical"
) -> Mapping[str, Estimate]:
    """Return the delta that DP-BAI-Gauss needs on three arms over its own, by epsilon and delta.

    Args:
        evidence: the results.
        epsilons: ``asked`` (up to 5) or ``larger``.
        calibration: of the noise, ``classical`` or ``analytic`` (BAI-E9).
    """
    tags = {"calibration": calibration, "tables": "all", "epsilons": epsilons}
    frame = evidence.analytic(GAUSS, **tags, instance="witness")
    return {
        f"epsilon={epsilon:g}, delta={delta:g}": exact(y.max(skipna=False))
        for (epsilon, delta), y in frame.groupby(["x", "delta"])["y"]
    }


def needed_delta_at(
    evidence: Evidence,
    *,
    epsilon: float,
    delta: float,
    tables: str = "all",
    instance: str = "witness",
) -> Estimate:
    """Return the delta that DP-BAI-Gauss needs over its own, at one epsilon and delta.

    Args:
        evidence: the results.
        epsilon: one of the grid.
        delta: likewise.
        tables: rewards are 0 or 1 (``binary``), or anything between as well (``all``).
        instance: ``witness`` (three arms), ``line`` or ``plane`` (two).
    """
    tags = {"calibration": "classical", "instance": instance, "tables": tables}
    frame = evidence.analytic(GAUSS, **tags, delta=delta, x=epsilon)
    return exact(frame[frame["epsilons"] != "curve"]["y"].max())


def first_refuted_epsilon(evidence: Evidence) -> Estimate:
    """Return the smallest epsilon at which the three arms need more than some delta."""
    return exact(evidence.analytic(GAUSS, epsilons="least")["x"].item())


def first_refuted_epsilons(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the smallest epsilon at which they need more than this delta, by delta."""
    frame = evidence.analytic(GAUSS, epsilons="from")
    return {f"delta={row['delta']:g}": exact(row["x"]) for row in _records(frame)}


def crossing_errors(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the error below which pure noise misleads DP-BAI more than DP-BAI-Gauss, by delta."""
    frame = evidence.analytic("pure-noise", quantity="crossing")
    return {f"delta={row['x']:g}": exact(row["error"]) for row in _records(frame)}


def deviation_ratios(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the deviation of the noise of DP-BAI-Gauss over that of DP-BAI, by delta."""
    frame = evidence.analytic("pure-noise", quantity="deviation")
    return {f"delta={row['x']:g}": exact(row["y"]) for row in _records(frame)}


def misplaced_draws(evidence: Evidence) -> Estimate:
    """Return the number of random draws that meet no condition of Table 1, or several."""
    return exact(sum(_table1(evidence, quantity) for quantity in ("none", "several")))


def lost_draws(evidence: Evidence, *, row: int) -> Estimate:
    """Return number of random draws where the ticked bound of that row has not the larger exponent.

    In row 2, where we find no tick, those where that of DP-BAI-Gauss is the smaller one.
    """
    return exact(_table1(evidence, "zero loses" if row == 4 else "loses", x=row))


def _table1(evidence: Evidence, quantity: str, **where: Any) -> float:
    return evidence.number("table1-grid", quantity=quantity, **where)


def remark_draws(evidence: Evidence, *, quantity: str) -> Estimate:
    """Return the number of random draws that contradict the remark below Table 1, by quantity."""
    return exact(_table1(evidence, quantity))


def regime_budget(evidence: Evidence, *, instance: str, epsilon: float, delta: float) -> Estimate:
    """Return T from which the bound of DP-BAI-Gauss is the tighter one, constants left out."""
    tags = {"quantity": "T_C", "instance": instance, "epsilon": epsilon}
    return exact(evidence.number("regimes", **tags, x=delta))


def noise_limits(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the success rate on the instance of Section 5 as epsilon goes to 0, by algorithm."""
    frame = evidence.analytic("pure-noise", quantity="limit", instance="section5")
    return {row["algorithm"]: exact(row["y"]) for row in _records(frame)}


def draws_of_section5(evidence: Evidence, *, quantity: str) -> Mapping[str, Estimate]:
    """Return a number of I-A over many draws of its omegas, and at the end of their range."""
    return {
        name: exact(evidence.number("instances", instance=name, quantity=quantity))
        for name in ("section5 draws", "section5 limit")
    }


def rounds_of_dp_od(evidence: Evidence, *, instance: str) -> Mapping[str, Estimate]:
    """Return the rounds of DP-OD on ``two-armed``, by ratio, or on the ``section5 draws``."""
    frame = evidence.analytic("rounds")
    named = frame[frame["instance"].str.startswith(instance)]
    return {str(row["instance"]): exact(row["y"]) for row in _records(named)}


def baseline_structure(evidence: Evidence, *, quantity: str) -> Estimate:
    """Return the number of schedules, or of played phases, of a kind: a quantity of that frame."""
    frame = evidence.analytic("baseline-structure", quantity=quantity)
    return exact(frame["y"].sum(skipna=False))


def phase_violations(evidence: Evidence, *, quantity: str) -> Estimate:
    """Return number of schedules, of all enumerated, of a kind: a quantity of ``phase_counts``."""
    return exact(evidence.number("phase-counts", arms="many", quantity=quantity))


def _largest(frame: pd.DataFrame, by: str) -> Mapping[str, Estimate]:
    return {f"{by}={value:g}": exact(y.max(skipna=False)) for value, y in frame.groupby(by)["y"]}


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
