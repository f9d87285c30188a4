"""The epsilon-DP baselines of DP-TS-UCB against the published curves of Hu and Hegde (UAI 2022).

Arms 0.75, 0.625, 0.5, 0.375, 0.25, horizon 100000. Every seed is fixed.
"""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dpbandits.engine.cells import Work, make_cell
from support import FIVE_ARMS

pytestmark = pytest.mark.slow

HORIZON = 100_000
RUNS = 60
ROOT_SEED = 11
EPSILONS = (500.0, 1.0, 0.5, 0.25, 0.1)

PUBLISHED = {500.0: 113, 1.0: 488, 0.5: 1088, 0.25: 1919, 0.1: 3840}
"""Final regret of Lazy-DP-TS, by epsilon."""

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
"""Mean and standard deviation of one run by epsilon, as digitised.

Where it prints no deviation (None) that of our runs is taken. DP-SE takes few values, two of them
2433 and 3436, at every epsilon from 0.5 on: the deviation at 500 serves for these three.
"""


@cache
def final_regret(algorithm: str, log: str, epsilon: float) -> NDArray[np.float64]:
    """Final pseudo-regret of each run."""
    cell = make_cell(
        algorithm=algorithm,
        parameters={"epsilon": epsilon},
        interpretations={"log": log} if log else {},
        bandit=FIVE_ARMS,
        horizon=HORIZON,
    )
    return Work(cell, range(RUNS)).play(ROOT_SEED)["pseudo_regret"][:, -1]


def distance(algorithm: str, log: str, epsilon: float, printed: tuple[str, str]) -> float:
    """Our mean less the printed mean of an algorithm and logarithm, in deviations of one run."""
    mean, deviation = MEANS[printed][EPSILONS.index(epsilon)]
    runs = final_regret(algorithm, log, epsilon)
    return float((runs.mean() - mean) / (deviation or runs.std(ddof=1)))


def test_means_of_the_independent_implementation() -> None:
    # One deviation of a single run is three standard errors of the difference between our mean and
    # one of ten runs; how many the printed means are of is not said.
    for algorithm, log in MEANS:
        for epsilon in EPSILONS:
            assert abs(distance(algorithm, log, epsilon, (algorithm, log))) < 1


def test_the_other_logarithm_is_told_apart() -> None:
    # At epsilon = 500 the shift is too small for its base to matter.
    for log, other in [("natural", "base2"), ("base2", "natural")]:
        for epsilon in [1.0, 0.5, 0.25, 0.1]:
            assert abs(distance("lazy-dp-ts", log, epsilon, ("lazy-dp-ts", other))) > 1.5


def within_our_runs(log: str) -> list[float]:
    """Epsilons at which some of our runs end at or beyond the published value on either side."""
    found = []
    for epsilon, published in PUBLISHED.items():
        runs = final_regret("lazy-dp-ts", log, epsilon)
        # Interpretations are whole numbers.
        if runs.min() - 0.5 <= published <= runs.max() + 0.5:
            found.append(epsilon)
    return found


def test_published_values_are_among_the_runs_of_the_natural_logarithm() -> None:
    # A right value falls outside the range of 60 runs with probability 2/61.
    assert within_our_runs("natural") == list(PUBLISHED)


def test_published_values_are_not_among_those_of_base_2() -> None:
    # 488 lies below every run at epsilon = 1, and 3840 at 0.1, by hundreds.
    assert not {1.0, 0.1} & set(within_our_runs("base2"))


def relative_error(log: str) -> float:
    """Mean over epsilon of the relative distance from the published value to our mean."""
    errors = [
        abs(final_regret("lazy-dp-ts", log, epsilon).mean() / published - 1)
        for epsilon, published in PUBLISHED.items()
    ]
    return float(np.mean(errors))


def test_the_natural_logarithm_is_the_nearer_one() -> None:
    # The digitised means are 8 % and 31 % off on average.
    assert relative_error("natural") < 0.12
    assert relative_error("base2") > 0.2


def test_the_published_run_at_a_half_is_an_unusual_one() -> None:
    # 1088 lies over two deviations above our mean, by the digitised deviation over four (its mean
    # is
    # 968, its deviation 28): runs go there, but few of them.
    runs = final_regret("lazy-dp-ts", "natural", 0.5)
    assert (1088 - runs.mean()) / 28 > 4
    assert 0 < (runs >= 1088).sum() <= RUNS // 20


def test_dp_ts_pays_more_than_its_lazy_sister() -> None:
    # No curve of DP-TS is at hand; its shift is larger by the factor 2 sqrt(8) LOG(n + 1), which is
    # 3.9 or more, so that it must lie above wherever the shift matters.
    for log in ("natural", "base2"):
        for epsilon in (1.0, 0.5):
            dp_ts = final_regret("dp-ts", log, epsilon)
            assert dp_ts.min() > final_regret("lazy-dp-ts", log, epsilon).max()
