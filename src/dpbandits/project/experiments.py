"""The experiments file of a paper: its simulations, exact results, figures and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.engine.canonical import digest_of
from dpbandits.engine.documents import load_document
from dpbandits.engine.fingerprints import fingerprint
from dpbandits.engine.simulation_specs import Caps, ExperimentsFile, SimulationSpec
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, Paper, find_paper
from dpbandits.project.captions import Reads, with_caption
from dpbandits.project.default_tables import with_default_tables
from dpbandits.project.paper_file import PaperFile

if TYPE_CHECKING:
    from dpbandits.algorithms import Definition
    from dpbandits.engine.experiments import SimulationPlan

NOT_SIMULATED = ("claims", "digitised")
"""What tables read that is neither simulated nor an exact result."""


@dataclass(frozen=True)
class Experiments:
    """The experiments file of one paper, checked.

    Attributes:
        paper: the paper's own code.
        path: the file.
        file: what it says; figures and tables are parsed where they are made.
        scale: ``paper`` or ``quick``.
        about: what is known of the paper itself; None for a comparison across papers.
    """

    paper: Paper
    path: Path
    file: ExperimentsFile
    scale: str
    about: PaperFile | None = None

    @classmethod
    def load(
        cls, name: str, path: Path, scale: str, about: PaperFile | None = None
    ) -> "Experiments":
        """Read the experiments file of a paper.

        Args:
            name: the paper's short name.
            path: the file.
            scale: ``paper`` or ``quick``.
            about: what is known of the paper itself; None for a comparison across papers.

        Raises:
            InputError: the file is not as it must be.
        """
        return cls(find_paper(name), path, load_document(path, ExperimentsFile), scale, about)

    @property
    def title(self) -> str:
        """Title of the paper or comparison."""
        return self.about.title if self.about else self.file.title

    @property
    def authors(self) -> str:
        """Authors and year of the paper; empty for a comparison across papers."""
        return self.about.credit if self.about else ""

    @property
    def simulations(self) -> Mapping[str, SimulationSpec]:
        """Every simulation as it is stated, by name."""
        return self.file.simulations

    @property
    def analytic(self) -> list[str]:
        """Names of the exactly computed results."""
        return list(self.file.analytic)

    @property
    def scaled(self) -> list[str]:
        """Names of the analytic results that depend on the scale and on the root seed."""
        return list(self.file.scaled)

    @property
    def figures(self) -> list[str]:
        """Names of the figures, supplementary ones too."""
        return list(self.file.figures)

    @property
    def tables(self) -> list[str]:
        """Names of the tables, those that every paper has too."""
        return list(self._tables)

    @property
    def _tables(self) -> Mapping[str, Any]:
        is_paper = self.paper.name not in COMPARISONS
        return with_default_tables(self.file.tables) if is_paper else self.file.tables

    @cached_property
    def figure_specs(self) -> Mapping[str, Mapping[str, Any]]:
        """The entry of every figure, by name, digitised values and numbers of captions filled in.

        Raises:
            InputError: the file of digitised values is missing, damaged or names no curve here; a
                caption has an unknown placeholder.
        """
        # Simulations do without the modules of reporting.
        from dpbandits.reporting.digitised import with_digitised
        from dpbandits.reporting.specs import figure_reads

        figures = with_digitised(self.file.figures, self.path)
        return self._with_captions("figures", figures, figure_reads)

    @cached_property
    def table_specs(self) -> Mapping[str, Mapping[str, Any]]:
        """The entry of every table, by name, defaults and numbers of captions filled in.

        Raises:
            InputError: a caption has an unknown placeholder.
        """
        # Simulations do without the modules of reporting.
        from dpbandits.reporting.table_specs import table_reads

        return self._with_captions("tables", self._tables, table_reads)

    def _with_captions(
        self, section: str, entries: Mapping[str, Any], reads: Reads
    ) -> Mapping[str, Any]:
        try:
            return {
                name: with_caption(f"{section}.{name}", name, entry, reads, self._plan_read)
                for name, entry in entries.items()
            }
        except InputError as error:
            line = str(error)
            raise InputError(line if str(self.path) in line else f"{self.path}: {line}") from None

    def _plan_read(self, name: str) -> "SimulationPlan | None":
        """Return a simulation that is read; None for verdicts, digitised and exact values."""
        return None if name in NOT_SIMULATED or name in self.analytic else self.plan(name)

    def figure_spec(self, figure: str) -> Mapping[str, Any]:
        """Return the entry of a figure; InputError if there is none of that name."""
        return self._entry("figure", self.figure_specs, figure)

    def table_spec(self, table: str) -> Mapping[str, Any]:
        """Return the entry of a table; InputError if there is none of that name."""
        return self._entry("table", self.table_specs, table)

    def _entry(self, section: str, entries: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        if name not in entries:
            raise InputError.unknown(f"{self.path}: {section}", name, entries)
        entry: Mapping[str, Any] = entries[name]
        return entry

    @cached_property
    def plans(self) -> dict[str, "SimulationPlan"]:
        """Every simulation by name."""
        return {name: self._plan(name, spec) for name, spec in self.simulations.items()}

    def plan(self, name: str) -> "SimulationPlan":
        """Return one simulation; InputError if there is none of that name."""
        if name not in self.plans:
            raise InputError.unknown(f"{self.path}: simulation", name, self.plans)
        return self.plans[name]

    def _plan(self, name: str, spec: SimulationSpec) -> "SimulationPlan":
        # Kernels take half a second to import.
        from dpbandits.engine.experiments import SimulationPlan

        where = f"{self.path}: simulations.{name}"
        if spec.instance is not None:
            self._require_instance(spec.instance, f"{where}.instance")
        named = [(i, name) for i, entry in enumerate(spec.cells) for name in entry.instances]
        for index, each in named:
            self._require_instance(each, f"{where}.cells.{index}: instance")
        if spec.tuned_by is not None and spec.tuned_by not in set(self.simulations) - {name}:
            raise InputError(f"{where}.tuned_by is {spec.tuned_by!r}; allowed: another simulation")
        caps = self.file.quick if self.scale == "quick" else Caps()
        instances = self.file.instances
        return SimulationPlan(
            name,
            spec,
            {} if spec.instance is None else instances[spec.instance],
            caps,
            self.paper.formulas,
            where,
            self.paper.instances,
            self.algorithms,
            {str(each): instances[str(each)] for _, each in named},
        )

    def _require_instance(self, name: str | float, where: str) -> None:
        """Raise InputError where there is no instance of that name."""
        if name not in self.file.instances:
            raise InputError.unknown(where, name, self.file.instances)

    @cached_property
    def algorithms(self) -> Mapping[str, "Definition"]:
        """The paper's own algorithms by id: one in each Python file beside its config.

        Files that begin with ``_`` are imported by others and hold none.

        Raises:
            InputError: a file has no algorithm, or two have the same id.
        """
        # Kernels take half a second to import.
        from dpbandits.engine.own_algorithm import load_algorithm

        found: dict[str, Definition] = {}
        for path in sorted(self.path.parent.glob("[!_]*.py")):
            algorithm = load_algorithm(path)
            if algorithm.id in found:
                raise InputError(f"{path}: id is {algorithm.id!r}, as in another file beside it")
            found[algorithm.id] = algorithm
        return found

    def results_fingerprint(self, name: str, seed: int) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date.

        Args:
            name: a simulation or an exact result.
            seed: root of all random streams.
        """
        if name in self.analytic:
            given = [self.scale, seed] if name in self.scaled else []
            sources = self.paper.modules("analytic")
            return digest_of([name, fingerprint(*sources), *given])[:16]
        plan = self.plan(name)
        tuned = self.results_fingerprint(plan.tuned_by, seed) if plan.tuned_by else ""
        sources = self.paper.modules("formulas")
        if any("make" in instance for instance in (plan.instance, *plan.named.values())):
            sources += self.paper.modules("instances")
        return plan.fingerprint(seed, fingerprint(*sources), tuned)
