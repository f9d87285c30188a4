"""Confidence bounds of the audit: never above the truth more often than stated, and close to it.

Each calibration uses 1,000 fixed seeds. A bound may be wrong in 5 % of them; the line is the 99.9 %
quantile of a binomial with that chance, so that a correct bound crosses it with probability 0.001.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta, binom, laplace, norm

from dpbandits.auditing.events import clopper_pearson, delta_bound, epsilon_bound, mu_bound, p_value
from dpbandits.errors import InputError

SEEDS = 1_000
LEVEL = 0.05
MOST_ERRORS = int(binom.ppf(0.999, SEEDS, LEVEL))
EDGES = np.linspace(-3.0, 4.0, 22)

Bound = Callable[..., float]


def certified(bound: Bound, cdf_p: Callable, cdf_q: Callable, runs: int) -> np.ndarray:  # type: ignore[type-arg]
    """Return the bound of every seed, its threshold chosen on one half of the runs.

    Runs fall into cells between the edges; their counts are multinomial, as if all were drawn.
    """
    laws = [np.diff(np.concatenate([[0.0], cdf(EDGES), [1.0]])) for cdf in (cdf_p, cdf_q)]
    bounds = []
    for seed in range(SEEDS):
        generator = np.random.default_rng([20261122, seed])
        halves = [
            [np.cumsum(generator.multinomial(runs // 2, law)[::-1])[::-1] for law in laws]
            for _ in range(2)
        ]
        # At a level that holds for all edges at once: else the best one is often a lucky tail.
        tried = [
            bound(q, runs // 2, p, runs // 2, level=LEVEL / EDGES.size)
            for p, q in zip(*halves[0], strict=True)
        ]
        chosen = int(np.argmax(tried))
        p, q = halves[1][0][chosen], halves[1][1][chosen]
        bounds.append(bound(q, runs // 2, p, runs // 2))
    return np.array(bounds)


def test_gaussian_mechanism_is_bounded_tightly_and_from_below() -> None:
    bounds = certified(mu_bound, norm(0.0).cdf, norm(1.0).cdf, 1_000_000)
    assert (bounds > 1.0).sum() <= MOST_ERRORS
    assert bounds.min() > 0.9


def test_laplace_mechanism_is_bounded_tightly_and_from_below() -> None:
    bounds = certified(epsilon_bound, laplace(0.0).cdf, laplace(1.0).cdf, 1_000_000)
    assert (bounds > 1.0).sum() <= MOST_ERRORS
    assert bounds.min() > 0.9


@pytest.mark.parametrize("bound", [mu_bound, epsilon_bound])
def test_equal_inputs_give_zero(bound: Bound) -> None:
    bounds = certified(bound, norm(0.0).cdf, norm(0.0).cdf, 20_000)
    assert (bounds > 0.0).sum() <= MOST_ERRORS


def test_each_bound_errs_as_often_as_stated_at_most() -> None:
    # Randomised response with a fixed event: the two ends are each missed in 2.5 % of the seeds.
    p, q, runs = 0.2, 0.6, 500
    generator = np.random.default_rng(20261122)
    counts = zip(
        generator.binomial(runs, p, SEEDS), generator.binomial(runs, q, SEEDS), strict=True
    )
    ends = [
        (clopper_pearson(one, runs, LEVEL)[1] < p, clopper_pearson(other, runs, LEVEL)[0] > q)
        for one, other in counts
    ]
    assert (np.sum(ends, axis=0) <= binom.ppf(0.9995, SEEDS, LEVEL / 2.0)).all()


def test_ends_are_quantiles_of_the_beta_law() -> None:
    low, high = clopper_pearson(3, 10, 0.05)
    assert low == pytest.approx(beta.ppf(0.025, 3, 8), rel=1e-12)
    assert high == pytest.approx(beta.ppf(0.975, 4, 7), rel=1e-12)
    assert clopper_pearson(0, 10, 0.05)[0] == 0.0
    assert clopper_pearson(10, 10, 0.05)[1] == 1.0


def test_bounds_are_those_of_their_definitions() -> None:
    low, high = clopper_pearson(800, 1_000, 0.05)[0], clopper_pearson(300, 1_000, 0.05)[1]
    counts = (800, 1_000, 300, 1_000)
    assert epsilon_bound(*counts) == pytest.approx(math.log(low / high))
    assert epsilon_bound(*counts, delta=0.1) == pytest.approx(math.log((low - 0.1) / high))
    assert mu_bound(*counts) == pytest.approx(norm.isf(high) - norm.isf(low))
    assert delta_bound(*counts, epsilon=0.5) == pytest.approx(low - math.exp(0.5) * high)


@pytest.mark.parametrize("bound", [mu_bound, epsilon_bound])
def test_the_other_direction_gives_zero(bound: Bound) -> None:
    assert bound(300, 1_000, 800, 1_000) == 0.0


def test_an_event_never_seen_under_one_input_gives_a_finite_bound() -> None:
    assert 0.0 < epsilon_bound(1_000, 1_000, 0, 1_000) < math.log(1_000 / 3.6)
    assert math.isfinite(mu_bound(1_000, 1_000, 0, 1_000))
    assert mu_bound(1_000, 1_000, 1_000, 1_000) == 0.0


def test_delta_bound_survives_any_epsilon() -> None:
    assert delta_bound(10, 10, 10, 10, epsilon=1e6) == 0.0


def test_p_value_is_the_level_at_which_the_bound_meets_the_claim() -> None:
    def bound(level: float) -> float:
        return mu_bound(700, 1_000, 500, 1_000, level=level)

    found = p_value(bound, 0.4)
    assert bound(found * 1.001) > 0.4 > bound(found * 0.999)
    assert p_value(bound, 0.6) == pytest.approx(1.0, abs=1e-6)
    assert p_value(bound, math.inf) == 1.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: clopper_pearson(11, 10, 0.05), "hits is 11 of 10 runs"),
        (lambda: clopper_pearson(0, 0, 0.05), "hits is 0 of 0 runs"),
        (lambda: clopper_pearson(1, 10, 0.0), "level is 0.0"),
        (lambda: epsilon_bound(1, 2, 1, 2, delta=1.0), "delta is 1.0"),
        (lambda: delta_bound(1, 2, 1, 2, epsilon=-1.0), "epsilon is -1.0"),
    ],
)
def test_wrong_input_is_said_in_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
