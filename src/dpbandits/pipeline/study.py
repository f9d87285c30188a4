"""A paper or a comparison as its config states it: what is known, simulated, shown and claimed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, StrictInt

from dpbandits.config.claims import (
    Claim,
    ClaimsFile,
    Finding,
    FindingsFile,
    Notes,
    Summary,
    claims_of,
    findings_of,
)
from dpbandits.config.documents import (
    Count,
    Sentence,
    Spec,
    Text,
    load_document,
    naming,
    validated,
)
from dpbandits.config.experiments import Caps, ExperimentsFile, SimulationPlan, SimulationSpec
from dpbandits.engine.identity import (
    PACKAGE,
    SOURCES,
    _imports_of,
    digest_of,
    fingerprint,
    path_of,
    registered,
    sources_of,
)
from dpbandits.errors import InputError
from dpbandits.papers import Paper, find_paper
from dpbandits.reporting.palette import ALGORITHMS
from dpbandits.reporting.spec import FigureSpec, Looks, TableSpec, parse_figure, parse_table

# A workflow asks for names, fingerprints and captions: what simulates and judges takes seconds to
# import.
if TYPE_CHECKING:
    from dpbandits.algorithms import Definition
    from dpbandits.config.claims import Quantity

PAPERS = Path("config/papers")
"""Folder of the papers, each in a folder of its short name."""

VOCABULARY = "dpbandits.claims.measure"
"""Quantities of every paper, which the claims of some name."""

Panel = Annotated[str, Field(pattern="^fig[0-9]+[a-j]?$")]
Known = TypeVar("Known")


def _sentence(text: str) -> str:
    if not re.fullmatch("[A-Z].*[.]", text):
        raise ValueError("allowed: a sentence of one line, with a capital and a full stop")
    return text


Shown = Annotated[str, AfterValidator(_sentence)]


class Author(Spec):
    """One author."""

    family: Text
    given: Text | None = None


class PaperFile(Spec):
    """config/papers/PAPER/paper.yaml: what is known of the paper itself.

    Attributes:
        title: as published.
        short_title: where the title is long.
        asked: what it asks, in words that its reader knows.
        authors: in their order.
        year: of publication.
        venue: short name of the conference or journal, without the year; none for a preprint.
        proceedings: its long name.
        arxiv: number on arXiv.
        doi: digital object identifier.
        order: place among the papers; those of one place are in the order of their names.
        state: a draft is built where it is chosen, and is in no count, index or citation.
        reduced: why all of it is at a smaller scale than the paper's own; beside each verdict.
        summary: sums up what came out, as ``summary`` of the findings, which it is by default.
        picture: the figure that the front page shows, of the first paper that names one.
        panels: what each panel of the paper's figures shows.
        interpretations: interpretation, as ``norm=l1``, -> what it is in words.
        looks: algorithm of the paper's own -> its colour, line style and marker.
    """

    title: Sentence
    short_title: Sentence | None = None
    asked: Sentence | None = None
    authors: Annotated[tuple[Author, ...], Field(min_length=1)]
    year: Annotated[StrictInt, Field(ge=1900, le=2200)]
    venue: Annotated[str, Field(pattern=r"^\D+$")] | None = None
    proceedings: Sentence | None = None
    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")] | None = None
    doi: Annotated[str, Field(pattern=r"^10\.\d+/\S+$")] | None = None
    order: Count = 1000
    state: Literal["published", "draft"] = "draft"
    reduced: Shown | None = None
    summary: dict[str, Any] | None = None
    picture: Text | None = None
    panels: dict[Panel, Shown] = Field(default={})
    interpretations: dict[str, Text] = Field(default={})
    looks: Looks = Field(default={})

    @property
    def is_published(self) -> bool:
        """Whether it is in the pages, the counts and the citations."""
        return self.state == "published"

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
    """Return the papers of a project by short name, in their order."""
    folders = sorted(each for each in (folder / PAPERS).glob("[!._]*") if each.is_dir())
    papers = {each.name: load_document(each / "paper.yaml", PaperFile) for each in folders}
    if not papers:
        raise InputError(f"{folder / PAPERS}: has no paper; allowed: a folder for each")
    return dict(sorted(papers.items(), key=lambda item: (item[1].order, item[0])))


def algorithms_of(folder: Path) -> dict[str, "Definition"]:
    """Return a paper's own algorithms by id: one in each Python file of its folder.

    Files that begin with ``_`` are imported by others and hold none.
    """
    found: dict[str, Definition] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        from dpbandits.engine.custom import load_algorithm

        algorithm = load_algorithm(path)
        if algorithm.id in found:
            raise InputError(f"{path}: id is {algorithm.id!r}, as in another file beside it")
        found[algorithm.id] = algorithm
    return found


NUMBERS = ("{horizon}", "{runs}")
"""What a caption may leave to the simulations that its figure or table reads."""

LISTED = 3
"""So many different numbers are listed; of more, the smallest and the largest are given."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def in_words(numbers: Iterable[int]) -> str:
    """Return different numbers, ascending: ``1,000``, ``10 and 20``, or ``100 to 6,400``."""
    texts = [f"{number:,}" for number in sorted(set(numbers))]
    if len(texts) > LISTED:
        return f"{texts[0]} to {texts[-1]}"
    return joined(texts)


