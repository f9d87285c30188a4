"""Support arguments: arm sequences that one of two neighbouring tables makes impossible.

An algorithm is played by its reference on both tables with a source of randomness that allows given
uniform draws alone, those that choose the arms of a phase of uniform play. Such draws have the same
law under both tables. What follows them needs no randomness: the reference would ask for it and be
refused. So where the arm sequences differ, the table that used up no more draws until then
makes the other one's arm sequence impossible, and no finite epsilon covers the algorithm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Task
from dpbandits.bandits import linear
from dpbandits.errors import InputError


class GivenDraws:
    """A source of randomness that is known beforehand; anything else that is asked for is refused.

    Args:
        uniforms: what ``random`` returns, in order.
    """

    def __init__(self, uniforms: Sequence[float]) -> None:
        """Keep the draws."""
        self._uniforms, self.used = tuple(uniforms), 0

    def random(self) -> float:
        """Return the next uniform draw.

        Raises:
            InputError: there is none left.
        """
        if self.used == len(self._uniforms):
            raise InputError("support argument: the algorithm draws more than the given numbers")
        self.used += 1
        return self._uniforms[self.used - 1]

    def __getattr__(self, name: str) -> Any:
        """Refuse every other draw."""
        raise InputError(f"support argument: the algorithm draws by {name}; allowed: random")


@dataclass
class Table:
    """Arms whose n-th pulls have given rewards; 0 after the last.

    Attributes:
        rewards: by arm and pull.
    """

    rewards: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Begin with no pull."""
        self.arms = (None,) * len(self.rewards)
        self._pulls = [0] * len(self.rewards)

    def draw(self, arm: int, generator: Any) -> float:
        """Return the next reward of an arm."""
        return self.draw_sum(arm, 1, generator)

    def draw_sum(self, arm: int, pulls: int, generator: Any) -> float:
        """Return the sum of the next rewards of an arm."""
        begin = self._pulls[arm]
        self._pulls[arm] += pulls
        return float(sum(self.rewards[arm][begin : begin + pulls]))


@dataclass(frozen=True)
class Case:
    """One pair of tables that an algorithm without enough noise tells apart.

    Attributes:
        algorithm: id.
        variant: of the algorithm.
        horizon: T.
        rounds: played.
        explored: arms, from 0, of the rounds of uniform play.
        rewards: by arm and pull, under x.
        changed: of the first reward of arm 1 under x'.
        parameters: of the algorithm.
        interpretations: beside the variant's.
    """

    algorithm: str
    variant: str
    horizon: int
    rounds: int
    explored: tuple[int, ...]
    rewards: tuple[tuple[float, ...], ...]
    changed: float
    parameters: tuple[tuple[str, float], ...] = ()
    interpretations: tuple[tuple[str, str], ...] = ()


def neighbours(case: Case) -> tuple[Table, Table]:
    """Return both tables.

    Args:
        case: of which.
    """
    first, *others = case.rewards
    changed = (case.changed, *first[1:])
    return Table(case.rewards), Table((changed, *others))


def transcript(case: Case, table: Table) -> tuple[tuple[int, ...], int]:
    """Return the arms that an algorithm plays, from 0, and how many given draws it uses.

    Args:
        case: of which; its table is not read.
        table: the rewards.

    Raises:
        InputError: the arms need other randomness than the given draws.
    """
    algorithm = REGISTRY[case.algorithm]
    if not isinstance(algorithm, Algorithm):
        raise InputError(f"algorithm is {case.algorithm!r}; allowed: those that play to a horizon")
    interpretations = algorithm.interpretations_from(dict(case.interpretations), case.variant)
    parameters = algorithm.parameters_from(dict(case.parameters))
    settings = algorithm.settings(
        case.horizon, len(case.rewards), **vars(parameters), **interpretations
    )
    bandit: Any = table
    draws = GivenDraws([(arm + 0.5) / len(case.rewards) for arm in case.explored])
    generator: Any = draws
    arms = tuple(islice(_rounds(algorithm.reference(settings, bandit, generator)), case.rounds))
    return arms, draws.used


def _rounds(chunks: Iterator[tuple[int, int, float]]) -> Iterator[int]:
    for arm, length, _ in chunks:
        yield from (arm for _ in range(length))


@dataclass(frozen=True)
class Separation:
    """Whether two tables lead to different arms, one sequence being impossible under the other.

    Attributes:
        arms: the sequence that is possible under one table alone, or that of both.
        proved: whether there is one.
        under_changed: whether x' is the table that it is possible under.
        draws: of uniform play that the sequence needs.
    """

    arms: tuple[int, ...]
    proved: bool
    under_changed: bool
    draws: int


def separation(case: Case) -> Separation:
    """Play both tables up to the first round in which they differ.

    Args:
        case: of which.
    """
    plays = [transcript(case, table) for table in neighbours(case)]
    (first, _), (second, _) = plays
    if first == second:
        return Separation(first, False, True, plays[0][1])
    until = next(t for t, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])
    shorter = replace(case, rounds=until + 1)
    plays = [transcript(shorter, table) for table in neighbours(case)]
    # The table with fewer draws has no choice in the round of the difference.
    under_changed = plays[1][1] >= plays[0][1]
    arms, draws = plays[1 if under_changed else 0]
    return Separation(arms, True, under_changed, draws)


def recommendation(algorithm: str, budget: int, rewards: tuple[float, float]) -> int:
    """Return the arm, from 0, that is recommended after one pull of each of two arms.

    Args:
        algorithm: id of one that names the best arm without randomness.
        budget: with which it pulls each arm once.
        rewards: of the two pulls.

    Raises:
        InputError: the algorithm needs randomness or more pulls.
    """
    definition = REGISTRY[algorithm]
    if not isinstance(definition, IdentificationAlgorithm):
        raise InputError(f"algorithm is {algorithm!r}; allowed: those that name the best arm")
    bandit = linear(np.eye(2), [1.0, 0.0], law="bernoulli")
    table = Table(tuple((reward,) for reward in rewards))
    bandit_of_table: Any = _Featured(bandit, table)
    task = Task(
        definition.parameters_from({}),
        definition.interpretations_from({}),
        bandit_of_table,
        budget,
    )
    draws: Any = GivenDraws([])
    trial = definition.reference(task, draws)
    if trial.pulls(2).tolist() != [1, 1]:
        raise InputError(f"support argument: pulls are {trial.pulls(2).tolist()}; allowed: 1 each")
    return trial.recommended


class _Featured:
    """The features of a bandit with the rewards of a table."""

    def __init__(self, bandit: Any, table: Table) -> None:
        self._bandit = bandit
        self.draw, self.draw_sum = table.draw, table.draw_sum

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bandit, name)
