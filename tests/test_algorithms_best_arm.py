"""The six algorithms for best-arm identification: fast code, reference, cases and noise by hand."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.algorithms import IDENTIFICATION
from dpbandits.algorithms.base import Task
from dpbandits.algorithms.best_arm.eliminations import noise_multiplier
from dpbandits.bandits import LinearBandit, linear
from dpbandits.bandits.draws import laplace
from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.instances import section5, sphere, standard_basis, two_armed
from dpbandits.privacy.gaussian import delta as gdp_delta
from support import (
    PRIVATE,
    assert_agreement,
    linear_bandits,
    message_of,
    mostly_slow,
    parameters_of,
    play_trials,
    single_interpretations,
    task_for,
)

NAMES = list(IDENTIFICATION)
epsilons = st.sampled_from([0.01, 0.3, 2.0, math.inf])


def is_refused(name: str, task: Task) -> bool:
    """Tell whether the budget is too small; if so, fast code and reference say the same."""
    algorithm, generator = IDENTIFICATION[name], np.random.default_rng(1)
    try:
        algorithm.require(task)
    except InputError as refusal:
        line = str(refusal)
    else:
        return False
    assert message_of(lambda: algorithm.play(task, generator, 1)) == line
    assert message_of(lambda: algorithm.reference(task, generator)) == line
    return True


@pytest.mark.parametrize("name", mostly_slow(NAMES, "dp-bai"))
def test_fast_code_and_reference_agree(name: str) -> None:
    for interpretations in single_interpretations(IDENTIFICATION[name]):

        @settings(max_examples=30)
        @given(linear_bandits(), st.integers(1, 400), epsilons, st.integers(0, 2**63))
        def check(bandit: LinearBandit, budget: int, epsilon: float, seed: int) -> None:
            task = task_for(name, bandit, budget, interpretations, **parameters_of(name, epsilon))
            if is_refused(name, task):
                return
            first = assert_agreement(name, task, seed)
            if len(first.phases) == 1:
                assert_agreement(name, task, seed, trials=4)
            total = first.pulls(len(bandit.arms)).sum()
            if not first.phases:
                assert interpretations == {"small_budget": "random"}
                assert total == 0
            elif interpretations.get("design_rounding") == "efficient":
                assert total == budget
            elif interpretations.get("rounding") == "fitted" or name in ("od-linbai", "dp-od"):
                assert total <= budget, "BAI-E3; for OD-LinBAI Yang and Tan (2022)"
            # T' > 0 but tiny: every pulled arm is pulled at least once (not in the paper).
            assert all((phase.pulls >= 1).all() for phase in first.phases)

        check()


# Runs on which every constant and operator of the eliminations decides something.

GRID = 0.25 * np.mgrid[:3, :3, :1].T.reshape(9, 3)
TWINS = [[0.9, 0.4, 0.3], [0.9, 0.4, 0.3], [0.95, 0.4, 0.3]]
CROWD = linear(np.vstack([np.eye(3), TWINS, GRID]), [0.5, 0.3, 0.3], "bernoulli")
"""15 arms in three dimensions, two of them twins, one of no length: four phases, two rounds."""

FLAT = linear(
    [[1, 1, 0], [2, 2, 0], [0.5, 0.5, 0.0], [1.5, 1.5, 0.1], [0, 0, 0.2]], [0.2, 0.2, 0.5]
)
AXES = linear(1.1 * np.eye(5) - 0.1, [0.7, 0.6, 0.6, 0.6, 0.55])
WIDE = linear(np.eye(16), [0.5, *[0.3] * 15])
"""Four rounds."""
REACHING = linear([[1.0, 0.0], [0.3, 0.4], [0.0, 3.0]], [0.9, 0.2])
LONG = linear(np.diag([0.1, 0.1, 0.1, 0.5]), [6.0, 5.0, 5.0, 0.02])
"""The longest feature belongs to the worst arm, and none is as long as 1."""
SQUARE = linear([[1, 0], [0, 1], [0.5, 0.5], [0.9, 0.2]], [0.5, 0.3])
"""Rank 2, the root of K = 4: one phase, T' = T - 2 (BAI-E3)."""

PAPERS_OWN = (section5(), standard_basis())
EMPTY = linear(np.vstack([np.diag([1, 0.01, 0.01, 0.01]), np.zeros((8, 4))]), [0.5, 0.1, 0.1, 0.1])


