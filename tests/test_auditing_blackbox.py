"""The black box against mechanisms whose loss is known: never above it but at the error rate.

A bound at level 0.05 is wrong in at most 5 % of 1,000 fixed seeds; more than LIMIT wrong ones have
probability below 0.001 even at exactly 5 %. Every control has its counterpart that must be caught.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_ndtr
from scipy.stats import binom, binomtest, norm

import dpbandits
from dpbandits.auditing import blackbox
from dpbandits.auditing.blackbox import (
    SEARCH,
    TOGETHER,
    Budget,
    Mechanism,
    MechanismAudit,
    choose,
    choose_event,
)
from dpbandits.auditing.events import Event, Measure, p_value
from dpbandits.auditing.statistics import (
    Runs,
    Threshold,
    classifier_score,
    column,
    isolated_pulls,
    of_prefixes,
    of_pulls,
    of_statistic,
    sequence_events,
    thresholds,
)
from support import mostly_slow, refused

SEEDS = 500
LIMIT = int(binom.ppf(0.999, SEEDS, 0.05))
Rng = np.random.Generator
Values = NDArray[Any]
Draw = Callable[[bool, Rng, int], Values]
BOTH = False, True
PURE, GAUSSIAN = Measure("epsilon"), Measure("mu")


def numbers(draw: Draw, key: str) -> Mechanism:
    """A mechanism that releases one number."""
    value = column(0, "value")
    return Mechanism(draw, BOTH, lambda fitting, ranking: [of_statistic(value, ranking)], key)


def certify(mechanism: Mechanism, measure: Measure, budget: Budget) -> MechanismAudit:
    """Audit a mechanism that claims nothing."""
    return blackbox.certify(mechanism, math.inf, measure, budget)


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
    asked = partial(certify, numbers(draw, name), measure)
    lower = np.array([asked(Budget(4000, seed=seed)).lower for seed in range(SEEDS)])
    assert (lower > truth).sum() <= LIMIT
    assert np.median(lower) > 0.7 * truth


def test_bounds_are_close_with_many_runs() -> None:
    for name, (draw, measure, truth) in KNOWN.items():
        lower = certify(numbers(draw, name), measure, Budget(10**6, seed=1)).lower
        assert 0.96 * truth < lower <= truth, name
    # Balle and Wang (2018), Theorem 8: Phi(1/2 - 1) - e Phi(-1/2 - 1).
    truth = norm.cdf(0.5 - 1.0) - math.e * norm.cdf(-0.5 - 1.0)
    measure = Measure("delta", epsilon=1.0)
    lower = certify(numbers(gaussian(1.0), "delta"), measure, Budget(400_000, seed=2)).lower
    assert 0.9 * truth < lower <= truth


@pytest.mark.parametrize(
    "measure", mostly_slow([PURE, GAUSSIAN, Measure("delta", epsilon=0.5)], PURE)
)
def test_equal_tables_give_zero(measure: Measure) -> None:
    """At level 0.05 at most 5 % of 200 seeds show a loss that is not there."""
    null = numbers(lambda second, rng, runs: rng.laplace(size=runs)[:, None], "null")
    shown = [certify(null, measure, Budget(2000, seed=seed)).lower > 0.0 for seed in range(200)]
    assert sum(shown) <= binom.ppf(0.999, 200, 0.05)


def test_both_directions_are_tried_and_named() -> None:
    """Under one table the value is 1 in 1 % of runs, under the other never."""
    for likelier in BOTH:

        def rare(second: bool, rng: Rng, runs: int, likelier: bool = likelier) -> Values:
            return ((rng.random(runs) < 0.01) & (second == likelier))[:, None].astype(float)

        found = certify(numbers(rare, "rare"), PURE, Budget(100_000, seed=1))
        assert found.second == likelier
        assert found.event == "value: at least 1"
        assert found.lower > 4.0


def test_no_runs_are_used_twice() -> None:
    """Search, choice and certificate of either table begin at streams of their own."""
    begins = list[float]()

    def play(second: bool, rng: Rng, runs: int) -> Values:
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
    groups = [thresholds(column(0, "few"), *few), thresholds(column(0, "many"), *many)]
    found = choose(groups, 5000, PURE, 0.05)
    assert found is not None
    assert (found.event.statistic.words, found.tried) == ("many", 8)


def test_events_of_sequences_are_found() -> None:
    """Only round 1 differs, so that the event is one of round 1, whichever family names it."""

    def play(second: bool, rng: Rng, runs: int) -> Values:
        chances = [0.8 if second else 0.3, 0.5, 0.5, 0.5]
        return (rng.random((runs, 4)) < chances).astype(np.int8)

    mechanism = Mechanism(play, BOTH, sequence_events(2, 0), "sequences")
    found = certify(mechanism, PURE, Budget(20_000, seed=3))
    truth = math.log(0.7 / 0.2)
    assert 0.9 * truth < found.lower <= truth
    assert not found.second


def played(seed: int, runs: int = 4000, horizon: int = 6) -> Runs:
    """Independent rounds of two arms; in round 2 of x' arm 2 is likelier."""
    rng = np.random.default_rng(seed)
    x, other = (rng.random((runs, horizon)) < 0.3 for _ in range(2))
    other[:, 1] = rng.random(runs) < 0.7
    return Runs(x.astype(np.int8), other.astype(np.int8))


