"""`dpbandits.audit_mechanism`: planted mistakes are caught, what is private is not."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.auditing.functions import MechanismAudit
from dpbandits.errors import InputError

Rng = np.random.Generator


def laplace(scale: float) -> Any:
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
        (laplace(1.0), 0.0, 1.0, False),
        (laplace(0.8), 0.0, 1.0, True),
        (noisy_max(2.0), EVEN, ODD, False),
        (noisy_max(1.0), EVEN, ODD, True),
        (two_sums, (0.0, 0.0), (1.0, 1.0), True),
        (two_sums, (0.0, 0.0), (0.0, 1.0), False),
    ],
    ids=["laplace", "less noise", "noisy max", "half the noise", "composed", "one of two"],
)
def test_what_claims_one_is_caught_where_it_is_more(
    sample: Any, x: Any, other: Any, caught: bool
) -> None:
    audit = found(sample, x, other)
    assert (audit.verdict == "fails") is caught
    assert (audit.p_value <= 0.05) is caught
    assert 0.7 < audit.lower < audit.ceiling


def test_the_bound_is_wrong_as_rarely_as_its_level_says() -> None:
    """At level 0.2 of 100 audits of a mechanism that loses exactly its claim: P(> 32) < 0.002."""
    wrong = [found(laplace(1.0), 0.0, 1.0, runs=400, level=0.2, seed=s).lower for s in range(100)]
    assert sum(lower > 1.0 for lower in wrong) <= 32
    same = [found(laplace(1.0), 0.0, 0.0, runs=400, level=0.2, seed=s).lower for s in range(50)]
    assert sum(lower > 0.0 for lower in same) <= 19


def test_delta_is_taken_off() -> None:
    """(0, delta)-DP: the input is shown as it is with the chance delta."""

    def leak(value: int, rng: Rng, n: int) -> Any:
        return np.where(rng.random(n) < 0.1, value, 0)

    assert found(leak, 0, 1, claim=0.1).verdict == "fails"
    assert found(leak, 0, 1, claim=0.1, delta=0.1).verdict == "not contradicted"
    assert found(leak, 0, 1, claim=0.1, delta=0.08).verdict == "fails"


def test_the_words_of_the_event_say_which_outputs() -> None:
    composed = found(two_sums, (0.0, 0.0), (1.0, 1.0), names=["first", "second"])
    assert composed.event.startswith("score ")
    assert " first" in composed.event
    chosen = found(noisy_max(1.0), EVEN, ODD)
    assert chosen.event.startswith("output 1: ")
    assert str(chosen).splitlines()[1].startswith(f"event, more likely under {chosen.more_likely}")


def test_threads_and_seeds() -> None:
    alone = found(two_sums, (0.0, 0.0), (1.0, 1.0))
    assert found(two_sums, (0.0, 0.0), (1.0, 1.0), workers=2) == alone
    assert found(two_sums, (0.0, 0.0), (1.0, 1.0), seed=1) != alone


def fails(value: Any, rng: Rng, n: int) -> Any:
    raise ValueError("no such thing")


@pytest.mark.parametrize(
    ("sample", "more", "line"),
    [
        (fails, {}, "audit_mechanism: sample raises ValueError: no such thing"),
        (lambda v, rng, n: ["a"] * n, {}, "of shape .*; allowed: numbers of shape"),
        (lambda v, rng, n: np.zeros(3), {}, r"float64 of shape \(3,\) for n = 32768; allowed: "),
        (lambda v, rng, n: np.full(n, math.nan), {}, "allowed: numbers of shape"),
        (laplace(1.0), {"claim": -1.0}, "audit_mechanism: claim is -1.0; allowed: 0 to inf"),
        (laplace(1.0), {"delta": 2}, "audit_mechanism: delta is 2; allowed: 0 to 1"),
        (laplace(1.0), {"runs": 2}, "runs is 2; allowed: 8 to"),
        (laplace(1.0), {"names": ["a", "b"]}, "names are .*; allowed: 1, one a column"),
        (3, {}, "audit_mechanism: sample is 3; allowed: a function"),
    ],
)
def test_bad_input_is_one_line(sample: Any, more: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        found(sample, 0.0, 1.0, **more)
