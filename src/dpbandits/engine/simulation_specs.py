"""The `simulations:` of an experiments file, as models."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from dpbandits.engine.models import (
    Allowed,
    Count,
    Different,
    Name,
    OneOf,
    Sentence,
    Spec,
    Text,
    Value,
    Values,
    Variant,
    misfit,
    wrong,
)
from dpbandits.metrics.names import METRICS

FigureName = Annotated[
    str,
    Field(pattern="^(fig[0-9]+(-[a-z-]+)?|extra-[a-z0-9-]+)$"),
    Allowed("fig and a number, with -VARIANT behind it or not, or extra-NAME"),
]
TableName = Annotated[str, Field(pattern="^[a-z0-9-]+$"), Allowed("small letters, digits and -")]


class Runs(Spec):
    """Which runs are simulated: numbers ``first`` to ``first + count - 1``.

    ``runs_per_curve`` of them make one Nash curve; all where it is 0.
    """

    first: Annotated[int, Field(strict=True, ge=0), Allowed("a whole number of at least 0")]
    count: Count
    runs_per_curve: Count = 0


class Grid(Spec):
    """Times at which curves are recorded: ``points`` evenly spaced ones, and those ``at``."""

    points: Annotated[int, Field(strict=True, ge=1, le=400), Allowed("1 to 400")] | None = None
    at: tuple[Count, ...] = ()

    @model_validator(mode="after")
    def _is_not_empty(self) -> "Grid":
        if not self.model_fields_set:
            raise misfit("no key; allowed: points, at")
        return self


INSTANCE = "instance"
"""Key of ``for`` and ``tags`` whose values are names of instances."""


class CellsSpec(Spec):
    """Series of a simulation: one for each combination of the values of ``for``.

    A key ``instance`` of ``for`` or ``tags`` names the bandit of a series.
    """

    algorithm: str
    variant: Variant = "as-written"
    horizon: Annotated[str, Field(pattern="^[a-z0-9_]+$"), Allowed("the name of a formula")] = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    tags: dict[str, Value] = {}
    parameters: dict[str, Value] = {}
    interpretations: dict[str, str] = {}

    @property
    def instances(self) -> tuple[Value, ...]:
        """Names of the instances under ``for`` or ``tags``; empty where there are none."""
        tagged = (self.tags[INSTANCE],) if INSTANCE in self.tags else ()
        return tagged or self.over.get(INSTANCE, ())


class SimulationSpec(Spec):
    """One simulation.

    Attributes:
        like: another simulation, which has the keys that are not given here; they are filled in
            when the file is read (``with_likes``).
        instance: the bandit of the series that name none.
    """

    like: Name | None = None
    instance: Name | None = None
    horizon: Count
    stream: Text | None = None
    tuned_by: Name | None = None
    metrics: Annotated[tuple[Annotated[str, OneOf(METRICS)], ...], Field(min_length=1)]
    runs: Runs
    grid: Grid
    cells: Annotated[tuple[CellsSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _every_series_has_an_instance(self) -> "SimulationSpec":
        if self.instance is None and not all(entry.instances for entry in self.cells):
            raise misfit("key instance is missing, here or under for of all cells")
        return self

    @property
    def algorithms(self) -> list[str]:
        """Ids of its algorithms, sorted."""
        return sorted({cells.algorithm for cells in self.cells})

    def described(self) -> dict[str, Any]:
        """Return what its results depend on, as the file has it."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def with_likes(simulations: Mapping[str, Any]) -> dict[str, Any]:
    """Return simulations with the keys that they take from others filled in.

    Args:
        simulations: entries by name; one with a key ``like`` has the keys of the simulation of
            that name, but for those that it gives itself.

    Raises:
        PydanticCustomError: ``like`` names no other simulation, or leads back to its own.
    """
    return {name: _with_like(simulations, name, ()) for name in simulations}


def _with_like(simulations: Mapping[str, Any], name: str, path: tuple[str, ...]) -> Any:
    """Return one simulation; ``path`` has those that are like it, one after the other."""
    entry = simulations[name]
    if not isinstance(entry, Mapping) or "like" not in entry:
        return entry
    other, path = entry["like"], (*path, name)
    if not isinstance(other, str) or other not in simulations:
        allowed = ", ".join(str(each) for each in simulations if each != name) or "none"
        raise wrong(other, allowed, f"simulations.{name}.like")
    if other in path:
        allowed = "a simulation that is not like this one"
        raise wrong(other, allowed, f"simulations.{name}.like")
    given = {key: value for key, value in entry.items() if key != "like"}
    of_other = _with_like(simulations, other, path)
    return {**of_other, **given} if isinstance(of_other, Mapping) else given


class Caps(Spec):
    """Largest number of runs and horizon at the quick scale."""

    runs: Count | None = None
    horizon: Count | None = None


class ExperimentsFile(Spec):
    """config/papers/PAPER/experiments.yaml: what is simulated, drawn and tabulated.

    Figures and tables are parsed where they are made. ``title`` is that of a comparison across
    papers; a paper has its own in ``paper.yaml``.
    """

    paper: str
    title: Sentence = ""
    instances: Annotated[dict[str, dict[str, Any]], Field(min_length=1)] = {}
    quick: Caps = Caps()
    analytic: Annotated[tuple[str, ...], Different, Allowed("a list of different names")] = ()
    scaled: Annotated[tuple[str, ...], Different, Allowed("a list of different names")] = ()
    figures: dict[FigureName, Any] = {}
    tables: dict[TableName, Any] = {}
    simulations: Annotated[dict[str, SimulationSpec], Field(min_length=1)] = {}

    @model_validator(mode="before")
    @classmethod
    def _fill_in_likes(cls, document: Any) -> Any:
        given = document.get("simulations") if isinstance(document, Mapping) else None
        return (
            {**document, "simulations": with_likes(given)} if isinstance(given, dict) else document
        )

    @model_validator(mode="after")
    def _instances_have_a_law(self) -> "ExperimentsFile":
        for name, instance in self.instances.items():
            if ("law" in instance) == ("make" in instance):
                allowed = "a mapping with the key law, or with the key make"
                raise wrong(instance, allowed, f"instances.{name}")
        return self
