"""A project folder: its config, its plans, where its outputs lie and what they are made from."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.entries import Claim, Finding
from dpbandits.claims.files import Notes, Summary
from dpbandits.claims.loading import load_claims, load_findings, load_notes, load_summary
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.documents import load_document, load_yaml, parsed
from dpbandits.engine.experiments import Series, SimulationPlan, refuse_shared_cells
from dpbandits.engine.fingerprints import fingerprint
from dpbandits.engine.results import read_results
from dpbandits.engine.simulation_specs import Caps, ExperimentsFile, SimulationSpec
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, Paper, find_paper
from dpbandits.project.config_file import ConfigFile
from dpbandits.reporting.digitised import with_digitised
from dpbandits.reporting.specs import figure_stems, parse_figure
from dpbandits.reporting.table_specs import parse_table

CONFIG = Path("config/config.yaml")


@dataclass(frozen=True)
class Experiments:
    """The experiments file of one paper, checked."""

    paper: Paper
    path: Path
    file: ExperimentsFile
    scale: str

    @cached_property
    def plans(self) -> dict[str, SimulationPlan]:
        """Every simulation by name."""
        caps = self.file.quick if self.scale == "quick" else Caps()
        simulations = self.file.simulations
        return {name: self._plan(name, spec, caps) for name, spec in simulations.items()}

    @property
    def title(self) -> str:
        """Title of the paper."""
        return self.file.title

    @property
    def authors(self) -> str:
        """Who wrote the paper, and when; empty for what is ours."""
        return self.file.authors

    @property
    def analytic(self) -> list[str]:
        """Names of the exactly computed results."""
        return list(self.file.analytic)

    @property
    def figures(self) -> list[str]:
        """Names of the figures, those of the paper and ours."""
        return list(self.file.figures)

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return list(self.file.tables)

    def _plan(self, name: str, spec: SimulationSpec, caps: Caps) -> SimulationPlan:
        where = f"{self.path}: simulations.{name}"
        instances = self.file.instances
        if spec.instance not in instances:
            allowed = ", ".join(instances)
            raise InputError(f"{where}.instance is {spec.instance!r}; allowed: {allowed}")
        if spec.tuned_by is not None and spec.tuned_by not in set(self.file.simulations) - {name}:
            raise InputError(f"{where}.tuned_by is {spec.tuned_by!r}; allowed: another simulation")
        instance = instances[spec.instance]
        makers = self.paper.instances
        return SimulationPlan(name, spec, instance, caps, self.paper.formulas, where, makers)

    def plan(self, name: str) -> SimulationPlan:
        """Return one simulation; InputError if there is none of that name."""
        if name not in self.plans:
            allowed = ", ".join(self.plans)
            raise InputError(f"{self.path}: simulation is {name!r}; allowed: {allowed}")
        return self.plans[name]


@dataclass(frozen=True)
class Project:
    """A folder with ``config/`` and ``workflow/``, at one scale and root seed."""

    folder: Path
    config: Mapping[str, Any]

    @classmethod
    def load(cls, folder: Path = Path(), config: Mapping[str, Any] | None = None) -> "Project":
        """Read and check the config of a folder; a config already read (and changed) may be given.

        Raises:
            InputError: config is no mapping, or a key is unknown, missing, not allowed or given
                twice in the file.
        """
        path = folder / CONFIG
        # Snakemake has read it too, but keeps the last of two equal keys.
        stated = load_yaml(path)
        document = dict(config) if config is not None else stated
        parsed(document, path, ConfigFile)
        project = cls(folder, document)
        project.selected()
        return project

    def at(
        self,
        *,
        scale: str | None = None,
        seed: int | None = None,
        papers: Sequence[str] | None = None,
        comparisons: Sequence[str] | None = None,
        only: str | None = None,
    ) -> "Project":
        """Return the project at another scale or root seed or choice, where one is given.

        Args:
            scale: ``paper`` or ``quick``.
            seed: root of all random streams, from 0.
            papers: short names of the papers to build; ``comparisons`` and ``only`` then hold as
                given.
            comparisons: names of the comparisons across papers to build.
            only: one paper, or one figure or table as PAPER/NAME.

        Raises:
            InputError: one of them is not allowed.
        """
        changes: dict[str, Any] = {"scale": scale, "seed": seed, "only": only}
        given = {key: value for key, value in changes.items() if value is not None}
        if papers is not None:
            # A whole choice: what the config says of one item is none of it.
            given |= {"papers": list(papers), "comparisons": list(comparisons or ()), "only": only}
        return Project.load(self.folder, {**self.config, **given}) if given else self

    @property
    def scale(self) -> str:
        """Either ``paper`` or ``quick``."""
        return str(self.config["scale"])

    @property
    def seed(self) -> int:
        """Root of all random streams."""
        return int(self.config["seed"])

    @property
    def cache_folder(self) -> Path:
        """Folder of the caches."""
        return self.folder / str(self.config["cache"])

    @property
    def threads(self) -> int:
        """Number of threads of a simulation that is worth them."""
        return int(self.config.get("threads", 8))

    @property
    def max_jobs_per_simulation(self) -> int:
        """Largest number of jobs that one simulation is split into."""
        return int(self.config.get("max_jobs_per_simulation", 1))

    @property
    def numba_cache_dir(self) -> str | None:
        """Folder of compiled kernels, as the shell of a job reads it; None in the cache folder."""
        return self.config.get("numba_cache_dir")

    def config_path(self, paper: str, kind: str) -> Path:
        """Return the config file of a paper or comparison.

        Args:
            paper: its short name.
            kind: ``experiments``, ``claims``, ``findings`` or ``errata``; a comparison has
                experiments alone, in a file of its name.
        """
        if paper in COMPARISONS:
            return self.folder / "config/comparisons" / f"{paper}.yaml"
        return self.folder / "config/papers" / paper / f"{kind}.yaml"

    def results_folder(self) -> Path:
        """Folder of the results at this scale."""
        return self.folder / "results" / ("quick" if self.scale == "quick" else "")

    def results_path(self, paper: str, name: str) -> Path:
        """File of one simulation's (or analytic) results."""
        return self.results_folder() / paper / f"{name}.parquet"

    def figures_folder(self, paper: str) -> Path:
        """Folder of a paper's figures at this scale."""
        return self.folder / "figures" / ("quick" if self.scale == "quick" else "") / paper

    def tables_folder(self, paper: str) -> Path:
        """Folder of a paper's tables at this scale."""
        return self.results_folder() / "tables" / paper

    @cached_property
    def _experiments(self) -> dict[str, Experiments]:
        return {}

    def experiments(self, paper: str) -> Experiments:
        """Return the experiments of a paper, read and checked once."""
        if paper not in self._experiments:
            found = find_paper(paper)
            path = self.config_path(paper, "experiments")
            file = load_document(path, ExperimentsFile)
            figures = with_digitised(file.figures, path)
            file = file.model_copy(update={"figures": figures})
            self._experiments[paper] = Experiments(found, path, file, self.scale)
        return self._experiments[paper]

    def results_fingerprint(self, paper: str, name: str) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date."""
        experiments = self.experiments(paper)
        package = experiments.paper.package
        if name in experiments.analytic:
            return digest_of([name, fingerprint(f"{package}.analytic")])[:16]
        plan = experiments.plan(name)
        tuned = self.results_fingerprint(paper, plan.tuned_by) if plan.tuned_by else ""
        own = [f"{package}.formulas"]
        if "make" in plan.instance:
            own.append(f"{package}.instances")
        return plan.fingerprint(self.seed, fingerprint(*own), tuned)

    def frame(self, paper: str, name: str) -> pd.DataFrame:
        """Read the results ``name``; InputError if they are missing, damaged or stale."""
        return read_results(self.results_path(paper, name), self.results_fingerprint(paper, name))

    def series(self, paper: str, name: str) -> list[Series]:
        """Return every series of a simulation; results that tune it are read where it has some."""
        plan = self.experiments(paper).plan(name)
        return plan.series(self.frame(paper, plan.tuned_by) if plan.tuned_by else None)

    def figure_spec(self, paper: str, figure: str) -> Mapping[str, Any]:
        """Return the entry of a figure; InputError if there is none of that name."""
        return self._entry(paper, "figures", figure)

    def table_spec(self, paper: str, table: str) -> Mapping[str, Any]:
        """Return the entry of a table; InputError if there is none of that name."""
        return self._entry(paper, "tables", table)

    def _entry(self, paper: str, section: str, name: str) -> Mapping[str, Any]:
        experiments = self.experiments(paper)
        entries = getattr(experiments.file, section)
        if name not in entries:
            allowed = ", ".join(entries)
            raise InputError(f"{experiments.path}: {section} has no {name!r}; allowed: {allowed}")
        entry: Mapping[str, Any] = entries[name]
        return entry

    def claims_path(self, paper: str) -> Path:
        """File that states a paper's claims."""
        return self.config_path(paper, "claims")

    def claims(self, paper: str) -> list[Claim]:
        """Return the claims of a paper, checked; what is ours has none."""
        if paper in COMPARISONS:
            return []
        statistics = find_paper(paper).statistics
        return load_claims(self.claims_path(paper), statistics)

    def notes(self, paper: str) -> Notes:
        """Return what a paper's claims file says beside its claims; what is ours has none."""
        if paper in COMPARISONS:
            return Notes()
        return load_notes(self.claims_path(paper))

    def findings_path(self, paper: str) -> Path:
        """File that states what was found beyond a paper's statements; it may be missing."""
        return self.config_path(paper, "findings")

    def findings(self, paper: str) -> list[Finding]:
        """Return the findings on a paper, checked; none where it has no such file."""
        path = self.findings_path(paper)
        if paper in COMPARISONS or not path.exists():
            return []
        return load_findings(path, find_paper(paper).statistics)

    def summary(self, paper: str) -> Summary:
        """Return the sentence that sums up a paper.

        Raises:
            InputError: its findings file has none.
        """
        summary = load_summary(self.findings_path(paper))
        if summary is None:
            raise InputError(f"{self.findings_path(paper)}: key summary is missing")
        return summary

    def selected(self) -> tuple[list[str], str | None]:
        """Return the papers to build and the one figure or table, where ``only`` names it.

        There are no papers where ``only`` names what is ours.
        """
        only = self.config.get("only")
        papers = list(self.config["papers"])
        comparisons = list(self.config.get("comparisons", ()))
        if only is None:
            return papers, None
        name, _, item = str(only).partition("/")
        if name not in [*papers, *comparisons]:
            allowed = ", ".join([*papers, *comparisons])
            raise InputError(f"{self.folder / CONFIG}: only is {only!r}; allowed: one of {allowed}")
        return [name] if name in papers else [], item or None

    def built(self) -> list[str]:
        """Return the papers to build and what is ours across papers, by name."""
        only = self.config.get("only")
        if only is None:
            return [*self.config["papers"], *self.config.get("comparisons", ())]
        return [str(only).partition("/")[0]]

    def check(self) -> None:
        """Check every file that a build of the chosen papers reads."""
        for paper in self.built():
            experiments = self.experiments(paper)
            self._check_item(experiments)
            for plan in experiments.plans.values():
                plan.check()
            refuse_shared_cells(experiments.plans)
            with _naming(experiments.path):
                for figure in experiments.figures:
                    parse_figure(figure, self.figure_spec(paper, figure))
                for table in experiments.tables:
                    parse_table(table, self.table_spec(paper, table))
            with _naming(self.claims_path(paper)):
                self._check_claims(paper)

    def _check_item(self, experiments: Experiments) -> None:
        """Refuse an ``only`` whose figure or table there is none of: nothing would be built."""
        item = str(self.config.get("only") or "").partition("/")[2]
        allowed = [*experiments.figures, *experiments.tables, "claims", "digitised"]
        if item and item not in allowed:
            only = self.config["only"]
            raise InputError(
                f"{self.folder / CONFIG}: only is {only!r}; allowed of this paper: "
                f"{', '.join(allowed)}"
            )

    def _check_claims(self, paper: str) -> None:
        """Refuse a claim that reads results, or names a figure or table, that nothing makes."""
        experiments = self.experiments(paper)
        figures = experiments.file.figures
        stems = [stem for name in figures for stem in figure_stems(name, figures[name])]
        allowed = {
            "reads": {*experiments.plans, *experiments.analytic},
            "figure": {*stems, *experiments.tables},
        }
        claims = self.claims(paper)
        findings = self.findings(paper)
        places = [(f"{self.claims_path(paper)}: claims", claim) for claim in claims]
        places += [(f"{self.findings_path(paper)}: findings", each.claim) for each in findings]
        for place, claim in places:
            for key, given in (("reads", claim.reads), ("figure", claim.figures)):
                _refuse_unknown(f"{place}.{claim.id}.{key}", given, allowed[key])
        known = {claim.id for claim in claims} | set(self.notes(paper).withdrawn)
        for each in findings:
            place = f"{self.findings_path(paper)}: findings.{each.claim.id}.claims"
            _refuse_unknown(place, each.beside, known)


def _refuse_unknown(place: str, given: Sequence[str], allowed: set[str]) -> None:
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise InputError(f"{place} has {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let every line on what is wrong begin with the file, where it does not yet."""
    try:
        yield
    except InputError as error:
        line = str(error)
        raise InputError(line if str(path) in line else f"{path}: {line}") from None
