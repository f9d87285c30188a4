"""Everything of the paper that is computed exactly; here features and instances (C10, C19 to C23).

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.best_arm.designs import max_det, rank_of
from dpbandits.bandits import LinearBandit
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import (
    LARGEST_OMEGA,
    section5,
    sphere,
    standard_basis,
    two_armed,
)
from dpbandits.papers.dp_bai.privacy import gauss_privacy, privacy_loss, pure_noise
from dpbandits.papers.dp_bai.schedules import (
    appendix_b,
    baseline_structure,
    design_rounds,
    overshoot,
    phase_counts,
)
from dpbandits.papers.dp_bai.theory import bounds, hardness, regime_map, table1_grid

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


def largest_coefficients() -> pd.DataFrame:
    """Return the largest |coefficient| of each of 10000 random sets of features (C10).

    Columns: rank, law, exact (1 where all subsets were tried), largest.
    """
    kinds = list(itertools.product(RANKS, LAWS))
    rows = []
    for index in range(SETS):
        generator = np.random.default_rng([SEED, index])
        repetition, kind = divmod(index, len(kinds))
        rank, law = kinds[kind]
        n = MANY if repetition % 10 == 9 else int(generator.integers(rank, FEW + 1))
        collection = max_det(LAWS[law](generator, n, rank))
        rows.append((rank, law, int(collection.exact), np.abs(collection.coefficients).max()))
    return pd.DataFrame(rows, columns=["rank", "law", "exact", "largest"])


def variance_factors(features: Values) -> Values:
    """Return v(B) = max_i sum_j alpha_ij^2 of every subset B of r features that spans R^r.

    Args:
        features: shape (n, r).
    """
    n, rank = features.shape
    subsets = np.array(list(itertools.combinations(range(n), rank)))
    bases = features[subsets]
    bases = bases[np.linalg.cond(bases) < 1e12]
    coefficients = features @ np.linalg.inv(bases)
    return np.asarray((coefficients**2).sum(axis=2).max(axis=1))


def max_det_factor(features: Values) -> float:
    """Return v of the Max-Det collection."""
    return float((max_det(features).coefficients ** 2).sum(axis=1).max())


def compared_factors() -> pd.DataFrame:
    """Return v of the Max-Det collection and the smallest v of 1000 random sets (C23).

    Sets have 12 independent normal features. Columns: rank, max_det, smallest; injected,
    least_injected and injected_by_all, the largest scale of the noise put on a pulled arm's mean
    by the Max-Det collection, by the subset with the least and when all arms are pulled.
    """
    rows = []
    for index in range(COMPARED_SETS):
        rank = COMPARED_RANKS[index % len(COMPARED_RANKS)]
        generator = np.random.default_rng([SEED, SETS + index])
        features = generator.standard_normal((COMPARED_FEATURES, rank))
        smallest = variance_factors(features).min()
        pulled = [max_det(features).arms, *itertools.combinations(range(COMPARED_FEATURES), rank)]
        injected = [injected_noise(len(arms)) for arms in pulled]
        by_all = injected_noise(COMPARED_FEATURES)
        noise = injected[0], min(injected[1:]), by_all
        rows.append((rank, max_det_factor(features), smallest, *noise))
    columns = ["rank", "max_det", "smallest", "injected", "least_injected", "injected_by_all"]
    return pd.DataFrame(rows, columns=columns)


def injected_noise(pulled: int) -> float:
    """Return the scale of the noise on the mean of each of so many pulled arms, at epsilon = 1.

    A phase has ``PHASE_BUDGET`` pulls for them, and noise of scale 1 / (epsilon n) goes on a mean
    of n rewards.
    """
    return 1.0 / -(-PHASE_BUDGET // pulled)


def max_det_table() -> pd.DataFrame:
    """Return checks of Lemma G.1 and of the Max-Det collection's noise on random features.

    Tags: quantity, law, rank. ``sets``, ``searched`` (all subsets tried), ``coefficient`` (largest
    absolute one), ``above`` (sets with one above 1 + 1e-8): 10000 sets, laws ``normal``,
    ``heavy tails`` and ``integers`` (C10); ``exchanged`` are those of them that were found by
    single exchanges, ``above searched`` and ``above exchanged`` the counts of either. Of 1000 sets
    of 12 normal features, law ``compared`` (C23): ``compared sets``, ``smaller`` (sets where
    another subset has a smaller v), ``median ratio`` and ``largest ratio`` of v to the smallest,
    ``largest v``, ``above rank`` (sets with v > r) and ``noise ratio``, the largest v r^2 / s^2:
    variance of the noise on the worst estimate of a phase over that when all s = 12 arms are
    pulled. Of the noise that is put on the means of pulled arms: ``less injected`` (sets where
    another subset puts less on its worst arm) and ``injected ratio``, its largest scale over that
    when all arms are pulled. x: rank, 0 for all.
    """
    return joined([*_coefficient_rows(), *_factor_rows()])


def _row(quantity: str, law: str, rank: int, value: float) -> pd.DataFrame:
    series = f"{quantity}, {law}, rank={rank or 'all'}"
    return curve(series, {"quantity": quantity, "law": law, "rank": rank}, [rank], [value])


def _coefficient_rows() -> Iterator[pd.DataFrame]:
    frame = largest_coefficients()
    for rank, law in itertools.product(RANKS, LAWS):
        sets = frame[(frame["rank"] == rank) & (frame["law"] == law)]
        yield _row("sets", law, rank, len(sets))
        yield _row("searched", law, rank, sets["exact"].sum())
        yield _row("coefficient", law, rank, sets["largest"].max())
        above = sets["largest"] > 1.0 + TOLERANCE
        is_searched = sets["exact"] == 1
        yield _row("above", law, rank, above.sum())
        yield _row("exchanged", law, rank, (~is_searched).sum())
        yield _row("above searched", law, rank, (above & is_searched).sum())
        yield _row("above exchanged", law, rank, (above & ~is_searched).sum())


def _factor_rows() -> Iterator[pd.DataFrame]:
    frame = compared_factors()
    for rank in (0, *COMPARED_RANKS):
        sets = frame[frame["rank"] == rank] if rank else frame
        ratio = sets["max_det"] / sets["smallest"]
        noise = sets["max_det"] * sets["rank"] ** 2 / COMPARED_FEATURES**2
        yield _row("compared sets", "compared", rank, len(sets))
        # Another subset may have the same v but for rounding.
        yield _row("smaller", "compared", rank, (ratio > 1.0 + 1e-9).sum())
        yield _row("median ratio", "compared", rank, ratio.median())
        yield _row("largest ratio", "compared", rank, ratio.max())
        yield _row("largest v", "compared", rank, sets["max_det"].max())
        yield _row("above rank", "compared", rank, (sets["max_det"] > sets["rank"] + 1e-9).sum())
        yield _row("noise ratio", "compared", rank, noise.max())
        less = sets["least_injected"] < sets["injected"]
        yield _row("less injected", "compared", rank, less.sum())
        against_all = sets["injected"] / sets["injected_by_all"]
        yield _row("injected ratio", "compared", rank, against_all.max())


DRAWS = 1000
"""Draws of the omegas of I-A that are checked, the one of the figures first."""

RATIOS = (1.0, 1.5, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""y/x of I-B."""

