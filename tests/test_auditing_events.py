"""Confidence bounds of the audit: never above the truth more often than stated.

Each calibration uses 1,000 fixed seeds. A bound may be wrong in 5 % of them; the line is the 99.9 %
quantile of a binomial with that chance, so that a correct bound crosses it with probability 0.001.
"""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import binom, norm

from dpbandits.auditing.events import Event, Measure, clopper_pearson, p_value
from dpbandits.errors import InputError

SEEDS = 1_000
LEVEL = 0.05
MOST_ERRORS = int(binom.ppf(0.999, SEEDS, LEVEL))

EPSILON, MU = Measure("epsilon"), Measure("mu")


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


def test_bounds_are_those_of_their_definitions() -> None:
    low, high = clopper_pearson(800, 1_000, 0.05)[0], clopper_pearson(300, 1_000, 0.05)[1]
    counts = (800, 300, 1_000)
    assert EPSILON.bound(*counts) == pytest.approx(math.log(low / high))
    assert Measure("epsilon", 0.1).bound(*counts) == pytest.approx(math.log((low - 0.1) / high))
    assert MU.bound(*counts) == pytest.approx(norm.isf(high) - norm.isf(low))
    assert Measure("delta", epsilon=0.5).bound(*counts) == pytest.approx(low - math.exp(0.5) * high)


def test_an_event_never_seen_under_one_input_gives_a_finite_bound() -> None:
    assert 0.0 < EPSILON.bound(1_000, 0, 1_000) < math.log(1_000 / 3.6)
    assert math.isfinite(MU.bound(1_000, 0, 1_000))
    assert MU.bound(1_000, 1_000, 1_000) == 0.0


def test_delta_bound_survives_any_epsilon() -> None:
    assert Measure("delta", epsilon=1e6).bound(10, 10, 10) == 0.0


def test_p_value_is_the_level_at_which_the_bound_meets_the_claim() -> None:
    def bound(level: float) -> float:
        return MU.bound(700, 500, 1_000, level)

    found = p_value(bound, 0.4)
    assert bound(found * 1.001) > 0.4 > bound(found * 0.999)
    assert p_value(bound, 0.6) == pytest.approx(1.0, abs=1e-6)
    assert p_value(bound, math.inf) == 1.0


def test_wrong_input_is_said_in_one_line() -> None:
    for call, said in [
        (lambda: clopper_pearson(11, 10, 0.05), "hits is 11 of 10 runs"),
        (lambda: clopper_pearson(0, 0, 0.05), "hits is 0 of 0 runs"),
        (lambda: clopper_pearson(1, 10, 0.0), "level is 0.0"),
        (lambda: Measure("epsilon", delta=1.1), "delta is 1.1"),
        (lambda: Measure("delta", epsilon=-1.0), "epsilon -1.0"),
        (lambda: Measure("eta"), "measure is 'eta'"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(InputError, match=said):
            call()


def test_quantiles_of_log_tails_are_exact() -> None:
    for z in [-3.0, -40.0, -1e4, -3e7]:
        likely, unlikely = float(log_ndtr(z)), float(log_ndtr(z * 1.5))
        for logs in ((likely, unlikely), (unlikely, likely)):
            assert Event("", *logs).mu == pytest.approx(-0.5 * z, rel=1e-12)
        assert Event("", likely, likely).mu == 0.0


def test_an_event_shows_what_its_chances_say() -> None:
    event = Event("", math.log(0.3), math.log(0.1), log_shared=math.log(0.5))
    assert (event.direction, event.epsilon) == ("x over x'", pytest.approx(math.log(3.0)))
    assert event.mu == pytest.approx(norm.isf(0.05) - norm.isf(0.15))
    assert event.delta(0.5) == pytest.approx(0.15 - math.exp(0.5) * 0.05)
    assert event.log10_errors == pytest.approx((math.log10(0.05), math.log10(0.85)))
    impossible = Event("", -math.inf, math.log(0.5))
    assert (impossible.epsilon, impossible.delta(1.0)) == (math.inf, 0.5)
    assert Event("", -math.inf, -math.inf).epsilon == 0.0