DEFAULT_TABLES: Mapping[str, Mapping[str, Any]] = {
    "claims": {
        "caption": (
            "Sentences of the paper and what was measured, each from simulated or exactly computed "
            "results. Readings beside are measured and not judged."
        ),
        "reads": "claims",
        "long": True,
        "columns": [
            {"name": "claim", "label": "Claim"},
            {"name": "says", "label": "Sentence", "width": 52},
            {"name": "choice", "label": "Reading", "width": 30},
            {"name": "verdict", "label": "Verdict", "width": 18},
            {"name": "measured", "label": "Measured", "width": 34},
            {"name": "interval", "label": "Estimate [interval]", "width": 30},
            {"name": "played", "label": "Runs", "align": "right"},
            {"name": "scale", "label": "Scale"},
            {"name": "visible", "label": "Visible at the paper's runs", "width": 23},
        ],
    },
}
"""Name -> entry of ``tables:``."""


def with_default_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a paper, completed by the defaults, then those it lacks."""
    given = {
        name: {**DEFAULT_TABLES.get(name, {}), **entry} if isinstance(entry, Mapping) else entry
        for name, entry in tables.items()
    }
    return given | {
        name: dict(DEFAULT_TABLES[name]) for name in DEFAULT_TABLES if name not in given
    }


@cache
def _named_in(*modules: str) -> frozenset[str]:
    """Return the algorithms with a look whose id the sources of some modules have in them."""
    text = b"".join(SOURCES[path] for path in sources_of(*modules))
    return frozenset(algorithm for algorithm in ALGORITHMS if algorithm.encode() in text)


def audited() -> list[str]:
    """Return the algorithms of the registry with an audit case, theirs or another's, in order."""
    return [
        name
        for name, module in registered().items()
        if any(b"AuditCase(" in SOURCES[path] for path in sources_of(module))
    ]


@cache
def apart_from_registry(*modules: str) -> str:
    """Return the fingerprint of modules without the registry and what only it leads to.

    What is played is hashed by the algorithm, and a new one moves nothing that does not play it.
    """
    registry, files, waiting = path_of(f"{PACKAGE}.algorithms"), set(), [*modules]
    while waiting:
        path = path_of(waiting.pop())
        if path is not None and path not in files and path != registry:
            files.add(path)
            waiting.extend(_imports_of(path))
    return digest_of({path.as_posix(): SOURCES[path].decode() for path in files})[:16]


NOT_SIMULATED = ("claims", "digitised")
"""What tables read that is neither simulated nor an exact result."""


