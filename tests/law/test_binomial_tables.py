"""Sums of rewards from alias tables: the law that a table has, and what is drawn from it.

What a table says is compared with the binomial value by value, and with all sequences of a few
rewards; what is drawn by chi-square and Kolmogorov-Smirnov tests. At most 40 true hypotheses are
tested, each at LINE (Bonferroni), so that correct code fails this file with probability 0.001 at
most over the choice of seeds, which are fixed.
"""

import math
from collections import Counter
from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpbandits.bandits.draws import (
    BERNOULLI,
    FOURTH_ROOT,
    LARGEST_TABLED,
    TABLES_FROM,
    TWO_POINT,
    UNIFORM,
    SumTables,
    binomial_table,
    draw_tabled_sum,
    sum_tables,
)

LINE = 0.001 / 40
DRAWS = 300_000
"""A chance or a spread 5 % off moves the distribution function by 0.01; 0.004 is significant."""


def chances(count: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the smallest value of a table and the probability that it gives every value."""
    first, thresholds, aliases = binomial_table(count, chance)
    assert ((thresholds >= 0.0) & (thresholds <= 1.0)).all()
    given = np.bincount(aliases, weights=1.0 - thresholds, minlength=thresholds.size)
    return first, (thresholds + given) / thresholds.size


@pytest.mark.parametrize(
    ("count", "chance"),
    [
        *((1, 0.5), (32, 0.3), (100, 0.5), (1000, 0.97), (5000, 1e-6), (20_000, 0.05)),
        *((40, 1 - 1e-16), (300, 1e-300)),
        pytest.param(LARGEST_TABLED, 0.999, marks=pytest.mark.slow),
    ],
)
def test_a_table_has_the_law_of_the_binomial(count: int, chance: float) -> None:
    law = stats.binom(count, chance)
    first, found = chances(count, chance)
    last = first + found.size - 1
    assert 0 <= first <= last <= count
    expected = law.pmf(np.arange(first, last + 1))
    # The tables of scipy err by 1e-10 where counts are large; thresholds are rounded to 1e-16.
    assert found == pytest.approx(expected, rel=1e-9, abs=3e-16 / found.size)
    assert law.cdf(first - 1) + law.sf(last) < 1e-17
    assert math.fsum(found) == pytest.approx(1.0, abs=1e-12)


def test_a_table_has_the_law_of_all_sequences() -> None:
    for count, chance in ((5, 0.3), (8, 0.5), (9, 0.95)):
        law: Counter[int] = Counter()
        for rewards in product((0, 1), repeat=count):
            law[sum(rewards)] += math.prod(chance if each else 1 - chance for each in rewards)
        first, found = chances(count, chance)
        assert first == 0
        assert found == pytest.approx([law[k] for k in range(count + 1)], abs=1e-15)


@numba.njit
def _drawn(sums, arm, generator, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = draw_tabled_sum(sums, arm, generator)


def drawn(sums: SumTables, arm: int) -> NDArray[np.float64]:
    out = np.empty(DRAWS)
    _drawn(sums, arm, np.random.default_rng(arm), out)
    return out


LAWS = np.array([BERNOULLI, BERNOULLI, UNIFORM, UNIFORM])
PARAMETERS = np.array([0.3, 0.9, 1.0, 1.2])
COUNTS = np.array([100, 32, 600, 128])


def tables(**changes: Any) -> SumTables:
    told: dict[str, Any] = {"laws": LAWS, "parameters": PARAMETERS, "counts": COUNTS, "trials": 8}
    return sum_tables(**{**told, **changes})


def fit(values: NDArray[np.float64], law: Any) -> float:
    """Return the p-value of whole numbers, those with less than 20 expected in the ends."""
    edges = np.arange(law.ppf(20 / DRAWS), law.isf(20 / DRAWS))
    observed = np.bincount(np.searchsorted(edges, values), minlength=edges.size + 1)
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * values.size
    return float(stats.chisquare(observed, expected).pvalue)


def test_draws_of_binomials() -> None:
    sums = tables()
    for arm in (0, 1):
        count, chance, found = int(COUNTS[arm]), PARAMETERS[arm], drawn(sums, arm)
        law = stats.binom(count, chance)
        assert fit(found, law) > LINE
        assert fit(law.rvs(DRAWS, random_state=np.random.default_rng(1)), law) > LINE
        assert fit(found, stats.binom(count, 0.95 * chance)) < LINE
        assert fit(found + 1, law) < LINE
    later = sums._replace(firsts=sums.firsts + 1)
    assert fit(drawn(later, 0), stats.binom(100, 0.3)) < LINE


@pytest.mark.slow
def test_draws_of_uniform_sums() -> None:
    sums, generator = tables(), np.random.default_rng(5)
    for arm in (2, 3):
        count, high = int(COUNTS[arm]), PARAMETERS[arm]
        plain = high * np.array([generator.random((1000, count)).sum(axis=1) for _ in range(100)])
        control = high * np.array([generator.random((1000, count)).sum(axis=1) for _ in range(100)])
        found = drawn(sums, arm)
        for values in (found, control.ravel()):
            assert stats.ks_2samp(values, plain.ravel()).pvalue > LINE
        spread = found.mean() + 1.05 * (found - found.mean())
        assert stats.ks_2samp(spread, plain.ravel()).pvalue < LINE
        fewer = drawn(tables(counts=COUNTS * 29 // 30 + 7), arm)
        assert stats.ks_2samp(fewer, plain.ravel()).pvalue < LINE


def test_which_sums_have_a_table() -> None:
    # One table of equal binomials, and the largest reward of each uniform arm.
    sums = tables(counts=np.full(4, 200), parameters=np.array([0.5, 0.2, 0.7, 1.2]))
    assert sums.binomials.tolist() == [1, 1, 53, 53]
    assert sums.tables.tolist() == [0, 1, 0, 0]
    assert sums.scales.tolist() == [1.0, 1.0, 0.7, 1.2]
    assert sums.starts[-1] == sums.thresholds.size == sums.aliases.size
    # Few rewards or trials, too many rewards, certain rewards and other laws are drawn plainly.
    assert not tables(trials=TABLES_FROM - 1).binomials.any()
    assert tables(counts=np.array([31, 32, 127, 128])).binomials.tolist() == [0, 1, 0, 53]
    assert not tables(counts=np.full(4, LARGEST_TABLED + 1)).binomials.any()
    assert not tables(parameters=np.array([0.0, 1.0, 1.0, 1.0])).binomials[:2].any()
    assert not tables(laws=np.array([FOURTH_ROOT, TWO_POINT] * 2)).binomials.any()
