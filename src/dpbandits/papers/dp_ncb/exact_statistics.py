"""Statistics of numbers computed exactly, of single runs of Phase I, and of all curves at once."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpbandits.claims.evidence import Evidence, Series, all_curves
from dpbandits.claims.numbers import Estimate, difference, exact
from dpbandits.metrics import NOMINAL
from dpbandits.papers.dp_ncb.analytic import LEAST, PANEL_A, WEAK_SHARE, WITNESSED
from dpbandits.papers.dp_ncb.analytic import RUNS as PLAYED_RUNS
from dpbandits.papers.dp_ncb.derived import EPSILON, GLOBAL
from dpbandits.papers.dp_ncb.instances import drawn_means, weak_arms
from dpbandits.papers.dp_ncb.theory import PHASE_ONE_RANGE, capped_phase_one, scale

CURVES = (
    "panel-a",
    "panel-a-verdicts",
    "panel-b",
    "panels-c-to-e",
    "panel-f",
    "ten-million",
    "one-million",
    "horizons",
    "anytime",
    "known-horizon",
)
"""Simulations with Nash curves that the claims read."""

SMALLEST_RISE = 1e-3
"""A bin of time whose mean has left that of uniform play by this share of the best is no longer all
Phase I; the few pulls of Phase I that are recorded by arm move it by far less."""


def _numbers(evidence: Evidence, name: str, **where: Any) -> list[tuple[float, float]]:
    """Return x and y of exactly computed results, by increasing x."""
    frame = evidence.analytic(name, **where)
    return [(float(x), float(y)) for x, y in frame[["x", "y"]].to_numpy()]


def smallest_difference(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return the smallest Nash minus average regret over curves and times, in each simulation.

    Both are taken from the same mu*, which cancels, and from plain means over runs: with its bias
    subtracted a Nash regret may lie below an average regret.
    """
    points: dict[str, Estimate] = {}
    for name in CURVES:
        recorded = evidence.recorded(name)
        differences = [
            (curve.average_mean - curve.geometric_mean).min()
            for series in recorded.matching({"variant": variant})
            for prefix in (("", NOMINAL) if name == "panel-f" else ("",))
            for curve in all_curves(recorded, series, prefix).values()
        ]
        if differences:
            points[name] = exact(float(np.min(differences)), recorded.runs)
    return points