@dataclass(frozen=True)
class Study:
    """A paper, or a comparison across papers, at one scale; a comparison claims nothing.

    Attributes:
        name: short name.
        path: its experiments file.
        file: what that says.
        scale: ``paper`` or ``quick``.
        about: what is known of the paper itself; None for a comparison.
    """

    name: str
    path: Path
    file: ExperimentsFile
    scale: str
    about: PaperFile | None = None

    @classmethod
    def load(cls, name: str, path: Path, scale: str, about: PaperFile | None = None) -> "Study":
        """Read the experiments file; the claims and findings are read where they are asked for."""
        return cls(name, path, load_document(path, ExperimentsFile), scale, about)

    @property
    def is_comparison(self) -> bool:
        """Whether this is a comparison across papers."""
        return self.about is None

    @cached_property
    def code(self) -> Paper:
        """Its own code."""
        return find_paper(self.name)

    @property
    def title(self) -> str:
        """Title of the paper or comparison."""
        return self.about.title if self.about else self.file.title

    @property
    def authors(self) -> str:
        """Authors and year of the paper; empty for a comparison across papers."""
        return self.about.credit if self.about else ""

    def config_path(self, kind: str) -> Path:
        """Return the paper's file ``paper``, ``claims``, ``findings``, ``errata``."""
        return self.path.with_name(f"{kind}.yaml")

    @property
    def exact(self) -> list[str]:
        """Names of the exactly computed results."""
        return list(self.file.analytic)

    @property
    def scaled(self) -> list[str]:
        """Names of the exact results that depend on the scale and on the root seed."""
        return list(self.file.scaled)

    @cached_property
    def figure_entries(self) -> Mapping[str, Mapping[str, Any]]:
        """The entry of every figure by name, with digitised values, numbers in captions, looks."""
        # Simulations do without what reads digitised values.
        from dpbandits.reporting.digitised import with_digitised

        entries = {}
        for name, entry in with_digitised(self.file.figures, self.path).items():
            with naming(self.path):
                figure = parse_figure(name, entry)
            captioned = self._with_caption(f"figures.{name}", entry, figure)
            entries[name] = {**captioned, "looks": self._looks(figure)}
        return entries

    def _looks(self, figure: FigureSpec) -> Looks:
        """Return the looks of the algorithms that a figure may draw.

        They are those that its simulations play, and those that the sources of its other values
        name: so a figure depends on no other look.
        """
        modules = self.code.modules("diagrams") if figure.is_diagram else []
        if any(panel.compute for panel in figure.panels.values()):
            modules += self.code.modules("derived")
        if not set(self.exact).isdisjoint(figure.reads):
            modules += self.code.modules("analytic")
        plans = [self.simulation(name) for name in figure.reads if name not in self.exact]
        drawn = {cells.algorithm for plan in plans for cells in plan.spec.cells}
        drawn |= _named_in(*modules)
        looks = {**(self.about.looks if self.about else {}), **ALGORITHMS}
        return {name: look for name, look in looks.items() if name in drawn}

    @cached_property
    def figures(self) -> Mapping[str, FigureSpec]:
        """Every figure by name, supplementary ones too; InputError where one is not allowed."""
        with naming(self.path):
            return {name: parse_figure(name, each) for name, each in self.figure_entries.items()}

    @cached_property
    def table_entries(self) -> Mapping[str, Mapping[str, Any]]:
        """The entry of every table, by name, defaults and numbers of captions filled in."""
        tables = self.file.tables if self.is_comparison else with_default_tables(self.file.tables)
        return {
            name: self._with_caption(f"tables.{name}", entry, parse_table(name, entry))
            for name, entry in tables.items()
        }

    @cached_property
    def tables(self) -> Mapping[str, TableSpec]:
        """Every table by name, those that every paper has too; InputError as for figures."""
        with naming(self.path):
            return {name: parse_table(name, each) for name, each in self.table_entries.items()}

    def figure(self, name: str) -> FigureSpec:
        """Return a figure; InputError if there is none of that name."""
        return self._named("figure", name, self.figures)

    def table(self, name: str) -> TableSpec:
        """Return a table; InputError if there is none of that name."""
        return self._named("table", name, self.tables)

    def _named(self, kind: str, name: str, known: Mapping[str, Known]) -> Known:
        if name not in known:
            raise InputError.unknown(f"{self.path}: {kind}", name, known)
        return known[name]

    def _with_caption(self, place: str, entry: Any, spec: FigureSpec | TableSpec) -> Any:
        """Return the entry of a figure or table with the numbers of its caption filled in."""
        caption = entry.get("caption") if isinstance(entry, Mapping) else None
        if not isinstance(caption, str) or not (found := _PLACEHOLDER.findall(caption)):
            return entry
        if unknown := [each for each in found if each not in NUMBERS]:
            wrong, allowed = ", ".join(unknown), ", ".join(NUMBERS)
            raise InputError(f"{self.path}: {place}.caption has {wrong}; allowed: {allowed}")
        with naming(self.path):
            shown = [name for name in spec.reads if name not in (*NOT_SIMULATED, *self.exact)]
            simulations = [self.simulation(name) for name in shown]
        if not simulations:
            raise InputError(
                f"{self.path}: {place}.caption has {found[0]}; allowed: none, no simulation is read"
            )
        numbers = {
            "{horizon}": in_words(horizon for each in simulations for horizon in each.horizons),
            "{runs}": in_words(each.runs for each in simulations),
        }
        return {**entry, "caption": _PLACEHOLDER.sub(lambda found: numbers[found[0]], caption)}

    @cached_property
    def simulations(self) -> Mapping[str, "SimulationPlan"]:
        """Every simulation by name."""
        return {name: self._plan(name, spec) for name, spec in self.file.simulations.items()}

    def simulation(self, name: str) -> "SimulationPlan":
        """Return one simulation; InputError if there is none of that name."""
        return self._named("simulation", name, self.simulations)

    def _plan(self, name: str, spec: SimulationSpec) -> SimulationPlan:
        where = f"{self.path}: simulations.{name}"
        instances = self.file.instances
        named = [
            (f"{where}.cells.{index}: instance", each)
            for index, entry in enumerate(spec.cells)
            for each in entry.instances
        ]
        own = [] if spec.instance is None else [(f"{where}.instance", spec.instance)]
        for place, each in (*own, *named):
            if each not in instances:
                raise InputError.unknown(place, each, instances)
        if spec.tuned_by is not None and spec.tuned_by not in set(self.file.simulations) - {name}:
            raise InputError(f"{where}.tuned_by is {spec.tuned_by!r}; allowed: another simulation")
        return SimulationPlan(
            name,
            spec,
            {} if spec.instance is None else instances[spec.instance],
            self.file.quick if self.scale == "quick" else Caps(),
            self.code.formulas,
            where,
            self.code.instances,
            self.algorithms,
            {str(each): instances[str(each)] for _, each in named},
        )

    @cached_property
    def algorithms(self) -> Mapping[str, "Definition"]:
        """The paper's own algorithms by id."""
        return algorithms_of(self.path.parent)

    def results_fingerprint(self, name: str, seed: int) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date."""
        if name in self.exact:
            given = [self.scale, seed] if name in self.scaled else []
            played = audited() if name in self.file.audited else []
            modules = [*self.code.modules("analytic"), *(registered()[each] for each in played)]
            return digest_of([name, apart_from_registry(*modules), played, *given])[:16]
        plan = self.simulation(name)
        tuned = self.results_fingerprint(plan.tuned_by, seed) if plan.tuned_by else ""
        sources = self.code.modules("formulas")
        if any("make" in instance for instance in (plan.instance, *plan.named.values())):
            sources += self.code.modules("instances")
        return plan.fingerprint(seed, fingerprint(*sources), tuned)

    @property
    def claims_path(self) -> Path:
        """File that states the claims."""
        return self.config_path("claims")

    @property
    def findings_path(self) -> Path:
        """File that states the findings; it may be missing."""
        return self.config_path("findings")

    @cached_property
    def _claims_file(self) -> ClaimsFile | None:
        return None if self.is_comparison else load_document(self.claims_path, ClaimsFile)

    @cached_property
    def _findings_file(self) -> FindingsFile | None:
        if self.is_comparison or not self.findings_path.exists():
            return None
        return load_document(self.findings_path, FindingsFile)

    @property
    def files(self) -> list[tuple[Path, ExperimentsFile | ClaimsFile | FindingsFile]]:
        """The files that name the paper, with their paths."""
        files = (
            (self.path, self.file),
            (self.claims_path, self._claims_file),
            (self.findings_path, self._findings_file),
        )
        return [(path, file) for path, file in files if file is not None]

    @property
    def letters(self) -> str:
        """What the id of its first claim begins with; so do all of its ids."""
        claims = self._claims_file.claims if self._claims_file else {}
        return next(iter(claims), "").partition("-")[0]

    @property
    def ids(self) -> tuple[set[str], set[str], set[str]]:
        """The ids of its claims, of claims and findings that are withdrawn, and of its findings."""
        findings = self._findings_file.findings if self._findings_file else {}
        claims = self._claims_file.claims if self._claims_file else {}
        return set(claims), set(self.withdrawn), set(findings)

    @property
    def withdrawn(self) -> Mapping[str, str]:
        """Claims and findings that a page named once, and where they went."""
        of_findings = self._findings_file.withdrawn if self._findings_file else {}
        return {**self.notes.withdrawn, **of_findings}

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims, checked."""
        return self._claims(self.code.quantities)

    def _claims(self, functions: "Mapping[str, Quantity] | None") -> list[Claim]:
        file = self._claims_file
        return [] if file is None else claims_of(file, self.claims_path, functions, self._simulated)

    @cached_property
    def _simulated(self) -> dict[str, tuple[int, int]]:
        return {
            name: (spec.runs.count, spec.runs_of_curve)
            for name, spec in self.file.simulations.items()
        }

    @property
    def notes(self) -> Notes:
        """What the file of the claims says beside them."""
        return self._claims_file or Notes()

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, checked; none where there is no such file."""
        return self._findings(self.code.quantities)

    def _findings(self, functions: "Mapping[str, Quantity] | None") -> list[Finding]:
        file, path = self._findings_file, self.findings_path
        if file is None:
            return []
        return findings_of(file, path, functions, self._simulated, self._claims_file)

    @property
    def stated(self) -> list[Claim | Finding]:
        """The claims, then the findings."""
        return [*self.claims, *self.findings]

    def summary(self) -> Summary:
        """The sentence that sums up the paper; InputError where there is none."""
        if self.about is not None and self.about.summary is not None:
            with naming(self.config_path("paper")):
                return validated(Summary, self.about.summary)
        summary = self._findings_file and self._findings_file.summary
        if not summary:
            where = self.findings_path
            raise InputError(f"{where}: key summary is missing; allowed: here or in paper.yaml")
        return summary

    @cached_property
    def judged(self) -> Mapping[str, list[str]]:
        """Names of the results that the ``claims`` and the ``findings`` read, sorted."""
        claims, findings = self._claims(None), self._findings(None)
        return {
            "claims": sorted({name for claim in claims for name in claim.reads}),
            "findings": sorted({name for finding in findings for name in finding.reads}),
        }

    def judged_fingerprint(self, kind: str) -> str:
        """Return the hash of what they are judged with: their entries and the sources."""
        own = self.code.modules("quantities")
        modules = [*own, VOCABULARY, "dpbandits.claims.tables"]
        # A finding may name a claim whose settings it shares.
        paths = [self.claims_path, *([self.findings_path] if kind == "findings" else [])]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        return digest_of([*texts, fingerprint(*modules)])[:16]
