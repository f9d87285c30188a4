"""The eliminations in plain Python, one trial at a time, line by line after the pseudo-code.

With the fast code they have in common the draws, the schedules, how large the noise is, and the
functions that choose designs from features, which are tested by themselves. They share nothing
else.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpbandits.algorithms.base import Phase, Task, Trial
from dpbandits.algorithms.best_arm.designs import (
    FloatArray,
    efficient_counts,
    g_optimal,
    max_det,
    span_of,
)
from dpbandits.algorithms.best_arm.eliminations import (
    Means,
    Regression,
    noise_multiplier,
    sensitivity_of,
)
from dpbandits.bandits.draws import laplace

TIE = 1e-12


def eliminate_by_means(rules: Means, generator: np.random.Generator) -> Trial:
    """DP-BAI (Algorithm 1), without Max-Det collections the Baseline (dp-bai, Section 5)."""
    task, schedule, collections = rules.task, rules.schedule, rules.collections
    features, interpretations = task.bandit.feature_matrix, task.interpretations
    budget = _effective_budget(rules)
    if budget <= 0:
        return _random_trial(task, generator)
    active, phases = list(range(len(features))), []
    total, number = dict.fromkeys(active, 0.0), dict.fromkeys(active, 0)
    for size in schedule.sizes[1:]:
        x, s = features[active], len(active)
        r = int(np.linalg.matrix_rank(x))
        u, lengths, _ = np.linalg.svd(x, full_matrices=False)
        best = max_det((u * lengths)[:, :r]) if collections and r > 0 and r * r < s else None
        pulled = [active[j] for j in best.arms] if best else active
        n = _share(budget, schedule.phases * len(pulled), interpretations["rounding"])
        for arm in pulled:
            if interpretations["samples"] == "fresh":
                total[arm], number[arm] = 0.0, 0
            total[arm] += task.bandit.draw_sum(arm, n, generator)
            number[arm] += n
        means = [total[arm] / number[arm] + _noise(task, number[arm], generator) for arm in pulled]
        alphas = best.coefficients if best else np.eye(s)
        estimates = [math.fsum(alpha * means) for alpha in alphas]
        exact = best is None or best.exact
        phases.append(_phase(active, dict.fromkeys(pulled, n), estimates, exact))
        active = _best(task, active, estimates, size, generator)
    return Trial(active[0], tuple(phases))


def _effective_budget(rules: Means) -> int:
    """T', for ``fitted`` at most T minus the arms that the phases pull."""
    task, schedule = rules.task, rules.schedule
    effective = task.budget - schedule.reserved
    if task.interpretations["rounding"] != "fitted":
        return effective
    rank, pulled = int(np.linalg.matrix_rank(task.bandit.feature_matrix)), 0
    for size in schedule.sizes[:-1]:
        many = rules.collections and min(rank, size) < math.sqrt(size)
        pulled += min(rank, size) if many else size
    return min(effective, task.budget - pulled)


