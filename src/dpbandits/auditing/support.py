"""Support arguments: arm sequences that one of two neighbouring tables makes impossible.

An algorithm is played by its reference on both tables with a source of randomness that allows given
uniform draws alone, those that choose the arms of a phase of uniform play. Such draws have the same
law under both tables. What follows them needs no randomness: to ask for it is an InputError. So
where the arm sequences differ, the table that used up no more draws until then makes the other
one's arm sequence impossible, and no finite epsilon covers the algorithm.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat
from typing import Any

from dpbandits.algorithms import adap_ucb, best_arm, gdp_ncb, ncb, ucb1
from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm, Task
from dpbandits.auditing.events import Event
from dpbandits.auditing.inputs import Pair, audit_pair, constant, table_bandit
from dpbandits.auditing.rows import AuditRow, exact_row
from dpbandits.errors import InputError


class GivenDraws:
    """Uniform draws that are known beforehand; to ask for anything else is an InputError."""

    def __init__(self, uniforms: Sequence[float]) -> None:
        """Keep the draws."""
        self._uniforms, self.used = tuple(uniforms), 0

    def random(self) -> float:
        """Return the next uniform draw."""
        if self.used == len(self._uniforms):
            raise InputError("support argument: the algorithm draws more than the given numbers")
        self.used += 1
        return self._uniforms[self.used - 1]

    def __getattr__(self, name: str) -> Any:
        """Raise InputError: no other draw is given."""
        raise InputError(f"support argument: the algorithm draws by {name}; allowed: random")


@dataclass(frozen=True)
class Case:
    """One pair of tables that an algorithm without enough noise tells apart in so many rounds."""

    algorithm: Definition
    variant: str
    horizon: int  # or the budget
    rounds: int
    pair: Pair
    explored: tuple[int, ...] = ()  # arms, from 0, of the rounds of uniform play
    parameters: Mapping[str, float] = field(default_factory=dict)
    interpretations: Mapping[str, str] = field(default_factory=dict)


def transcript(case: Case, second: bool) -> tuple[tuple[int, ...], int]:
    """Return the arms played, or recommended, on x or x', and how many given draws are used."""
    algorithm = case.algorithm
    interpretations = algorithm.interpretations_from(case.interpretations, case.variant)
    parameters = algorithm.parameters_from(case.parameters)
    bandit = table_bandit(None, case.pair, second)
    draws: Any = GivenDraws([(arm + 0.5) / case.pair.arms for arm in case.explored])
    if isinstance(algorithm, IdentificationAlgorithm):
        task = Task(parameters, interpretations, bandit, case.horizon)
        return (algorithm.reference(task, draws).recommended,), draws.used
    assert isinstance(algorithm, Algorithm)
    settings = algorithm.settings(
        case.horizon, case.pair.arms, **vars(parameters), **interpretations
    )
    segments = algorithm.reference(settings, bandit, draws)
    rounds = chain.from_iterable(repeat(arm, length) for arm, length, _ in segments)
    return tuple(islice(rounds, case.rounds)), draws.used


def separation(case: Case) -> Event:
    """Return the arms of the first rounds, up to the one in which both tables differ.

    One table makes them impossible; where the tables do not differ neither does. The arms are the
    event's place.
    """
    first, second = (transcript(case, second)[0] for second in (False, True))
    differ = [t for t, arms in enumerate(zip(first, second, strict=True)) if arms[0] != arms[1]]
    shorter = replace(case, rounds=differ[0] + 1 if differ else case.rounds)
    plays = [transcript(shorter, second) for second in (False, True)]
    # The table with fewer draws has no choice in the round of the difference.
    under_changed = plays[1][1] >= plays[0][1]
    arms, draws = plays[under_changed]
    likely = -draws * math.log(case.pair.arms)
    unlikely = -math.inf if differ else likely
    log_p, log_q = (unlikely, likely) if under_changed else (likely, unlikely)
    words = _words(arms)
    if isinstance(case.algorithm, IdentificationAlgorithm):
        words = f"the recommended arm is arm {arms[0] + 1}"
    return Event(words, log_p, log_q, place=arms)


