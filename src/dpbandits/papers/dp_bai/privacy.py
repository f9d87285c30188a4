"""Privacy of the algorithms (BAI-C14, BAI-C24, BAI-E9), and decisions by noise alone (F2, F5)."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, elementwise
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import laplace

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.best_arm import (
    ANGLES,
    CALIBRATIONS,
    DIAGONAL,
    INSTANCES,
    NORMS,
    deviation,
    difference_loss,
    dp_od_scales,
    limit_losses,
    needed_delta,
    pulls_of,
    sign_loss,
    square_loss,
    three_arm_pulls,
    tree_chances,
    tree_loss,
    turned_scales,
    unit_vectors,
    witness_pulls,
)
from dpbandits.auditing.laplace import Loss, log_tail_of_two
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import section5, two_armed

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
REWARDS = (1.0, 1.1)
"""Largest rewards: of the paper's model, and of its instance I-B (BAI-E7)."""

SMALLEST_OF_MULTIPLES = 6
"""T from which the features u, u/2 and u/4 leave DP-BAI a pull in either phase."""

BUDGETS = (4, 6, 8, 10, 12, 102, 1002, 10_002)
"""T with two arms; C14 asks for T up to 12."""

TREES: dict[tuple[int, int], tuple[int, ...]] = {(3, 2): (8, 12, 16), (4, 4): (12, 16, 24)}
"""(K, d) with two phases -> T."""

RATIOS = (1.0, 2.0, 5.0, 20.0)
"""y/x of axis-aligned arms."""

SQUARE_BUDGETS = (7, 23, 103)
ANGLE_BUDGET = 1002


def privacy_loss() -> pd.DataFrame:
    """Return the largest privacy loss of each algorithm over the pairs of tables of ``audit``.

    Tags: algorithm; norm, of DP-OD ``l2`` or ``l1``, else ``none``; features, ``any`` (the loss
    does not depend on them), ``multiples`` (u, u/2 and u/4), ``axis-aligned``, ``diagonal`` (46 and
    224 degrees), ``turned`` (these, 45 degrees back, with noise in a basis turned by as much),
    ``square`` (four unit vectors), ``angle`` (46 degrees and x), ``search`` (the worst pair of
    directions as T grows, x and angle). A third arm, half the sum of the other two, is what makes
    pairs of DP-OD instances of the paper, which has K > 2: its estimate is half the sum of theirs,
    so that it never wins alone, and the optimal design gives it no pulls. arms, dimension, ratio,
    angle; is_admissible, whether K > 2, rewards are at most 1 and the features allow means in [0,
    1] with one best arm; epsilon; largest_reward; output,
    ``recommended arm`` or ``sequence`` (of pulls, with that arm); log10_chance of the worst output.
    x: T (``angle``, ``search``: degrees). y: loss over epsilon; it is private where that is at most
    1, or the largest reward.
    """
    grid = itertools.product((_line, _plane, _square), EPSILONS, REWARDS)
    rows = [row for losses, *at in grid for row in losses(*at)]
    rows += [row for epsilon in EPSILONS for row in _trees(epsilon)]
    return joined([*rows, *_angles(), *_search()])


def _row(x: float, loss: Loss, *, epsilon: float, **tags: Any) -> pd.DataFrame:
    described = {
        "algorithm": "",
        "norm": "none",
        "features": "any",
        "arms": 0,
        "dimension": 0,
        "epsilon": epsilon,
        "largest_reward": 1.0,
        "output": "recommended arm",
        **tags,
    }
    described["is_admissible"] = float(
        described["arms"] > 2
        and described["largest_reward"] <= 1.0
        and described["features"] not in ("square", "turned")
    )
    label = ", ".join(f"{key}={value}" for key, value in described.items())
    chance = loss.log_chance / math.log(10.0)
    return curve(label, {**described, "log10_chance": chance}, [x], [loss.value / epsilon])


