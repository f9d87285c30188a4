"""Exact results and numbers: Max-Det collections, privacy, decisions by noise alone.

Of BAI-F17 (Max-Det), C14a to c, C24 and BAI-E9 (privacy), F2 and F5 (noise alone).
"""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import laplace

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.auditing.best_arm import (
    DIAGONAL,
    NORMS,
    deviation,
    difference_chances,
    dp_od_scales,
    gaussian_witness,
    pulls_of,
    sign_chances,
    square_chances,
    three_arm_pulls,
    tree_chances,
    tree_pulls,
    unit_vectors,
    witness_pulls,
)
from dpbandits.auditing.laplace import largest_loss, log_tail_of_two
from dpbandits.papers.curves import curve, joined, number
from dpbandits.papers.dp_bai.schedules import (
    appendix_b,
    baseline_structure,
    overshoot,
    phase_counts,
)
from dpbandits.papers.dp_bai.theory import regime_map, table1_grid
from dpbandits.privacy.witnesses import classical_delta

Values = NDArray[np.float64]

SEED = 20240118
SETS = 10_000
RANKS = (1, 2, 3, 4, 5, 6)
FEW, MANY = 15, 150
"""Largest number of features in nine sets of ten, and their number in the tenth, where from rank 3
on not all subsets are tried."""

TOLERANCE = 1e-8
"""How far above 1 a coefficient may be for rounding (C10)."""

PHASE_BUDGET = 1000
"""T'/M, the pulls of a phase."""

COMPARED_SETS = 1000
COMPARED_FEATURES = 12
COMPARED_RANKS = (2, 3, 4)


def _integers(generator: np.random.Generator, n: int, rank: int) -> Values:
    """Return small integers, many of which are dependent or equal, with a basis among them."""
    features = generator.integers(-2, 3, (n, rank)).astype(np.float64)
    features[generator.permutation(n)[:rank]] = np.eye(rank)
    return features


LAWS: dict[str, Callable[[np.random.Generator, int, int], Values]] = {
    "normal": lambda generator, n, rank: generator.standard_normal((n, rank)),
    "heavy tails": lambda generator, n, rank: generator.standard_cauchy((n, rank)),
    "integers": _integers,
}
"""How features are drawn, in turn."""


def max_det_table() -> pd.DataFrame:
    """Return checks of Lemma G.1 and of the Max-Det collection's noise on random features."""
    numbers = {**_coefficients(), **_factors()}
    return joined(
        number(quantity, {"quantity": quantity}, value) for quantity, value in numbers.items()
    )


def _coefficients() -> dict[str, float]:
    """Return what the largest |coefficient| of random sets of features is."""
    kinds = list(itertools.product(RANKS, LAWS))
    rows = []
    for index in range(SETS):
        generator = np.random.default_rng([SEED, index])
        repetition, kind = divmod(index, len(kinds))
        rank, law = kinds[kind]
        n = MANY if repetition % 10 == 9 else int(generator.integers(rank, FEW + 1))
        collection = max_det(LAWS[law](generator, n, rank))
        rows.append((collection.exact, np.abs(collection.coefficients).max()))
    is_searched, largest = (np.array(column) for column in zip(*rows, strict=True))
    is_above = largest > 1.0 + TOLERANCE
    return {
        "searched": is_searched.sum(),
        "exchanged": (~is_searched).sum(),
        "above searched": (is_above & is_searched).sum(),
        "above exchanged": (is_above & ~is_searched).sum(),
        "coefficient": largest.max(),
    }


def _factors() -> dict[str, float]:
    """Return how the Max-Det collections of random sets compare with other subsets."""
    rows = []
    for index in range(COMPARED_SETS):
        rank = COMPARED_RANKS[index % len(COMPARED_RANKS)]
        generator = np.random.default_rng([SEED, SETS + index])
        features = generator.standard_normal((COMPARED_FEATURES, rank))
        injected = [injected_noise(len(arms)) for arms in _subsets(COMPARED_FEATURES, rank)]
        smallest = variance_factors(features).min()
        own = injected_noise(len(max_det(features).arms))
        rows.append((rank, max_det_factor(features), smallest, own, min(injected)))
    ranks, factors, smallest, injected, least = np.array(rows, np.float64).T
    ratio = factors / smallest
    return {
        # Another subset may have the same v but for rounding.
        "smaller": (ratio > 1.0 + 1e-9).sum(),
        "median ratio": np.median(ratio),
        "largest ratio": ratio.max(),
        "above rank": (factors > ranks + 1e-9).sum(),
        "noise ratio": (factors * ranks**2 / COMPARED_FEATURES**2).max(),
        "less injected": (least < injected).sum(),
        "injected ratio": (injected / injected_noise(COMPARED_FEATURES)).max(),
    }


def _subsets(n: int, rank: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(n), rank))


