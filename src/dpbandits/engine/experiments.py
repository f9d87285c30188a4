"""From `config/papers/PAPER/experiments.yaml` to cells: tags, formulas, grids and scales."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from dpbandits.engine.canonical import digest_of
from dpbandits.engine.fingerprints import (
    EXECUTE,
    GUARANTEES,
    LOCKSTEP,
    TRIALS_OF,
    fingerprint,
    registered,
)
from dpbandits.engine.formulas import Context, Formula
from dpbandits.engine.simulation_specs import INSTANCE, Caps, CellsSpec, SimulationSpec
from dpbandits.errors import InputError
from dpbandits.metrics.names import IDENTIFIED, NASH

# A workflow asks for fingerprints, runs and horizons; cells take a second to import.
if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.algorithms import Definition
    from dpbandits.bandits import Bandit
    from dpbandits.engine.cells import Cell

FEW_TRIALS = 1000
"""So many trials of an identification are played sooner than a second process starts."""


@dataclass(frozen=True)
class Series:
    """One curve of a simulation: its label, its tags and its cell."""

    label: str
    tags: Mapping[str, Any]
    cell: "Cell"


@dataclass(frozen=True)
class SimulationPlan:
    """One named simulation of a paper, at one scale.

    Attributes:
        name: its key in the YAML file.
        spec: the entry.
        instance: the description of its bandit, or the paper's instance that ``make`` names; empty
            where every series names its own.
        caps: largest number of runs and horizon at this scale.
        formulas: the paper's formulas by name.
        origin: file and key, for error messages.
        makers: the paper's instances by name, functions of keyword arguments.
        own: the paper's own algorithms, which are not in the registry, by id.
        named: the descriptions of the instances that series name, by name.
    """

    name: str
    spec: SimulationSpec
    instance: Mapping[str, Any]
    caps: Caps
    formulas: Mapping[str, Formula]
    origin: str
    makers: Mapping[str, Callable[..., "Bandit"]] = field(default_factory=dict)
    own: Mapping[str, "Definition"] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def horizon(self) -> int:
        """Number of rounds at this scale."""
        return min(self.spec.horizon, self.caps.horizon or self.spec.horizon)

    @cached_property
    def horizons(self) -> tuple[int, ...]:
        """Horizons of its series at this scale, ascending: one, unless series have their own.

        Raises:
            InputError: a tag is no horizon, or a formula computes them from what is known after
                tuning only.
        """
        if any(entry.horizon for entry in self.spec.cells):
            return tuple(sorted({series.cell.horizon for series in self.series()}))
        try:
            found = {
                _computed("tag horizon", int, {**tags, **entry.tags}.get("horizon", self.horizon))
                for entry in self.spec.cells
                for tags in _products(entry.over)
                if self._fits(tags)
            }
        except InputError as error:
            raise InputError(f"{self.origin}: {error}") from None
        return tuple(sorted(found)) or (self.horizon,)

    @property
    def runs(self) -> int:
        """Number of runs at this scale."""
        return min(self.spec.runs.count, self.caps.runs or self.spec.runs.count)

    @property
    def runs_per_curve(self) -> int:
        """Number of runs that make one Nash curve at this scale; 0 for all of them."""
        return min(self.spec.runs.runs_per_curve, self.runs)

    @property
    def in_lockstep(self) -> bool:
        """Whether its runs make Nash curves, and are played together."""
        return not set(self.spec.metrics).isdisjoint(NASH)

    @property
    def is_brief(self) -> bool:
        """Whether a worker process costs more time than a second one would save."""
        return self.runs <= FEW_TRIALS and set(self.spec.metrics) <= set(IDENTIFIED)

    @property
    def tuned_by(self) -> str | None:
        """Name of the simulation whose results set the parameters, or None."""
        return self.spec.tuned_by

    def algorithm(self, name: str) -> "str | Definition":
        """Return an algorithm of the paper's own, or the id of another."""
        return self.own.get(name, name)

    def grid(self, horizon: int) -> tuple[int, ...]:
        """Times at which curves are recorded; those past the horizon of a small scale fall away.

        Raises:
            InputError: the horizon is below 1.
        """
        if horizon < 1:
            raise InputError(f"horizon is {horizon}; allowed: at least 1")
        import numpy as np

        times, points = set(self.spec.grid.at), self.spec.grid.points
        if points is not None:
            spaced = np.linspace(horizon / points, horizon, points)
            times |= {int(t) for t in np.unique(np.ceil(spaced))}
        return tuple(sorted(t for t in times | {horizon} if t <= horizon))

    def _fits(self, tags: Mapping[str, Any]) -> bool:
        """Return whether a series stands at this scale: a tag ``horizon`` is its own horizon."""
        horizon: int = _computed("tag horizon", int, tags.get("horizon", 1))
        return self.caps.horizon is None or horizon <= self.caps.horizon

    def series(self, tuned: "pd.DataFrame | None" = None) -> list[Series]:
        """Return every series with its cell, in the order of the file.

        Args:
            tuned: results of the simulation ``tuned_by``, where there is one.

        Raises:
            InputError: anything unknown or out of range, naming the file and the key.
        """
        return list(self._before_tuning if tuned is None else self._expand(tuned))

    @cached_property
    def _before_tuning(self) -> tuple[Series, ...]:
        """The series as they are without tuned parameters: asked for often, slow to expand."""
        return tuple(self._expand(None))

    def _expand(self, tuned: "pd.DataFrame | None") -> list[Series]:
        try:
            found = [
                self._series(entry, tags, tuned)
                for entry in self.spec.cells
                for tags in _products(entry.over)
                if self._fits(tags)
            ]
        except InputError as error:
            raise InputError(f"{self.origin}: {error}") from None
        for label, count in Counter(each.label for each in found).items():
            if count > 1:
                raise InputError(f"{self.origin}: two series are {label!r}; allowed: one each")
        return found

    def check(self) -> None:
        """Raise InputError where a series is not allowed, as far as is known before tuning."""
        if self.tuned_by is None:
            self.series()
            return
        from dpbandits.algorithms import find_definition

        try:
            for entry in self.spec.cells:
                algorithm = find_definition(self.algorithm(entry.algorithm))
                for tags in _products(entry.over):
                    variant = algorithm.require_variant(_variant(entry, tags))
                    algorithm.interpretations_from(_interpretations(entry, tags), variant)
        except InputError as error:
            raise InputError(f"{self.origin}: {error}") from None

    def _series(
        self,
        entry: CellsSpec,
        bindings: Mapping[str, Any],
        tuned: "pd.DataFrame | None",
    ) -> Series:
        from dpbandits.engine.cells import make_cell

        tags = {**bindings, **entry.tags}
        bandit = self._bandit(tags)
        horizon = _computed("tag horizon", int, tags.get("horizon", self.horizon))
        context = Context(tags, horizon, len(bandit.arms), tuned)
        if entry.horizon:
            value = self._value("horizon", entry.horizon, context)
            horizon = _computed("horizon", int, value)
            tags["horizon"] = horizon
            context = Context(tags, horizon, len(bandit.arms), tuned)
        cell = make_cell(
            algorithm=self.algorithm(entry.algorithm),
            parameters={
                key: self._value(key, value, context) for key, value in entry.parameters.items()
            },
            variant=_variant(entry, tags),
            interpretations=_interpretations(entry, tags),
            bandit=bandit,
            horizon=horizon,
            first_run=self.spec.runs.first,
            runs=self.runs,
            metrics=self.spec.metrics,
            grid=self.grid(horizon),
            stream=self.spec.stream,
            runs_per_curve=self.runs_per_curve,
        )
        label = " ".join([entry.algorithm, *(f"{key}={value}" for key, value in tags.items())])
        return Series(label, tags, cell)

    def _bandit(self, tags: Mapping[str, Any]) -> "Bandit":
        """Return the instance of a series; arguments that name a tag stand for the tag's value."""
        instance = self.named[tags[INSTANCE]] if INSTANCE in tags else self.instance
        if "make" not in instance:
            return _bandit_of(json.dumps(instance))
        name = instance["make"]
        if not isinstance(name, str) or name not in self.makers:
            allowed = ", ".join(self.makers) or "none"
            raise InputError(f"instance: make is {name!r:.100}; allowed: {allowed}")
        given = {key: value for key, value in instance.items() if key != "make"}
        for key, value in given.items():
            given[key] = tags.get(value, value) if isinstance(value, str) else value
        made: Bandit = _computed(f"instance: make {name}", partial(self.makers[name], **given))
        return made

    def _value(self, key: str, value: Any, context: Context) -> Any:
        """Return a parameter: a number, the tag of that name, or what the formula makes of it."""
        if not isinstance(value, str):
            return value
        if value in context.tags:
            return context.tags[value]
        if value in self.formulas:
            return _computed(f"parameter {key}: formula {value}", self.formulas[value], context)
        allowed = ", ".join([*context.tags, *self.formulas])
        raise InputError(f"parameter {key} is {value!r}; allowed: a number or one of {allowed}")

    def fingerprint(self, root_seed: int, formulas_fingerprint: str, tuned: str = "") -> str:
        """Return the hash of all that the results depend on but library versions.

        Args:
            root_seed: root of the random streams.
            formulas_fingerprint: fingerprint of the module that holds the paper's formulas.
            tuned: fingerprint of the simulation ``tuned_by``.
        """
        return digest_of(
            {
                "spec": self.spec.described(),
                "instance": dict(self.instance),
                "scale": [self.caps.model_dump(exclude_none=True), self.horizon, self.runs],
                "root seed": root_seed,
                "algorithms": {
                    name: self._algorithm_fingerprint(name) for name in self.spec.algorithms
                },
                "formulas": formulas_fingerprint,
                "tuned": tuned,
                # Results of simulations without it keep the fingerprint that they have.
                **({"instances": dict(self.named)} if self.named else {}),
            }
        )[:16]

    def _algorithm_fingerprint(self, name: str) -> str:
        """Return `cells.algorithm_fingerprint`, without importing what is in the registry."""
        if name in self.own:
            from dpbandits.engine.cells import algorithm_fingerprint

            return algorithm_fingerprint(self.own[name], self.spec.metrics)
        if name not in registered():
            raise InputError.unknown(f"{self.origin}: algorithm", name, registered())
        engine = LOCKSTEP if self.in_lockstep else EXECUTE
        if set(self.spec.metrics) <= set(IDENTIFIED):
            engine = TRIALS_OF
        return fingerprint(registered()[name], engine, without=GUARANTEES)


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


def _products(bindings: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*bindings.values()):
        yield dict(zip(bindings, values, strict=True))


def _computed(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function makes of values of the config; InputError where it makes nothing."""
    try:
        return function(*arguments)
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{what} needs the tag {error}") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{what} cannot be computed ({error})".replace("\n", " ")) from None


def refuse_shared_cells(plans: Mapping[str, SimulationPlan]) -> None:
    """Raise InputError where one cell stands in two simulations (tuned ones are not known yet)."""
    seen: dict[tuple[str, int], str] = {}
    for name, plan in plans.items():
        if plan.tuned_by is not None:
            continue
        for series in plan.series():
            blocks = series.cell.blocks()
            # All blocks of a cell have one description; there are many, and hashing is slow.
            description = digest_of(blocks[0].description)
            for block in blocks:
                if seen.setdefault((description, block.first_run), name) != name:
                    raise InputError(
                        f"{plan.origin}: series {series.label!r} stands in "
                        f"{seen[description, block.first_run]} too; "
                        f"allowed: each cell in one simulation"
                    )