def _line(epsilon: float, reward: float) -> Iterator[pd.DataFrame]:
    """Return the losses of two arms in one dimension, by budget."""
    tags: dict[str, Any] = {"arms": 2, "dimension": 1}
    tags |= {"epsilon": epsilon, "largest_reward": reward}
    for budget in BUDGETS:
        loss = sign_loss(budget - 1, epsilon, reward)
        yield _row(budget, loss, algorithm="dp-bai", **tags)
        loss = difference_loss(-(-(budget - 1) // 2), epsilon, reward)
        yield _row(budget, loss, algorithm="baseline", **tags)
        if budget >= SMALLEST_OF_MULTIPLES:
            loss = sign_loss(witness_pulls(budget), epsilon, reward)
            more: dict[str, Any] = {**tags, "arms": 3, "dimension": 2, "features": "multiples"}
            yield _row(budget, loss, algorithm="dp-bai", **more, output="sequence")


def _plane(epsilon: float, reward: float) -> Iterator[pd.DataFrame]:
    """Return the losses of two arms in two dimensions, and of DP-OD with their midpoint too."""
    levels: dict[str, Any] = {"epsilon": epsilon, "largest_reward": reward, "dimension": 2}
    for budget in BUDGETS:
        pulls = -(-(budget - 2) // 2)
        loss = difference_loss(pulls, epsilon, reward)
        for algorithm in ("dp-bai", "baseline"):
            yield _row(budget, loss, algorithm=algorithm, arms=2, **levels)
        for norm in NORMS:
            yield from _dp_od(budget, pulls, norm, arms=2, **levels)
            pulls_of_three = three_arm_pulls(budget)
            yield from _dp_od(budget, pulls_of_three, norm, arms=3, **levels)
            loss = difference_loss(pulls_of_three, epsilon, reward, turned_scales(norm))
            tags: dict[str, Any] = {"algorithm": "dp-od", "norm": norm, "features": "turned"}
            yield _row(budget, loss, arms=3, **tags, **levels)


def _dp_od(budget: int, pulls: int, norm: str, **tags: Any) -> Iterator[pd.DataFrame]:
    """Return the losses of DP-OD on two arms that are pulled so often, by their features."""
    kinds: list[tuple[str, Any, dict[str, float]]] = [
        *(("axis-aligned", [[1.0, 0.0], [0.0, y]], {"ratio": y}) for y in RATIOS),
        ("diagonal", unit_vectors(*DIAGONAL), {}),
    ]
    for name, rows, ratio in kinds:
        scales = dp_od_scales(rows, norm)
        loss = difference_loss(pulls, tags["epsilon"], tags["largest_reward"], scales)
        yield _row(budget, loss, algorithm="dp-od", norm=norm, features=name, **ratio, **tags)


def _square(epsilon: float, reward: float) -> Iterator[pd.DataFrame]:
    """Return the losses of the four unit vectors along the diagonals, by budget."""
    tags = {"arms": 4, "dimension": 2, "epsilon": epsilon, "largest_reward": reward}
    for budget, norm in itertools.product(SQUARE_BUDGETS, NORMS):
        loss = square_loss((budget - 3) // 4, epsilon, norm, reward)
        yield _row(budget, loss, algorithm="dp-od", norm=norm, features="square", **tags)


def _trees(epsilon: float) -> Iterator[pd.DataFrame]:
    """Return the losses of two phases; DP-BAI and Baseline are the same there."""
    for (arms, dimension), budgets in TREES.items():
        schedule = phase_schedule(arms, dimension)
        for budget in budgets:
            effective = budget - schedule.reserved
            pulls = [-(-effective // (schedule.phases * size)) for size in schedule.sizes[:-1]]
            chances = tree_chances(arms, (pulls[0], pulls[1]), epsilon)
            for sequence, algorithm in itertools.product((False, True), ("dp-bai", "baseline")):
                tags = {"algorithm": algorithm, "arms": arms, "dimension": dimension}
                output = "sequence" if sequence else "recommended arm"
                loss = tree_loss(chances, sequence=sequence)
                yield _row(budget, loss, epsilon=epsilon, output=output, **tags)


def _angles() -> Iterator[pd.DataFrame]:
    """Return the loss of DP-OD at epsilon = 1 by the angle of the second of two unit vectors."""
    for norm, angle in itertools.product(NORMS, ANGLES):
        if abs(math.sin(math.radians(angle - DIAGONAL[0]))) > 1e-9:
            scales = dp_od_scales(unit_vectors(DIAGONAL[0], angle), norm)
            loss = difference_loss(-(-(ANGLE_BUDGET - 2) // 2), 1.0, scales=scales)
            tags = {"algorithm": "dp-od", "norm": norm, "arms": 2, "dimension": 2}
            yield _row(angle, loss, epsilon=1.0, features="angle", **tags)


def _search() -> Iterator[pd.DataFrame]:
    for norm in NORMS:
        limits = limit_losses(norm)
        first, second = np.unravel_index(np.nanargmax(limits), limits.shape)
        loss = Loss(float(limits[first, second]), math.nan)
        tags = {"algorithm": "dp-od", "norm": norm, "arms": 2, "dimension": 2}
        angle = ANGLES[second]
        yield _row(ANGLES[first], loss, epsilon=1.0, features="search", angle=angle, **tags)


LARGER_EPSILONS = (8.0, 10.0, 20.0)
DELTAS = (1e-6, 1e-5, 0.01, 0.1, 0.2, 0.3, 0.38, 0.42, 0.5, 0.9)
GAUSS_BUDGETS = (12, 10_002)
TABLES = ("binary", "all")

CURVE_EPSILONS = tuple(np.linspace(0.5, 12.0, 93).tolist())
"""Where the witness is drawn."""

CURVE_DELTAS = (1e-6, 1e-5, 0.01, 0.1, 0.3, 0.42)

REFUTED_DELTAS = (1e-6, 1e-5, 0.01, 0.1, 0.42)
"""Delta whose smallest epsilon that refutes is listed."""

_SEARCHED_DELTAS = (*np.geomspace(1e-9, 0.3, 60).tolist(), *np.arange(0.302, 0.99, 0.002).tolist())
"""Where the smallest epsilon of all delta is looked for."""


def gauss_privacy() -> pd.DataFrame:
    """Return the delta that DP-BAI-Gauss needs (C24).

    Tags: calibration; instance, ``witness`` (three arms, as the paper asks for), ``line`` (two arms
    in one dimension) or ``plane`` (two in two); arms; dimension; tables, ``binary`` (rewards 0 or
    1) or ``all`` (anything between, too); budget; delta; needed, the delta that is needed;
    epsilons, ``asked`` (up to 5), ``larger``, ``curve`` (a finer grid for the witness), ``from``
    (the smallest epsilon at which the witness refutes this delta) or ``least`` (the smallest of
    all delta). x: epsilon. y: needed over delta; above 1 it is not (epsilon, delta)-DP.
    """
    kinds = itertools.product(CALIBRATIONS, INSTANCES, TABLES, GAUSS_BUDGETS, DELTAS)
    frames = [_of_kind(*kind, (*EPSILONS, *LARGER_EPSILONS)) for kind in kinds]
    curves = [
        _of_kind("classical", "witness", "all", GAUSS_BUDGETS[-1], delta, CURVE_EPSILONS)
        for delta in CURVE_DELTAS
    ]
    finer = [frame.assign(series="curve, " + frame["series"], epsilons="curve") for frame in curves]
    least = _refuted("least", *smallest_refuted())
    listed = (_refuted("from", refuted_from(delta), delta) for delta in REFUTED_DELTAS)
    return joined([*frames, *finer, least, *listed])


def _witness_excess(epsilon: float, delta: float) -> float:
    """Return the delta that the witness needs over its own, minus 1."""
    noise, pulls = deviation(epsilon, delta, "classical"), witness_pulls(GAUSS_BUDGETS[-1])
    return needed_delta(epsilon, noise, pulls, two_sums=False, binary=False) / delta - 1.0


def refuted_from(delta: float) -> float:
    """Return the smallest epsilon at which the witness refutes a delta below 0.45."""
    return float(brentq(_witness_excess, 2.0, 12.0, args=(delta,), xtol=1e-6))


def smallest_refuted() -> tuple[float, float]:
    """Return the smallest epsilon at which the witness refutes some delta, and that delta."""

    def excess(epsilon: float) -> tuple[float, float]:
        return max((_witness_excess(epsilon, delta), delta) for delta in _SEARCHED_DELTAS)

    root = float(brentq(lambda epsilon: excess(epsilon)[0], 2.0, 5.0, xtol=1e-6))
    return root, excess(root)[1]


def _refuted(which: str, epsilon: float, delta: float) -> pd.DataFrame:
    tags = {
        "calibration": "classical",
        "instance": "witness",
        "tables": "all",
        "delta": delta,
        "epsilons": which,
    }
    return curve(f"{which} epsilon refuted, delta={delta:g}", tags, [epsilon], [1.0])


def _of_kind(
    calibration: str,
    instance: str,
    tables: str,
    budget: int,
    delta: float,
    epsilons: tuple[float, ...],
) -> pd.DataFrame:
    arms, dimension = INSTANCES[instance]
    needed = [
        needed_delta(
            epsilon,
            deviation(epsilon, delta, calibration),
            pulls_of(instance, budget),
            two_sums=instance == "plane",
            binary=tables == "binary",
        )
        for epsilon in epsilons
    ]
    tags = {
        "calibration": calibration,
        "instance": instance,
        "arms": arms,
        "dimension": dimension,
        "tables": tables,
        "budget": budget,
        "delta": delta,
        "needed": needed,
        "epsilons": np.where(np.array(epsilons) <= max(EPSILONS), "asked", "larger"),
    }
    series = f"{calibration}, {instance}, {tables}, T={budget}, delta={delta:g}"
    return curve(series, tags, epsilons, np.array(needed) / delta)


Values = NDArray[np.float64]

NOISE_DELTAS = (0.9, 0.5, 0.3, 0.1, 0.01, 1e-5)
ERRORS = np.geomspace(0.4, 1e-40, 100)

OBSERVABLE = 1e-5
"""Errors that 100000 trials show."""


def cone_chance(winner: Values, scales: tuple[float, float]) -> float:
    """Return the chance that two independent Laplace variables fall into a cone of the plane.

    In polar coordinates the radius is integrated out: at angle t the density is
    1 / (4 b1 b2 (|cos t|/b1 + |sin t|/b2)^2).

    Args:
        winner: rows v with <v, (b1 L1, b2 L2)> > 0 inside the cone, shape (n, 2).
        scales: b1 and b2, above 0.
    """
    edges = np.arctan2(winner[:, 1], winner[:, 0])[:, None] + np.array([-1.0, 1.0]) * np.pi / 2
    axes = np.pi / 2 * np.arange(-2, 3)
    cuts = np.unique([*((edges + np.pi) % (2 * np.pi) - np.pi).ravel(), *axes])
    (first, second), total = scales, 0.0

    def density(angle: float) -> float:
        rate = abs(math.cos(angle)) / first + abs(math.sin(angle)) / second
        return 1.0 / (4.0 * first * second * rate**2)

    for low, high in itertools.pairwise(cuts):
        middle = (low + high) / 2
        if (winner @ [math.cos(middle), math.sin(middle)] > 0.0).all():
            total += quad(density, low, high, epsabs=1e-14, epsrel=1e-13)[0]
    return total


def linear_limit(features: Values, pulled: tuple[int, int], scales: tuple[float, float]) -> float:
    """Return the chance that arm 1 comes out first where two arms' estimates are noise alone.

    Args:
        features: shape (K, 2).
        pulled: the two arms, independent, whose estimates are b1 L1 and b2 L2.
        scales: b1 and b2.
    """
    coefficients = features @ np.linalg.inv(features[list(pulled)])
    return cone_chance(coefficients[0] - coefficients[1:], scales)


def uniform_limit(arms: int) -> float:
    """Return the chance that the first of K alike noisy means is the largest, by integration."""

    def density(z: float) -> float:
        return float(laplace.pdf(z) * laplace.cdf(z) ** (arms - 1))

    return sum(quad(density, *ends, epsabs=1e-14)[0] for ends in ((-50.0, 0.0), (0.0, 50.0)))


def gauss_deviation(delta: float) -> float:
    """Return the deviation of DP-BAI-Gauss's noise on a sum, in units of 1 / epsilon."""
    return math.sqrt(2.0 * math.log(1.25 / delta))


def log_gauss_tail(c: ArrayLike, delta: float) -> Values:
    """Return log P(N1 - N2 > c) of two sums' noise, c in units of 1 / epsilon."""
    deviations = np.asarray(c, np.float64) / (math.sqrt(2.0) * gauss_deviation(delta))
    return np.asarray(log_ndtr(-deviations))


def crossing(delta: float) -> float:
    """Return log of the error below which DP-BAI-Gauss has the lighter tail with two arms.

    Both tails are 1/2 at 0. From there that of DP-BAI-Gauss is the heavier one up to where they
    cross, if it is so at all; else the crossing is at 0.
    """

    def excess(c: Values) -> Values:
        return log_gauss_tail(c, delta) - log_tail_of_two(c)

    points = np.geomspace(1e-6, 1e4, 2001)
    heavier = np.flatnonzero(excess(points) > 0.0)
    if heavier.size == 0:
        return math.log(0.5)
    last = int(heavier[-1])
    root = brentq(lambda c: float(excess(c)), points[last], points[last + 1], xtol=1e-12)
    return float(log_tail_of_two(root))


def pure_noise() -> pd.DataFrame:
    """Return limits of pure noise, and the tails of two arms' comparison.

    Tags: quantity. ``limit``: algorithm, instance (``section5``, ``two-armed``) and ratio; x is 0,
    y the success rate as epsilon goes to 0. ``crossing``: x is delta, y log10 of the error below
    which DP-BAI-Gauss errs more rarely than DP-BAI at equal pulls and epsilon; error is 10^y.
    ``deviation``: x is delta, y the deviation of the Gauss noise over that of the Laplace noise.
    ``threshold``: algorithm and delta; x is the error, y the difference of the sums, in units of
    1 / epsilon, from which on noise alone errs more rarely.
    """
    return joined([*_limits(), *_crossings(), *_thresholds()])


def _limits() -> Iterator[pd.DataFrame]:
    features = section5().feature_matrix
    first, second = max_det(features).arms
    limits = {
        ("dp-bai", "section5", math.nan): linear_limit(features, (first, second), (1.0, 1.0)),
        # The noise on theta has one scale, and arm 3's feature is ten times as long.
        ("dp-od", "section5", math.nan): linear_limit(features, (0, 2), (10.0, 1.0)),
        ("baseline", "section5", math.nan): uniform_limit(len(features)),
    }
    for ratio in RATIOS:
        pair = two_armed(ratio=ratio).feature_matrix
        limits["dp-bai", "two-armed", ratio] = linear_limit(pair, (0, 1), (1.0, 1.0))
        limits["dp-od", "two-armed", ratio] = linear_limit(pair, (0, 1), (ratio, 1.0))
    for (algorithm, instance, ratio), value in limits.items():
        tags = {"quantity": "limit", "algorithm": algorithm, "instance": instance, "ratio": ratio}
        yield curve(f"limit, {algorithm}, {instance}, y/x={ratio:g}", tags, [0.0], [value])


def _crossings() -> Iterator[pd.DataFrame]:
    levels = [crossing(delta) / math.log(10.0) for delta in NOISE_DELTAS]
    tags = {"quantity": "crossing", "error": np.power(10.0, levels)}
    yield curve("crossing", tags, NOISE_DELTAS, levels)
    ratios = [gauss_deviation(delta) / math.sqrt(2.0) for delta in NOISE_DELTAS]
    yield curve("deviation", {"quantity": "deviation"}, NOISE_DELTAS, ratios)


def _thresholds() -> Iterator[pd.DataFrame]:
    """Return the tails as a figure shows them: difference of the sums by error."""
    log_errors = np.log(ERRORS)

    def excess(c: Values, log_error: Values) -> Values:
        return log_tail_of_two(c) - log_error

    ends = np.zeros(ERRORS.size), np.full(ERRORS.size, 1e4)
    thresholds = {("dp-bai", 0.0): elementwise.find_root(excess, ends, args=(log_errors,)).x}
    for delta in NOISE_DELTAS:
        unit = math.sqrt(2.0) * gauss_deviation(delta)
        thresholds["dp-bai-gauss", delta] = -unit * ndtri_exp(log_errors)
    for (algorithm, delta), y in thresholds.items():
        tags = {"quantity": "threshold", "algorithm": algorithm, "delta": delta}
        yield curve(f"threshold, {algorithm}, delta={delta:g}", tags, ERRORS, y)
