"""Best-arm identification in law: blocks of trials against the reference, sums against rewards.

An algorithm of several phases plays its trials in groups, so that only the law of a block, not its
draws, is that of the reference played trial by trial. At most 60 true hypotheses are tested, each
at LINE (Bonferroni), so that correct code fails this file with probability 0.001 at most over the
choice of seeds, which are fixed.
"""

import math
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpbandits.algorithms import IDENTIFICATION
from dpbandits.algorithms.base import Task
from dpbandits.algorithms.best_arm.eliminations import Means, Regression, Step
from dpbandits.bandits import LinearBandit, linear
from dpbandits.bandits.draws import DIGITS_FROM, draw_uniform_sum
from support import task_for

pytestmark = pytest.mark.slow

LINE = 0.001 / 60
TRIALS = 3000

EPSILON = {"dp-bai": 0.2, "dp-bai-gauss": 1.0, "baseline": 1.0, "dp-od": 0.2}
"""Where noise matters and rewards do too."""


@cache
def instance() -> LinearBandit:
    """Fifteen arms in three dimensions: four phases, the first of which pulls three arms.

    The last twelve stand around the first, in the plane of the other two axes.
    """
    angles = 2 * np.pi * np.arange(12) / 12
    crowd = np.column_stack([0.9 + 0 * angles, np.cos(angles), np.sin(angles)])
    features = np.vstack([[1, 0, 0], [0.6, 1, 0], [0.6, 0, 1], crowd])
    return linear(features, [0.5, 0.05, -0.04])


def task_of(name: str, **changes: Any) -> Task:
    parameters = {"epsilon": EPSILON[name]} if name in EPSILON else {}
    return task_for(name, instance(), changes.pop("budget", 300), changes, **parameters)


def counted(recommended: Any) -> NDArray[np.int64]:
    return np.bincount(recommended, minlength=15)


def block(name: str, seed: int, trials: int = TRIALS, **changes: Any) -> NDArray[np.int64]:
    """Count the arms that blocks of 1000 trials return."""
    play, task = IDENTIFICATION[name].play, task_of(name, **changes)
    streams = np.random.SeedSequence(seed).spawn(trials // 1000)
    played = [play(task, np.random.default_rng(each), 1000).recommended for each in streams]
    return counted(np.concatenate(played))


@cache
def references(name: str, seed: int, **changes: Any) -> tuple[int, ...]:
    """Count the arms that the reference returns."""
    play, task = IDENTIFICATION[name].reference, task_of(name, **changes)
    generator = np.random.default_rng(seed)
    return tuple(counted([play(task, generator).recommended for _ in range(TRIALS)]).tolist())


def p_value(one: Any, other: Any) -> float:
    """Return the p value of equal laws; arms that are hardly ever returned are one cell."""
    table = np.array([one, other])
    rare = table.sum(axis=0) < 20
    cells = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return float(stats.chi2_contingency(cells[:, cells.sum(axis=0) > 0]).pvalue)


CHANGES: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in IDENTIFICATION),
    ("dp-bai", {"samples": "pooled"}),
    ("dp-bai", {"schedule": "printed", "ties": "random"}),
    ("dp-od", {"basis": "features", "norm_over": "reduced"}),
]


@pytest.mark.parametrize("case", CHANGES)
def test_blocks_have_the_law_of_the_reference(case: tuple[str, dict[str, str]]) -> None:
    name, changes = case
    expected = references(name, 1, **changes)
    assert sum(count > 50 for count in expected) >= 3, "several arms to tell laws apart by"
    assert p_value(block(name, 2, **changes), expected) > LINE


def test_null_control() -> None:
    for name in IDENTIFICATION:
        assert p_value(block(name, 3), block(name, 4)) > LINE


@pytest.mark.parametrize("name", ["dp-bai", "dp-bai-gauss", "baseline", "dp-od"])
def test_wrong_noise_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Noise 1.5 times as large; the unchanged blocks of the same seed are above the line.
    for rules in (Means, Regression):

        def louder(self: Any, phase: int, active: Any, right: Any = rules.step) -> Step:
            step: Step = right(self, phase, active)
            return step._replace(scale=1.5 * step.scale)

        monkeypatch.setattr(rules, "step", louder)
    assert p_value(block(name, 2), references(name, 1)) < LINE


def test_wrong_number_of_pulls_is_caught() -> None:
    for name in IDENTIFICATION:
        assert p_value(block(name, 2, budget=150), references(name, 1)) < LINE


SUMS = 150_000
"""Enough for a spread 5 % off: the laws are then 0.012 apart, and LINE is at 0.0062."""


@numba.njit
def _sums(count, generator, sums):  # type: ignore[no-untyped-def]
    for i in range(sums.size):
        sums[i] = draw_uniform_sum(count, generator)


@pytest.mark.parametrize("count", [DIGITS_FROM, 1500])
def test_sums_by_digits_have_the_law_of_single_draws(count: int) -> None:
    # Mean count/2 and variance count/12; the law of so many is within 1e-4 of a normal one.
    law, sums = stats.norm(count / 2, math.sqrt(count / 12)), np.empty(SUMS)
    _sums(count, np.random.default_rng(1), sums)
    for each in (sums, law.rvs(SUMS, random_state=np.random.default_rng(2))):
        assert stats.kstest(each, law.cdf).pvalue > LINE
    z = (sums.mean() - law.mean()) / (law.std() / math.sqrt(SUMS))
    assert 2 * stats.norm.sf(abs(z)) > LINE
    ratio = sums.var(ddof=1) / law.var() * (SUMS - 1)
    assert 2 * min(stats.chi2.sf(ratio, SUMS - 1), stats.chi2.cdf(ratio, SUMS - 1)) > LINE
    for wrong in (sums.mean() + 1.05 * (sums - sums.mean()), 1.05 * sums):
        assert stats.kstest(wrong, law.cdf).pvalue < LINE