SCENARIOS = [
    *((CROWD, 200, 1.0, seed) for seed in range(3)),
    (CROWD, 60, 1.0, 1),
    (CROWD, 100, math.inf, 1),
    (FLAT, 20, 1.0, 1),
    (FLAT, 60, 1.0, 1),
    (REACHING, 33, 1.0, 1),
    (AXES, 25, 1.0, 1),
    (AXES, 64, 1.0, 1),
    (AXES, 70, math.inf, 1),
    (WIDE, 200, 1.0, 1),
    (LONG, 90, 50.0, 1),
    (sphere(), 300, 1.0, 1),
    # A seed with which two arms without features are left.
    (EMPTY, 100, 0.01, 13),
    *((bandit, 300, epsilon, 1) for bandit in PAPERS_OWN for epsilon in (1e-100, 1e100)),
]
"""Instance, budget, epsilon and seed."""


@pytest.mark.parametrize("name", mostly_slow(NAMES, "dp-bai"))
def test_scenarios_agree(name: str) -> None:
    for interpretations in single_interpretations(IDENTIFICATION[name]):
        for bandit, budget, epsilon, seed in SCENARIOS:
            task = task_for(name, bandit, budget, interpretations, **parameters_of(name, epsilon))
            if not is_refused(name, task):
                assert_agreement(name, task, seed)


def test_dp_bai_is_od_linbai_without_noise() -> None:
    # Section 5, C3: of 30 arms, with even T, the same two, (T - 2)/2 pulls each, and the same
    # decision on the same rewards; with odd T DP-BAI has one pull an arm more.
    for budget, shift in ((100, 0), (1000, 0), (101, 1)):
        tasks = [
            task_for("dp-bai", section5(), budget, epsilon=math.inf),
            task_for("od-linbai", section5(), budget),
        ]
        one, other = (
            IDENTIFICATION[name].play(task, np.random.default_rng(1), 300)
            for name, task in zip(("dp-bai", "od-linbai"), tasks, strict=True)
        )
        assert set(one.pulls[:, [0, 2]].ravel()) == {math.ceil((budget - 2) / 2)}
        assert (one.pulls[:, [0, 2]] == other.pulls[:, [0, 2]] + shift).all()
        assert one.pulls.sum() == one.pulls[:, [0, 2]].sum()
        if not shift:
            assert np.array_equal(one.recommended, other.recommended)
            assert len(set(one.recommended)) > 1 or budget == 1000


def test_dp_bai_does_not_see_the_ratio() -> None:
    # C7, Appendix E.2: both arms are pulled equally often and features are irrelevant.
    def played(name: str, ratio: float) -> list[int]:
        task = task_for(name, two_armed(ratio), 300, epsilon=0.1)
        return IDENTIFICATION[name].play(task, np.random.default_rng(1), 2000).recommended.tolist()

    for name in ("dp-bai", "dp-bai-gauss", "baseline"):
        plain = played(name, 1.0)
        assert 0.55 < np.mean(np.equal(plain, 0)) < 0.95, "neither chance nor ceiling"
        assert all(played(name, ratio) == plain for ratio in (1.5, 2.0, 7.0, 100.0))
    assert played("dp-od", 2.0) != played("dp-od", 1.0), "the comparison can tell"
    # dp-bai, Appendix E.2: at ratio 1 DP-OD is DP-BAI, here even draw for draw.
    assert played("dp-od", 1.0) == played("dp-bai", 1.0)


def test_smallest_budget() -> None:
    for name, interpretations, bandit, smallest in [
        # T' = T - 2 (dp-bai, Section 5) and T - 48 (3.4); m = T - 3 (3.2) and (T - 26)/3 (2.6).
        ("dp-bai", {}, section5(), 3),
        ("dp-bai-gauss", {}, section5(), 3),
        ("baseline", {"rounding": "fitted"}, section5(), 31),
        ("baseline", {"sizes": "halving"}, section5(), 6),
        ("dp-bai", {}, sphere(), 49),
        ("dp-bai", {"rounding": "fitted"}, SQUARE, 5),
        ("od-linbai", {}, section5(), 4),
        ("dp-od", {}, sphere(), 27),
        ("od-linbai", {"design_rounding": "efficient"}, sphere(), 63),
        ("sequential-halving", {}, section5(), 1),
        # Section 3.1: K = 15 and d = 3 set 2 x 3 + 2 x 3 pulls aside; BAI-E3: the phases of the
        # Baseline pull 15 + 4 + 3 + 2 arms. Yang and Tan (2022): m = (T - 6 - 2)/2; T/2 >= 6.
        ("dp-bai", {}, CROWD, 13),
        ("baseline", {"rounding": "fitted"}, CROWD, 25),
        ("od-linbai", {}, CROWD, 9),
        ("od-linbai", {"design_rounding": "efficient"}, CROWD, 12),
    ]:
        arms, dimension = bandit.feature_matrix.shape
        assert_agreement(name, task_for(name, bandit, smallest, interpretations), 1)
        allowed = f"allowed: at least {smallest} for K={arms}, d={dimension}"
        line = f"{name}: budget is {smallest - 1}; {allowed}"
        task = task_for(name, bandit, smallest - 1, interpretations)
        assert message_of(lambda: IDENTIFICATION[name].require(task)) == line
        assert message_of(lambda: play_trials(name, task)) == line
        # Not in the paper: by request a uniform random arm with no pulls; chi-square at 0.001, seed
        # fixed.
        random = task_for(name, bandit, smallest - 1, {**interpretations, "small_budget": "random"})
        outcome = play_trials(name, random, trials=20 * arms)
        assert not outcome.pulls.any()
        assert outcome.first.phases == ()
        counts = np.bincount(outcome.recommended, minlength=arms)
        assert stats.chisquare(counts).pvalue > 0.001
        assert_agreement(name, random, 3, trials=5)


