"""Schedules of phases (Appendix B; C11, C20, C22), and whether they keep to their budget (F1)."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.base import Task, Trial
from dpbandits.algorithms.best_arm import BASELINE
from dpbandits.algorithms.best_arm.designs import g_optimal
from dpbandits.algorithms.best_arm.eliminations import (
    SCHEDULES,
    PhaseSchedule,
    halving_schedule,
    phase_schedule,
    rounds_of,
)
from dpbandits.papers.curves import joined, number
from dpbandits.papers.dp_bai.instances import INSTANCES
from dpbandits.papers.dp_bai.theory import JUDGED

ROUND_OFF = 1e-9

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


def appendix_b() -> pd.DataFrame:
    """Return Appendix B (d = 16, K = 10000) by each interpretation of its schedule."""
    return joined(row for interpretation in SCHEDULES for row in _printed_rows(interpretation))


def _printed_rows(interpretation: str) -> Iterator[pd.DataFrame]:
    schedule = phase_schedule(10_000, 16, interpretation)
    start = schedule.halving[0]
    single = {
        "g0": start,
        "h0": schedule.shrinking[0],
        "lambda": schedule.shrinkage,
        "M1": schedule.early_phases,
        "M": schedule.phases,
    }
    sizes = [*schedule.sizes, *[0] * 10]
    for quantity, p, printed, half_unit in PRINTED:
        if quantity == "size":
            computed = float(sizes[p - 1])
        elif quantity == "ratio":
            rest = sizes[p - 1] - start
            computed = (sizes[p - 2] - start) / rest if rest else math.inf
        else:
            computed = float(single[quantity])
        tags = {
            "schedule": interpretation,
            "quantity": quantity,
            "printed": float(printed),
            "verdict": "agrees" if abs(computed - printed) <= half_unit else "deviates",
            "computed": _in_words(quantity, computed),
        }
        yield number(f"{quantity}, {interpretation}", tags, computed, p)


def _in_words(quantity: str, computed: float) -> str:
    if math.isinf(computed):
        return "division by 0"
    if quantity == "size" and computed == 0.0:
        return "ended"
    return f"{computed:,.0f}" if computed.is_integer() else f"{computed:.2f}"


VIOLATIONS = ("above limit", "below log2 d", "early above", "shrinking above")


def phase_counts() -> pd.DataFrame:
    """Return what schedules contradict the proof's number of phases (C22).

    Over d = 2..64 and K = d, ..., 5 d^2, K = d^3 and K = 10000. Tag: quantity, ``schedules``,
    ``above limit`` (M > log d + 2 log2 d + 2), ``below log2 d`` (M < log2 d), ``early above`` (M1 >
    ceil(log d) + 1) or ``shrinking above`` (some h_i is not below h_0 / lambda^i + 1). x: 0. y: a
    number of schedules.
    """
    counted = Counter[str]()
    for dimension in range(2, 65):
        counts = {*range(dimension, 5 * dimension**2 + 1, 1 + dimension // 8)}
        for arms in sorted(counts | {dimension**2, dimension**3, 10_000}):
            counted.update(violations(phase_schedule(arms, dimension), dimension))
    return _counts(counted, "schedules", *VIOLATIONS)


def _counts(counted: Counter[str], *names: str) -> pd.DataFrame:
    """Return counts by name, as the quantities of a frame."""
    return joined(number(name, {"quantity": name}, float(counted[name])) for name in names)


def violations(schedule: PhaseSchedule, dimension: int) -> list[str]:
    """Return what of the proof a schedule contradicts, and that it is one.

    h_i < h_0 / lambda^i + 1 and lambda^(log d) >= h_0 give M1 <= ceil(log d) + 1, and the halving
    takes ceil(log2 g_0) phases, with g_0 <= ceil(d^2/4): at most log d + 2 log2 d + 2 phases.
    """
    first, limit = schedule.shrinking[0], math.log(dimension) + 2.0 * math.log2(dimension) + 2.0
    excess = (
        size - (first / schedule.shrinkage**step + 1.0)
        for step, size in enumerate(schedule.shrinking)
    )
    contradicted = {
        "above limit": schedule.phases > limit + ROUND_OFF,
        "below log2 d": schedule.phases < math.log2(dimension) - ROUND_OFF,
        "early above": schedule.early_phases > math.ceil(math.log(dimension)) + 1,
        "shrinking above": max(excess) >= ROUND_OFF,
    }
    return ["schedules", *(name for name in VIOLATIONS if contradicted[name])]


PLAYED = ("section5", "standard-basis", "sphere")
BUDGET, TRIALS, SEED = 2000, 20, 20240123


def baseline_structure() -> pd.DataFrame:
    """Return how Baseline's phases differ from those of Sequential Halving (C20)."""
    counted = Counter[str]()
    for arms, dimension in itertools.product(range(2, 301), range(2, 25)):
        schedule = phase_schedule(arms, dimension)
        counted["schedules"] += 1
        counted["late not halved"] += not halves(schedule.sizes[schedule.early_phases :])
        if arms <= -(-(dimension**2) // 4):
            counted["small"] += 1
            counted["small not halved"] += not halves(schedule.sizes)
    for name, trial in itertools.product(PLAYED, range(TRIALS)):
        counted.update(_contradictions_of(name, trial))
    schedules = "schedules", "late not halved", "small", "small not halved"
    return _counts(counted, *schedules, "phases", "unequal pulls", "wrong arms")


def halves(sizes: tuple[int, ...]) -> bool:
    """Return whether every size is half the one before, rounded up."""
    return all(after == -(-size // 2) for size, after in itertools.pairwise(sizes))


def _contradictions_of(name: str, trial: int) -> list[str]:
    parameters = BASELINE.parameters_from({"epsilon": np.inf})
    interpretations = BASELINE.interpretations_from({}, "as-written")
    task = Task(parameters, interpretations, INSTANCES[name](), BUDGET)
    generator = np.random.default_rng([SEED, trial])
    return contradictions(BASELINE.play(task, generator, 1).first)


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


@cache
def _rounded_up(arms: int, phases: int) -> Counts:
    """Return arms * ceil(T' / (M arms)) for T' = 1, ..., the largest budget."""
    effective = np.arange(1, LARGEST_BUDGET + 1)
    return np.asarray(arms * -(-effective // (phases * arms)))


def phase_pulls(size: int, dimension: int, linear: bool) -> int:
    """Return how many of the active arms a phase pulls, by generic features of rank min(d, s).

    The rank where that is below sqrt(s) and there is a Max-Det branch (``linear``: DP-BAI), else
    all (Baseline).
    """
    rank = min(dimension, size)
    return rank if linear and rank * rank < size else size


def phase_totals(arms: int, dimension: int, schedule: str, linear: bool) -> tuple[Counts, Counts]:
    """Return all budgets with T' > 0 up to the largest, and the pulls that they lead to."""
    halving = schedule == "halving"
    phases = halving_schedule(arms) if halving else phase_schedule(arms, dimension, schedule)
    budgets = np.arange(phases.reserved + 1, LARGEST_BUDGET + 1)
    pulls = np.zeros(budgets.size, np.int64)
    for size in phases.sizes[:-1]:
        pulled = phase_pulls(size, dimension, linear)
        pulls += _rounded_up(pulled, phases.phases)[: budgets.size]
    return budgets, pulls


def design_supports(arms: int, rank: int) -> list[int]:
    """Return how many arms a round's design may have: r(r + 1)/2 at first, then all active ones."""
    rounds = rounds_of(arms, rank)
    return [rounds.support, *rounds.sizes[1:-1]]


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
    """Return all budgets and the pulls of OD-LinBAI on these features, random arms surviving."""
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


LISTED = 12
"""Pairs (K, d) whose smallest counterexample is listed."""

SHOWN_BUDGET = 1000
"""T at which the pulls on the paper's instances are shown."""

OVERRUN_SEED = 20240117

Totals = Callable[[int, int], tuple[Counts, Counts]]
"""(K, d) -> all budgets that are large enough, increasing, and the pulls that they lead to."""

COUNTED: dict[tuple[str, str], Totals] = {
    **{
        ("dp-bai", schedule): partial(phase_totals, schedule=schedule, linear=True)
        for schedule in SCHEDULES
    },
    **{
        ("baseline", schedule): partial(phase_totals, schedule=schedule, linear=False)
        for schedule in (*SCHEDULES, "halving")
    },
    ("od-linbai", "bound"): worst_design_totals,
}
"""(algorithm, schedule) -> its pulls."""

RANDOM_DESIGN = ("od-linbai", "random features")


def overshoot() -> pd.DataFrame:
    """Return the pulls of DP-BAI, Baseline and OD-LinBAI for K <= 120, d <= 8, T <= 5000 (F1).

    Features are generic: any s of them have rank min(d, s). Of OD-LinBAI, whose designs depend on
    more than that, the most pulls are counted that any features can lead to (schedule ``bound``),
    beside those at normal features and random survivors (``random features``, five K a d).
    """
    pairs = {key: enumerated(totals) for key, totals in COUNTED.items()}
    pairs[RANDOM_DESIGN] = sampled()
    rows = [row for key, found in pairs.items() for row in _overruns(*key, found)]
    return joined([*rows, *_on_instances()])


def enumerated(totals: Totals) -> pd.DataFrame:
    """Return what each (K, d) with 2 <= K <= 120 and 1 <= d <= 8 leads to."""
    pairs = itertools.product(range(2, 121), range(1, 9))
    return pd.DataFrame([pair_overrun(*pair, *totals(*pair)) for pair in pairs])


def sampled() -> pd.DataFrame:
    """Return that of OD-LinBAI at features that are independent normal, one set a K and d >= 2.

    At d = 1 its design is one arm, and the bound is what it uses.
    """
    rows = []
    for arms, dimension in itertools.product((9, 16, 30, 60, 120), range(2, 9)):
        generator = np.random.default_rng([OVERRUN_SEED, arms, dimension])
        features = generator.standard_normal((arms, dimension))
        rows.append(pair_overrun(arms, dimension, *random_design_totals(features, generator)))
    return pd.DataFrame(rows)


def pair_overrun(arms: int, dimension: int, budgets: Counts, pulls: Counts) -> dict[str, float]:
    """Return how many budgets of a pair (K, d) are overrun, the worst ones and the first one."""
    excess = pulls - budgets
    relative = excess / budgets
    worst, share, first = excess.argmax(), relative.argmax(), (excess > 0).argmax()
    return {
        "arms": arms,
        "dimension": dimension,
        "triples": budgets.size,
        "overruns": int((excess > 0).sum()),
        "worst": float(excess[worst]),
        "worst at": int(budgets[worst]),
        "worst_relative": float(relative[share]),
        "worst_relative at": int(budgets[share]),
        "first": int(budgets[first]),
        "first pulls": int(pulls[first]),
    }


def _overruns(algorithm: str, schedule: str, pairs: pd.DataFrame) -> Iterator[pd.DataFrame]:
    def row(quantity: str, y: float, x: float = 0, **where: float) -> pd.DataFrame:
        tags = {"algorithm": algorithm, "schedule": schedule, "quantity": quantity, **where}
        return number(f"{quantity}, {algorithm}, {schedule}", tags, y, x)

    triples, overruns = pairs["triples"].sum(), pairs["overruns"].sum()
    yield row("triples", triples)
    yield row("overruns", overruns)
    yield row("share", overruns / triples)
    for quantity in ("worst", "worst_relative"):
        pair = pairs.iloc[int(pairs[quantity].argmax())]
        where = {"arms": pair["arms"], "dimension": pair["dimension"]}
        yield row(quantity, pair[quantity], **where, budget=pair[f"{quantity} at"])
    listed = pairs[pairs["overruns"] > 0].head(LISTED)
    for place, (_, pair) in enumerate(listed.iterrows(), start=1):
        where = {"arms": pair["arms"], "dimension": pair["dimension"], "budget": pair["first"]}
        yield row("counterexample", pair["first pulls"] - pair["first"], place, **where)


def _on_instances() -> Iterator[pd.DataFrame]:
    """Return the pulls beyond T on the instances of the paper."""
    generator = np.random.default_rng(OVERRUN_SEED)
    for instance, bandit in JUDGED.items():
        features = bandit.feature_matrix
        totals = {key: count(*features.shape) for key, count in COUNTED.items()}
        totals[RANDOM_DESIGN] = random_design_totals(features, generator)
        for (algorithm, schedule), (budgets, pulls) in totals.items():
            excess = pulls - budgets
            tags = {"algorithm": algorithm, "schedule": schedule}
            label = f"{instance}, {algorithm}, {schedule}"
            at_budget = {"quantity": instance, **tags}
            shown = float(excess[budgets == SHOWN_BUDGET].item())
            yield number(label, at_budget, shown, SHOWN_BUDGET)
            anywhere = {"quantity": f"worst on {instance}", **tags}
            yield number(f"worst on {label}", anywhere, float(excess.max()))