def _share(budget: int, parts: int, rounding: str) -> int:
    return max(1, budget // parts) if rounding == "floor" else -(-budget // parts)


def _noise(task: Task, pulls: int, generator: np.random.Generator) -> float:
    """The noise of a mean."""
    epsilon, sensitivity = task.parameters.epsilon, sensitivity_of(task)
    if math.isinf(epsilon):
        return 0.0
    if "calibration" not in task.interpretations:
        return float(laplace(sensitivity / (epsilon * pulls), generator))
    calibration = task.interpretations["calibration"]
    multiplier = noise_multiplier(epsilon, task.parameters.delta, calibration)
    return float(sensitivity * multiplier / pulls * generator.standard_normal())


def halve(rules: Means, generator: np.random.Generator) -> Trial:
    """Sequential Halving (Karnin, Koren and Somekh, 2013)."""
    task = rules.task
    if task.budget < 1:
        return _random_trial(task, generator)
    active, phases = list(range(len(task.bandit.arms))), []
    rounds = (len(active) - 1).bit_length()
    for _ in range(rounds):
        s = len(active)
        n = max(1, task.budget // (s * rounds))
        means = [task.bandit.draw_sum(arm, n, generator) / n for arm in active]
        phases.append(_phase(active, dict.fromkeys(active, n), means))
        active = _best(task, active, means, -(-s // 2), generator)
    return Trial(active[0], tuple(phases))


def eliminate_by_regression(rules: Regression, generator: np.random.Generator) -> Trial:
    """OD-LinBAI (Yang and Tan, 2022), with noise DP-OD (dp-bai, Appendix E.1)."""
    task, basis = rules.task, rules.task.interpretations.get("basis", "")
    features, budget = task.bandit.feature_matrix, task.budget
    arms, d0 = len(features), int(np.linalg.matrix_rank(features))
    rounds = max(1, math.ceil(math.log2(d0)))
    support = min(arms, d0 * (d0 + 1) // 2)
    m = (budget - support - sum(math.ceil(d0 / 2**r) for r in range(1, rounds))) / rounds
    efficient = task.interpretations["design_rounding"] == "efficient"
    if budget < rounds * support if efficient else m <= 0:
        return _random_trial(task, generator)
    active, phases = list(range(arms)), []
    for r in range(1, rounds + 1):
        a, pi = _reduced(features[active], basis)
        if efficient:
            share = budget // rounds
            last = budget - (rounds - 1) * share
            n = efficient_counts(pi, share if r < rounds else last).tolist()
        else:
            n = [math.ceil(weight * m - 1e-9) for weight in pi]
        pulls = {active[i]: count for i, count in enumerate(n) if count}
        sums = {arm: task.bandit.draw_sum(arm, pulls[arm], generator) for arm in pulls}
        u = sum(a[i] * sums.get(arm, 0.0) for i, arm in enumerate(active))
        v = sum(n[i] * np.outer(a[i], a[i]) for i in range(len(active)))
        if not math.isinf(rules.epsilon):
            scale = _longest(task, active, a) * sensitivity_of(task) / task.parameters.epsilon
            u = u + np.array([laplace(scale, generator) for _ in range(a.shape[1])])
        theta = np.linalg.solve(v, u)
        scores = [float(row @ theta) for row in a]
        phases.append(_phase(active, pulls, scores))
        active = _best(task, active, scores, math.ceil(d0 / 2**r), generator)
    return Trial(active[0], tuple(phases))


def _longest(task: Task, active: list[int], coordinates: FloatArray) -> float:
    """L, the largest norm of a feature."""
    normed = list(task.bandit.features)
    if task.interpretations["norm_over"] == "active":
        normed = [normed[arm] for arm in active]
    if task.interpretations["norm_over"] == "reduced":
        normed = [tuple(row) for row in coordinates.tolist()]
    if task.interpretations["norm"] == "l2":
        return max(math.hypot(*vector) for vector in normed)
    return max(sum(map(abs, vector)) for vector in normed)


def _reduced(features: FloatArray, basis: str) -> tuple[FloatArray, FloatArray]:
    """Return the features in a basis of their span, and G-optimal weights, equal without a span."""
    coordinates, pivots = span_of(features)
    rank = coordinates.shape[1]
    if rank == 0:
        return coordinates, np.full(len(features), 1 / len(features))
    weights = g_optimal(coordinates)
    if basis == "features" and rank < features.shape[1]:
        chosen = coordinates[pivots]
        coordinates = np.array([np.linalg.solve(chosen.T, row) for row in coordinates])
    return coordinates, weights


def _best(
    task: Task,
    active: Sequence[int],
    estimates: Sequence[float],
    size: int,
    generator: np.random.Generator,
) -> list[int]:
    """Return the arms with the largest estimates; estimates equal up to rounding tie (``ties``)."""
    cut = sorted(estimates)[-size]
    margin = TIE * max(map(abs, estimates))
    above = [arm for arm, value in zip(active, estimates, strict=True) if value > cut + margin]
    tied = [place for place, value in enumerate(estimates) if abs(value - cut) <= margin]
    if task.interpretations["ties"] == "random":
        keys = [generator.random() for _ in active]
        tied.sort(key=lambda place: -keys[place])
    return sorted(above + [active[place] for place in tied[: size - len(above)]])


def _phase(
    active: Sequence[int], pulls: dict[int, int], estimates: Sequence[float], exact: bool = True
) -> Phase:
    """Make the record of a phase from the pulls of each pulled arm."""
    arms, counts = np.array(list(pulls), np.int64), np.array(list(pulls.values()), np.int64)
    return Phase(np.array(active), arms, counts, np.array(estimates), exact)


def _random_trial(task: Task, generator: np.random.Generator) -> Trial:
    return Trial(int(generator.integers(len(task.bandit.arms))), ())
