"""Schedules of phases (Appendix B; C11, C20, C22), and whether they keep to their budget (C13)."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.base import Trial
from dpbandits.algorithms.best_arm.designs import g_optimal
from dpbandits.algorithms.best_arm.eliminations import (
    SCHEDULES,
    PhaseSchedule,
    halving_schedule,
    phase_schedule,
)
from dpbandits.engine.cells import Work, make_cell
from dpbandits.engine.compute import outcomes
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import INSTANCES, section5, two_armed

ARMS, DIMENSION = 10_000, 16

PRINTED: tuple[tuple[str, int, float, float], ...] = (
    ("g0", 0, 64, 0),
    ("h0", 0, 9936, 0),
    ("lambda", 0, 27.65, 0.005),
    ("M1", 0, 4, 0),
    ("M", 0, 10, 0),
    ("size", 1, 1000, 0),
    ("size", 2, 423, 0),
    ("size", 3, 77, 0),
    ("size", 4, 64, 0),
    *(("size", p, 2 ** (10 - p), 0) for p in range(5, 11)),
    ("ratio", 2, 27.65, 0.005),
    ("ratio", 3, 27.68, 0.005),
    ("ratio", 4, 27.62, 0.005),
)
"""Every number of Appendix B: quantity, phase p (0 for none), number, half a unit of its digits."""

DIMENSIONS = np.arange(2, 65)

VIOLATIONS = ("above limit", "below log2 d", "early above", "shrinking above")
ROUND_OFF = 1e-9

ARM_COUNTS: dict[str, Callable[[int], int]] = {
    "d^2": lambda d: d**2,
    "d^3": lambda d: d**3,
    "10000": lambda d: 10_000,
}
"""How the number of arms depends on d in C22."""


def appendix_b() -> pd.DataFrame:
    """Return Appendix B (d = 16, K = 10000) by each interpretation of its schedule.

    Tags: schedule; quantity, ``g0``, ``h0``, ``lambda``, ``M1``, ``M``, ``size`` (s_p) or
    ``ratio`` ((s_{p-1} - g0) / (s_p - g0)); printed, the paper's number; half_unit, half a unit of
    its last digit; verdict, ``agrees`` or ``deviates``; computed, the number in words. x: p, 0
    where there is none. y: the computed number; the size is 0 where the schedule has ended before,
    a ratio over 0 is infinite.
    """
    return joined(row for interpretation in SCHEDULES for row in _printed_rows(interpretation))


def _printed_rows(interpretation: str) -> Iterator[pd.DataFrame]:
    schedule = phase_schedule(ARMS, DIMENSION, interpretation)
    for quantity, p, printed, half_unit in PRINTED:
        computed = _computed(schedule, quantity, p)
        agrees = abs(computed - printed) <= half_unit
        tags = {
            "schedule": interpretation,
            "quantity": quantity,
            "printed": float(printed),
            "half_unit": float(half_unit),
            "verdict": "agrees" if agrees else "deviates",
            "computed": _in_words(quantity, computed),
        }
        yield curve(f"{quantity}, {interpretation}", tags, [p], [computed])


def _in_words(quantity: str, computed: float) -> str:
    if math.isinf(computed):
        return "division by 0"
    if quantity == "size" and computed == 0.0:
        return "ended"
    return f"{computed:,.0f}" if computed.is_integer() else f"{computed:.2f}"


def _computed(schedule: PhaseSchedule, quantity: str, p: int) -> float:
    sizes, start = schedule.sizes, schedule.halving[0]
    numbers = {
        "g0": start,
        "h0": schedule.shrinking[0],
        "lambda": schedule.shrinkage,
        "M1": schedule.early_phases,
        "M": schedule.phases,
    }
    if quantity in numbers:
        return float(numbers[quantity])
    if quantity == "size":
        return float(sizes[p - 1]) if p <= len(sizes) else 0.0
    rest = sizes[p - 1] - start
    return (sizes[p - 2] - start) / rest if rest else math.inf


def phase_limit(dimension: int) -> float:
    """Return log d + 2 log2 d + 2, which the number of phases does not exceed.

    h_i < h_0 / lambda^i + 1 and lambda^(log d) >= h_0 give M1 <= ceil(log d) + 1, and the halving
    takes ceil(log2 g_0) phases, with g_0 <= ceil(d^2/4).
    """
    return math.log(dimension) + 2.0 * math.log2(dimension) + 2.0


def phase_counts() -> pd.DataFrame:
    """Return the number of phases of the schedule for d = 2..64 and many K (C22).

    Tags: arms, how K depends on d (a key of ``ARM_COUNTS``); quantity, ``phases`` or ``limit``
    (log d + 2 log2 d + 2), each with x = d. Over all d and K = d, d + 1, ..., 5 d^2 and the keys
    of ``ARM_COUNTS``: ``schedules``, ``above limit`` (M > log d + 2 log2 d + 2), ``below log2 d``
    (M < log2 d), ``early above`` (M1 > ceil(log d) + 1) and ``shrinking above`` (some h_i is not
    below h_0 / lambda^i + 1), each a number of schedules with x = 0.
    """
    return joined([*(frame for arms in ARM_COUNTS for frame in _counts(arms)), *_enumerated()])


def _counts(arms: str) -> Iterator[pd.DataFrame]:
    counts = [phase_schedule(ARM_COUNTS[arms](int(d)), int(d)).phases for d in DIMENSIONS]
    limits = [phase_limit(int(d)) for d in DIMENSIONS]
    for quantity, y in {"phases": counts, "limit": limits}.items():
        tags = {"arms": arms, "quantity": quantity}
        yield curve(f"{quantity}, K={arms}", tags, DIMENSIONS, np.array(y, dtype=np.float64))


def _enumerated() -> Iterator[pd.DataFrame]:
    counted = Counter[str]()
    for dimension in DIMENSIONS.tolist():
        counts = {*range(dimension, 5 * dimension**2 + 1, 1 + dimension // 8)}
        counts |= {count(dimension) for count in ARM_COUNTS.values()}
        for arms in sorted(counts):
            counted.update(violations(phase_schedule(arms, dimension), dimension))
    for quantity in ("schedules", *VIOLATIONS):
        tags = {"arms": "many", "quantity": quantity}
        yield curve(f"{quantity}, many K", tags, [0], [float(counted[quantity])])


def violations(schedule: PhaseSchedule, dimension: int) -> list[str]:
    """Return what of the proof a schedule contradicts, and that it is one."""
    first = schedule.shrinking[0]
    excess = (
        size - (first / schedule.shrinkage**step + 1.0)
        for step, size in enumerate(schedule.shrinking)
    )
    contradicted = {
        "above limit": schedule.phases > phase_limit(dimension) + ROUND_OFF,
        "below log2 d": schedule.phases < math.log2(dimension) - ROUND_OFF,
        "early above": schedule.early_phases > math.ceil(math.log(dimension)) + 1,
        "shrinking above": max(excess) >= ROUND_OFF,
    }
    return ["schedules", *(name for name in VIOLATIONS if contradicted[name])]


HALVED_ARMS = range(2, 301)
HALVED_DIMENSIONS = range(2, 25)

PLAYED = ("section5", "standard-basis", "sphere")
BUDGET = 2000
TRIALS = 20
SEED = 20240123


def halves(sizes: tuple[int, ...]) -> bool:
    """Return whether every size is half the one before, rounded up."""
    return all(after == -(-size // 2) for size, after in itertools.pairwise(sizes))


def baseline_structure() -> pd.DataFrame:
    """Return how Baseline's phases differ from those of Sequential Halving (C20).

    Tags: quantity; instance, of those that are played. Over K = 2..300 and d = 2..24:
    ``schedules``; ``late not halved``, schedules whose sizes do not halve from g_0 on; ``small``,
    schedules with K <= ceil(d^2/4), and ``small not halved``, those of them that do not halve
    throughout. ``unequal pulls`` and ``wrong arms``: phases of Baseline without noise, as played on
    instances, that pull its active arms unequally often, or keep others than those with the largest
    means; ``phases``, how many were played. x: 0. y: their number.
    """
    return joined([*_schedules(), *(row for name in PLAYED for row in _played(name))])


def _schedules() -> Iterator[pd.DataFrame]:
    counted = Counter[str]()
    for arms in HALVED_ARMS:
        for dimension in HALVED_DIMENSIONS:
            schedule = phase_schedule(arms, dimension)
            counted["schedules"] += 1
            counted["late not halved"] += not halves(late_sizes(schedule))
            if arms <= -(-(dimension**2) // 4):
                counted["small"] += 1
                counted["small not halved"] += not halves(schedule.sizes)
    for quantity in ("schedules", "late not halved", "small", "small not halved"):
        tags = {"quantity": quantity, "instance": "many"}
        yield curve(f"{quantity}, many", tags, [0], [float(counted[quantity])])


def late_sizes(schedule: PhaseSchedule) -> tuple[int, ...]:
    """Return the sizes of a schedule from g_0 on."""
    return schedule.sizes[schedule.early_phases :]


def _played(name: str) -> Iterator[pd.DataFrame]:
    cell = make_cell(
        algorithm="baseline",
        parameters={"epsilon": np.inf},
        bandit=INSTANCES[name](),
        horizon=BUDGET,
    )
    counted = Counter[str]()
    for trial in range(TRIALS):
        counted.update(contradictions(next(outcomes(Work(cell, range(1)), SEED + trial)).first))
    for quantity in ("phases", "unequal pulls", "wrong arms"):
        tags = {"quantity": quantity, "instance": name}
        yield curve(f"{quantity}, {name}", tags, [0], [float(counted[quantity])])


def contradictions(trial: Trial) -> list[str]:
    """Return what each phase of a trial contradicts, and that it is a phase."""
    survivors_of = [phase.active for phase in trial.phases[1:]] + [np.array([trial.recommended])]
    contradicted = []
    for phase, survivors in zip(trial.phases, survivors_of, strict=True):
        is_equal = np.array_equal(phase.arms, phase.active) and np.ptp(phase.pulls) == 0
        best = phase.active[np.argsort(-phase.estimates, kind="stable")[: survivors.size]]
        contradicted.append("phases")
        contradicted += ["unequal pulls"] * (not is_equal)
        contradicted += ["wrong arms"] * (not np.array_equal(np.sort(best), survivors))
    return contradicted


Counts = NDArray[np.int64]

LARGEST_BUDGET = 5000


def phase_pulls(size: int, dimension: int, linear: bool) -> int:
    """Return how many arms a phase pulls: the rank where that is below sqrt(s), else all s.

    Args:
        size: s_p, active arms.
        dimension: d; features are generic, so that their rank is min(d, s_p).
        linear: whether the Max-Det branch exists (DP-BAI), or not (Baseline).
    """
    rank = min(dimension, size)
    return rank if linear and rank * rank < size else size


@cache
def _rounded_up(arms: int, phases: int) -> Counts:
    """Return arms * ceil(T' / (M arms)) for T' = 1, ..., the largest budget."""
    effective = np.arange(1, LARGEST_BUDGET + 1)
    return np.asarray(arms * -(-effective // (phases * arms)))


def phase_totals(arms: int, dimension: int, schedule: str, linear: bool) -> tuple[Counts, Counts]:
    """Return all budgets with T' > 0 up to the largest, and the pulls that they lead to.

    Args:
        arms: K.
        dimension: d.
        schedule: an interpretation of the phase schedule, or ``halving``.
        linear: whether the Max-Det branch exists (DP-BAI), or not (Baseline).
    """
    halving = schedule == "halving"
    phases = halving_schedule(arms) if halving else phase_schedule(arms, dimension, schedule)
    budgets = np.arange(phases.reserved + 1, LARGEST_BUDGET + 1)
    pulls = np.zeros(budgets.size, np.int64)
    for size in phases.sizes[:-1]:
        pulled = phase_pulls(size, dimension, linear)
        pulls += _rounded_up(pulled, phases.phases)[: budgets.size]
    return budgets, pulls


def design_rounds(rank: int) -> int:
    """Return R, the rounds of OD-LinBAI and DP-OD on features of this rank."""
    return max(1, math.ceil(math.log2(rank)))


def design_supports(arms: int, rank: int) -> list[int]:
    """Return how many arms a round's design may have: r(r + 1)/2 at first, then all active ones."""
    later = [-(-rank // 2**r) for r in range(1, design_rounds(rank))]
    return [min(arms, rank * (rank + 1) // 2), *later]


def worst_design_totals(arms: int, dimension: int) -> tuple[Counts, Counts]:
    """Return all budgets with m > 0 and the most pulls OD-LinBAI can use, whatever the features.

    Their rank is min(K, d). A round with a design of S arms pulls at most ceil(m) + S - 1 times,
    and R m is T less the sum of all S.
    """
    supports = design_supports(arms, min(arms, dimension))
    budgets = np.arange(sum(supports) + 1, LARGEST_BUDGET + 1)
    per_round = -(-(budgets - sum(supports)) // len(supports))
    return budgets, len(supports) * (per_round - 1) + sum(supports)


def random_design_totals(
    features: NDArray[np.float64], generator: np.random.Generator
) -> tuple[Counts, Counts]:
    """Return all budgets and the pulls of OD-LinBAI on these features, random arms surviving.

    Args:
        features: of full rank min(K, d) >= 2, shape (K, d).
        generator: decides which arms survive a round.
    """
    rank = min(features.shape)
    supports = design_supports(len(features), rank)
    budgets = np.arange(sum(supports) + 1, LARGEST_BUDGET + 1)
    pulls = np.zeros(budgets.size, np.int64)
    active = np.arange(len(features))
    for survivors in [-(-rank // 2**r) for r in range(1, len(supports) + 1)]:
        left, sizes, _ = np.linalg.svd(features[active], full_matrices=False)
        weights = g_optimal(left * sizes)
        shares = weights[:, None] * (budgets - sum(supports)) / len(supports)
        pulls += np.ceil(shares - ROUND_OFF).astype(np.int64).sum(axis=0)
        active = generator.permutation(active)[:survivors]
    return budgets, pulls


MOST_ARMS, MOST_DIMENSIONS = 120, 8
LISTED = 12
"""Pairs (K, d) whose smallest counterexample is listed."""

SHOWN_BUDGETS = (100, 1000)
"""T at which the pulls on the paper's instances are shown."""

PAPER_INSTANCES = {"section5": section5(), "two-armed": two_armed(ratio=2.0)}

SAMPLED_ARMS = (9, 16, 30, 60, 120)
OVERRUN_SEED = 20240117

Place = tuple[int, int, int, int]
"""K, d, T, pulls."""

Totals = Callable[[int, int], tuple[Counts, Counts]]
"""(K, d) -> all budgets that are large enough, increasing, and the pulls that they lead to."""


@dataclass
class Overrun:
    """What an enumeration of (K, d, T) found.

    Attributes:
        triples: how many were enumerated.
        overruns: how many of them use more pulls than T.
        worst: largest pulls - T, and where first.
        worst_relative: largest (pulls - T) / T, and where first.
        first: the smallest counterexample of each (K, d) that has one, in their order.
        shares: (K, d, share of overrunning T).
    """

    triples: int = 0
    overruns: int = 0
    worst: tuple[float, Place] = (-math.inf, (0, 0, 0, 0))
    worst_relative: tuple[float, Place] = (-math.inf, (0, 0, 0, 0))
    first: list[Place] = field(default_factory=list)
    shares: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, arms: int, dimension: int, budgets: Counts, pulls: Counts) -> None:
        """Take all budgets of one (K, d)."""

        def place(t: int) -> Place:
            return arms, dimension, int(budgets[t]), int(pulls[t])

        excess = pulls - budgets
        relative = excess / budgets
        over = np.flatnonzero(excess > 0)
        self.triples += budgets.size
        self.overruns += over.size
        self.shares.append((arms, dimension, over.size / budgets.size))
        self.first += [place(int(t)) for t in over[:1]]
        most, share = int(excess.argmax()), int(relative.argmax())
        if excess[most] > self.worst[0]:
            self.worst = float(excess[most]), place(most)
        if relative[share] > self.worst_relative[0]:
            self.worst_relative = float(relative[share]), place(share)


def enumerate_overruns(count: Totals) -> Overrun:
    """Enumerate 2 <= K <= 120 and 1 <= d <= 8."""
    overrun = Overrun()
    for arms in range(2, MOST_ARMS + 1):
        for dimension in range(1, MOST_DIMENSIONS + 1):
            overrun.add(arms, dimension, *count(arms, dimension))
    return overrun


def sample_designs() -> Overrun:
    """Take OD-LinBAI at features that are independent normal, one set for each K and d >= 2.

    At d = 1 its design is one arm, and the bound is what it uses.
    """
    overrun = Overrun()
    for arms in SAMPLED_ARMS:
        for dimension in range(2, MOST_DIMENSIONS + 1):
            generator = np.random.default_rng([OVERRUN_SEED, arms, dimension])
            features = generator.standard_normal((arms, dimension))
            overrun.add(arms, dimension, *random_design_totals(features, generator))
    return overrun


def overshoot() -> pd.DataFrame:
    """Return the pulls of DP-BAI, Baseline and OD-LinBAI for K <= 120, d <= 8, T <= 5000 (C13).

    Features are generic: any s of them have rank min(d, s). Of OD-LinBAI, whose designs depend on
    more than that, the most pulls are counted that any features can lead to (schedule ``bound``),
    beside those at normal features and random survivors (``random features``, five K a d).

    Tags: algorithm; schedule, ``consistent``, ``literal``, ``printed``, of Baseline ``halving``
    too; quantity, ``triples``, ``overruns``, ``share`` of overrunning triples, ``worst`` (pulls
    beyond T), ``worst_relative`` (over T), each at x = 0; ``counterexample``, the smallest T of a
    pair (K, d): x is the pair's place in their order, y the pulls; ``share by arms``: x is K, y the
    share over T. Of the instances of the paper: ``section5`` and ``two-armed``, pulls beyond T at
    x = T (100 and 1000), and ``worst on section5`` and ``worst on two-armed``, the most at any T up
    to 5000 (``random features``: at the instance's own). arms, dimension and budget say where; NaN
    for nowhere in particular.
    """
    interpretations: dict[tuple[str, str], Totals] = {
        (algorithm, schedule): partial(phase_totals, schedule=schedule, linear=linear)
        for algorithm, linear in (("dp-bai", True), ("baseline", False))
        for schedule in (*SCHEDULES, *(() if linear else ("halving",)))
    }
    overruns = {key: enumerate_overruns(count) for key, count in interpretations.items()}
    overruns["od-linbai", "bound"] = enumerate_overruns(worst_design_totals)
    overruns["od-linbai", "random features"] = sample_designs()
    rows = [row for key, overrun in overruns.items() for row in _overrun_rows(*key, overrun)]
    return joined([*rows, *_on_instances(interpretations)])


def _on_instances(interpretations: Mapping[tuple[str, str], Totals]) -> Iterator[pd.DataFrame]:
    """Return the pulls beyond T on the instances of the paper."""
    generator = np.random.default_rng(OVERRUN_SEED)
    for instance, bandit in PAPER_INSTANCES.items():
        features = bandit.feature_matrix
        totals = {key: count(*features.shape) for key, count in interpretations.items()}
        totals["od-linbai", "bound"] = worst_design_totals(*features.shape)
        totals["od-linbai", "random features"] = random_design_totals(features, generator)
        for (algorithm, schedule), (budgets, pulls) in totals.items():
            excess = dict(zip(budgets.tolist(), (pulls - budgets).tolist(), strict=True))
            tags = {"algorithm": algorithm, "schedule": schedule, "quantity": instance}
            label = f"{algorithm}, {schedule}"
            shown = [float(excess[budget]) for budget in SHOWN_BUDGETS]
            yield curve(f"{instance}, {label}", tags, SHOWN_BUDGETS, shown)
            tags["quantity"] = f"worst on {instance}"
            yield curve(f"worst on {instance}, {label}", tags, [0], [float(max(excess.values()))])


def _overrun_rows(algorithm: str, schedule: str, overrun: Overrun) -> Iterator[pd.DataFrame]:
    def row(quantity: str, x: float, y: float, place: Sequence[float]) -> pd.DataFrame:
        where = dict(zip(("arms", "dimension", "budget"), place, strict=True))
        series = f"{quantity}, {algorithm}, {schedule}"
        tags = {"algorithm": algorithm, "schedule": schedule, "quantity": quantity, **where}
        return curve(series, tags, [x], [y])

    nowhere = [math.nan] * 3
    yield row("triples", 0, overrun.triples, nowhere)
    yield row("overruns", 0, overrun.overruns, nowhere)
    yield row("share", 0, overrun.overruns / overrun.triples, nowhere)
    yield row("worst", 0, overrun.worst[0], overrun.worst[1][:3])
    yield row("worst_relative", 0, overrun.worst_relative[0], overrun.worst_relative[1][:3])
    for number, (*place, pulls) in enumerate(overrun.first[:LISTED], start=1):
        yield row("counterexample", number, pulls, place)
    for dimension in sorted({d for _, d, _ in overrun.shares}):
        shares = [(arms, share) for arms, d, share in overrun.shares if d == dimension]
        arms, values = zip(*shares, strict=True)
        tags = {
            "algorithm": algorithm,
            "schedule": schedule,
            "quantity": "share by arms",
            "dimension": float(dimension),
        }
        series = f"share by arms, {algorithm}, {schedule}, d={dimension}"
        yield curve(series, tags, arms, values)
