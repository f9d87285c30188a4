"""From `config/papers/PAPER/experiments.yaml` to cells: tags, formulas, grids and scales."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field, StrictInt, model_validator

from dpbandits.config import Context
from dpbandits.config.documents import (
    Count,
    Different,
    Name,
    Sentence,
    Spec,
    Text,
    Value,
    Values,
    Variant,
    naming,
    one_of,
)
from dpbandits.config.figures import MAXIMAL_POINTS
from dpbandits.engine.identity import PLAY, digest_of, fingerprint, registered
from dpbandits.errors import InputError
from dpbandits.metrics import IDENTIFIED, METRICS, NASH

# A workflow asks for fingerprints, runs and horizons; cells take a second to import.
if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.algorithms import Definition
    from dpbandits.bandits import Bandit
    from dpbandits.engine.cells import Series

FigureName = Annotated[str, Field(pattern="^(fig[0-9]+(-[a-z-]+)?|extra-[a-z0-9-]+)$")]
TableName = Annotated[str, Field(pattern="^[a-z0-9-]+$")]
FormulaName = Annotated[str, Field(pattern="^[a-z0-9_]+$")]
Metric = Annotated[str, one_of(METRICS)]

INSTANCE = "instance"
"""Key of ``for`` and ``tags`` whose values are names of instances."""

RESERVED = (
    *("series", "algorithm", "interpretation", "run", "trials", "metric", "t", "arm", "value"),
    *("x", "y", "lo", "hi", "runs"),
)
"""Columns of every table of results, then those that figures and tables make of them."""


class RunsSpec(Spec):
    """Which runs are simulated; ``runs_per_curve`` make one Nash curve, all where it is 0."""

    first: Annotated[StrictInt, Field(ge=0)]
    count: Count
    runs_per_curve: Count = 0


class Grid(Spec):
    """Times at which curves are recorded: ``points`` evenly spaced ones, and those ``at``."""

    points: Annotated[StrictInt, Field(ge=1, le=MAXIMAL_POINTS)] | None = None
    at: tuple[Count, ...] = ()

    @model_validator(mode="after")
    def _is_not_empty(self) -> "Grid":
        if not self.model_fields_set:
            raise InputError("no key; allowed: points, at")
        return self


class CellsSpec(Spec):
    """Series of a simulation: one for each combination of the values of ``for``.

    ``also`` has more combinations, each with the keys of ``for`` that differ. A key ``instance`` of
    ``for`` or ``tags`` names the bandit of a series. ``runs`` and ``max_cost`` are by default those
    of the simulation.
    """

    algorithm: str
    variant: Variant = "as-written"
    horizon: FormulaName = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    also: tuple[dict[str, Values], ...] = ()
    runs: Count | None = None
    max_cost: Count | None = None
    tags: dict[str, Value] = {}
    parameters: dict[str, Value] = {}
    interpretations: dict[str, str] = {}

    @model_validator(mode="after")
    def _keys_go_together(self) -> "CellsSpec":
        """Raise where ``also`` has other keys than ``for``, or a key names a column twice."""
        if wrong := [key for more in self.also for key in more if key not in self.over]:
            raise InputError(f"also has {wrong[0]}; allowed: {', '.join(self.over) or 'nothing'}")
        for kind in ("for", "tags", "parameters"):
            for key in self.over if kind == "for" else getattr(self, kind):
                if key in RESERVED:
                    allowed = f"a name that no column of results has, as {', '.join(RESERVED)}"
                    raise InputError(f"{kind} has {key}; allowed: {allowed}")
                if kind == "tags" and key in self.over:
                    raise InputError(f"tags has {key}, and so has for; allowed: one of them")
        if "variant" in self.model_fields_set and {"variant"} & {*self.over, *self.tags}:
            raise InputError("key variant is here and under for or tags; allowed: one of them")
        return self

    def combinations(self) -> Iterator[dict[str, Any]]:
        """Yield the tags of each series."""
        for over in (self.over, *({**self.over, **more} for more in self.also)):
            for values in itertools.product(*over.values()):
                yield {**dict(zip(over, values, strict=True)), **self.tags}

    @property
    def instances(self) -> tuple[Value, ...]:
        """Names of the instances under ``for`` or ``tags``; empty where there are none."""
        tagged = (self.tags[INSTANCE],) if INSTANCE in self.tags else ()
        named = [name for over in (self.over, *self.also) for name in over.get(INSTANCE, ())]
        return tagged or tuple(dict.fromkeys(named))


class SimulationSpec(Spec):
    """One simulation; ``max_cost`` bounds the product of the tags ``horizon`` and ``arms``."""

    like: Name | None = None
    instance: Name | None = None
    horizon: Count
    max_cost: Count | None = None
    stream: Text | None = None
    tuned_by: Name | None = None
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    runs: RunsSpec
    grid: Grid
    cells: Annotated[tuple[CellsSpec, ...], Field(min_length=1)]

    @property
    def runs_of_curve(self) -> int:
        """How many runs make one Nash curve; 1 where none is recorded."""
        is_nash = not set(NASH).isdisjoint(self.metrics)
        return self.runs.runs_per_curve or self.runs.count if is_nash else 1

    @model_validator(mode="after")
    def _every_series_has_an_instance(self) -> "SimulationSpec":
        if self.instance is None and not all(entry.instances for entry in self.cells):
            raise InputError("key instance is missing, here or under for of all cells")
        return self


def _with_like(simulations: Mapping[str, Any], name: str, *path: str) -> Any:
    """Return a simulation, completed by the keys of the one that it is ``like``.

    ``path`` has the simulations that led here, so that a circle is noticed.
    """
    entry = simulations[name]
    if not isinstance(entry, Mapping) or "like" not in entry:
        return entry
    other, path = entry["like"], (*path, name)
    if not isinstance(other, str) or other not in simulations or other in path:
        known = [name for name in simulations if name not in path]
        raise InputError.unknown(f"simulations.{name}.like", other, known)
    given = {key: value for key, value in entry.items() if key != "like"}
    of_other = _with_like(simulations, other, *path)
    return {**of_other, **given} if isinstance(of_other, Mapping) else given


class Caps(Spec):
    """Largest number of runs and horizon at the quick scale."""

    runs: Count | None = None
    horizon: Count | None = None


class ExperimentsFile(Spec):
    """config/papers/PAPER/experiments.yaml: what is simulated, drawn and tabulated.

    ``Study`` parses figures and tables. ``title`` is that of a comparison across
    papers; a paper has its own in ``paper.yaml``. ``audited`` names the exact results that depend
    on every registered algorithm with an audit case. ``settings_of`` gives, for an exact result,
    the simulation whose settings it is computed for.
    """

    paper: str
    title: Sentence = ""
    instances: Annotated[dict[str, dict[str, Any]], Field(min_length=1)] = {}
    quick: Caps = Caps()
    analytic: Annotated[tuple[str, ...], Different] = ()
    scaled: Annotated[tuple[str, ...], Different] = ()
    audited: Annotated[tuple[str, ...], Different] = ()
    settings_of: dict[str, str] = {}
    figures: dict[FigureName, Any] = {}
    tables: dict[TableName, Any] = {}
    simulations: Annotated[dict[str, SimulationSpec], Field(min_length=1)] = {}

    @model_validator(mode="before")
    @classmethod
    def _fill_in_likes(cls, document: Any) -> Any:
        given = document.get("simulations") if isinstance(document, Mapping) else None
        if not isinstance(given, dict):
            return document
        return {**document, "simulations": {name: _with_like(given, name) for name in given}}

    @model_validator(mode="after")
    def _names_exact_results(self) -> "ExperimentsFile":
        for key in ("scaled", "audited", "settings_of"):
            for name in getattr(self, key):
                if name not in self.analytic:
                    raise InputError.unknown(key, name, self.analytic)
        for name, simulation in self.settings_of.items():
            if name in self.scaled:
                raise InputError(f"scaled has {name}, and so has settings_of; allowed: one of them")
            # Settings that another simulation tunes are unknown until that one has run.
            known = [key for key, each in self.simulations.items() if each.tuned_by is None]
            if simulation not in known:
                raise InputError.unknown(f"settings_of.{name}", simulation, known)
        return self

    @model_validator(mode="after")
    def _instances_have_a_law(self) -> "ExperimentsFile":
        for name, instance in self.instances.items():
            if ("law" in instance) == ("make" in instance):
                raise InputError(
                    f"instances.{name} is {instance!r:.160}; allowed: either key law or key make"
                )
        return self


FEW_TRIALS = 1000
"""Up to this number of trials are played sooner than a second process starts."""


class Code(Protocol):
    """A paper's own code: formulas of parameters and horizons, makers of instances."""

    def functions(self, kind: str) -> Mapping[str, Callable[..., Any]]:
        """Return the functions of one kind by name."""


