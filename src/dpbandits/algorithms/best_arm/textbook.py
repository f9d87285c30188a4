"""The eliminations in plain Python, one trial at a time, line by line after the pseudo-code.

With the fast code they have in common the draws and the functions that choose designs from
features, which are tested by themselves. The references of the algorithms call what is here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.base import Phase, Task, Trial
from dpbandits.algorithms.best_arm.budget import random_trial
from dpbandits.algorithms.best_arm.designs import (
    FloatArray,
    efficient_counts,
    g_optimal,
    max_det,
    span_of,
)
from dpbandits.algorithms.best_arm.schedule import PhaseSchedule

Noise = Callable[[int], float]
"""Number of pulls behind a mean -> a draw of its noise."""

TIE = 1e-12


def best(
    active: Sequence[int], estimates: Sequence[float], size: int, keys: Sequence[float] = ()
) -> list[int]:
    """Return the ``size`` arms with the largest estimates, increasing.

    Estimates that differ by rounding alone tie; then the smaller arm stays, or, where there are
    keys, the larger key.
    """
    cut = sorted(estimates)[-size]
    margin = TIE * max(map(abs, estimates))
    above = [arm for arm, each in zip(active, estimates, strict=True) if each > cut + margin]
    tied = [place for place, each in enumerate(estimates) if abs(each - cut) <= margin]
    if keys:
        tied.sort(key=lambda place: -keys[place])
    return sorted(above + [active[place] for place in tied[: size - len(above)]])


def keys_for(task: Task, active: Sequence[int], generator: np.random.Generator) -> list[float]:
    """Draw a key for each active arm where ties are random."""
    return [generator.random() for _ in active if task.interpretations["ties"] == "random"]


def phase_of(
    active: Sequence[int], pulls: dict[int, int], estimates: Sequence[float], exact: bool = True
) -> Phase:
    """Make the record of a phase from the pulls of each pulled arm."""
    arms, counts = np.array(list(pulls), np.int64), np.array(list(pulls.values()), np.int64)
    return Phase(np.array(active), arms, counts, np.array(estimates), exact)


def eliminate_by_means(
    task: Task,
    generator: np.random.Generator,
    schedule: PhaseSchedule,
    noise: Noise,
    *,
    collections: bool,
) -> Trial:
    """DP-BAI (Algorithm 1), without Max-Det collections the Baseline (dp-bai, Section 5)."""
    features, interpretations = task.bandit.feature_matrix, task.interpretations
    budget = _effective_budget(task, schedule, collections)
    if budget <= 0:
        return random_trial(task, generator)
    active, phases = list(range(len(features))), []
    total, number = dict.fromkeys(active, 0.0), dict.fromkeys(active, 0)
    for size in schedule.sizes[1:]:
        x, s = features[active], len(active)
        r = int(np.linalg.matrix_rank(x))
        u, lengths, _ = np.linalg.svd(x, full_matrices=False)
        found = max_det((u * lengths)[:, :r]) if collections and r > 0 and r * r < s else None
        pulled = [active[j] for j in found.arms] if found else active
        n = _share(budget, schedule.phases * len(pulled), interpretations["rounding"])
        for arm in pulled:
            if interpretations["samples"] == "fresh":
                total[arm], number[arm] = 0.0, 0
            total[arm] += task.bandit.draw_sum(arm, n, generator)
            number[arm] += n
        means = [total[arm] / number[arm] + noise(number[arm]) for arm in pulled]
        alphas = found.coefficients if found else np.eye(s)
        estimates = [math.fsum(alpha * means) for alpha in alphas]
        exact = found is None or found.exact
        phases.append(phase_of(active, dict.fromkeys(pulled, n), estimates, exact))
        active = best(active, estimates, size, keys_for(task, active, generator))
    return Trial(active[0], tuple(phases))


def _share(budget: int, parts: int, rounding: str) -> int:
    return max(1, budget // parts) if rounding == "floor" else -(-budget // parts)


def _effective_budget(task: Task, schedule: PhaseSchedule, collections: bool) -> int:
    """T', for ``fitted`` at most T minus the arms that the phases pull (BAI-E3)."""
    effective = schedule.effective_budget(task.budget)
    if task.interpretations["rounding"] != "fitted":
        return effective
    rank, pulled = int(np.linalg.matrix_rank(task.bandit.feature_matrix)), 0
    for size in schedule.sizes[:-1]:
        many = collections and min(rank, size) < math.sqrt(size)
        pulled += min(rank, size) if many else size
    return min(effective, task.budget - pulled)


@dataclass(frozen=True)
class RegressionNoise:
    """What DP-OD adds to OD-LinBAI.

    Attributes:
        draw: scale L/epsilon -> a draw, one for each coordinate.
        scale: (active arms, their coordinates) -> L/epsilon.
        basis: ``orthonormal`` or ``features`` (BAI-E14).
    """

    draw: Callable[[float], float]
    scale: Callable[[list[int], FloatArray], float]
    basis: str


def eliminate_by_regression(
    task: Task, generator: np.random.Generator, noise: RegressionNoise | None
) -> Trial:
    """OD-LinBAI (Yang and Tan, 2022), with noise DP-OD (dp-bai, Appendix E.1)."""
    features, budget = task.bandit.feature_matrix, task.budget
    arms, d0 = len(features), int(np.linalg.matrix_rank(features))
    rounds = max(1, math.ceil(math.log2(d0)))
    support = min(arms, d0 * (d0 + 1) // 2)
    m = (budget - support - sum(math.ceil(d0 / 2**r) for r in range(1, rounds))) / rounds
    efficient = task.interpretations["design_rounding"] == "efficient"
    if budget < rounds * support if efficient else m <= 0:
        return random_trial(task, generator)
    active, phases = list(range(arms)), []
    for r in range(1, rounds + 1):
        a, pi = _reduced(features[active], noise.basis if noise else "")
        if efficient:
            each = budget // rounds
            n = efficient_counts(pi, each if r < rounds else budget - (rounds - 1) * each).tolist()
        else:
            n = [math.ceil(weight * m - 1e-9) for weight in pi]
        pulls = {active[i]: count for i, count in enumerate(n) if count}
        sums = {arm: task.bandit.draw_sum(arm, pulls[arm], generator) for arm in pulls}
        u = sum(a[i] * sums.get(arm, 0.0) for i, arm in enumerate(active))
        v = sum(n[i] * np.outer(a[i], a[i]) for i in range(len(active)))
        if noise:
            scale = noise.scale(active, a)
            u = u + np.array([noise.draw(scale) for _ in range(a.shape[1])])
        theta = np.linalg.solve(v, u)
        scores = [float(row @ theta) for row in a]
        phases.append(phase_of(active, pulls, scores))
        active = best(active, scores, math.ceil(d0 / 2**r), keys_for(task, active, generator))
    return Trial(active[0], tuple(phases))


def _reduced(features: FloatArray, basis: str) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of the round and its design; equal shares where all features are 0."""
    coordinates, pivots = span_of(features)
    rank = coordinates.shape[1]
    if rank == 0:
        return coordinates, np.full(len(features), 1 / len(features))
    weights = g_optimal(coordinates)
    if basis == "features" and rank < features.shape[1]:
        chosen = coordinates[pivots]
        coordinates = np.array([np.linalg.solve(chosen.T, row) for row in coordinates])
    return coordinates, weights
