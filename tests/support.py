"""What the tests share: instances to draw, decisions of kernels and references, subprocesses."""

import itertools
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import dpbandits
from dpbandits import Bandit, InputError
from dpbandits.algorithms import IDENTIFICATION, REGRET, Algorithm, Definition
from dpbandits.algorithms.base import Outcome, Task, Trial
from dpbandits.algorithms.dp_ts_ucb import Settings
from dpbandits.bandits import (
    Bernoulli,
    ClippedExponential,
    LinearBandit,
    TruncatedExponential,
    linear,
)
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.kernels import new_segments
from dpbandits.own.cells import cell_kind

PACKAGE = Path(dpbandits.__file__).parent
ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "config/README.md", "docs/*.md")
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for name in NAMES
    for path in sorted(ROOT.glob(name))
}
"""Path of each document for users -> its text."""

TOLERANCE = 1e-9
"""Of golden numbers, relative; last bits of a logarithm may differ between maths libraries."""

Decision = tuple[int, int, float]

FIVE_ARMS = dpbandits.bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
"""Section 5.1 of TS-is-DP; the curves of Hu and Hegde (2022) are of these arms, too."""

DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "epsilon": st.floats(0.02, 100.0),
    "alpha": st.floats(0.0, 1.0),
    "b": st.integers(0, 60),
    "c": st.floats(0.05, 50.0),
    "constant": st.floats(0.1, 10.0),
}
PARAMETERS = {
    name: st.fixed_dictionaries({key: DRAWN[key] for key in algorithm.parameters})
    for name, algorithm in REGRET.items()
}
"""Algorithm -> parameters to draw."""

laws = st.one_of(
    st.builds(Bernoulli, st.floats(0.0, 1.0)),
    st.builds(TruncatedExponential, st.floats(0.01, 50.0)),
    st.builds(ClippedExponential, st.floats(0.01, 50.0)),
)


