"""What an algorithm of this project is: metadata, parameters, fast code and its reference."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.errors import InputError
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.known import Known

Interpretations = Mapping[str, str]
Chunk = tuple[int, int, float]
"""(arm, number of rounds it is played in a row, sum of their rewards)."""

VARIANTS = ("as-written", "as-coded", "repaired")


def require_plain(name: str, function: object) -> None:
    """Raise InputError for a coroutine or a generator, whose call does nothing yet.

    Args:
        name: what the line begins with.
        function: anything; compiled or not where it is a function.
    """
    bare = getattr(function, "py_func", function)
    if iscoroutinefunction(bare) or isasyncgenfunction(bare):
        raise InputError(f"{name} is a coroutine (async def); allowed: a plain function")
    if isgeneratorfunction(bare):
        raise InputError(f"{name} is a generator (yield); allowed: a plain function")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What every algorithm has, whatever problem it solves.

    Attributes:
        id: name in configs and on the command line.
        name: name as its paper writes it, for legends.
        paper: where it is defined (paper, algorithm number).
        parameters: frozen dataclass that validates itself; its fields are the parameters.
        guarantee: (parameters, horizon or budget) -> the guarantee that the paper states. Of the
            finished object it may be asked with ``variant=`` and ``interpretations=``, the default
            ones first, and says what is known of it.
        example: allowed parameters, to compile, test and document the algorithm with.
        interpretations: name -> allowed values, the default first.
        variants: the variants that exist.
        presets: variant -> the interpretations that it changes; a variant is nothing but its
            interpretations.
    """

    id: str
    name: str
    paper: str
    parameters: type[Any]
    guarantee: Callable[..., Guarantee]
    example: Mapping[str, Any]
    interpretations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: tuple[str, ...] = ("as-written",)
    presets: Mapping[str, Interpretations] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the guarantee say what is known of it; a copy under another id is another one."""
        given = self.guarantee
        stated = given.stated if isinstance(given, Known) else given
        known = Known(self.id, stated, self.interpretations, self.presets)
        object.__setattr__(self, "guarantee", known)
        for name, part in vars(self).items():
            if name != "reference":
                require_plain(f"{self.id}: {name}", part)

    def parameters_from(self, values: Mapping[str, Any]) -> Any:
        """Return validated parameters; InputError on a missing, unknown or bad one."""
        allowed = [each.name for each in fields(self.parameters)]
        for name in values:
            if name not in allowed:
                raise InputError.unknown(f"{self.id}: parameter", name, allowed)
        if len(values) < len(allowed):
            given = ", ".join(sorted(map(str, values))) or "none"
            raise InputError(f"{self.id}: parameters are {given}; allowed: {', '.join(allowed)}")
        plain = {key: v.item() if isinstance(v, np.generic) else v for key, v in values.items()}
        return self.parameters(**plain)

    def interpretations_from(
        self, values: Interpretations, variant: str = "as-written"
    ) -> dict[str, str]:
        """Return every interpretation with its value: given, of the variant, or default.

        Raises:
            InputError: an unknown interpretation or a value that it does not have.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"{self.id}: interpretations are {values!r}; allowed: a mapping")
        for key, value in values.items():
            if key not in self.interpretations:
                raise InputError.unknown(f"{self.id}: interpretation", key, self.interpretations)
            if value not in self.interpretations[key]:
                allowed = self.interpretations[key]
                raise InputError.unknown(f"{self.id}: interpretation {key}", value, allowed)
        defaults = {key: allowed[0] for key, allowed in self.interpretations.items()}
        return {**defaults, **self.presets.get(variant, {}), **values}

    def require_variant(self, variant: str) -> str:
        """Return the variant; InputError where this algorithm has none of that name."""
        if variant not in self.variants:
            raise InputError.unknown(f"{self.id}: variant", variant, self.variants)
        return variant


@dataclass(frozen=True, kw_only=True)
class Algorithm(Definition):
    """One regret algorithm: all that the engine needs to validate, run and describe it.

    Attributes:
        settings: (parameters, interpretations, horizon, arms) -> NamedTuple of scalars for the
            kernel; its class is declared in the algorithm's file.
        state: (arms) -> NamedTuple of arrays, the whole state between two calls of the kernel;
            its field ``clock`` (shape (1,)) counts the rounds played.
        advance: the kernel, (settings, state, laws, law_parameters, generator, arms, lengths,
            sums) -> number of chunks written; it stops at the horizon or when the arrays are full.
        reference: the same algorithm in plain Python, line by line after the pseudo-code,
            (settings, bandit, generator) -> chunks, on the same stream decision for decision.
    """

    settings: Callable[[Any, Interpretations, int, int], Any]
    state: Callable[[int], Any]
    advance: Callable[..., int]
    reference: Callable[[Any, Bandit, np.random.Generator], Iterator[Chunk]]


@dataclass(frozen=True)
class Task:
    """What an identification algorithm is asked: to name the best arm within a budget.

    Attributes:
        parameters: its validated parameters.
        interpretations: every interpretation with its value.
        bandit: the instance; features are known to the algorithm, theta and the means are not.
        budget: number of pulls T allowed.
    """

    parameters: Any
    interpretations: Interpretations
    bandit: LinearBandit
    budget: int


@dataclass(frozen=True, eq=False)
class Phase:
    """One phase of one trial.

    Attributes:
        active: the arms still in play at its start, increasing, shape (s,).
        arms: the arms that were pulled, increasing, shape (r,).
        pulls: how often each of them, shape (r,).
        estimates: what the active arms were ranked by, shape (s,).
        exact: whether the arms were found by exhaustive search where a search was needed.
    """

    active: NDArray[np.int64]
    arms: NDArray[np.int64]
    pulls: NDArray[np.int64]
    estimates: NDArray[np.float64]
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial: the arm returned and what was done on the way."""

    recommended: int
    phases: tuple[Phase, ...]

    def pulls(self, arms: int) -> NDArray[np.int64]:
        """Return the pulls of each of ``arms`` arms over all phases."""
        total = np.zeros(arms, np.int64)
        for phase in self.phases:
            np.add.at(total, phase.arms, phase.pulls)
        return total


@dataclass(frozen=True, eq=False)
class Outcome:
    """A block of independent trials.

    Attributes:
        recommended: the arm returned by each trial, shape (trials,).
        pulls: pulls of each arm, shape (trials, K); their sum may exceed the budget, as the
            algorithms round up.
        exact: whether every search for arms to pull was exhaustive, shape (trials,).
        first: the first trial in full.
    """

    recommended: NDArray[np.int64]
    pulls: NDArray[np.int64]
    exact: NDArray[np.bool_]
    first: Trial


@dataclass(frozen=True, kw_only=True)
class IdentificationAlgorithm(Definition):
    """One algorithm for best-arm identification with a fixed budget.

    Attributes:
        require: (task) -> None; raises InputError where the budget is too small for the instance.
        play: (task, generator, trials) -> Outcome, a block of trials side by side.
        reference: (task, generator) -> one Trial, in plain Python, line by line after the
            pseudo-code; on the same stream decision for decision the block of one trial, and for
            an algorithm of one phase the block of any number of trials.
    """

    require: Callable[[Task], None]
    play: Callable[[Task, np.random.Generator, int], Outcome]
    reference: Callable[[Task, np.random.Generator], Trial]
