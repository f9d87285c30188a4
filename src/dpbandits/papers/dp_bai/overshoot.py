"""Whether the algorithms keep to their budget: every K, d and T of a range, enumerated (C13)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.designs import g_optimal
from dpbandits.algorithms.best_arm.eliminations import SCHEDULES, halving_schedule, phase_schedule
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import section5, two_armed

Counts = NDArray[np.int64]

LARGEST_BUDGET = 5000

ROUND_OFF = 1e-9
"""Excess over a whole number that the ceiling of OD-LinBAI ignores."""


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
SEED = 20240117

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
            generator = np.random.default_rng([SEED, arms, dimension])
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
    rows = [row for key, overrun in overruns.items() for row in _rows(*key, overrun)]
    return joined([*rows, *_on_instances(interpretations)])


def _on_instances(interpretations: Mapping[tuple[str, str], Totals]) -> Iterator[pd.DataFrame]:
    """Return the pulls beyond T on the instances of the paper."""
    generator = np.random.default_rng(SEED)
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


def _rows(algorithm: str, schedule: str, overrun: Overrun) -> Iterator[pd.DataFrame]:
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
