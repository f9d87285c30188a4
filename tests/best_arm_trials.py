"""What the tests of best-arm identification share: tasks, instances to draw, comparisons."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpbandits.algorithms import IDENTIFICATION, Definition
from dpbandits.algorithms.base import Outcome, Task, Trial
from dpbandits.bandits import LinearBandit, linear

PRIVATE = ["dp-bai", "dp-bai-gauss", "baseline", "dp-od"]


def task_for(
    algorithm: str,
    bandit: LinearBandit,
    budget: int,
    interpretations: dict[str, str] | None = None,
    **parameters: Any,
) -> Task:
    """Make a task; parameters that are not given are those of the algorithm's example."""
    found = IDENTIFICATION[algorithm]
    told = found.parameters_from({**found.example, **parameters})
    return Task(told, found.interpretations_from(interpretations or {}), bandit, budget)


def parameters_of(name: str, epsilon: float) -> dict[str, float]:
    """Return epsilon as a parameter, where the algorithm has it."""
    return {"epsilon": epsilon} if name in PRIVATE else {}


def run(name: str, task: Task, seed: int = 1, trials: int = 1) -> Outcome:
    """Play a block."""
    return IDENTIFICATION[name].play(task, np.random.default_rng(seed), trials)


def single_interpretations(algorithm: Definition) -> Iterator[dict[str, str]]:
    """Yield the defaults, and then every other value of every interpretation by itself."""
    yield {}
    for name, values in algorithm.interpretations.items():
        yield from ({name: value} for value in values[1:])


def assert_same(fast: Trial, plain: Trial) -> None:
    """Compare two trials decision for decision.

    Estimates are the same numbers from other orders of summation, on features of unit size.
    """
    assert fast.recommended == plain.recommended
    assert len(fast.phases) == len(plain.phases)
    for one, other in zip(fast.phases, plain.phases, strict=True):
        assert one.active.tolist() == other.active.tolist()
        assert one.arms.tolist() == other.arms.tolist()
        assert one.pulls.tolist() == other.pulls.tolist()
        assert one.exact == other.exact
        size = np.abs(other.estimates).max()
        assert np.allclose(one.estimates, other.estimates, rtol=0, atol=1e-10 * size)


def assert_agreement(algorithm: str, task: Task, seed: int, trials: int = 1) -> Trial:
    """Compare the fast code with the reference, the use of the stream included.

    Of an algorithm that has one phase, all ``trials`` are compared.
    """
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    outcome = IDENTIFICATION[algorithm].play(task, fast, trials)
    arms = len(task.bandit.arms)
    for trial in range(trials):
        expected = IDENTIFICATION[algorithm].reference(task, plain)
        if trial == 0:
            assert_same(outcome.first, expected)
        assert outcome.recommended[trial] == expected.recommended
        assert outcome.pulls[trial].tolist() == expected.pulls(arms).tolist()
        assert outcome.exact[trial] == all(phase.exact for phase in expected.phases)
    assert fast.bit_generator.state == plain.bit_generator.state
    return outcome.first


@st.composite
def linear_bandits(draw: st.DrawFn, most: int = 14) -> LinearBandit:
    """Draw instances with features on a grid, where twins, zeros and low ranks are common."""
    arms, dimension = draw(st.integers(2, most)), draw(st.integers(1, 4))
    numbers = st.integers(-2, 2) if draw(st.booleans()) else st.integers(0, 3)
    features = draw(arrays(np.float64, (arms, dimension), elements=numbers.map(float)))
    theta = draw(arrays(np.float64, dimension, elements=numbers.map(float)))
    if draw(st.booleans()):
        features[:, -1] = features[:, 0]
    means = features @ theta
    if means.min() < 0:
        # One more coordinate, which is the same for all, lifts the means to 0 and above.
        features = np.column_stack([features, np.ones(arms)])
        theta = np.append(theta, -means.min())
        means = means - means.min()
    kept = (means < means.max()) | (np.arange(arms) == means.argmax())
    if means.max() == 0 or kept.sum() < 2:
        features, theta, means, kept = np.eye(2), np.array([1.0, 2.0]), np.array([2.0]), [0, 1]
    largest = draw(st.sampled_from([0.25, 0.5, 0.9, 0.99]))
    law = draw(st.sampled_from(["uniform", "bernoulli"]))
    return linear(features[kept], theta * (largest / means.max()), law)