def bound_excess(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return the Nash regret of GDP-NCB minus the explicit bound of Theorem 1, epsilon = 0.2.

    At each T at which mu* is as large as the proof asks.
    """
    points: dict[str, Estimate] = {}
    for horizon, bound, best_mean, needed in _bounds(evidence):
        if best_mean >= needed:
            tags: dict[str, Any] = {"in": "horizons", "metric": "nash_regret", "algorithm": GLOBAL}
            tags |= {"variant": variant, "horizon": horizon, "epsilon": EPSILON}
            points[f"T={horizon:.0e}"] = difference(Series(evidence, tags).number(), exact(bound))
    return points


def _bounds(evidence: Evidence) -> list[tuple[int, float, float, float]]:
    """Return T, the bound of Theorem 1, mu* and the mu* that its proof asks for."""
    names = ("bound", "best_mean", "premise")
    columns = [_numbers(evidence, "bounds", theorem=1, quantity=name) for name in names]
    return [
        (int(horizon), bound, best_mean, premise)
        for (horizon, bound), (_, best_mean), (_, premise) in zip(*columns, strict=True)
    ]


def smallest_bound(evidence: Evidence) -> Estimate:
    """Return the smallest bound of Theorem 1 over mu*; from 1 on it says nothing."""
    return exact(min(bound / best_mean for _, bound, best_mean, _ in _bounds(evidence)))


def smallest_mended_bound(evidence: Evidence) -> Estimate:
    """Return the smallest bound of Theorem 1 over mu*, with the factor k that its proof loses."""
    [(_, best_mean), *_] = _numbers(evidence, "bounds", theorem=1, quantity="best_mean")
    bounds = _numbers(evidence, "bounds", theorem=1, quantity="mended bound")
    return exact(min(bound / best_mean for _, bound in bounds))


def mended_premise(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the mu* that the proof of Theorem 1 asks for with that factor, at each T from 1e9."""
    premises = _numbers(evidence, "bounds", theorem=1, quantity="mended premise")
    return {f"T={x:.0e}": exact(y) for x, y in premises if x >= 10**9}


def first_informative_horizon(evidence: Evidence) -> Estimate:
    """Return the smallest T at which the bound of Theorem 1 is below mu*, epsilon = 0.2."""
    [(horizon, _)] = _numbers(evidence, "bounds", theorem=1, quantity="first_informative")
    return exact(horizon)


def term_ratios(evidence: Evidence, *, horizon: int, above: float = 0.0) -> Mapping[str, Estimate]:
    """Return privacy term of Theorem 1's bound over its other term, at each epsilon ``above``."""
    ratios = _numbers(evidence, "bound-terms", quantity="ratio", horizon=horizon)
    return {f"epsilon={x:g}": exact(y) for x, y in ratios if x > above}


def balances(evidence: Evidence, *, quantity: str) -> Mapping[str, Estimate]:
    """Return the where the two terms of the bound of Theorem 1 are equal, at each T.

    ``quantity``: ``balance``, the epsilon of Remark 2, or ``ratio-at-balance``, of the terms there.
    """
    return {f"T={x:.0e}": exact(y) for x, y in _numbers(evidence, "bound-terms", quantity=quantity)}


def phase_one_outside(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the number of runs of GDP-NCB whose Phase I lasts less than 512 k S, or over 3872 k S.

    At T = 1e9 and 1e10; NaN where an end of the range lies within the bin of time in which Phase I
    ends.
    """
    counts = {}
    for horizon in (10**9, 10**10):
        ratios = _phase_one_ratios(evidence, horizon)
        outside = [not _is_inside(low, high) for low, high in ratios]
        unclear = any(_is_inside(low, low) != _is_inside(high, high) for low, high in ratios)
        count = math.nan if unclear or not outside else float(sum(outside))
        counts[f"T={horizon:.0e}"] = exact(count, len(outside))
    return counts


def _is_inside(low: float, high: float) -> bool:
    return PHASE_ONE_RANGE[0] <= low and high <= PHASE_ONE_RANGE[1]


def _phase_one_ratios(evidence: Evidence, horizon: int) -> list[tuple[float, float]]:
    """Return between what multiples of k S Phase I ends in each run, by its bins of time."""
    tags: dict[str, Any] = {"algorithm": GLOBAL, "variant": "as-written", "horizon": horizon}
    table = evidence.table("phase-lengths", "nash_bins", **tags)
    means = np.array(drawn_means())
    unit = means.size * scale(GLOBAL, horizon, EPSILON, means.max())
    edges = np.concatenate([[0], table.columns.to_numpy(np.float64)])
    rises = (table.to_numpy() - means.mean()) / means.max() > SMALLEST_RISE
    ratios = []
    for run in rises:
        first = int(run.argmax()) if run.any() else run.size - 1
        ratios.append((edges[first] / unit, edges[first + 1] / unit))
    return ratios


def phase_one_ratios(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the mean length of Phase I over k S in runs of GDP-NCB as written."""
    points: dict[str, Estimate] = {}
    for horizon in (10**9, 10**10):
        ratios = _phase_one_ratios(evidence, horizon)
        middle = float(np.mean(ratios)) if ratios else math.nan
        points[f"T={horizon:.0e}"] = exact(middle, len(ratios))
    return points


def predicted_phase_one(
    evidence: Evidence, *, variant: str, algorithm: str
) -> Mapping[str, Estimate]:
    """Return Phase I over k S at each T: as written were nothing random, as coded exactly."""
    lengths = _numbers(evidence, "phase-one", variant=variant, algorithm=algorithm)
    return {f"T={x:.0e}": exact(y) for x, y in lengths}


def composed_losses(
    evidence: Evidence, *, variant: str, release_log: str = "natural", counted: str = "all"
) -> Mapping[str, Estimate]:
    """Return the composed loss of the releases that a reward enters, over epsilon, at each T."""
    tags = {"variant": variant, "release_log": release_log, "counted": counted}
    return {f"T={x:.0e}": exact(y) for x, y in _numbers(evidence, "composed-loss", **tags)}


def noise_scales(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return the scale of the noise in an observation of LDP-NCB times epsilon, in each phase."""
    return {
        f"epsilon={x:g}, Phase {phase}": exact(y)
        for phase in ("I", "II")
        for x, y in _numbers(evidence, "noise-scales", variant=variant, phase=phase)
    }


def violating_runs(
    evidence: Evidence, *, variant: str, statement: str, algorithm: str = GLOBAL
) -> Mapping[str, Estimate]:
    """Return the number of runs whose Phase II violates a statement about its index.

    ``statement``: ``best-index``, the best arm's index never falls below mu*; ``weak-arms``, arms
    with means of at most mu*/256 are never pulled.
    """
    tags = {"algorithm": algorithm, "variant": variant, "statement": statement}
    counts = _numbers(evidence, "index-plays", **tags)
    return {f"T={x:.0e}": exact(y, PLAYED_RUNS) for x, y in counts}


def runs_with_weak_pulls(evidence: Evidence, *, variant: str, algorithm: str) -> Estimate:
    """Return the number of runs that pull arms of at most mu*/256 more often than Phase I lasts.

    So many pulls are partly of Phase II, whose pulls are not recorded apart.
    """
    pulls = evidence.per_arm("weak-arms", "pulls", algorithm=algorithm, variant=variant)
    means = weak_arms().means
    weak = pulls[:, means <= means.max() / WEAK_SHARE].sum(axis=1)
    explored = capped_phase_one(evidence.horizon("weak-arms")) + (algorithm != GLOBAL)
    return exact(float(np.sum(weak > explored)) if weak.size else math.nan, weak.size)


def witnessed_loss(
    evidence: Evidence, *, variant: str, offset: int | None = None
) -> Mapping[str, Estimate]:
    """Return ln of the ratio of an event's probabilities over epsilon, for each witness.

    The two reward sequences differ in one round, so that Theorem 2 allows 1 at most; one witness
    above 1 refutes it, and none establishes it.

    Args:
        evidence: the results.
        variant: of the claim.
        offset: as written the pulls of arm 1 minus the threshold; those of the shortest event that
            refutes by default.
    """
    return _of_witnesses(evidence, variant, "y", offset)


def witness_probability(evidence: Evidence, *, variant: str, of: str) -> Mapping[str, Estimate]:
    """Return log10 of a probability of each witness under the first reward sequence.

    Args:
        evidence: the results.
        variant: of the claim.
        of: ``probability``, of the event, given the arms of Phase I; ``arms``, of these.
    """
    return _of_witnesses(evidence, variant, f"log10_{of}")


def least_offset(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the fewest pulls of arm 1, minus the threshold, whose event refutes as written."""
    return _of_witnesses(evidence, "as-written", "x")


def panel_a_loss(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the largest loss over epsilon as coded at any T and split of Phase I of Figure 1(a).

    It is that of the family of events that refutes Theorem 2 as coded at larger T.
    """
    rows = evidence.analytic("privacy-witnesses", variant="as-coded", quantity=PANEL_A)
    pairs = rows[["epsilon", "y"]].to_numpy()
    return {f"epsilon={epsilon:g}": exact(float(loss)) for epsilon, loss in pairs}


def _of_witnesses(
    evidence: Evidence, variant: str, column: str, offset: int | None = None
) -> Mapping[str, Estimate]:
    """Return a column of the witnesses of a variant, with an offset or the least that refutes."""
    where: dict[str, Any] = {"variant": variant, "quantity": WITNESSED}
    if variant == "as-written" and offset is None:
        where["quantity"] = LEAST
    elif offset is not None:
        where["x"] = offset
    rows = evidence.analytic("privacy-witnesses", **where).sort_values(["horizon", "epsilon"])
    return {
        f"T={row['horizon']:.0e}, epsilon={row['epsilon']:g}": exact(float(row[column]))
        for _, row in rows.iterrows()
    }
