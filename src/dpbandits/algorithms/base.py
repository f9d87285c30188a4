"""What an algorithm of this project is: metadata, parameters, fast code and its reference."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.errors import InputError, require_count
from dpbandits.kernels import Arms, Segments

Interpretations = Mapping[str, str]
Segment = tuple[int, int, float]
"""(arm, number of rounds it is played in a row, sum of their rewards)."""

VARIANTS = ("as-written", "as-coded", "repaired")
BY_WORD: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "pure": ("epsilon",),
    "gdp": ("eta",),
    "zcdp": ("rho",),
    "approximate": ("epsilon", "delta"),
}
"""Kind of guarantee -> the parameters of the algorithm that are its numbers."""

LARGEST_INTEGER = 2**53  # integers up to it are exact as floats
SMALLEST = 1e-100  # below about 1e-307 noise overflows, and draws from posteriors never end


@dataclass(frozen=True)
class Kind:
    """What one parameter may be."""

    type: type
    allowed: str  # what error messages say of it
    lowest: float
    highest: float
    is_open: bool = False  # whether lowest and highest are excluded
    example: float = 1.0  # to compile, test and document the algorithm with
    default: float | None = None  # None where a value has to be given
    later: bool = False  # added after 1.0.0

    def __call__(self, **changed: float) -> "Kind":
        """Return the kind with another ``example``, or a ``default``."""
        return replace(self, **changed)  # type: ignore[arg-type]

    def require(self, owner: str, name: str, value: object) -> Any:
        """Return the value in the kind's type; InputError where the parameter does not allow it."""
        number = value.item() if isinstance(value, np.generic) else value
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        is_within = is_number and self.lowest <= number <= self.highest  # type: ignore[operator]
        # No float is so large an integer, and no integer has a fraction.
        is_within = is_within and not sys.float_info.max < number < math.inf  # type: ignore[operator]
        is_within = is_within and (self.type is float or number % 1 == 0)  # type: ignore[operator]
        if not is_within or (self.is_open and number in (self.lowest, self.highest)):
            raise InputError(f"{owner}: {name} is {number!r}; allowed: {self.allowed}")
        return self.type(number)


positive = Kind(
    float, f"a finite number above 0 (at least {SMALLEST:g})", SMALLEST, sys.float_info.max
)
"""A number above 0."""

positive_or_infinite = Kind(
    float, f"a number above 0 (at least {SMALLEST:g}), or infinity for no noise", SMALLEST, math.inf
)
"""A privacy parameter; infinity means "no noise"."""

fraction = Kind(float, "a number from 0 to 1", 0.0, 1.0, example=0.5)
"""A number from 0 to 1."""

chance = Kind(float, "a number strictly between 0 and 1", 0.0, 1.0, is_open=True, example=0.5)
"""A number strictly between 0 and 1."""


def printed(value: float = 1.0) -> Kind:
    """Return the kind of a constant that a paper prints; privacy does not depend on it."""
    allowed = "a number above 0 (1e-06 to 1e+06)"
    return Kind(float, allowed, 1e-6, 1e6, example=value, default=value, later=True)


def whole(minimum: int = 0) -> Kind:
    """Return the kind of whole numbers of at least ``minimum``."""
    least = require_count("whole: minimum", minimum, -LARGEST_INTEGER, LARGEST_INTEGER - 1)
    allowed = f"an integer, at least {least} (at most {LARGEST_INTEGER})"
    return Kind(int, allowed, least, LARGEST_INTEGER, example=least + 1)


class Parameters(SimpleNamespace):
    """The parameters of an algorithm, as attributes."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Equal parameters are one key."""
        return hash(tuple(vars(self).items()))


def require_plain(name: str, function: object) -> None:
    """Raise InputError for a coroutine or a generator, whose call does nothing yet."""
    bare = getattr(function, "py_func", function)
    if iscoroutinefunction(bare) or isasyncgenfunction(bare):
        raise InputError(f"{name} is a coroutine (async def); allowed: a plain function")
    if isgeneratorfunction(bare):
        raise InputError(f"{name} is a generator (yield); allowed: a plain function")