def mostly_slow(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Return parameters of a test of which all but ``fast`` are left to ``make slow``."""
    return [
        value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values
    ]


FAMILIES = ("m-ts-gaussian", "dp-ts-ucb", "gdp-ncb", "lazy-dp-ts", "dp-se", "ucb1")
"""One algorithm of each family of kernels: to compile all of them takes minutes."""


def bandits(most: int = 6) -> st.SearchStrategy[Bandit]:
    """Draw instances of 2 to ``most`` arms, whose laws may differ in kind."""
    return st.lists(laws, min_size=2, max_size=most).map(lambda arms: Bandit(tuple(arms)))


FEW = 64
"""So many combinations of interpretations are all tried; of more, those near a variant."""


def has_few_interpretations(algorithm: Algorithm) -> bool:
    return math.prod(map(len, algorithm.interpretations.values())) <= FEW


def variant_interpretations(algorithm: Definition) -> dict[str, dict[str, str]]:
    """Return every variant with all of its interpretations, those equal to another one left out."""
    found: dict[str, dict[str, str]] = {}
    for variant in algorithm.variants:
        interpretations = algorithm.interpretations_from({}, variant)
        if interpretations not in found.values():
            found[variant] = interpretations
    return found


def all_interpretations(algorithm: Algorithm) -> list[dict[str, str]]:
    """Return every combination of the algorithm's interpretations.

    Of more than FEW only the variants, and each of them with every single interpretation changed.
    """
    if has_few_interpretations(algorithm):
        products = itertools.product(*algorithm.interpretations.values())
        return [dict(zip(algorithm.interpretations, values, strict=True)) for values in products]
    near = [
        {**interpretations, key: value}
        for interpretations in variant_interpretations(algorithm).values()
        for key, values in algorithm.interpretations.items()
        for value in values
    ]
    return [each for i, each in enumerate(near) if each not in near[:i]]


def interpretations_to_draw(algorithm: Algorithm) -> dict[str, st.SearchStrategy[dict[str, str]]]:
    """Return what to test an algorithm with: each combination, or the variants and any other."""
    if has_few_interpretations(algorithm):
        return {" ".join(each.values()): st.just(each) for each in all_interpretations(algorithm)}
    anything = {key: st.sampled_from(values) for key, values in algorithm.interpretations.items()}
    variants = {name: st.just(each) for name, each in variant_interpretations(algorithm).items()}
    return {**variants, "any": st.fixed_dictionaries(anything)}


def settings_of(
    algorithm: Algorithm,
    parameters: dict[str, Any],
    interpretations: dict[str, str],
    bandit: Bandit,
    horizon: int,
) -> Any:
    values = vars(algorithm.parameters_from(parameters))
    chosen = algorithm.interpretations_from(interpretations)
    return algorithm.settings(horizon, len(bandit.arms), **values, **chosen)


def kernel_decisions(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    generator: np.random.Generator,
    buffer: int = 1024,
    advance: Callable[..., int] | None = None,
) -> Iterator[Decision]:
    """Play one run, resumed after every ``buffer`` chunks; ``advance`` stands in for the kernel."""
    state = algorithm.state(len(bandit.arms))
    out = new_segments(buffer)
    while state.clock[0] < settings.horizon:
        written = (advance or algorithm.advance)(settings, state, bandit.arrays, generator, out)
        assert written > 0, "a kernel that is not at the horizon goes on"
        yield from zip(*(column[:written].tolist() for column in out), strict=True)


def joined(decisions: Iterable[Decision], chunks: Iterable[Decision]) -> Iterator[Decision]:
    """Put decisions together as ``chunks`` are: a kernel may write a leader's pulls as one.

    They are taken as far as they agree; what does not fit is left as it is.
    """
    waiting = iter(decisions)
    for arm, length, _ in chunks:
        played, total = 0, 0.0
        while played < length:
            own_arm, rounds, rewards = next(waiting, (arm, length, math.nan))
            if own_arm != arm:
                yield own_arm, rounds, rewards
            played += rounds
            total += rewards
        yield arm, played, total
    yield from waiting


def agree(
    algorithm: Algorithm, settings: Any, bandit: Bandit, seed: int, buffer: int = 1024
) -> list[Decision]:
    """Compare kernel and reference, the use of the stream included, and return the decisions."""
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    decisions = list(kernel_decisions(algorithm, settings, bandit, fast, buffer))
    assert decisions == list(joined(algorithm.reference(settings, bandit, plain), decisions))
    assert fast.bit_generator.state == plain.bit_generator.state
    return decisions


def cell_of(**given: Any) -> Cell:
    """Return the cell of an algorithm, of the registry or one's own."""
    return make_cell(kind=cell_kind(given["algorithm"], given["bandit"]), **given)


def message_of(function: Callable[[], Any]) -> str:
    """Return the InputError that ``function`` raises, once it is seen to be one line."""
    with pytest.raises(InputError) as caught:
        function()
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def refused(function: Callable[[], Any], *words: str) -> None:
    """Check that ``function`` ends in an InputError of one line that has these words."""
    message = message_of(function)
    assert all(word in message for word in words), message


def copy_package(folder: Path) -> Path:
    """Copy the package's sources below ``folder`` and return the copy's root."""
    ignore = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=ignore))


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace the one occurrence of ``old`` in a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name}: {old!r} stands there {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")


def run_python(
    *words: str, changes: dict[str, str | None] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run python with a changed environment (None takes a variable out)."""
    changed = changed_environment(changes or {})
    command = [sys.executable, *words]
    return subprocess.run(command, env=changed, cwd=folder, capture_output=True, text=True)


def changed_environment(changes: dict[str, str | None]) -> dict[str, str]:
    """Return this process's environment with changes; None takes a variable out."""
    environment = {**os.environ, **changes}
    return {key: value for key, value in environment.items() if value is not None}


def digits_printed(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


# DP-TS-UCB round by round.


def dp_ts_ucb_by_rounds(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Decision]:
    """Play DP-TS-UCB as Algorithm 1 is printed: every round scans the arms and draws one reward."""
    arms = range(len(bandit.arms))
    first = [bandit.draw(arm, generator) for arm in arms]
    yield from ((arm, 1, first[arm]) for arm in arms)
    n, mu_hat = [1] * len(arms), first
    r, o, q = [1] * len(arms), [0] * len(arms), [0.0] * len(arms)
    h, highest = [float(settings.budget)] * len(arms), [settings.reset] * len(arms)
    for _ in range(len(arms) + 1, settings.horizon + 1):
        theta = [0.0] * len(arms)
        for i in arms:
            if h[i] >= 1:
                deviation = math.sqrt(settings.variance / n[i])
                theta[i] = mu_hat[i] + deviation * generator.standard_normal()
                h[i] -= 1
                highest[i] = max(highest[i], theta[i])
            else:
                theta[i] = highest[i]
        arm = theta.index(max(theta))
        reward = bandit.draw(arm, generator)
        o[arm] += 1
        q[arm] += reward
        if settings.renewed_by_pull:
            h[arm], highest[arm] = float(settings.budget), settings.reset
        if o[arm] == 2 ** r[arm]:
            n[arm] = 2 ** r[arm]
            mu_hat[arm] = q[arm] / n[arm]
            h[arm], highest[arm] = float(settings.budget), settings.reset
            r[arm], o[arm], q[arm] = r[arm] + 1, 0, 0.0
        yield arm, 1, reward


# Best-arm identification: tasks, instances to draw, comparisons.

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


def play_trials(name: str, task: Task, seed: int = 1, trials: int = 1) -> Outcome:
    return IDENTIFICATION[name].play(task, np.random.default_rng(seed), trials)


def single_interpretations(algorithm: Definition) -> Iterator[dict[str, str]]:
    """Yield the defaults, and then every other value of every interpretation by itself."""
    yield {}
    for name, values in algorithm.interpretations.items():
        yield from ({name: value} for value in values[1:])


def assert_agreement(algorithm: str, task: Task, seed: int, trials: int = 1) -> Trial:
    """Compare the fast code with the reference, the use of the stream included.

    Of an algorithm that has one phase, all ``trials`` are compared. Estimates are the same numbers
    from other orders of summation, on features of unit size.
    """
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    outcome = IDENTIFICATION[algorithm].play(task, fast, trials)
    arms = len(task.bandit.arms)
    for trial in range(trials):
        expected = IDENTIFICATION[algorithm].reference(task, plain)
        first = zip(outcome.first.phases, expected.phases, strict=True) if trial == 0 else ()
        for one, other in first:
            for name in ("active", "arms", "pulls", "exact"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
            size = np.abs(other.estimates).max()
            assert np.allclose(one.estimates, other.estimates, rtol=0, atol=1e-10 * size)
        assert outcome.recommended[trial] == expected.recommended
        assert outcome.pulls[trial].tolist() == expected.pulls(arms).tolist()
        assert outcome.exact[trial] == all(phase.exact for phase in expected.phases)
    assert outcome.first.recommended == outcome.recommended[0]
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
