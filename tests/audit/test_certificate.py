"""The black box against mechanisms whose loss is known: never above it but at the error rate.

A bound at level 0.05 is wrong in at most 5 % of 1,000 fixed seeds; more than LIMIT wrong ones have
probability below 0.001 even at exactly 5 %. Every control has its counterpart that must be caught.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpbandits.auditing.blackbox import (
    SEARCH,
    TOGETHER,
    Budget,
    Mechanism,
    certify,
    choose,
    choose_event,
    sequence_events,
)
from dpbandits.auditing.events import Measure
from dpbandits.auditing.statistics import Threshold, column, of_statistic, thresholds
from dpbandits.errors import InputError
from support import mostly_slow

SEEDS = 1000
LIMIT = int(binom.ppf(0.999, SEEDS, 0.05))
Draw = Callable[[bool, np.random.Generator, int], NDArray[Any]]
PURE, GAUSSIAN = Measure("epsilon"), Measure("mu")


def numbers(draw: Draw, key: str) -> Mechanism:
    """A mechanism that releases one number."""
    value = column(0, "value")
    return Mechanism(draw, lambda fitting, ranking: [of_statistic(value, ranking)], key)


def laplace(epsilon: float) -> Draw:
    return lambda second, rng, runs: (second + rng.laplace(scale=1 / epsilon, size=runs))[:, None]


def gaussian(mu: float) -> Draw:
    return lambda second, rng, runs: (mu * second + rng.standard_normal(runs))[:, None]


def response(epsilon: float) -> Draw:
    truth = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    return lambda second, rng, runs: ((rng.random(runs) < truth) == second)[:, None].astype(float)


KNOWN: dict[str, tuple[Draw, Measure, float]] = {
    "laplace": (laplace(1.0), PURE, 1.0),
    "gaussian": (gaussian(1.0), GAUSSIAN, 1.0),
    "randomised response": (response(1.0), PURE, 1.0),
}


@pytest.mark.parametrize("name", mostly_slow(KNOWN, "randomised response"))
def test_bounds_are_below_the_known_loss_at_the_stated_rate(name: str) -> None:
    draw, measure, truth = KNOWN[name]
    mechanism = numbers(draw, name)
    lower = np.array(
        [certify(mechanism, measure, Budget(4000, seed=seed)).lower for seed in range(SEEDS)]
    )
    assert (lower > truth).sum() <= LIMIT
    assert np.median(lower) > 0.7 * truth


@pytest.mark.parametrize("name", list(KNOWN))
def test_bounds_are_close_with_many_runs(name: str) -> None:
    draw, measure, truth = KNOWN[name]
    lower = certify(numbers(draw, name), measure, Budget(10**6, seed=1)).lower
    assert 0.96 * truth < lower <= truth


def test_a_mechanism_with_half_the_noise_is_caught() -> None:
    lower = certify(numbers(laplace(2.0), "half"), PURE, Budget(100_000, seed=1)).lower
    assert 1.8 < lower <= 2.0


@pytest.mark.parametrize("measure", [PURE, GAUSSIAN, Measure("delta", epsilon=0.5)])
def test_equal_tables_give_zero(measure: Measure) -> None:
    """At level 0.05 at most 5 % of 200 seeds show a loss that is not there."""
    null = numbers(lambda second, rng, runs: rng.laplace(size=runs)[:, None], "null")
    shown = [certify(null, measure, Budget(2000, seed=seed)).lower > 0.0 for seed in range(200)]
    assert sum(shown) <= binom.ppf(0.999, 200, 0.05)


def test_a_constant_output_gives_zero() -> None:
    constant = numbers(lambda second, rng, runs: np.ones((runs, 1)), "constant")
    found = certify(constant, PURE, Budget(1000))
    assert (found.lower, found.event, found.hits) == (0.0, "no event", (0, 0))


def test_delta_of_the_gaussian_mechanism() -> None:
    measure = Measure("delta", epsilon=1.0)
    # Balle and Wang (2018), Theorem 8: Phi(1/2 - 1) - e Phi(-1/2 - 1).
    truth = 0.30853753872598694 - math.e * 0.06680720126885806
    lower = certify(numbers(gaussian(1.0), "delta"), measure, Budget(400_000, seed=2)).lower
    assert 0.9 * truth < lower <= truth


def test_no_runs_can_certify_more_than_the_ceiling() -> None:
    certain = numbers(lambda second, rng, runs: np.full((runs, 1), second, float), "certain")
    found = certify(certain, PURE, Budget(2000))
    assert found.lower == found.ceiling
    # ln of (runs / 3.7), as 0 of n has the upper bound 3.7 / n.
    assert found.lower == pytest.approx(math.log(1000 / 3.7), abs=0.02)


def test_both_directions_are_tried_and_named() -> None:
    """Under x the value is 1 in 1 % of runs, under x' never: only x over x' shows it."""

    def rare(second: bool, rng: np.random.Generator, runs: int) -> NDArray[Any]:
        return ((rng.random(runs) < 0.01) & (not second))[:, None].astype(float)

    found = certify(numbers(rare, "rare"), PURE, Budget(100_000, seed=1))
    assert not found.second
    assert found.event == "value: at least 1"
    assert found.lower > 4.0
    flipped = numbers(lambda second, rng, runs: rare(not second, rng, runs), "rare")
    assert certify(flipped, PURE, Budget(100_000, seed=1)).second


def test_no_runs_are_used_twice() -> None:
    """Search, choice and certificate of either table begin at streams of their own."""
    begins = list[float]()

    def play(second: bool, rng: np.random.Generator, runs: int) -> NDArray[Any]:
        begins.append(float(rng.random()))
        return rng.random((runs, 1))

    mechanism = numbers(play, "streams")
    choose_event(mechanism, SEARCH, 100, PURE, Budget(100))
    certify(mechanism, PURE, Budget(200))
    assert len(begins) == len(set(begins)) == 6


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    mechanism = numbers(laplace(1.0), "threads")
    runs = 4 * TOGETHER + 77
    one, two = (certify(mechanism, PURE, Budget(runs, seed=5, workers=n)) for n in (1, 3))
    assert one == two
    assert one != certify(mechanism, PURE, Budget(runs, seed=6))


def test_the_choice_is_the_largest_lower_bound_not_the_largest_ratio() -> None:
    """4 of 5,000 against 0 is an infinite ratio; 3,000 against 1,500 shows more."""
    few, many = np.zeros((2, 5000)), np.zeros((2, 5000))
    few[1, :4] = 1.0
    many[0, :1500], many[1, :3000] = 1.0, 1.0
    found = choose(
        [thresholds(column(0, "few"), *few), thresholds(column(0, "many"), *many)],
        5000,
        PURE,
        0.05,
    )
    assert found is not None
    assert found.event.statistic.words == "many"
    assert found.tried == 8


def test_events_of_sequences_are_found() -> None:
    """Only round 1 differs, so that the event is one of round 1, whichever family names it."""

    def play(second: bool, rng: np.random.Generator, runs: int) -> NDArray[Any]:
        first = rng.random(runs) < (0.8 if second else 0.3)
        rest = rng.random((runs, 3)) < 0.5
        return np.column_stack([first, rest]).astype(np.int8)

    mechanism = Mechanism(play, sequence_events(2, 0), "sequences")
    found = certify(mechanism, PURE, Budget(20_000, seed=3))
    truth = math.log(0.7 / 0.2)
    assert 0.9 * truth < found.lower <= truth
    assert not found.second


def test_an_event_and_its_complement_make_all_outputs() -> None:
    outputs = np.arange(10.0)[:, None]
    event = Threshold(column(0, "value"), 3.0)
    other = Threshold(column(0, "value"), 3.0, at_least=False)
    assert (event.count(outputs), other.count(outputs)) == (7, 3)
    assert other.words == "value: less than 3"


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"runs": 7}, "runs is 7; allowed: 8 to 10000000000"),
        ({"runs": 1e6}, "runs is 1000000.0; allowed: an integer"),
        ({"runs": 100, "level": 0.0}, "level is 0.0; allowed: strictly between 0 and 1"),
    ],
)
def test_bad_budgets_end_in_one_line(budget: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Budget(**budget)
    assert str(caught.value) == message