def recount(event: Threshold, outputs: NDArray[np.int8]) -> int:
    """Count an event of sequences by its words alone."""
    place, _, listed = event.words.partition(": ")
    width = int(place.rpartition(" ")[2])
    members = set(listed.removeprefix("one of ").split(", "))
    return sum("".join(str(arm + 1) for arm in row[:width]) in members for row in outputs)


def test_counts_of_sets_are_those_of_their_words() -> None:
    ranking = played(2)
    groups = list(of_prefixes(played(1), ranking))
    assert len(groups) == 3 * 6
    for group in groups:
        for number in {0, group.hits.shape[1] // 2, group.hits.shape[1] - 1}:
            event, hits = group.event(number), group.hits[:, number].tolist()
            assert hits == [recount(event, part) for part in (ranking.x, ranking.other)]
            assert hits == [event.count(part) for part in (ranking.x, ranking.other)]


def test_unions_begin_with_the_most_telling_sequences_of_either_direction() -> None:
    """In round 2 arm 1 is likelier under x, arm 2 under x'; round 1 tells nothing."""
    arms = []
    for group in list(of_prefixes(played(1), played(2)))[4:6]:
        words = group.event(1).words.removeprefix("arms of rounds 1 to 2: one of ")
        arms += sorted({sequence[1] for sequence in words.split(", ")})
    assert sorted(arms) == ["1", "2"]


def test_pulls_are_counted_up_to_every_round() -> None:
    ranking = played(2)
    parts = ranking.x, ranking.other
    for end, group in enumerate(of_pulls(1, ranking), start=1):
        for number, hits in enumerate(group.hits.T.tolist()):
            event = group.event(number)
            assert event.words == f"pulls of arm 2 in rounds 1 to {end}: at least {number + 1}"
            assert hits == [(part[:, :end].sum(axis=1) > number).sum() for part in parts]
            assert hits == [event.count(part) for part in parts]


def test_the_classifier_weighs_the_round_that_differs() -> None:
    score = classifier_score(2, played(1))
    assert score is not None
    # Odds of arm 1 in round 2: 7/3 under x, 3/7 under x'.
    parts = [part.split(" if ") for part in score.words.removeprefix("score ").split(", ")]
    weights = {place: float(weight) for weight, place in parts}
    assert weights["arm 1 in round 2"] == pytest.approx(-2 * np.log(7 / 3), abs=0.2)
    assert score.of(np.zeros((1, 6), np.int8))[0] == pytest.approx(sum(weights.values()))
    assert classifier_score(2, played(1, horizon=65)) is None


def test_isolated_pulls() -> None:
    statistic = isolated_pulls(0)
    outputs = np.array([[0, 1, 0, 1, 1, 1], [0, 1, 1, 0, 0, 1], [1, 0, 0, 1, 0, 1]], np.int8)
    # Last isolated pulls: round 3, none, round 5; the ends have but one neighbour.
    assert statistic.of(outputs).tolist() == [2.0, -1.0, 3.0]


def released(scale: float) -> Any:
    return lambda total, rng, n: total + rng.laplace(scale=scale, size=n)


def noisy_max(scale: float) -> Any:
    """The index of the largest of five counts with Laplace noise."""

    def sample(counts: list[float], rng: Rng, n: int) -> Any:
        return (counts + rng.laplace(scale=scale, size=(n, 5))).argmax(axis=1)

    return sample


def two_sums(counts: tuple[float, float], rng: Rng, n: int) -> Any:
    """Two sums, of which the reward is in both: each is 1-DP, both together are 2-DP."""
    return np.array(counts) + rng.laplace(size=(n, 2))


EVEN, ODD = [1.0] * 5, [2.0, 0.0, 0.0, 0.0, 0.0]


def found(sample: Any, x: Any, other: Any, claim: float = 1.0, **more: Any) -> MechanismAudit:
    return dpbandits.audit_mechanism(sample, x, other, claim=claim, **more)


@pytest.mark.parametrize(
    ("sample", "x", "other", "caught"),
    [
        (released(1.0), 0.0, 1.0, False),
        (released(0.8), 0.0, 1.0, True),
        (noisy_max(2.0), EVEN, ODD, False),
        (noisy_max(1.0), EVEN, ODD, True),
        (two_sums, (0.0, 0.0), (1.0, 1.0), True),
        (two_sums, (0.0, 0.0), (0.0, 1.0), False),
    ],
)
def test_what_claims_one_is_caught_where_it_is_more(
    sample: Any, x: Any, other: Any, caught: bool
) -> None:
    audit = found(sample, x, other)
    assert (audit.verdict == "counterexample") is (audit.p_value <= 0.05) is caught
    assert 0.7 < audit.lower < audit.ceiling
    assert found(sample, x, other, level=0.2).lower > audit.lower


def test_delta_is_taken_off() -> None:
    """(0, delta)-DP: the input is shown as it is with the chance delta."""

    def leak(value: int, rng: Rng, n: int) -> Any:
        return np.where(rng.random(n) < 0.1, value, 0)

    for delta, verdict in (
        (0.0, "counterexample"),
        (0.1, "not contradicted"),
        (0.08, "counterexample"),
    ):
        assert found(leak, 0, 1, claim=0.1, delta=delta).verdict == verdict


def test_bad_input_is_one_line() -> None:
    def fails(value: Any, rng: Rng, n: int) -> Any:
        raise ValueError("no such thing")

    good = released(1.0)
    for sample, more, words in [
        (fails, {}, ["audit_mechanism: sample raises ValueError: no such thing"]),
        (lambda v, rng, n: ["a"] * n, {}, ["of shape ", "; allowed: numbers of shape"]),
        (lambda v, rng, n: np.zeros(3), {}, ["float64 of shape (3,) for n = 32768; allowed: "]),
        (lambda v, rng, n: np.full(n, math.nan), {}, ["allowed: numbers of shape"]),
        (good, {"claim": -1.0}, ["audit_mechanism: claim is -1.0; allowed: 0 to inf"]),
        (good, {"delta": 2}, ["audit_mechanism: delta is 2; allowed: 0 to 1"]),
        (good, {"runs": 2}, ["runs is 2; allowed: a whole number from 8 to"]),
        (good, {"names": ["a", "b"]}, ["names are ", "; allowed: 1, one a column"]),
        (3, {}, ["audit_mechanism: sample is 3; allowed: a function"]),
    ]:
        refused(partial(found, sample, 0.0, 1.0, **more), *words)
    refused(lambda: Measure("epsilon", delta=1.1), "delta is 1.1")
    refused(lambda: Measure("delta", epsilon=-1.0), "epsilon -1.0")
    refused(lambda: Measure("eta"), "measure is 'eta'")  # type: ignore[arg-type]


def test_bounds_are_those_of_their_definitions() -> None:
    counts = (800, 300, 1_000)
    low, _ = binomtest(800, 1_000).proportion_ci()
    _, high = binomtest(300, 1_000).proportion_ci()
    assert PURE.bound(*counts) == pytest.approx(math.log(low / high))
    assert Measure("epsilon", 0.1).bound(*counts) == pytest.approx(math.log((low - 0.1) / high))
    assert GAUSSIAN.bound(*counts) == pytest.approx(norm.isf(high) - norm.isf(low))
    assert Measure("delta", epsilon=0.5).bound(*counts) == pytest.approx(low - math.exp(0.5) * high)


def test_an_event_never_seen_under_one_input_gives_a_finite_bound() -> None:
    assert 0.0 < PURE.bound(1_000, 0, 1_000) < math.log(1_000 / 3.6)
    assert math.isfinite(GAUSSIAN.bound(1_000, 0, 1_000))
    assert GAUSSIAN.bound(1_000, 1_000, 1_000) == 0.0
    # Of any epsilon.
    assert Measure("delta", epsilon=1e6).bound(10, 10, 10) == 0.0


def test_p_value_is_the_level_at_which_the_bound_meets_the_claim() -> None:
    bound = partial(GAUSSIAN.bound, 700, 500, 1_000)
    found = p_value(bound, 0.4)
    assert bound(found * 1.001) > 0.4 > bound(found * 0.999)
    assert p_value(bound, 0.6) == pytest.approx(1.0, abs=1e-6)
    assert p_value(bound, math.inf) == 1.0


def test_quantiles_of_log_tails_are_exact() -> None:
    for z in [-3.0, -40.0, -1e4, -3e7]:
        logs = float(log_ndtr(z)), float(log_ndtr(z * 1.5))
        assert Event("", *logs).mu == pytest.approx(-0.5 * z, rel=1e-12)
        assert Event("", *logs[::-1]).mu == pytest.approx(-0.5 * z, rel=1e-12)
        assert Event("", logs[0], logs[0]).mu == 0.0


def test_an_event_shows_what_its_chances_say() -> None:
    event = Event("", math.log(0.3), math.log(0.1), log_shared=math.log(0.5))
    assert (event.direction, event.epsilon) == ("x over x'", pytest.approx(math.log(3.0)))
    assert event.mu == pytest.approx(norm.isf(0.05) - norm.isf(0.15))
    assert event.delta(0.5) == pytest.approx(0.15 - math.exp(0.5) * 0.05)
    assert event.log10_errors == pytest.approx((math.log10(0.05), math.log10(0.85)))
    impossible = Event("", -math.inf, math.log(0.5))
    assert (impossible.epsilon, impossible.delta(1.0)) == (math.inf, 0.5)
    assert Event("", -math.inf, -math.inf).epsilon == 0.0
