"""The `simulations:` of an experiments file, as models."""

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

FigureName = Annotated[
    str,
    Field(pattern="^(fig[0-9]+(-[a-z-]+)?|extra-[a-z0-9-]+)$"),
    Allowed("fig and a number, with -VARIANT behind it or not, or extra-NAME"),
]
TableName = Annotated[str, Field(pattern="^[a-z0-9-]+$"), Allowed("small letters, digits and -")]

METRICS = (
    *("pseudo_regret", "realised_regret", "pulls", "inverse_counts"),
    *("success", "total_pulls", "recommended"),
    *("nash_regret", "nash_influence", "nash_bins"),
    *("nominal_nash_regret", "nominal_nash_influence", "nominal_nash_bins"),
)
"""What a simulation may record."""


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


class CellsSpec(Spec):
    """Series of a simulation: one for each combination of the values of ``for``."""

    algorithm: str
    variant: Variant = "as-written"
    horizon: Annotated[str, Field(pattern="^[a-z0-9_]+$"), Allowed("the name of a formula")] = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    tags: dict[str, Value] = {}
    parameters: dict[str, Value] = {}
    interpretations: dict[str, str] = {}


class SimulationSpec(Spec):
    """One simulation."""

    instance: Name
    horizon: Count
    stream: Text | None = None
    tuned_by: Name | None = None
    shards: Count = 1
    metrics: Annotated[tuple[Annotated[str, OneOf(METRICS)], ...], Field(min_length=1)]
    runs: Runs
    grid: Grid
    cells: Annotated[tuple[CellsSpec, ...], Field(min_length=1)]

    @property
    def algorithms(self) -> list[str]:
        """Ids of its algorithms, sorted."""
        return sorted({cells.algorithm for cells in self.cells})

    def described(self) -> dict[str, Any]:
        """Return what its results depend on, as the file has it."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={"shards"})


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

    @model_validator(mode="after")
    def _instances_have_a_law(self) -> "ExperimentsFile":
        for name, instance in self.instances.items():
            if ("law" in instance) == ("make" in instance):
                allowed = "a mapping with the key law, or with the key make"
                raise wrong(instance, allowed, f"instances.{name}")
        return self
