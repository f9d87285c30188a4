"""Noise of the private algorithms for best-arm identification: scales, parameters, guarantees."""

import math
from typing import Any

import numpy as np
import pytest

from best_arm_trials import PRIVATE, assert_agreement, parameters_of, run, task_for
from dpbandits.algorithms import IDENTIFICATION
from dpbandits.algorithms.dp_bai_gauss import noise_multiplier
from dpbandits.bandits import LinearBandit, linear
from dpbandits.bandits.draws import laplace
from dpbandits.papers.dp_bai.instances import section5, standard_basis, two_armed
from dpbandits.privacy.gaussian import delta as gdp_delta
from support import message_of


def scaled_noise(name: str, interpretations: dict[str, str], bandit: LinearBandit) -> Any:
    """Return the noise on the estimates of a trial of one phase, whose rewards come first."""
    with_noise = run(name, task_for(name, bandit, 500, interpretations, epsilon=0.25)).first.phases[
        0
    ]
    without = run(name, task_for(name, bandit, 500, epsilon=math.inf)).first.phases[0]
    return with_noise.estimates - without.estimates


@pytest.mark.parametrize("name", PRIVATE)
def test_sensitivity_to_the_support(name: str) -> None:
    # BAI-E7: rewards of I-B reach 1.1.
    unit = scaled_noise(name, {}, two_armed(2.0))
    support = scaled_noise(name, {"sensitivity": "support"}, two_armed(2.0))
    assert np.allclose(support, 1.1 * unit, rtol=1e-12)
    assert np.array_equal(
        scaled_noise(name, {}, section5()),
        scaled_noise(name, {"sensitivity": "support"}, section5()),
    ), "I-A stays in the unit interval"


def draws(bandit: LinearBandit, arms: tuple[int, ...], pulls: int, noises: int) -> Any:
    """Draw what a phase takes from the stream: reward sums, then standard Laplace noise."""
    generator = np.random.default_rng(1)
    sums = [bandit.draw_sum(arm, pulls, generator) for arm in arms]
    return sums, [laplace.py_func(1.0, generator) for _ in range(noises)]


def test_scale_of_laplace_noise() -> None:
    # Algorithm 1: Lap(1/(eps n)) on the means of arms 1 and 3; 2.7 and 3.2: L = 10 on their sums.
    bandit, epsilon, n = section5(), 0.25, 249
    sums, noise = draws(bandit, (0, 2), n, 2)
    [phase] = run("dp-bai", task_for("dp-bai", bandit, 500, epsilon=epsilon)).first.phases
    for place, arm in enumerate((0, 2)):
        expected = sums[place] / n + noise[place] / (epsilon * n)
        assert phase.estimates[arm] == pytest.approx(expected, rel=1e-12)
    [phase] = run("dp-od", task_for("dp-od", bandit, 500, epsilon=epsilon)).first.phases
    # Coordinates: the first one belongs to arm 3 = (10, 0), the second one to arm 1 = (0, 1).
    first, second = (10 / epsilon * each for each in noise)
    assert phase.estimates[0] == pytest.approx((sums[0] + second) / n, rel=1e-12)
    assert phase.estimates[2] == pytest.approx((10 * sums[1] + first) / (10 * n), rel=1e-12)


@pytest.mark.parametrize(("norm", "length"), [("l2", 5.0), ("l1", 7.0)])
def test_norms_of_dp_od(norm: str, length: float) -> None:
    # BAI-E8: the longest feature is (3, 4). Three arms in the plane, hence one round.
    bandit = linear([[3, 4], [1, 0], [0, 2]], [0.05, 0.1])
    l2 = scaled_noise("dp-od", {"norm": "l2"}, bandit)
    assert np.allclose(scaled_noise("dp-od", {"norm": norm}, bandit), length / 5 * l2, rtol=1e-9)