@dataclass(frozen=True)
class SimulationPlan:
    """One named simulation of a paper, at one scale.

    Attributes:
        instance: the description of its bandit; empty where every series names its own.
        code: the paper's formulas and makers of instances, imported when they are asked for.
        origin: file and key, for error messages.
        own: the paper's own algorithms, which are not in the registry, by id.
        named: the descriptions of the instances that series name, by name.
    """

    name: str
    spec: SimulationSpec
    instance: Mapping[str, Any]
    caps: Caps
    code: Code
    origin: str
    own: Mapping[str, "Definition"] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def horizon(self) -> int:
        """Number of rounds at this scale."""
        return min(self.spec.horizon, self.caps.horizon or self.spec.horizon)

    @cached_property
    def horizons(self) -> tuple[int, ...]:
        """Horizons of its series at this scale, ascending: one, unless series have their own."""
        if any(entry.horizon for entry in self.spec.cells):
            return tuple(sorted({series.cell.horizon for series in self.series()}))
        with naming(self.origin):
            horizons = {
                _evaluate("tag horizon", int, tags.get("horizon", self.horizon))
                for _, tags in self._combinations()
            }
        return tuple(sorted(horizons)) or (self.horizon,)

    @property
    def runs(self) -> int:
        """Number of runs at this scale."""
        return min(self.spec.runs.count, self.caps.runs or self.spec.runs.count)

    @property
    def runs_per_curve(self) -> int:
        """Number of runs that make one Nash curve at this scale; 0 for all of them."""
        return min(self.spec.runs.runs_per_curve, self.runs)

    @property
    def is_brief(self) -> bool:
        """Whether a worker process costs more time than a second one would save."""
        return self.runs <= FEW_TRIALS and set(self.spec.metrics) <= set(IDENTIFIED)

    @property
    def tuned_by(self) -> str | None:
        """Name of the simulation whose results set the parameters, or None."""
        return self.spec.tuned_by

    def grid(self, horizon: int) -> tuple[int, ...]:
        """Return the times at which curves are recorded, up to the horizon."""
        if horizon < 1:
            raise InputError(f"horizon is {horizon}; allowed: at least 1")
        import numpy as np

        times, points = set(self.spec.grid.at), self.spec.grid.points
        if points is not None:
            spaced = np.linspace(horizon / points, horizon, points)
            times |= {int(t) for t in np.unique(np.ceil(spaced))}
        return tuple(sorted(t for t in times | {horizon} if t <= horizon))

    def _combinations(self) -> Iterator[tuple[CellsSpec, dict[str, Any]]]:
        """Yield each entry with the tags of each of its series that the scale allows."""
        for entry in self.spec.cells:
            for tags in entry.combinations():
                horizon = _evaluate("tag horizon", int, tags.get("horizon", 1))
                cost = horizon * _evaluate("tag arms", int, tags.get("arms", 1))
                is_short = self.caps.horizon is None or horizon <= self.caps.horizon
                dearest = entry.max_cost or self.spec.max_cost
                if is_short and (dearest is None or cost <= dearest):
                    yield entry, tags

    def _distinct(self) -> Iterator[tuple[CellsSpec, dict[str, Any]]]:
        """Yield the combinations, without instances whose bandit equals that of an earlier one."""
        seen = set()
        for number, (entry, tags) in enumerate(self._combinations()):
            others = tuple(item for item in tags.items() if item[0] != INSTANCE)
            bandit = self._bandit(tags) if INSTANCE in tags else number
            key = (id(entry), others, bandit)
            if key not in seen:
                seen.add(key)
                yield entry, tags

    def series(self, tuned: "pd.DataFrame | None" = None) -> list["Series"]:
        """Return every series with its cell, in the order of the file."""
        return list(self._before_tuning if tuned is None else self._expand(tuned))

    @cached_property
    def _before_tuning(self) -> tuple["Series", ...]:
        """The series without tuned parameters, kept because expanding them is slow."""
        return tuple(self._expand(None))

    def _expand(self, tuned: "pd.DataFrame | None") -> list["Series"]:
        with naming(self.origin):
            expanded = [self._series(entry, tags, tuned) for entry, tags in self._distinct()]
            for label, count in Counter(series.label for series in expanded).items():
                if count > 1:
                    raise InputError(f"two series are {label!r}; allowed: one each")
        return expanded

    def check(self) -> None:
        """Raise InputError where a series is not allowed, as far as is known before tuning."""
        if self.tuned_by is None:
            self.series()
            return
        with naming(self.origin):
            for entry in self.spec.cells:
                algorithm = self._algorithm(entry.algorithm)
                for tags in entry.combinations():
                    variant = algorithm.require_variant(_variant(entry, tags))
                    interpretations = _interpretations(entry, tags)
                    interpretations = algorithm.interpretations_from(interpretations, variant)
                    known = {
                        key: tags[value] if isinstance(value, str) else value
                        for key, value in entry.parameters.items()
                        if not isinstance(value, str) or value in tags
                    }
                    arms = len(self._bandit(tags).arms)
                    _require_as_played(tags, {**known, **interpretations, "arms": arms})

    def _series(
        self,
        entry: CellsSpec,
        tags: dict[str, Any],
        tuned: "pd.DataFrame | None",
    ) -> "Series":
        from dpbandits.engine.cells import Series, make_cell, runs_from
        from dpbandits.own.cells import cell_kind

        bandit = self._bandit(tags)
        horizon = _evaluate("tag horizon", int, tags.get("horizon", self.horizon))
        context = Context(tags, horizon, len(bandit.arms), tuned)
        if entry.horizon:
            value = self._value("horizon", entry.horizon, context)
            horizon = _evaluate("horizon", int, value)
            _require_as_played(tags, {"horizon": horizon})
            tags = {**tags, "horizon": horizon}
            context = replace(context, horizon=horizon)
        parameters = {key: self._value(key, v, context) for key, v in entry.parameters.items()}
        algorithm = self._algorithm(entry.algorithm)
        cell = make_cell(
            kind=cell_kind(algorithm, bandit),
            algorithm=algorithm,
            parameters=parameters,
            variant=_variant(entry, tags),
            interpretations=_interpretations(entry, tags),
            bandit=bandit,
            horizon=horizon,
            metrics=self.spec.metrics,
            grid=self.grid(horizon),
            stream=self.spec.stream,
        )
        played = {**dict(cell.interpretations), **vars(cell.parameters)}
        _require_as_played(tags, {**played, "arms": len(bandit.arms), "horizon": horizon})
        label = " ".join([entry.algorithm, *(f"{key}={value}" for key, value in tags.items())])
        count = min(entry.runs or self.runs, self.caps.runs or entry.runs or self.runs)
        runs = runs_from(count, self.spec.runs.first)
        return Series(label, tags, cell, runs, self.runs_per_curve)

    def _algorithm(self, name: str) -> "Definition":
        """Return an algorithm of the registry or the paper's own."""
        from dpbandits.algorithms import REGISTRY

        known = {**REGISTRY, **self.own}
        if name not in known:
            raise InputError.unknown("algorithm", name, known)
        return known[name]

    def _bandit(self, tags: Mapping[str, Any]) -> "Bandit":
        """Return the instance of a series; arguments that name a tag stand for the tag's value."""
        instance = self.named[tags[INSTANCE]] if INSTANCE in tags else self.instance
        if "make" not in instance:
            return _bandit_of(json.dumps(instance))
        name, makers = instance["make"], self.code.functions("instances")
        if not isinstance(name, str) or name not in makers:
            raise InputError.unknown("instance: make", name, makers)
        given = {
            key: tags.get(value, value) if isinstance(value, str) else value
            for key, value in instance.items()
            if key != "make"
        }
        _require_as_played(tags, given)
        made: Bandit = _evaluate(f"instance: make {name}", partial(makers[name], **given))
        return made

    def _value(self, key: str, value: Any, context: Context) -> Any:
        """Return a parameter: a number, the tag of that name, or the formula's result."""
        if not isinstance(value, str):
            return value
        if value in context.tags:
            return context.tags[value]
        formulas = self.code.functions("formulas")
        if value in formulas:
            return _evaluate(f"parameter {key}: formula {value}", formulas[value], context)
        allowed = ", ".join([*context.tags, *formulas])
        raise InputError(f"parameter {key} is {value!r}; allowed: a number or one of {allowed}")

    def fingerprint(self, root_seed: int, formulas_fingerprint: str, tuned: str = "") -> str:
        """Return the hash of all that the results depend on, except library versions."""
        algorithms = sorted({entry.algorithm for entry in self.spec.cells})
        described = {
            # The keys that the file has, so that a new default moves nothing.
            "spec": self.spec.model_dump(by_alias=True, exclude_unset=True),
            "instance": dict(self.instance),
            "scale": [self.caps.model_dump(exclude_none=True), self.horizon, self.runs],
            "root seed": root_seed,
            "algorithms": {name: self.fingerprint_of(name) for name in algorithms},
            "formulas": formulas_fingerprint,
            "tuned": tuned,
        }
        # Only where it is used, so that other results keep their fingerprints.
        if self.named:
            described["instances"] = dict(self.named)
        return digest_of(described)[:16]

    def fingerprint_of(self, name: str) -> str:
        """Return `algorithm_fingerprint`, without importing what is in the registry."""
        if name in self.own:
            from dpbandits.own.identity import algorithm_fingerprint

            return algorithm_fingerprint(self.own[name])
        if name not in registered():
            allowed = [*registered(), *self.own]
            raise InputError.unknown(f"{self.origin}: algorithm", name, allowed)
        return fingerprint(registered()[name], PLAY)


@cache
def _bandit_of(description: str) -> "Bandit":
    from dpbandits.bandits import bandit_from

    return bandit_from(json.loads(description))


def _variant(entry: CellsSpec, tags: Mapping[str, Any]) -> str:
    """Return the variant of a series: a tag of that name, or that of its entry."""
    return str(tags.get("variant", entry.variant))


def _interpretations(entry: CellsSpec, tags: Mapping[str, Any]) -> dict[str, str]:
    """Return the interpretations of a series; a value that names a tag is the tag's value."""
    return {key: str(tags.get(value, value)) for key, value in entry.interpretations.items()}


def _require_as_played(tags: Mapping[str, Any], played: Mapping[str, Any]) -> None:
    """Raise InputError where a tag says another number or word than what is played."""
    for key, value in played.items():
        if key in tags and tags[key] != value and str(tags[key]) != str(value):
            raise InputError(
                f"{key} is {tags[key]!r} under for or tags, and {value!r} is played; allowed: the "
                f"same, as by {key}: {key}, or a tag of another name"
            )


def _evaluate(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with values of the config; InputError where it fails."""
    try:
        return function(*arguments)
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{what} needs the tag {error}") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{what} cannot be computed ({error})".replace("\n", " ")) from None