@dataclass(frozen=True)
class AuditCase:
    """The published black-box audit of an algorithm: where a loss can be seen in few rounds.

    One pull of arm 1 pays 0 or 1; all other rewards are fixed.
    """

    others: float  # reward of arm 2
    statement: str | Mapping[str, str]  # number of the audited statement, or one for each variant
    horizon: int = 12  # or budget; short, so that most transcripts are seen often
    parameters: Mapping[str, float] = field(default_factory=dict)  # the example's by default
    pull: int = 1  # number of the pull of arm 1 that pays 0 or 1
    before: float = 0.0  # reward of its earlier pulls
    level: float = 0.0  # reward of its later pulls
    runs: int = 10**10  # largest number of outputs of each table, where rounds are many
    silent: Mapping[str, str] = field(
        default_factory=dict
    )  # by variant, why no loss, or too little, is seen


@dataclass(frozen=True)
class Known:
    """What is known of a guarantee where these interpretations are played and a condition holds."""

    status: Any  # ``privacy.guarantee.Status``
    basis: str = ""  # the claim, theorem or argument that shows it
    interpretations: Interpretations = field(default_factory=dict)
    condition: Callable[[Any, int, Bandit | None], bool] = lambda parameters, horizon, bandit: True
    remark: str = ""
    two_arms: bool = False  # whether it is known for two arms only