def test_norm_over_active_arms_and_reduced_coordinates() -> None:
    # Four orthogonal arms along (2, 2, 0, 0), ...: two rounds, and in the second one two arms are
    # left whose reduced coordinates, (length, 0) and (0, length), have equal norms l1 and l2.
    axes = np.array([[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, 1], [0, 0, 1, -1]])
    bandit = linear(axes * [[9], [2], [2], [2]], np.full(4, 0.05))
    for seed in range(200):
        found = {}
        for over in ("all", "active", "reduced"):
            interpretations = {"norm": "l1", "norm_over": over}
            task = task_for("dp-od", bandit, 400, interpretations, epsilon=1e-3)
            found[over] = assert_agreement("dp-od", task, seed)
        if found["all"].phases[1].active.tolist() != [2, 3]:
            continue
        # Nearly all of it is noise: L is 18, 4 and 2 sqrt 2.
        sizes = [found[over].phases[1].estimates for over in ("all", "active")]
        assert np.allclose(sizes[0] / sizes[1], 18 / 4, rtol=1e-2)
        return
    pytest.fail("no trial kept the last two arms")


def test_scale_of_gaussian_noise() -> None:
    # dp-bai, Algorithm 2: sqrt(2 log(1.25/delta))/(eps n); at delta = 0.01 and eps = 0.5: 6.2150...
    classical = noise_multiplier(0.5, 0.01)
    assert classical == pytest.approx(math.sqrt(2 * math.log(125)) / 0.5, rel=1e-14)
    # BAI-E9: the smallest standard deviation that is (epsilon, delta)-private.
    for epsilon, probability in ((0.1, 1e-5), (0.5, 0.01), (5.0, 0.3)):
        analytic = noise_multiplier(epsilon, probability, "analytic")
        assert gdp_delta(epsilon, 1 / analytic) == pytest.approx(probability, rel=1e-9)
    assert noise_multiplier(0.5, 0.01, "analytic") < classical
    bandit, generator = section5(), np.random.default_rng(1)
    task = task_for("dp-bai-gauss", bandit, 500, epsilon=0.5, delta=0.01)
    sums = [bandit.draw_sum(arm, 249, generator) for arm in (0, 2)]
    [phase] = run("dp-bai-gauss", task).first.phases
    for arm, total in zip((0, 2), sums, strict=True):
        expected = (total + classical * generator.standard_normal()) / 249
        assert phase.estimates[arm] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0, -1, True, "1", None, math.nan, 1e-200])
def test_wrong_epsilon(name: str, epsilon: Any) -> None:
    line = message_of(lambda: task_for(name, two_armed(1.0), 10, epsilon=epsilon))
    assert line.startswith(f"{name}: epsilon is {epsilon!r}; allowed: a number above 0")


@pytest.mark.parametrize("delta", [0, 1, -0.1, True, "0.1", math.nan])
def test_wrong_delta(delta: Any) -> None:
    line = message_of(lambda: task_for("dp-bai-gauss", two_armed(1.0), 10, delta=delta))
    allowed = "allowed: a number strictly between 0 and 1"
    assert line == f"dp-bai-gauss: delta is {delta!r}; {allowed}"


@pytest.mark.parametrize("name", IDENTIFICATION)
def test_guarantees(name: str) -> None:
    algorithm = IDENTIFICATION[name]
    kinds = dict.fromkeys(("dp-bai", "baseline", "dp-od"), "pure") | {"dp-bai-gauss": "approximate"}
    for epsilon in (0.5, math.inf):
        told = algorithm.parameters_from({**algorithm.example, **parameters_of(name, epsilon)})
        stated = algorithm.guarantee(told, 100)
        noisy = name in kinds and epsilon < math.inf
        assert stated.kind == (kinds[name] if noisy else "none")
        assert stated.parameter == (epsilon if noisy else math.inf)
        assert stated.slack == (told.delta if noisy and name == "dp-bai-gauss" else 0.0)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [1e-100, 1e100])
def test_extreme_epsilon(name: str, epsilon: float) -> None:
    for bandit in (section5(), standard_basis()):
        assert_agreement(name, task_for(name, bandit, 300, epsilon=epsilon), 1)
