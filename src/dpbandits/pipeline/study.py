"""A paper or a comparison as its config states it: what is known, simulated, shown and claimed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from dpbandits.engine.canonical import digest_of
from dpbandits.engine.documents import load_document
from dpbandits.engine.fingerprints import fingerprint
from dpbandits.engine.models import Allowed, Count, OneOf, Sentence, Spec, Text
from dpbandits.engine.simulation_specs import Caps, ExperimentsFile, SimulationSpec
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, Paper, find_paper

if TYPE_CHECKING:
    from dpbandits.algorithms import Definition
    from dpbandits.claims.entries import Claim, Finding
    from dpbandits.claims.files import Notes, Summary
    from dpbandits.engine.experiments import SimulationPlan

PAPERS = Path("config/papers")
"""Folder of the papers, each in a folder of its short name."""

PUBLISHED, DRAFT = "published", "draft"

Panel = Annotated[str, Field(pattern="^fig[0-9]+[a-j]?$"), Allowed("a figure or panel")]
Shown = Annotated[str, Field(pattern="^[A-Z][^\n]*[.]$"), Allowed("one sentence")]


class Author(Spec):
    """One author."""

    family: Text
    given: Text | None = None


class PaperFile(Spec):
    """config/papers/PAPER/paper.yaml: what is known of the paper itself.

    Attributes:
        title: as published.
        short_title: where the title is long.
        authors: in their order.
        year: of publication.
        venue: short name of the conference or journal; none for a preprint.
        proceedings: its long name.
        arxiv: number on arXiv.
        doi: digital object identifier.
        order: place among the papers; those of one place are in the order of their names.
        state: a draft is built where it is chosen, and is in no page, count or citation.
        summary: sums up what came out, as ``summary`` of the findings, which it is by default.
        panels: what each panel of the paper's figures shows.
    """

    title: Sentence
    short_title: Sentence | None = None
    authors: Annotated[tuple[Author, ...], Field(min_length=1)]
    year: Annotated[int, Field(strict=True, ge=1900, le=2200), Allowed("a year")]
    venue: Text | None = None
    proceedings: Sentence | None = None
    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$"), Allowed("such as 2407.14879")] | (
        None
    ) = None
    doi: Annotated[str, Field(pattern=r"^10\.\d+/\S+$"), Allowed("a DOI, 10.NUMBER/NAME")] | (
        None
    ) = None
    order: Count = 1000
    state: Annotated[str, OneOf((PUBLISHED, DRAFT))] = DRAFT
    summary: dict[str, Any] | None = None
    panels: dict[Panel, Shown] = Field(default={})

    @property
    def is_published(self) -> bool:
        """Whether it is in the pages, the counts and the citations."""
        return self.state == PUBLISHED

    @property
    def credit(self) -> str:
        """The families of the authors, the venue and the year: ``A, B and C, ICML 2025``."""
        families = joined([author.family for author in self.authors])
        return f"{families}, {f'{self.venue} ' if self.venue else ''}{self.year}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas, and ``and`` before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def found_papers(folder: Path) -> Mapping[str, PaperFile]:
    """Return the papers of a project by short name, in their order.

    Args:
        folder: of the project.

    Raises:
        InputError: a folder of ``config/papers`` has no ``paper.yaml``, or one that is not as it
            must be.
    """
    folders = sorted(each for each in (folder / PAPERS).glob("[!._]*") if each.is_dir())
    papers = {each.name: load_document(each / "paper.yaml", PaperFile) for each in folders}
    if not papers:
        raise InputError(f"{folder / PAPERS}: has no paper; allowed: a folder for each")
    return dict(sorted(papers.items(), key=lambda item: (item[1].order, item[0])))


PLACEHOLDERS = ("{horizon}", "{runs}")
"""What a caption may leave to the simulations that its figure or table reads."""

LISTED = 3
"""So many different numbers are listed; of more, the smallest and the largest are given."""

Reads = Callable[[str, Mapping[str, Any]], Iterable[str]]
"""Returns the names of the results that an entry, given with its name, reads."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def with_caption(
    place: str,
    name: str,
    entry: Any,
    reads: Reads,
    plan_of: Callable[[str], "SimulationPlan | None"],
) -> Any:
    """Return the entry of a figure or table with the numbers of its caption filled in.

    Args:
        place: the entry's key, for messages.
        name: of the figure or table.
        entry: as it is in the file; what is no entry is returned as it is.
        reads: returns what it reads.
        plan_of: returns a simulation by its name; None for results that are not simulated.

    Raises:
        InputError: a placeholder is unknown, or stands for a number that nothing simulated has.
    """
    caption = entry.get("caption") if isinstance(entry, Mapping) else None
    if not isinstance(caption, str):
        return entry
    found = _PLACEHOLDER.findall(caption)
    if not found:
        return entry
    unknown = [placeholder for placeholder in found if placeholder not in PLACEHOLDERS]
    if unknown:
        allowed = ", ".join(PLACEHOLDERS)
        raise InputError(f"{place}.caption has {', '.join(unknown)}; allowed: {allowed}")
    plans = [plan for plan in map(plan_of, reads(name, entry)) if plan is not None]
    if not plans:
        raise InputError(f"{place}.caption has {found[0]}; allowed: none, no simulation is read")
    numbers = {
        "{horizon}": in_words(horizon for plan in plans for horizon in plan.horizons),
        "{runs}": in_words(plan.runs for plan in plans),
    }
    return {**entry, "caption": _PLACEHOLDER.sub(lambda found: numbers[found[0]], caption)}


