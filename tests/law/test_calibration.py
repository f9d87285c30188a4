"""Baselines of the papers against the published curves of Hu and Hegde (UAI 2022).

Arms of TS-is-DP, Section 5.1, horizon 100000. Every seed is fixed.
"""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpbandits.engine.cells import Work, make_cell
from support import FIVE_ARMS

pytestmark = pytest.mark.slow

HORIZON = 100_000
RUNS = 60
ROOT_SEED = 11

PUBLISHED = {500.0: 1471, 1.0: 2431, 0.5: 3327, 0.25: 3839, 0.1: 7679}
"""Final regret of Anytime-Lazy-UCB by epsilon (Hu and Hegde, 2022)."""

FITS = {
    ("base2", "3,3"): True,
    ("natural", "3,3"): False,
    ("natural", "4,4"): True,
    ("natural", "4,5"): True,
    ("base2", "4,4"): False,
    ("base2", "4,5"): False,
}
"""(Base of LOG, constants) -> whether it fits the digitised values.

Those that fit have effective constants near 3 / ln 2 = 4.33.
"""


@cache
def final_regret(
    algorithm: str, epsilon: float, log: str = "", constants: str = ""
) -> NDArray[np.float64]:
    """Final pseudo-regret of each run; words that are not given are those of the variant."""
    words = {"log": log, "constants": constants}
    cell = make_cell(
        algorithm=algorithm,
        parameters={"epsilon": epsilon},
        interpretations={key: value for key, value in words.items() if value},
        bandit=FIVE_ARMS,
        horizon=HORIZON,
    )
    return Work(cell, range(RUNS)).play(ROOT_SEED)["pseudo_regret"][:, -1]


def test_dp_se_ends_at_the_published_values() -> None:
    # Hu and Hegde (2022): 3436 in every run at 1/4, 3435.5 before rounding; a minimum of about 3906
    # at 1/10 (the published run ended at 3907); 3437 for every larger epsilon, one of the values
    # that runs take (two eliminations more or less make up the others), read to two units.
    assert set(final_regret("dp-se", 0.25)) == {3435.5}
    assert final_regret("dp-se", 0.1).min() == pytest.approx(3906, abs=1.0)
    for epsilon in [0.5, 1.0, 500.0]:
        assert (np.abs(final_regret("dp-se", epsilon) - 3437) <= 2).any()


def test_dp_se_passes_through_the_published_points() -> None:
    # Hu and Hegde (2022): about 2450 at t = 10000 and 3075 at t = 20000 for eps >= 0.25, read to
    # five units.
    cell = make_cell(
        algorithm="dp-se",
        parameters={"epsilon": 0.25},
        bandit=FIVE_ARMS,
        horizon=HORIZON,
        grid=[10_000, 20_000],
    )
    curve = Work(cell, range(20)).play(ROOT_SEED)["pseudo_regret"].mean(axis=0)
    np.testing.assert_allclose(curve, [2450, 3075], atol=5)


def test_which_interpretations_of_lazy_ucb_fit_the_published_runs() -> None:
    # Five digitised values of one run each: the sum of squared distances, in deviations of one run,
    # is near a chi-square law with five degrees of freedom if the interpretation of the index is
    # the published one. At the level of 1 % such a one is refused once in a hundred (the runs are
    # lumpy, the law approximate). Values are whole numbers, so a run that never varies still counts
    # as varying by one.
    for (log, constants), fits in FITS.items():
        z = []
        for epsilon, published in PUBLISHED.items():
            runs = final_regret("anytime-lazy-ucb", epsilon, log, constants)
            z.append((published - runs.mean()) / max(runs.std(ddof=1), 1.0))
        assert (stats.chi2.sf(np.square(z).sum(), len(z)) >= 0.01) == fits, (log, constants, z)


# The epsilon-DP baselines of DP-TS-UCB.

MEANS: dict[tuple[str, str], tuple[tuple[float, float | None], ...]] = {
    ("lazy-dp-ts", "natural"): ((102, 22), (564, 76), (968, 28), (1901, 60), (3889, 163)),
    ("lazy-dp-ts", "base2"): ((97, None), (793, None), (1269, None), (2355, None), (5348, None)),
    ("anytime-lazy-ucb", "base2"): ((1639, 170), (2614, 295), (3310, 92), (4155, 395), (7700, 115)),
    ("anytime-lazy-ucb", "natural"): (
        *((1215, 232), (1714, 180), (2393, 306)),
        *((3446, 254), (6245, 567)),
    ),
    ("dp-se", ""): ((2909, 507), (3210, 507), (3360, 507), (3436, 1), (4374, None)),
}
"""Mean and standard deviation of one run by epsilon, as that of PUBLISHED, as digitised.

Where it prints no deviation (None) that of our runs is taken. DP-SE takes few values, two of them
2433 and 3436, at every epsilon from 0.5 on: the deviation at 500 serves for these three.
"""


def distances(algorithm: str, log: str, printed: str) -> NDArray[np.float64]:
    """Our means from those printed of a logarithm, by epsilon, in deviations of one run."""
    found = []
    for epsilon, (mean, deviation) in zip(PUBLISHED, MEANS[algorithm, printed], strict=True):
        runs = final_regret(algorithm, epsilon, log)
        found.append((runs.mean() - mean) / (deviation or runs.std(ddof=1)))
    return np.abs(found)


def test_means_of_the_independent_implementation() -> None:
    # One deviation of a single run is three standard errors of the difference between our mean and
    # one of ten runs; how many the printed means are of is not said.
    for algorithm, log in MEANS:
        assert (distances(algorithm, log, log) < 1).all()
    # The other logarithm is told apart; at epsilon = 500 the shift is too small for its base.
    for log, other in [("natural", "base2"), ("base2", "natural")]:
        assert (distances("lazy-dp-ts", log, other)[1:] > 1.5).all()