def _words(arms: tuple[int, ...]) -> str:
    if len(arms) <= 8:
        return "the arms are " + ", ".join(str(arm + 1) for arm in arms)
    pulls = sum(arm == 0 for arm in arms[:-1])
    return (
        f"arm {arms[-1] + 1} in round {len(arms)}, after {pulls} pulls of arm 1 and "
        f"{len(arms) - 1 - pulls} of arm 2 in a given order"
    )


_ONE_PULL = audit_pair(
    [[0.0], [0.0]],
    [[0.0], [1.0]],
    words="one pull of each arm: that of arm 1 pays 0, that of arm 2 pays 0 or 1",
)

_SILENT = audit_pair(
    [[0.0], [0.5]],
    [[1.0], [0.5]],
    after=[0.0, 0.0],
    words="rewards 0 but for the first ones: of arm 1 it is 0 or 1, of arm 2 it is 1/2",
)
"""The first reward of arm 1 decides which mean is larger."""

_STOPPED = constant(1.0, 0.0)
"""Uniform play that pulls arm 1 until its sum stops it under one table."""


def cases() -> Iterator[tuple[str, Case]]:
    """Yield statements and pairs of tables that algorithms without enough noise tell apart."""
    private = {"epsilon": 1.0}
    yield "AUD-17", Case(adap_ucb.ALGORITHM, "as-coded", 3, 3, _SILENT, parameters=private)
    yield "AUD-19", Case(ucb1.ALGORITHM, "as-written", 3, 3, _SILENT)
    # As coded a first reward is hidden until the arm's second pull.
    yield "AUD-19", Case(ucb1.ALGORITHM, "as-coded", 4, 4, constant(0.0, 0.0))
    yield "AUD-19", Case(ucb1.ALGORITHM, "repaired", 3, 3, _SILENT)
    # The uniform play of the original NCB has a length known beforehand; as coded it ends with a
    # clean sum of rewards.
    horizon = 10_000
    rounds = math.ceil(16.0 * math.sqrt(2.0 * horizon * math.log(horizon) / math.log(2.0)))
    explored = tuple(t % 2 for t in range(rounds))
    yield "AUD-19", Case(ncb.ALGORITHM, "as-written", horizon, rounds + 1, _SILENT, explored)
    rounds = math.floor(9.0 * math.log(100)) + 2
    for variant in ("as-coded", "repaired"):
        yield "AUD-19", Case(ncb.ALGORITHM, variant, 100, rounds, _STOPPED, (0,) * rounds)
    # GDP-NCB whose Phase I is stopped by clean sums and not by a cap.
    rounds = math.floor(9.0 * math.log(200) + math.log(200) ** 2) + 2
    clean = {"stop_test": "clean", "start": "zeros", "threshold": "1"}
    arms, algorithm = (0,) * rounds, gdp_ncb.ALGORITHM
    yield "AUD-14", Case(algorithm, "as-written", 200, rounds, _STOPPED, arms, private, clean)
    yield "AUD-19", Case(best_arm.OD_LINBAI, "as-written", 3, 1, _ONE_PULL)
    yield "AUD-19", Case(best_arm.SEQUENTIAL_HALVING, "as-written", 2, 1, _ONE_PULL)


def support_rows() -> Iterator[AuditRow]:
    """Yield AUD-17 as coded and AUD-19, and a clean stop test (AUD-14)."""
    for statement, case in cases():
        yield exact_row(
            separation(case),
            case.pair.words,
            statement=statement,
            algorithm=case.algorithm.id,
            variant=case.variant,
            interpretation=", ".join(map("=".join, case.interpretations.items())),
            engine="support",
            horizon=case.horizon,
            parameters=", ".join(f"{key}={value:g}" for key, value in case.parameters.items()),
            claimed=case.parameters.get("epsilon", math.inf),
            scaled="threshold" in case.interpretations,
        )