INSTANCES: dict[str, LinearBandit] = {
    "section5": section5(),
    **{f"two-armed, y/x={ratio:g}": two_armed(ratio=ratio) for ratio in RATIOS},
    "standard-basis": standard_basis(),
    "sphere": sphere(),
}


def instances() -> pd.DataFrame:
    """Return what the instances of the figures are like, and I-A over many draws of its omegas.

    Tags: instance; quantity. ``omega`` (I-A, arms 4 to 30), ``mean``, ``gap``, ``largest reward``:
    x is the arm, from 1. ``H_BAI`` and ``epsilon H_pri``: x is 0. Of 1000 draws of I-A (``section5
    draws``): ``omega`` extremes ``smallest omega`` and ``largest omega``, ``gap 2`` and ``gap 3``
    (largest distance of that gap from 0.05), ``smallest other gap`` and ``largest reward``, and,
    as it depends on omega alone, the same at the end of its range (``section5 limit``); x is 0.
    """
    described = (row for name, bandit in INSTANCES.items() for row in _rows(name, bandit))
    return joined([*described, *_draws(), *_limit()])


def _rows(name: str, bandit: LinearBandit) -> Iterator[pd.DataFrame]:
    means = bandit.means
    arms = np.arange(1, means.size + 1)
    hard = hardness(means, bandit.feature_matrix.shape[1], 1.0)
    curves: dict[str, tuple[ArrayLike, ArrayLike]] = {
        "mean": (arms, means),
        "gap": (arms, means.max() - means),
        "largest reward": (arms, 2.0 * means),
        "H_BAI": ([0], [hard.identification]),
        "epsilon H_pri": ([0], [hard.privacy]),
    }
    if name == "section5":
        curves["omega"] = (arms[3:], bandit.feature_matrix[3:, 1])
    for quantity, (x, y) in curves.items():
        tags = {"instance": name, "quantity": quantity}
        yield curve(f"{quantity}, {name}", tags, x, y)


