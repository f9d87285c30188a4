"""Eliminations with a budget fixed in advance, played as batches of trials side by side.

In each phase, trials with the same active arms do the same: pull the same arms equally often,
release some statistics of the rewards with noise, and rank the active arms by combinations of what
was released. Trials are grouped by their active arms, the groups in lexicographic order, and only
the draws are made trial by trial. What a phase does follows from rules: ``Means``, by private means
of the arms, or ``Regression``, on an optimal design.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import Outcome, Phase, Task, Trial
from dpbandits.algorithms.best_arm.designs import (
    FloatArray,
    Geometry,
    IntArray,
    efficient_counts,
    geometry_of,
    multiply_rows,
)
from dpbandits.bandits.draws import draw_tabled_sum, laplace, pull_sum, set_pulls, sum_tables
from dpbandits.errors import InputError
from dpbandits.kernels import njit
from dpbandits.privacy.gaussian import eta_from

SILENT, LAPLACE, GAUSSIAN = 0, 1, 2  # laws of the noise

# Numbers with a smaller difference are equal up to rounding:
TIE = 1e-12  # estimates, relative to the trial's largest
QUOTIENT_ROUND_OFF = 1e-12  # a quotient of sizes and a whole number
SHARE_ROUND_OFF = 1e-9  # a share of the pulls and a whole number


# How many arms each phase begins with


@dataclass(frozen=True)
class PhaseSchedule:
    """The phases of an elimination, known before the first pull."""

    sizes: tuple[int, ...]  # s_1 = K, ..., s_{M+1} = 1, active arms before each phase
    early_phases: int  # M1, which work down the fast shrinking sequence
    shrinkage: float  # lambda, its factor, at least 2; may be infinite
    halving: tuple[int, ...]  # g_0, g_1, ..., 1
    shrinking: tuple[int, ...]  # h_0, h_1, ..., 0
    early_pulls: int  # d, by which each early phase may round up
    late_pulls: int  # q, the same for every other phase

    @property
    def phases(self) -> int:
        """M, their number."""
        return len(self.sizes) - 1

    @property
    def reserved(self) -> int:
        """T - T' = M1 d + (M - M1) q, the pulls set aside for rounding up."""
        late = self.phases - self.early_phases
        return self.early_phases * self.early_pulls + late * self.late_pulls


SCHEDULES: dict[str, Callable[[int, int], tuple[int, int, int]]] = {
    "consistent": lambda shrinking, halving: (shrinking, shrinking + halving, 0),
    "literal": lambda shrinking, halving: (
        max(shrinking, 1),
        max(shrinking, 1) + max(halving, 1) - 1,
        1,
    ),
    "printed": lambda shrinking, halving: (shrinking + 1, shrinking + 1 + halving, 1),
}
"""(steps of the shrinking sequence, of the halving one) -> (M1, M, halving step of phase M1 + 1).

Equations (7)-(8) of the paper, its worked example (App. B) and its proof (App. G) do not agree
(BAI-E1), hence three interpretations:

    consistent: reproduces every size of the worked example, and the proof holds under it.
    literal: equations (7)-(8) as printed, which never visit the first size of the halving sequence.
    printed: the numbers of phases of the worked example; the last phase works on one arm.
"""


