"""Algorithms in twenty lines: what is played, keyed and rejected."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import Algorithm
from dpbandits.engine.cells import Work
from dpbandits.own.compiled import why_not
from dpbandits.privacy import Guarantee
from support import cell_of, message_of

ARMS = dpbandits.bernoulli([0.75, 0.5, 0.25])
PAIR = dpbandits.audit_pair([[0.0], [0.5]], [[1.0], [0.5]])
"""The first reward of the first arm is 0 or 1."""


@dpbandits.policy(name="My UCB")
class Ucb:
    """UCB1 as its paper has it."""

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        if t < counts.size:
            return t
        return np.argmax(sums / counts + np.sqrt(2.0 * math.log(t) / counts))


@dpbandits.policy(name="Remembers", share=dpbandits.fraction, length=dpbandits.whole(2))
class Remembers:
    """Has everything that a policy may remember, and uses all of it."""

    leader, restarted = -1, False
    level = 0.0

    def start(self, arms: int, horizon: int, rng: Any) -> None:
        self.order = arms - 1 - np.arange(arms)
        self.recent = np.zeros((arms, 2))
        self.half = horizon // 2
        self.first = rng.random()

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        if t % self.length == 0:
            self.recent = np.zeros((counts.size, 2))
        if self.restarted or rng.random() < self.share * self.first:
            return self.order[t % counts.size]
        return max(self.leader, 0)

    def update(self, arm: int, reward: float, counts: Any, sums: Any, rng: Any) -> None:
        self.recent[arm, 0] += reward
        self.level = self._smoothed(self.level, reward)
        self.leader = int(np.argmax(self.recent[:, 0] + self.level * rng.random()))
        if counts.sum() == self.half:
            self.restarted = True

    def _smoothed(self, level: float, reward: float) -> float:
        return self.share * level + (1.0 - self.share) * reward


@dpbandits.policy(name="Plain Python")
class Plain:
    """The same rule as ``Ucb``, with a dictionary, a lambda and a generator expression."""

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        if t < counts.size:
            return t
        radius = {arm: math.sqrt(2.0 * math.log(t) / count) for arm, count in enumerate(counts)}
        return max(radius, key=lambda arm: sums[arm] / counts[arm] + radius[arm])


def lasting(value: Any) -> Callable[..., Any]:
    """Return a method ``choose`` that returns a value from the third round on."""

    def choose(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        return 0 if t < 2 else value

    return choose


METHODS = ("start", "update", "__init__")


def policy(choose: Any, name: str = "Mine", **given: Any) -> Algorithm:
    """Return a policy with this method, and others that are given with its declaration."""
    body = {"choose": choose, "__module__": __name__}
    body |= {key: given.pop(key) for key in METHODS if key in given}
    return dpbandits.policy(name=name, **given)(type("Mine", (), body))


def simulate(algorithm: Any, **changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {"bandit": ARMS, "horizon": 30, "runs": 2}
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


def pulls(algorithm: Any, horizon: int = 500) -> Any:
    """Return the pulls of runs whose random numbers are the same for all algorithms."""
    cell = cell_of(
        algorithm=algorithm,
        bandit=ARMS,
        horizon=horizon,
        metrics=["pulls"],
        stream="the same for all",
    )
    return Work(cell, range(3)).play(1)["pulls"]


def plain(algorithm: Algorithm) -> Algorithm:
    """Return a policy whose kernel is plain Python, as it is where it does not compile."""
    return replace(algorithm, advance=algorithm.advance.py_func)  # type: ignore[attr-defined]


OTHER = {"share": 0.3, "length": 7}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "params"),
    [(Ucb, None), (Remembers, None), (Remembers, OTHER), (plain(Remembers), OTHER)],
)
def test_compiled_and_plain_methods_make_the_same_decisions(
    mine: Algorithm, params: dict[str, float] | None
) -> None:
    checks = dpbandits.check_algorithm(mine, params=params)
    assert why_not(mine.settings.__self__) == ""  # type: ignore[attr-defined]
    [itself] = [check for check in checks if check.status != "passed"]
    assert itself.status == "skipped"
    assert "nothing is known of its correctness" in itself.detail


@pytest.mark.slow
def test_the_check_finds_a_method_that_compiles_to_something_else() -> None:
    def choose(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> int:
        return 1 if (t + 2) * 2**62 > 0 else 0  # Beyond 64 bits, which Python does not mind.

    checks = dpbandits.check_algorithm(policy(choose), on_fail=None)
    assert [check.name for check in checks if check.status == "failed"] == [
        "compiled or not, methods agree on 100 seeds"
    ]


class Committing:
    """Private explore-then-commit, from the pseudo-code."""

    scale = 1.0
    leader = -1

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        if t < 20 * counts.size:
            return t % int(counts.size)
        if self.leader < 0:
            noisy = [total + rng.laplace(0.0, self.scale / self.epsilon) for total in sums]  # type: ignore[attr-defined]
            self.leader = max(range(counts.size), key=noisy.__getitem__)
        return self.leader


class Quiet(Committing):
    """The same with noise 18 times too small."""

    scale = 1.0 / 18.0


def law_of_committing(settings: Any, bandit: Any, generator: Any) -> Any:
    """Yield segments of the same law: other numbers, in another order."""
    sums = [bandit.draw_sum(arm, 20, generator) for arm in range(len(bandit.arms))]
    for t in range(20 * len(sums)):
        yield t % len(sums), 1, sums[t % len(sums)] / 20
    signs = generator.choice([-1.0, 1.0], len(sums))
    noisy = sums + signs * generator.exponential(1.0 / settings.epsilon, len(sums))
    left = settings.horizon - 20 * len(sums)
    best = int(np.argmax(noisy))
    yield best, left, bandit.draw_sum(best, left, generator)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reference", "agrees", "status"),
    [
        (Committing, "decisions", "passed"),
        (Quiet, "decisions", "failed"),
        (law_of_committing, "law", "passed"),
        (Quiet, "law", "failed"),
    ],
)
def test_a_policy_is_compared_with_its_reference(reference: Any, agrees: str, status: str) -> None:
    """By decision and in law; the null control shares no draw, the planted fault is the noise."""
    given = {"reference": reference, "agrees": agrees, "epsilon": dpbandits.positive}
    made = dpbandits.policy(name="Committing", **given)(Committing)
    checks = dpbandits.check_algorithm(made, params={"epsilon": 0.05}, on_fail=None)
    compared = [check for check in checks if " reference agree " in check.name]
    assert [check.status for check in compared] == [status], compared
    assert all(check.status == "passed" for check in checks if check not in compared)


def test_it_plays_as_its_twin_of_the_registry_does_compiled_or_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What does not compile is said in one line."""
    for own in (Ucb, Plain):
        np.testing.assert_array_equal(pulls(own), pulls("ucb1"))
    pulls(Plain, horizon=20)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "plain-python: does not compile and is played in plain Python, about a hundred times "
        "slower (choose"
    )


