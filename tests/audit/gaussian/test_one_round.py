"""One decision: Lemma 3 and Theorems 6 and 7 of ts-is-dp."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from audit.agreement import sequence_chances
from dpbandits.auditing.inputs import constant
from dpbandits.auditing.thompson import OTHER_PULLS, PULLS, score_shift, ts_gaussian, worst_decision


def test_the_first_decision_says_nothing() -> None:
    assert score_shift(0, 5) == 0.0
    tables = constant(0.0, 1.0).tables(1)
    assert sequence_chances(ts_gaussian(1), tables[0]) == sequence_chances(
        ts_gaussian(1), tables[1]
    )


@pytest.mark.parametrize("pulls", PULLS)
def test_lemma_3_is_attained_in_the_limit(pulls: int) -> None:
    levels = [score_shift(pulls, others) for others in (1, 10, 1_000, 10**9)]
    assert levels == sorted(levels)
    assert levels[-1] < 1.0 / math.sqrt(pulls + 1)
    assert levels[-1] == pytest.approx(1.0 / math.sqrt(pulls + 1), rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.3])
def test_the_worst_decision_is_that_of_a_search_over_rewards(epsilon: float) -> None:
    needed = 0.0
    for pulls, others in itertools.product(PULLS, OTHER_PULLS):
        deviation = math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))
        # Sums of rewards of both arms; one reward of the first arm is 0 in x and 1 in x'.
        first = np.linspace(0.0, pulls - 1.0, 301)[:, None]
        second = np.linspace(0.0, others, 301)[None, :]
        before = (first / (pulls + 1) - second / (others + 1)) / deviation
        after = ((first + 1.0) / (pulls + 1) - second / (others + 1)) / deviation
        for likely, unlikely in ((after, before), (-before, -after)):
            excess = norm.cdf(likely) - math.exp(epsilon) * norm.cdf(unlikely)
            needed = max(needed, float(excess.max()))
    found = worst_decision(epsilon)
    assert found.delta(epsilon) == pytest.approx(needed, abs=1e-5)
    assert found.delta(epsilon) >= needed - 1e-12