def phase_schedule(arms: int, dimension: int, interpretation: str = "consistent") -> PhaseSchedule:
    """Return the schedule of DP-BAI (dp-bai, Section 3.1, BAI-E1) for dimension d, not the rank.

    Example:
        >>> phase_schedule(10_000, 16).sizes
        (10000, 423, 77, 64, 32, 16, 8, 4, 2, 1)
    """
    late_pulls = -(-(dimension**2) // 4)
    shrinkage = _shrinkage(arms - late_pulls, dimension)
    halving = _halving(min(arms, late_pulls))
    shrinking = _shrinking(max(arms - late_pulls, 0), shrinkage)
    early, phases, first = SCHEDULES[interpretation](len(shrinking) - 1, len(halving) - 1)
    # Both sequences stay at their last value.
    late = range(first, first + phases + 1 - early)
    sizes = (
        *(halving[0] + size for size in shrinking[:early]),
        *(halving[min(step, len(halving) - 1)] for step in late),
    )
    return PhaseSchedule(sizes, early, shrinkage, halving, shrinking, dimension, late_pulls)


def halving_schedule(arms: int, late_pulls: int = 1) -> PhaseSchedule:
    """Return K, ceil(K/2), ..., 1, for the Baseline or Sequential Halving.

    Example:
        >>> halving_schedule(30).sizes
        (30, 15, 8, 4, 2, 1)
    """
    sizes = _halving(arms)
    return PhaseSchedule(sizes, 0, 2.0, sizes, (0,), 0, late_pulls)


def _shrinkage(excess: int, dimension: int) -> float:
    """Return lambda, the smallest beta >= 2 with beta^(log d) >= K - q."""
    if excess <= 1:
        return 2.0
    if dimension == 1:
        return math.inf
    return max(2.0, math.exp(math.log(excess) / math.log(dimension)))


def _halving(first: int) -> tuple[int, ...]:
    sizes = [first]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(sizes)


def _shrinking(first: int, shrinkage: float) -> tuple[int, ...]:
    sizes = [first]
    while sizes[-1] > 0:
        quotient = (sizes[-1] + 1) / shrinkage
        sizes.append(max(math.ceil(quotient - QUOTIENT_ROUND_OFF) - 1, 0))
    return tuple(sizes)


class Rounds(NamedTuple):
    """How OD-LinBAI spreads the budget (Yang and Tan, 2022); features have rank d_0."""

    sizes: tuple[int, ...]  # K, ceil(d_0/2), ceil(d_0/4), ..., 1
    number: int  # R = max(1, ceil(log2 d_0))
    reserved: int  # pulls set aside for rounding up
    support: int  # min(K, d_0 (d_0 + 1)/2), the most arms that a design has to pull


def rounds_of(arms: int, rank: int) -> Rounds:
    """Return the rounds for K arms whose features have rank d_0."""
    number = max(1, (rank - 1).bit_length())
    later = tuple(-(-rank // 2**step) for step in range(1, number + 1))
    support = min(arms, rank * (rank + 1) // 2)
    return Rounds((arms, *later), number, support + sum(later[:-1]), support)


# Rules: what a phase does with the active arms


class Step(NamedTuple):
    """One phase: s active arms, of which r are pulled; arms are in increasing order."""

    active: IntArray
    arms: IntArray
    pulls: IntArray
    noise: int  # its law
    scale: float  # on a sum; on a mean, times the pulls behind it
    released: FloatArray  # k sums by the arms' sums, (k, r); empty: their means
    coefficients: FloatArray  # estimates by what is released, (s, k); empty: the same
    exact: bool  # whether a search for arms was exhaustive
    pooled: bool  # whether means run over all pulls so far
    random_ties: bool  # or ranked by number


NOTHING: FloatArray = np.empty((0, 0))


def sensitivity_of(task: Task) -> float:
    """Return the largest reward that noise is scaled to (BAI-E7): 1, or the instance's."""
    return task.bandit.largest_reward if task.interpretations["sensitivity"] == "support" else 1.0


def noise_multiplier(epsilon: float, delta: float, calibration: str = "classical") -> float:
    """Return the noise's standard deviation on a release of sensitivity 1 (Algorithm 2, BAI-E9)."""
    if math.isinf(epsilon):
        return 0.0
    if calibration == "analytic":
        return 1.0 / float(eta_from(epsilon, delta))
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


@dataclass(frozen=True)
class Rules:
    """What is asked, and what an elimination does by it."""

    task: Task

    @cached_property
    def geometry(self) -> Geometry:
        """The designs for the arms of the instance."""
        return geometry_of(self.task.bandit.features)

    @property
    def has_random_ties(self) -> bool:
        """Whether equal estimates are ranked at random, not by the arms' numbers."""
        return self.task.interpretations["ties"] == "random"


@dataclass(frozen=True)
class Means(Rules):
    """Rules of an elimination by private means (dp-bai, Algorithm 1 and Section 5)."""

    schedule: PhaseSchedule
    collections: bool  # whether large phases in few dimensions pull a Max-Det collection
    law: int = SILENT  # of the noise on a mean
    scale: float = 0.0  # times the pulls behind the mean; 0: no noise

    @property
    def smallest_budget(self) -> int:
        """The smallest budget with T' > 0."""
        return self._reserved + 1

    @property
    def _rounding(self) -> str:
        return self.task.interpretations.get("rounding", "floor")

    @cached_property
    def _reserved(self) -> int:
        """T - T', for ``fitted`` at least the sum over the phases of the most arms pulled."""
        if self._rounding != "fitted":
            return self.schedule.reserved
        most_pulled = 0
        for size in self.schedule.sizes[:-1]:
            # No set of arms has a larger rank than all of them.
            rank = min(self.geometry.rank, size) if self.collections else size
            most_pulled += rank if rank * rank < size else size
        return max(self.schedule.reserved, most_pulled)

    def step(self, phase: int, active: IntArray) -> Step:
        """Return what every phase does with the active arms."""
        best = self.geometry.collection(active.tobytes()) if self.collections else None
        arms = active[list(best.arms)] if best else active
        budget, parts = self.task.budget - self._reserved, self.schedule.phases * arms.size
        count = max(1, budget // parts) if self._rounding == "floor" else -(-budget // parts)
        return Step(
            active,
            arms,
            np.full(arms.size, count),
            self.law if self.scale else SILENT,
            self.scale,
            NOTHING,
            best.coefficients if best else NOTHING,
            best.exact if best else True,
            self.task.interpretations.get("samples") == "pooled",
            self.has_random_ties,
        )


@dataclass(frozen=True)
class Regression(Rules):
    """Rules of an elimination by regression (Yang and Tan, 2022 and dp-bai, Appendix E.1)."""

    epsilon: float = math.inf  # infinite: no noise, and the interpretations of OD-LinBAI

    @cached_property
    def schedule(self) -> Rounds:
        """Its rounds."""
        return rounds_of(len(self.task.bandit.arms), self.geometry.rank)

    @property
    def smallest_budget(self) -> int:
        """The smallest budget with m > 0, or with enough pulls a round for any design."""
        rounds = self.schedule
        is_efficient = self.task.interpretations["design_rounding"] == "efficient"
        return rounds.number * rounds.support if is_efficient else rounds.reserved + 1

    def step(self, phase: int, active: IntArray) -> Step:
        """Return what a round does with the active arms."""
        basis = self.task.interpretations.get("basis", "orthonormal")
        coordinates, weights = self.geometry.regressors(active.tobytes(), basis)
        counts = self._counts(phase, weights)
        pulled = counts > 0
        chosen = coordinates[pulled]
        inverse = np.linalg.inv((chosen.T * counts[pulled]) @ chosen)
        return Step(
            active,
            active[pulled],
            counts[pulled],
            SILENT if math.isinf(self.epsilon) else LAPLACE,
            self._scale(active, coordinates),
            np.ascontiguousarray(chosen.T),
            multiply_rows(coordinates, inverse),
            True,
            False,
            self.has_random_ties,
        )

    def _counts(self, number: int, weights: FloatArray) -> IntArray:
        rounds, budget = self.schedule, self.task.budget
        if self.task.interpretations["design_rounding"] == "ceiling":
            pulls = (budget - rounds.reserved) / rounds.number
            return np.ceil(weights * pulls - SHARE_ROUND_OFF).astype(np.int64)
        share = budget // rounds.number
        is_last = number == rounds.number - 1
        return efficient_counts(weights, budget - number * share if is_last else share)

    def _scale(self, active: IntArray, coordinates: FloatArray) -> float:
        """Return L/epsilon (dp-bai, Appendix E.1), over the features that are asked for."""
        if math.isinf(self.epsilon):
            return 0.0
        chosen, features = self.task.interpretations, self.task.bandit.feature_matrix
        normed = {"all": features, "active": features[active], "reduced": coordinates}
        order = {"l1": 1, "l2": 2}[chosen["norm"]]
        lengths = np.linalg.norm(normed[chosen["norm_over"]], ord=order, axis=1)
        return float(lengths.max(initial=0.0)) * sensitivity_of(self.task) / self.epsilon


# Trials


def has_budget(owner: str, rules: Means | Regression) -> bool:
    """Return whether the budget is enough; InputError where it has to be (``small_budget``)."""
    task, smallest = rules.task, rules.smallest_budget
    if task.budget < smallest and task.interpretations["small_budget"] == "raise":
        arms, dimension = task.bandit.feature_matrix.shape
        raise InputError(
            f"{owner}: budget is {task.budget}; allowed: at least {smallest} for K={arms}, "
            f"d={dimension}"
        )
    return task.budget >= smallest


def play_trials(
    owner: str, rules: Means | Regression, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a batch of independent trials.

    A phase draws, for each group of trials and each trial of it, the reward sums of the arms to
    pull, the noise, and a key for each active arm where ties are random. Large groups draw their
    sums from tables (``bandits.draws``), the same in law from another use of the stream.
    """
    bandit, sizes = rules.task.bandit, rules.schedule.sizes
    arms = len(bandit.arms)
    pulls, exact = np.zeros((trials, arms), np.int64), np.ones(trials, np.bool_)
    totals, phases = np.zeros(pulls.shape), []
    if not has_budget(owner, rules):
        # Not in the paper: any arm with equal probability, without a single pull.
        recommended = np.array([generator.integers(arms) for _ in range(trials)])
        return Outcome(recommended, pulls, exact, Trial(int(recommended[0]), ()))
    groups = [(np.arange(arms), np.arange(trials))]
    for phase, size in enumerate(sizes[1:]):
        kept, first = np.empty((trials, size), np.int64), np.empty(sizes[phase])
        for active, members in groups:
            step, (laws, parameters) = rules.step(phase, active), bandit.arrays
            tables = sum_tables(laws[step.arms], parameters[step.arms], step.pulls, members.size)
            _play(step, tables, members, bandit.arrays, generator, totals, pulls, kept, first)
            exact[members] &= step.exact
            if members[0] == 0:
                phases.append(Phase(active, step.arms, step.pulls, first, step.exact))
        groups = _groups(kept)
    recommended = kept[:, 0]
    return Outcome(recommended, pulls, exact, Trial(int(recommended[0]), tuple(phases)))


def _groups(active: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return each set of active arms with the trials that have it, both increasing."""
    sets, which = np.unique(active, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel()))[:-1]
    return list(zip(sets, np.split(order, ends), strict=True))


@njit(nogil=True)
def _play(step, tables, trials, arms, rng, totals, pulls, kept, first):
    """Play one phase of the trials that have the same active arms; rows are trials.

    ``kept`` gets the next active arms, ``first`` the estimates of trial 0.
    """
    means = step.released.shape[1] == 0
    sums, counts = np.empty(step.arms.size), step.pulls.copy()
    released = np.empty(step.arms.size if means else step.released.shape[0])
    estimates, keys = np.empty(step.active.size), np.empty(step.active.size * step.random_ties)
    for trial in trials:
        for j in range(step.arms.size):
            arm, count = step.arms[j], step.pulls[j]
            if tables.binomials[j]:
                sums[j] = draw_tabled_sum(tables, j, rng)
            else:
                set_pulls(arms.parameters[arm], pulls[trial, arm])
                sums[j] = pull_sum(arms, arm, count, rng)
            pulls[trial, arm] += count
            if step.pooled:
                totals[trial, arm] += sums[j]
                sums[j], counts[j] = totals[trial, arm], pulls[trial, arm]
        for k in range(released.size):
            if means:
                noise = _noise(step.noise, step.scale / counts[k], rng)
                released[k] = sums[k] / counts[k] + noise
            else:
                released[k] = _noise(step.noise, step.scale, rng)
                for j in range(step.arms.size):
                    released[k] += step.released[k, j] * sums[j]
        for i in range(keys.size):
            keys[i] = rng.random()
        if step.coefficients.shape[0] == 0:
            for i in range(estimates.size):
                estimates[i] = released[i]
        else:
            estimates[:] = 0.0
            # One arm after the other in the same order, so that equal arms have equal estimates.
            for i in range(estimates.size):
                for k in range(released.size):
                    estimates[i] += step.coefficients[i, k] * released[k]
        _keep(step.active, estimates, keys, kept[trial])
        if trial == 0:
            for i in range(estimates.size):
                first[i] = estimates[i]


@njit
def _noise(law, scale, rng):
    if law == LAPLACE:
        return laplace(scale, rng)
    if law == GAUSSIAN:
        return scale * rng.standard_normal()
    return 0.0


@njit
def _keep(active, estimates, keys, kept):
    """Write the arms with the largest estimates to ``kept``, as many as fit, increasing.

    Of the arms that tie for the last places the first ones stay, or those with the largest keys.
    """
    margin = TIE * np.abs(estimates).max()
    cut = np.sort(estimates)[active.size - kept.size]
    tied = np.abs(estimates - cut) <= margin
    places = kept.size - (estimates > cut + margin).sum()
    least = np.sort(keys[tied])[tied.sum() - places] if keys.size else 0.0
    written = 0
    for i in range(active.size):
        if tied[i] and (places == 0 or (keys.size and keys[i] < least)):
            continue
        if tied[i]:
            places -= 1
        elif estimates[i] < cut:
            continue
        kept[written] = active[i]
        written += 1