@pytest.mark.slow
def test_what_does_not_compile_is_audited() -> None:
    """The second arm is pulled in round 3 where its first reward is the larger one."""
    found = dpbandits.audit(Plain, horizon=3, pair=PAIR, runs=100, cache=False)
    assert sorted(found.share) == [0.0, 1.0]
    assert found.verdict == "nothing claimed"


def helper(t: int) -> int:
    return t


def rounding(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> int:
    self.x = 0.5
    return 0


def setting(name: str, value: Any) -> Callable[..., Any]:
    def choose(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> int:
        setattr(self, name, value)
        return 0

    return choose


REASONS: list[tuple[Callable[..., Any], str]] = [
    (lambda self, t, counts, sums, rng: helper(t), "Untyped global name 'helper'"),
    (lambda self, t, counts, sums, rng: rng.integers(counts.size), "numba has no integers("),
    (lambda self, t, counts, sums, rng: self.size, "Unknown attribute 'size' of"),
    (lambda self, t, counts, sums, rng: 0.5 * t, "choose returns float64"),
    (rounding, "self.x begins as an integer and is set to float64"),
]


def test_the_reason_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for choose, expected in REASONS:
        rule = policy(choose, start=counting).settings.__self__  # type: ignore[attr-defined]
        assert expected in why_not(rule)
        assert why_not(rule) in capsys.readouterr().err


def counting(self: Any, arms: int, horizon: int, rng: Any) -> None:
    self.x = 0


NO_ARM = "choose returns {}; allowed: an arm, an integer from 0 to 2"


@pytest.mark.slow
def test_a_compiled_policy_that_goes_wrong_ends_in_one_line_and_not_in_a_crash() -> None:
    def choose(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> int:
        if self.arm > 100:
            return int(counts[self.arm])
        return self.arm if t == 2 else 0  # type: ignore[no-any-return]

    mine = policy(choose, arm=dpbandits.whole(-1))
    assert why_not(mine.settings.__self__) == ""  # type: ignore[attr-defined]
    for arm, expected in (
        (3, f"round 3: {NO_ARM.format(3)}"),
        (-1, f"round 3: {NO_ARM.format(-1)}"),
        (10**9, "round 1: advance raises IndexError: index is out of bounds"),
    ):
        message = message_of(lambda: simulate(mine, params={"arm": arm}).pulls)
        assert message == f"algorithm mine, {expected}"


DEPENDS = "what depends on the number of arms alone"
MEMORY: list[tuple[Callable[[int], Any], str]] = [
    (lambda horizon: [0], ": self.x is list; allowed: numbers, and numpy arrays of numbers"),
    (np.zeros, f"float64 of shape (30,), and was float64 of shape (3000,); allowed: {DEPENDS}"),
    (lambda horizon: 1 if horizon > 30 else 0.5, f"float64, and was int64; allowed: {DEPENDS}"),
    (lambda horizon: 1 // (horizon - 30), ": start raises ZeroDivisionError: integer division or "),
]


def test_what_cannot_be_remembered_is_one_line_before_anything_is_played() -> None:
    for remembered, expected in MEMORY:

        def start(self: Any, arms: int, horizon: int, rng: Any) -> None:
            self.x = remembered(horizon)

        begin = "algorithm mine" + (", start: self.x is " if DEPENDS in expected else "")
        mine = policy(lasting(0), start=start)
        assert message_of(lambda: simulate(mine)).startswith(f"{begin}{expected}")


MADE = "allowed: what start has made, or the body of the class"
IN_PYTHON = [
    *(
        (lasting(arm), f", round 3: {NO_ARM.format(repr(arm))}")
        for arm in (3, -1, 2.0, None, True, "0", np.array([0]))
    ),
    (setting("y", 1), f": self.y is int64, and was not set; {MADE}"),
    (setting("x", 0.5), f": self.x is float64, and was int64; {MADE}"),
    (
        setting("share", 0.5),
        ": self.share is 0.5, and was 1.0; allowed: parameters that stay as th",
    ),
]


def test_what_is_no_arm_and_what_changes_its_type_is_one_line_in_plain_python() -> None:
    """The compiled one would round the number, and forget the parameter."""
    for choose, expected in IN_PYTHON:
        mine = plain(policy(choose, start=counting, share=dpbandits.fraction))
        message = message_of(lambda: simulate(mine, params={"share": 1.0}).pulls)
        assert message.startswith(f"algorithm mine{expected}")


def many(self: Any, t: int, counts: Any, sums: Any, rng: Any) -> Any:
    yield 0


async def late(self: Any, arm: int, reward: float, counts: Any, sums: Any, rng: Any) -> None:
    pass


CHOOSE, START = "choose(self, t, counts, sums, rng)", "start(self, arms, horizon, rng)"
UPDATE = "update(self, arm, reward, counts, sums, rng)"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "policy: name is ''; allowed: a text with a letter or a digit"),
    ({"choose": None}, f"mine: choose is missing; allowed: {CHOOSE}"),
    ({"choose": lambda self, t: 0}, f"mine: choose is choose(self, t); allowed: {CHOOSE}"),
    ({"update": lambda *each: 0}, f"mine: update is update(*each); allowed: {UPDATE}"),
    ({"start": lambda self, arms: 0}, f"mine: start is start(self, arms); allowed: {START}"),
    ({"choose": many}, "mine: choose is a generator (yield); allowed: a plain function"),
    ({"update": late}, "mine: update is a coroutine (async def); allowed: a plain func"),
    ({"__init__": lambda self: None}, f"mine: has __init__; allowed: {START}"),
    ({"epsilon": 1.0}, "mine: parameter epsilon is 1.0; allowed: dpbandits.positive, dpbandits.fr"),
    ({"guarantee": "private"}, "mine: guarantee is 'private'; allowed: 'none', 'pure', 'gdp', 'zc"),
    ({"guarantee": "gdp"}, "mine: guarantee is 'gdp', and there is no parameter eta; allowed: a p"),
]


def test_a_wrong_declaration_is_one_line() -> None:
    for changes, expected in WRONG:
        given = {"choose": lasting(0), "epsilon": dpbandits.positive} | changes
        assert message_of(lambda: policy(**given)).startswith(expected)
    both = type("Mine", (), {"choose": lasting(0), "epsilon": 1.0})
    message = message_of(lambda: dpbandits.policy(name="Mine", epsilon=dpbandits.positive)(both))
    assert message.startswith("mine: epsilon is a parameter and in the class; allowed: once")
    message = message_of(lambda: dpbandits.policy(name="Mine")(helper))  # type: ignore[arg-type]
    assert message == f"mine: is no class; allowed: a class with {CHOOSE}"
    assert message_of(lambda: dpbandits.whole(0.5)).startswith("whole: minimum is 0.5; allowed: ")  # type: ignore[arg-type]


def of_eta(parameters: Any, horizon: int) -> Guarantee:
    return Guarantee("gdp", parameters.epsilon * math.sqrt(horizon))


def test_the_guarantee_is_shown_as_it_is_stated() -> None:
    for given, expected in (
        ("pure", "0.5-DP (pure)"),
        (Guarantee("gdp", 3.0), "3-GDP"),
        (of_eta, "1-GDP"),
        (None, "no guarantee stated"),
    ):
        mine = policy(lasting(0), guarantee=given, epsilon=dpbandits.positive)
        found = dpbandits.guarantee(mine, params={"epsilon": 0.5}, horizon=4)
        assert found.describe() == expected
        assert simulate(mine, params={"epsilon": 0.5}, horizon=4).guarantee == found


@dpbandits.policy(name="Doubles", factor=dpbandits.whole(1))
class Doubles:
    power = 1
    never = 2**63 - 1

    def choose(self, t, counts, sums, rng):
        return 1 if self.power > 1000 else 0

    def update(self, arm, reward, counts, sums, rng):
        self.power = self.power * self.factor
        self.never = 2**63 - 1


@pytest.mark.slow
def test_an_integer_that_grows_past_64_bits_is_noticed() -> None:
    """Compiled code would wrap around; the largest integer stands for infinity."""
    play = partial(dpbandits.simulate, algorithm=Doubles, horizon=200, runs=2, cache=False)
    bandit = dpbandits.bernoulli([0.7, 0.5])
    for factor, number in ((2, 62), (10, 19)):
        message = message_of(lambda factor=factor: play(bandit=bandit, factor=factor).pulls)
        assert message.startswith(f"algorithm doubles, round {number}: an integer of self exceeds")
    assert play(bandit=bandit, factor=1).pulls.tolist() == [[200, 0]] * 2