ONE_RELEASE = Known("proved", "parallel composition: every reward enters one release")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What every algorithm has, whatever problem it solves.

    Attributes:
        id: name in configs and on the command line.
        name: name as its paper writes it, for legends.
        paper: where it is defined (paper, algorithm number).
        parameters: name -> kind, such as ``positive``, ``fraction`` or ``whole(1)``.
        interpretations: name -> allowed values, the default first.
        presets: variant -> the interpretations that it changes; a variant is nothing but its
            interpretations, and ``as-written`` has the defaults.
        guarantee: how it is private, as its paper states it: ``"none"``; ``"pure"`` (by the
            parameter ``epsilon``), ``"gdp"`` (``eta``), ``"zcdp"`` (``rho``) or ``"approximate"``
            (``epsilon`` and ``delta``); a ``Guarantee``; a function (parameters, horizon or budget)
            that returns one; or None where nothing is stated.
        model: ``central``, or ``local`` where every reward is private before it is seen.
        stated: where the guarantee is stated.
        known: what this project knows of the guarantee; the first entry that applies counts. The
            condition of an entry takes the parameters, the horizon or budget, and the instance, or
            None for all instances.
        audit: its published black-box audit, or None where it has none.
    """

    id: str
    name: str
    paper: str
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    interpretations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    presets: Mapping[str, Interpretations] = field(default_factory=dict)
    guarantee: Any = None
    model: str = "central"
    stated: str = ""
    known: tuple[Known, ...] = ()
    audit: AuditCase | None = None

    def __post_init__(self) -> None:
        """Raise InputError for a parameter without a kind or with a taken name, a wrong guarantee.

        And for coroutines and generators in the place of functions.
        """
        for name, kind in self.parameters.items():
            if not isinstance(kind, Kind):
                raise InputError(
                    f"{self.id}: parameter {name} is {kind!r}; allowed: dpbandits.positive, "
                    f"dpbandits.fraction, dpbandits.whole(minimum)"
                )
            if name in ("horizon", "arms", *self.interpretations):
                raise InputError(f"{self.id}: {name} has two meanings; allowed: one")
        given = self.guarantee
        if isinstance(given, str) and given in BY_WORD:
            for name in BY_WORD[given]:
                if name not in self.parameters:
                    raise InputError(
                        f"{self.id}: guarantee is {given!r}, and there is no parameter {name}; "
                        f"allowed: a parameter of that name, or a function of the parameters"
                    )
        elif not (given is None or callable(given) or hasattr(given, "kind")):
            raise InputError(
                f"{self.id}: guarantee is {given!r}; allowed: {', '.join(map(repr, BY_WORD))}, a "
                f"Guarantee, or a function (parameters, horizon) that returns one"
            )
        for name, part in vars(self).items():
            if name != "reference":
                require_plain(f"{self.id}: {name}", part)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that exist."""
        return ("as-written", *self.presets)

    @property
    def described_parameters(self) -> list[str]:
        """The parameters, with their defaults, as ``epsilon`` and ``constant=3``."""
        kinds = self.parameters.items()
        return [
            name if kind.default is None else f"{name}={kind.default:g}" for name, kind in kinds
        ]

    @property
    def example(self) -> dict[str, Any]:
        """Allowed parameters, printed constants left out."""
        kinds = self.parameters.items()
        return {name: kind.type(kind.example) for name, kind in kinds if not kind.later}

    def parameters_from(self, values: Mapping[str, Any]) -> Parameters:
        """Return validated parameters, with defaults; InputError on missing or wrong ones.

        Those added after 1.0.0 are left out at their default, so that streams have the names and
        results the columns that they had.
        """
        for name in values:
            if name not in self.parameters:
                raise InputError.unknown(f"{self.id}: parameter", name, self.parameters)
        chosen = {}
        for name, kind in self.parameters.items():
            if name not in values and kind.default is None:
                given = ", ".join(sorted(map(str, values))) or "none"
                allowed = ", ".join(self.parameters)
                raise InputError(f"{self.id}: parameters are {given}; allowed: {allowed}")
            value = kind.require(self.id, name, values.get(name, kind.default))
            if not kind.later or value != kind.default:
                chosen[name] = value
        return Parameters(**chosen)

    def merged_parameters(
        self,
        params: Mapping[str, Any] | None,
        named: Mapping[str, Any],
        arguments: Sequence[str],
    ) -> dict[str, Any]:
        """Return those in ``params`` and by keyword; ``arguments`` are other allowed keywords."""
        if not isinstance(params, Mapping | None):
            raise InputError(f"{self.id}: params is {params!r}; allowed: a mapping of parameters")
        for name in named:
            if name not in self.parameters:
                allowed = [*self.parameters, *arguments]
                raise InputError.unknown(f"{self.id}: argument", name, allowed)
            if name in (params or {}):
                raise InputError(
                    f"{self.id}: {name} is given twice; allowed: in params, or by keyword"
                )
        return {**(params or {}), **named}

    def interpretations_from(
        self, values: Interpretations, variant: str = "as-written"
    ) -> dict[str, str]:
        """Return every interpretation: given, of the variant, or default; InputError on others."""
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
        settings: (horizon, arms), and by keyword every parameter and interpretation -> NamedTuple
            of scalars for the kernel, one of which is ``horizon``.
        state: (arms) -> NamedTuple of arrays, the whole state between two calls of the kernel;
            its field ``clock`` (shape (1,)) counts the rounds played. ``partial(blank, State)``
            makes zeros of a class whose fields are annotated.
        advance: the kernel, (settings, state, arms, rng, out) -> number of segments that it has
            written to ``out``; it stops at the horizon or when ``out`` is full.
        reference: the same algorithm in plain Python, line by line after the pseudo-code,
            (settings, bandit, rng) -> segments, on the same stream decision for decision.
        skip: None, or a kernel that has the law of ``advance`` and plays stretches of one arm as
            one segment; ``engine.play.kernel_of`` says when it is played, and ``own`` takes it
            off users' code.
    """

    settings: Callable[..., Any]
    state: Callable[[int], Any]
    advance: Callable[[Any, Any, Arms, np.random.Generator, Segments], int]
    reference: Callable[[Any, Bandit, np.random.Generator], Iterator[Segment]]
    skip: Callable[[Any, Any, Arms, np.random.Generator, Segments], int] | None = None


@dataclass(frozen=True)
class Task:
    """What an identification algorithm is asked: to name the best arm within a budget."""

    parameters: Any  # validated
    interpretations: Interpretations  # all of them
    bandit: LinearBandit  # whose theta and means are unknown
    budget: int  # number of pulls T allowed


@dataclass(frozen=True, eq=False)
class Phase:
    """One phase of one trial; arms are increasing."""

    active: NDArray[np.int64]  # still in play at its start
    arms: NDArray[np.int64]  # those that were pulled
    pulls: NDArray[np.int64]  # how often each of them
    estimates: NDArray[np.float64]  # what the active arms were ranked by
    exact: bool = True  # whether a search for arms to pull was exhaustive


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
    """A batch of independent trials."""

    recommended: NDArray[np.int64]  # shape (trials,)
    pulls: NDArray[np.int64]  # shape (trials, K); rounded up, they may exceed the budget
    exact: NDArray[np.bool_]  # whether every search was exhaustive, shape (trials,)
    first: Trial  # the first one in full


@dataclass(frozen=True, kw_only=True)
class IdentificationAlgorithm(Definition):
    """One algorithm for best-arm identification with a fixed budget.

    Attributes:
        require: (task) -> None; raises InputError where the budget is too small for the instance.
        play: (task, generator, trials) -> Outcome, a block of trials side by side.
        reference: (task, generator) -> one Trial, in plain Python, line by line after the
            pseudo-code; on the same stream decision for decision the block of one trial, and for
            an algorithm of one phase the block of fewer than ``draws.TABLES_FROM`` trials.
    """

    require: Callable[[Task], None]
    play: Callable[[Task, np.random.Generator, int], Outcome]
    reference: Callable[[Task, np.random.Generator], Trial]