def variance_factors(features: Values) -> Values:
    """Return v(B) = max_i sum_j alpha_ij^2 of every subset B of r features that spans R^r."""
    bases = features[np.array(_subsets(*features.shape))]
    bases = bases[np.linalg.cond(bases) < 1e12]
    coefficients = features @ np.linalg.inv(bases)
    return np.asarray((coefficients**2).sum(axis=2).max(axis=1))


def max_det_factor(features: Values) -> float:
    """Return v of the Max-Det collection."""
    return float((max_det(features).coefficients ** 2).sum(axis=1).max())


def injected_noise(pulled: int) -> float:
    """Return the scale of the noise on the mean of each of so many pulled arms, at epsilon = 1.

    A phase has ``PHASE_BUDGET`` pulls for them, and noise of scale 1 / (epsilon n) goes on a mean
    of n rewards.
    """
    return 1.0 / -(-PHASE_BUDGET // pulled)


EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
REWARDS = (1.0, 1.1)
"""Largest rewards: of the paper's model, and of its two arms (BAI-E7)."""

BUDGETS = (4, 6, 8, 10, 12, 102, 1002, 10_002)
"""T with two arms; C14 asks for T up to 12."""

SMALLEST_OF_MULTIPLES = 6
"""T from which the features u, u/2 and u/4 leave DP-BAI a pull in either phase."""

TREES = {(3, 2): (8, 12, 16), (4, 4): (12, 16, 24)}
"""(K, d) with two phases -> T."""

RATIOS = (1.0, 2.0, 5.0, 20.0)
"""y/x of axis-aligned arms."""

SQUARE_BUDGETS = (7, 23, 103)

Described = tuple[str, str, str, int, float, Values]
"""(algorithm, norm, features, arms, T, log chances by output and table)."""


def privacy_loss() -> pd.DataFrame:
    """Return the largest privacy loss over epsilon of each algorithm over pairs of tables.

    Admissible: K > 2, rewards of at most 1, and features that allow means in [0, 1] with one best
    arm. A third arm, half the sum of the other two, makes pairs of DP-OD instances of the paper:
    its estimate is half the sum of theirs, so that it never wins alone, and the optimal design
    gives it no pulls.
    """
    rows = []
    for epsilon, reward in itertools.product(EPSILONS, REWARDS):
        losses = [*_two_arms(epsilon, reward), *_dp_od(epsilon, reward)]
        if reward == 1.0:
            losses += _trees(epsilon)
        for count, (algorithm, norm, features, arms, budget, chances) in enumerate(losses):
            is_possible = arms > 2 and reward <= 1.0 and features not in ("square", "turned")
            tags = {
                "algorithm": algorithm,
                "norm": norm,
                "features": features,
                "epsilon": epsilon,
                "largest_reward": reward,
                "is_admissible": float(is_possible),
            }
            series = f"{algorithm}, {features}, epsilon={epsilon:g}, rewards to {reward:g}, {count}"
            rows.append(number(series, tags, largest_loss(chances).epsilon / epsilon, budget))
    return joined(rows)


def _two_arms(epsilon: float, reward: float) -> Iterator[Described]:
    """Yield the log chances of DP-BAI and Baseline with two arms in one and in two dimensions."""
    for budget in BUDGETS:
        yield "dp-bai", "none", "any", 2, budget, sign_chances(budget - 1, epsilon, reward)
        chances = difference_chances(-(-(budget - 1) // 2), epsilon, reward)
        yield "baseline", "none", "any", 2, budget, chances
        if budget >= SMALLEST_OF_MULTIPLES:
            chances = sign_chances(witness_pulls(budget), epsilon, reward)
            yield "dp-bai", "none", "multiples", 3, budget, chances
        chances = difference_chances(pulls_of("plane", budget), epsilon, reward)
        for algorithm in ("dp-bai", "baseline"):
            yield algorithm, "none", "any", 2, budget, chances


def _dp_od(epsilon: float, reward: float) -> Iterator[Described]:
    """Yield those of DP-OD on two arms and their midpoint, and on four along the diagonals."""
    for norm in NORMS:
        kinds = [
            *(("axis-aligned", dp_od_scales([[1.0, 0.0], [0.0, y]], norm)) for y in RATIOS),
            ("diagonal", dp_od_scales(unit_vectors(*DIAGONAL), norm)),
            ("turned", _turned_scales(norm)),
        ]
        for budget, (features, scales) in itertools.product(BUDGETS, kinds):
            chances = difference_chances(three_arm_pulls(budget), epsilon, reward, scales)
            yield "dp-od", norm, features, 3, budget, chances
        for budget in SQUARE_BUDGETS:
            chances = square_chances((budget - 3) // 4, epsilon, norm, reward)
            yield "dp-od", norm, "square", 4, budget, chances


def _turned_scales(norm: str) -> tuple[float, float]:
    """Return DP-OD's scales where L is that of the features and the noise is in a turned basis.

    By 45 degrees, as it may be after a reduction of the dimension.
    """
    given, turned = unit_vectors(*(angle - 45.0 for angle in DIAGONAL)), unit_vectors(*DIAGONAL)
    first, second = dp_od_scales(turned, norm)
    factor = np.linalg.norm(given, NORMS[norm], axis=1).max()
    factor /= np.linalg.norm(turned, NORMS[norm], axis=1).max()
    return first * float(factor), second * float(factor)


def _trees(epsilon: float) -> Iterator[Described]:
    """Yield those of two phases; DP-BAI and Baseline are the same there."""
    for (arms, dimension), budgets in TREES.items():
        for budget in budgets:
            sequence = tree_chances(arms, tree_pulls(arms, dimension, budget), epsilon)
            recommended = np.logaddexp.reduce(sequence, axis=0, keepdims=True)
            for chances in (recommended, sequence):
                for algorithm in ("dp-bai", "baseline"):
                    yield algorithm, "none", "any", arms, budget, chances


CURVE_EPSILONS = np.linspace(0.5, 12.0, 93).tolist()
"""Where the witness is drawn."""

CURVE_DELTAS = (1e-6, 1e-5, 0.01, 0.1, 0.3, 0.42)

WITNESS_BUDGETS = (12, 10_002)

_SEARCHED_DELTAS = (*np.geomspace(1e-9, 0.3, 60).tolist(), *np.arange(0.302, 0.99, 0.002).tolist())
"""Where the smallest epsilon of all delta is looked for."""


def needed_delta(
    epsilon: float,
    delta: float,
    budget: int,
    calibration: str = "classical",
    instance: str = "witness",
    tables: str = "all",
) -> float:
    """Return the delta that DP-BAI-Gauss needs over its own; above 1 it is not private (C24)."""
    witness = gaussian_witness(
        epsilon,
        deviation(epsilon, delta, calibration),
        pulls_of(instance, budget),
        two_sums=instance == "plane",
        binary=tables == "binary",
    )
    return witness.delta(epsilon) / delta


def gauss_privacy() -> pd.DataFrame:
    """Return ``needed_delta`` of the witness at the larger T; tag: delta; x: epsilon."""
    budget = WITNESS_BUDGETS[-1]
    return joined(
        curve(
            f"delta={delta:g}",
            {"delta": delta},
            CURVE_EPSILONS,
            [needed_delta(epsilon, delta, budget) for epsilon in CURVE_EPSILONS],
        )
        for delta in CURVE_DELTAS
    )


def refuted_from(delta: float) -> float:
    """Return the smallest epsilon at which the witness refutes a delta below 0.45."""
    return float(brentq(_excess, 2.0, 12.0, args=(delta,), xtol=1e-6))


def smallest_refuted() -> float:
    """Return the smallest epsilon at which the witness refutes some delta."""

    def largest(epsilon: float) -> float:
        return max(_excess(epsilon, delta) for delta in _SEARCHED_DELTAS)

    return float(brentq(largest, 2.0, 5.0, xtol=1e-6))


def _excess(epsilon: float, delta: float) -> float:
    """Return the delta that the witness needs over its own, minus 1."""
    return classical_delta(epsilon, delta) / delta - 1.0


def cone_chance(winner: Values, scales: tuple[float, float]) -> float:
    """Return the chance that two independent Laplace variables fall into a cone of the plane.

    In polar coordinates the radius is integrated out: at angle t the density is
    1 / (4 b1 b2 (|cos t|/b1 + |sin t|/b2)^2).
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
    """Return the chance that arm 1 comes out first where two arms' estimates are noise alone."""
    coefficients = features @ np.linalg.inv(features[list(pulled)])
    return cone_chance(coefficients[0] - coefficients[1:], scales)


def uniform_limit(arms: int) -> float:
    """Return the chance that the first of K alike noisy means is the largest, by integration."""

    def density(z: float) -> float:
        return float(laplace.pdf(z) * laplace.cdf(z) ** (arms - 1))

    return sum(quad(density, *ends, epsabs=1e-14)[0] for ends in ((-50.0, 0.0), (0.0, 50.0)))


def log_gauss_tail(c: ArrayLike, delta: float) -> Values:
    """Return log P(N1 - N2 > c) of two sums' noise, c in units of 1 / epsilon."""
    spread = math.sqrt(2.0) * deviation(1.0, delta, "classical")
    return np.asarray(log_ndtr(-(np.asarray(c, np.float64) / spread)))


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


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "appendix-b": appendix_b,
    "regimes": regime_map,
    "overshoot": overshoot,
    "max-det": max_det_table,
    "table1-grid": table1_grid,
    "privacy-loss": privacy_loss,
    "gauss-privacy": gauss_privacy,
    "phase-counts": phase_counts,
    "baseline-structure": baseline_structure,
}