def _draws() -> Iterator[pd.DataFrame]:
    drawn = [section5(draw=draw) for draw in range(DRAWS)]
    omegas = np.array([bandit.feature_matrix[3:, 1] for bandit in drawn])
    means = np.array([bandit.means for bandit in drawn])
    numbers = {"smallest omega": omegas.min(), "largest omega": omegas.max(), **_extremes(means)}
    return _single("section5 draws", numbers)


def _limit() -> Iterator[pd.DataFrame]:
    features = np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0], [1.0, LARGEST_OMEGA], [1.0, 0.0]])
    return _single("section5 limit", _extremes((features @ np.array([0.045, 0.5]))[None, :]))


def _extremes(means: NDArray[np.float64]) -> dict[str, float]:
    """Return what C19 asks of means, shape (draws, arms)."""
    gaps = means.max(axis=1, keepdims=True) - means
    return {
        "gap 2": np.abs(gaps[:, 1] - 0.05).max(),
        "gap 3": np.abs(gaps[:, 2] - 0.05).max(),
        "smallest other gap": gaps[:, 3:].min(),
        "smallest mean": means.min(),
        "largest reward": 2.0 * means.max(),
    }


def _single(instance: str, numbers: dict[str, float]) -> Iterator[pd.DataFrame]:
    for quantity, value in numbers.items():
        tags = {"instance": instance, "quantity": quantity}
        yield curve(f"{quantity}, {instance}", tags, [0], [value])


def rounds() -> pd.DataFrame:
    """Return the rounds of OD-LinBAI and DP-OD on every instance (C21).

    Tags: instance (``section5 draws``: 1000 draws of the omegas), draws, how many of them have
    that rank. x: rank of the features. y: rounds.
    """
    ranks_of = {
        name: Counter([rank_of(bandit.feature_matrix)]) for name, bandit in INSTANCES.items()
    }
    drawn = (section5(draw=draw) for draw in range(DRAWS))
    ranks_of["section5 draws"] = Counter(rank_of(bandit.feature_matrix) for bandit in drawn)
    return joined(
        curve(
            f"{name}, rank={rank}",
            {"instance": name, "draws": count},
            [rank],
            [design_rounds(rank)],
        )
        for name, ranks in ranks_of.items()
        for rank, count in ranks.items()
    )


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "appendix-b": appendix_b,
    "regimes": regime_map,
    "bounds": bounds,
    "overshoot": overshoot,
    "max-det": max_det_table,
    "table1-grid": table1_grid,
    "rounds": rounds,
    "privacy-loss": privacy_loss,
    "gauss-privacy": gauss_privacy,
    "pure-noise": pure_noise,
    "phase-counts": phase_counts,
    "instances": instances,
    "baseline-structure": baseline_structure,
}
"""Analytic results by name, as the experiments file lists them."""