def in_words(numbers: Iterable[int]) -> str:
    """Return different numbers, ascending: ``1,000``, ``10 and 20``, or ``100 to 6,400``."""
    texts = [f"{number:,}" for number in sorted(set(numbers))]
    if len(texts) > LISTED:
        return f"{texts[0]} to {texts[-1]}"
    return " and ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)


DEFAULT_TABLES: Mapping[str, Mapping[str, Any]] = {
    "claims": {
        "caption": (
            "The statements of the paper as claims, and our verdicts, each computed from simulated "
            "or exactly computed results."
        ),
        "reads": "claims",
        "long": True,
        "columns": [
            {"name": "claim", "label": "Claim"},
            {"name": "statement", "label": "Statement", "width": 62},
            {"name": "choice", "label": "Interpretation", "width": 42},
            {"name": "verdict", "label": "Verdict"},
            {"name": "interval", "label": "Estimate [interval]", "align": "right"},
            {"name": "runs", "label": "Runs", "align": "right"},
            {"name": "scale", "label": "Scale"},
            {"name": "verdict_at_paper_runs", "label": "At the paper's runs", "width": 23},
        ],
    },
}
"""Name -> entry of ``tables:``."""


def with_default_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a paper, and after them those that it leaves to the defaults.

    Args:
        tables: entries by name; one of a default's name takes from it the keys that it has not.
    """
    return {**{name: _filled(name, entry) for name, entry in tables.items()}, **_left(tables)}


def _filled(name: str, entry: Any) -> Any:
    """Return an entry with the keys of the default of its name; what is no entry as it is."""
    return {**DEFAULT_TABLES.get(name, {}), **entry} if isinstance(entry, Mapping) else entry


def _left(tables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(entry) for name, entry in DEFAULT_TABLES.items() if name not in tables}


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


@dataclass(frozen=True)
class Statements:
    """What is judged of a paper; a comparison across papers states nothing.

    Attributes:
        paper: its short name.
        claims_path: the file of its claims.
        findings_path: the file of the findings on it; it may be missing.
    """

    paper: str
    claims_path: Path
    findings_path: Path

    @property
    def is_comparison(self) -> bool:
        """Whether this is a comparison across papers."""
        return self.paper in COMPARISONS

    @cached_property
    def claims(self) -> "list[Claim]":
        """The claims, checked."""
        # Simulations and drawing do without the claims.
        from dpbandits.claims.loading import load_claims

        if self.is_comparison:
            return []
        return load_claims(self.claims_path, find_paper(self.paper).statistics)

    @cached_property
    def notes(self) -> "Notes":
        """What the file of the claims says beside them."""
        from dpbandits.claims.files import Notes
        from dpbandits.claims.loading import load_notes

        return Notes() if self.is_comparison else load_notes(self.claims_path)

    @cached_property
    def findings(self) -> "list[Finding]":
        """The findings, checked."""
        from dpbandits.claims.loading import load_findings

        if self.is_comparison or not self.findings_path.exists():
            return []
        return load_findings(self.findings_path, find_paper(self.paper).statistics)

    @cached_property
    def summary(self) -> "Summary":
        """The sentence of the findings that sums up the paper; InputError where there is none."""
        from dpbandits.claims.loading import load_summary

        path = self.findings_path
        summary = load_summary(path) if path.exists() else None
        if summary is None:
            raise InputError(f"{path}: key summary is missing; allowed: here or in paper.yaml")
        return summary

    @property
    def reads(self) -> list[str]:
        """Names of the results that the claims and the findings read, sorted."""
        entries = [*self.claims, *(finding.claim for finding in self.findings)]
        return sorted({name for claim in entries for name in claim.reads})

    @property
    def statistics(self) -> set[str]:
        """Modules of the statistics that the claims and the findings name."""
        entries = [*self.claims, *(finding.claim for finding in self.findings)]
        return {each.statistic.__module__ for claim in entries for each in claim.comparisons}

    def texts(self) -> list[str]:
        """Return the files of the claims and the findings, as far as there are any."""
        paths = [self.claims_path, self.findings_path]
        return [path.read_text(encoding="utf-8") for path in paths if path.exists()]