def test_ties() -> None:
    # Rewards that are 0 but once in a billion: all estimates are equal. Chi-square at 0.001.
    for name in NAMES:
        bandit = linear(np.diag([1.0, 1.0, 1.0, 2.0]), [2e-10] * 4, "bernoulli")
        parameters = parameters_of(name, math.inf)
        assert set(
            play_trials(name, task_for(name, bandit, 200, **parameters), 1, 50).recommended
        ) == {0}
        task = task_for(name, bandit, 200, {"ties": "random"}, **parameters)
        counts = np.bincount(play_trials(name, task, 1, 4000).recommended, minlength=4)
        assert stats.chisquare(counts).pvalue > 0.001


# Noise


def noise_of(name: str, interpretations: dict[str, str], bandit: LinearBandit) -> Any:
    """Return the noise on the estimates of a trial of one phase, whose rewards come first."""
    tasks = [
        task_for(name, bandit, 500, interpretations, epsilon=epsilon)
        for epsilon in (0.25, math.inf)
    ]
    noisy, silent = (play_trials(name, task).first.phases[0].estimates for task in tasks)
    return noisy - silent


def test_sensitivity_to_the_support() -> None:
    # BAI-E7: rewards of the two arms reach 1.1.
    for name in PRIVATE:
        for bandit, largest in ((two_armed(2.0), 1.1), (section5(), 1.0)):
            unit = noise_of(name, {}, bandit)
            support = noise_of(name, {"sensitivity": "support"}, bandit)
            assert np.allclose(support, largest * unit, rtol=1e-12)


def test_scale_of_laplace_noise() -> None:
    # Algorithm 1: Lap(1/(eps n)) on the means of arms 1 and 3; 2.7 and 3.2: L = 10 on their sums.
    bandit, epsilon, n, generator = section5(), 0.25, 249, np.random.default_rng(1)
    # What a phase takes from the stream: reward sums, then noise.
    sums = [bandit.draw_sum(arm, n, generator) for arm in (0, 2)]
    noise = [laplace(1.0, generator) for _ in range(2)]
    [phase] = play_trials("dp-bai", task_for("dp-bai", bandit, 500, epsilon=epsilon)).first.phases
    for place, arm in enumerate((0, 2)):
        expected = sums[place] / n + noise[place] / (epsilon * n)
        assert phase.estimates[arm] == pytest.approx(expected, rel=1e-12)
    [phase] = play_trials("dp-od", task_for("dp-od", bandit, 500, epsilon=epsilon)).first.phases
    # Coordinates: the first one belongs to arm 3 = (10, 0), the second one to arm 1 = (0, 1).
    first, second = (10 / epsilon * draw for draw in noise)
    assert phase.estimates[0] == pytest.approx((sums[0] + second) / n, rel=1e-12)
    assert phase.estimates[2] == pytest.approx((10 * sums[1] + first) / (10 * n), rel=1e-12)


def test_scale_of_gaussian_noise() -> None:
    # dp-bai, Algorithm 2: sqrt(2 log(1.25/delta))/(eps n), at delta = 0.01 and eps = 0.5.
    classical = noise_multiplier(0.5, 0.01)
    assert classical == pytest.approx(math.sqrt(2 * math.log(125)) / 0.5, rel=1e-14)
    # BAI-E9: the smallest standard deviation that is (epsilon, delta)-private.
    for epsilon, probability in ((0.1, 1e-5), (0.5, 0.01), (5.0, 0.3)):
        analytic = noise_multiplier(epsilon, probability, "analytic")
        assert gdp_delta(epsilon, 1 / analytic) == pytest.approx(probability, rel=1e-9)
    bandit, generator = section5(), np.random.default_rng(1)
    task = task_for("dp-bai-gauss", bandit, 500, epsilon=0.5, delta=0.01)
    sums = [bandit.draw_sum(arm, 249, generator) for arm in (0, 2)]
    [phase] = play_trials("dp-bai-gauss", task).first.phases
    for arm, total in zip((0, 2), sums, strict=True):
        expected = (total + classical * generator.standard_normal()) / 249
        assert phase.estimates[arm] == pytest.approx(expected, rel=1e-12)
