"""A paper or a comparison as its config states it: what is known, simulated, shown and claimed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpbandits.config.claims import (
    Claim,
    ClaimsFile,
    Finding,
    FindingsFile,
    Notes,
    Summary,
    complete_entries,
)
from dpbandits.config.digitised import Digitised, read_digitised
from dpbandits.config.documents import load_document, load_yaml, naming, validated
from dpbandits.config.errata import ErrataFile, load_errata
from dpbandits.config.experiments import Caps, ExperimentsFile, SimulationPlan, SimulationSpec
from dpbandits.config.figures import (
    READS_CLAIMS,
    READS_DIGITISED,
    FigureSpec,
    TableSpec,
    check_compared_once,
    parse_figure,
    parse_table,
)
from dpbandits.config.project import PaperFile, join_words
from dpbandits.engine.identity import (
    PACKAGE,
    PLAY,
    SOURCES,
    digest_of,
    fingerprint,
    imports_of,
    path_of,
    registered,
    sources_of,
)
from dpbandits.errors import InputError
from dpbandits.papers import SHARED, PaperCode, code_of

# A workflow asks for names, fingerprints and captions: what simulates and judges takes seconds to
# import.
if TYPE_CHECKING:
    from dpbandits.algorithms import Definition

Known = TypeVar("Known")


def algorithms_of(folder: Path) -> dict[str, "Definition"]:
    """Return a paper's own algorithms by id: one in each Python file of its folder.

    Files that begin with ``_`` are imported by others and hold none.
    """
    found: dict[str, Definition] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        from dpbandits.own.loading import load_algorithm

        algorithm = load_algorithm(path)
        if algorithm.id in found:
            raise InputError(f"{path}: id is {algorithm.id!r}, as in another file beside it")
        found[algorithm.id] = algorithm
    return found


NUMBERS = ("{horizon}", "{runs}")
"""Names in captions that stand for numbers of the simulations that are read."""

LISTED = 3
"""Up to this many different numbers are listed; of more, the smallest and the largest."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def number_range(numbers: Iterable[int]) -> str:
    """Return different numbers, ascending: ``1,000``, ``10 and 20``, or ``100 to 6,400``."""
    texts = [f"{number:,}" for number in sorted(set(numbers))]
    if len(texts) > LISTED:
        return f"{texts[0]} to {texts[-1]}"
    return join_words(texts)


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
            {"name": "says", "label": "Sentence", "width": 46},
            {"name": "choice", "label": "Reading", "width": 30},
            {"name": "verdict", "label": "Verdict", "width": 23},
            {"name": "measured", "label": "Measured", "width": 34},
            {"name": "interval", "label": "Estimate [interval]", "width": 28},
            {"name": "played", "label": "Runs", "align": "right"},
            {"name": "scale", "label": "Scale"},
            {"name": "visible", "label": "Visible at the paper's runs", "width": 20},
        ],
    },
}
"""Name -> entry of ``tables:``."""


def with_default_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a paper, completed by the default ones that it lacks."""
    given = {
        name: {**DEFAULT_TABLES.get(name, {}), **entry} if isinstance(entry, Mapping) else entry
        for name, entry in tables.items()
    }
    return given | {
        name: dict(DEFAULT_TABLES[name]) for name in DEFAULT_TABLES if name not in given
    }


def audited_algorithms() -> list[str]:
    """Return the algorithms of the registry with an audit case, theirs or another's, in order."""
    return [
        name
        for name, module in registered().items()
        if any(b"AuditCase(" in SOURCES[path] for path in sources_of(module))
    ]


@cache
def apart_from_registry(*modules: str) -> str:
    """Return the fingerprint of modules without the registry and what only it leads to.

    Algorithms that are played are hashed one by one, so that a new one moves nothing else.
    """
    registry, files = path_of(f"{PACKAGE}.algorithms"), set()
    seen, waiting = {*modules}, [*modules]
    while waiting:
        path = path_of(waiting.pop())
        if path is not None and path not in files and path != registry:
            files.add(path)
            imported = [module for module in imports_of(path) if module not in seen]
            seen.update(imported)
            waiting += imported
    return digest_of({path.as_posix(): SOURCES[path].decode() for path in files})[:16]


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
    _figures: dict[str, FigureSpec] = field(default_factory=dict, init=False, repr=False)

    @property
    def is_comparison(self) -> bool:
        """Whether this is a comparison across papers."""
        return self.about is None

    @cached_property
    def code(self) -> PaperCode:
        return code_of(self.name)

    @property
    def title(self) -> str:
        return self.about.title if self.about else self.file.title

    @property
    def authors(self) -> str:
        """Authors and year of the paper; empty for a comparison across papers."""
        return self.about.credit if self.about else ""

    def config_path(self, kind: str) -> Path:
        """Return the path of the file ``paper``, ``claims``, ``findings`` or ``errata``."""
        return self.path.with_name(f"{kind}.yaml")

    @cached_property
    def digitised(self) -> Digitised:
        path = self.path.with_name("digitised.csv")
        return read_digitised(path) if path.exists() else {}

    @cached_property
    def figures(self) -> Mapping[str, FigureSpec]:
        """Name -> figure, supplementary ones too."""
        figures = {name: self.figure(name) for name in self.file.figures}
        with naming(self.path):
            check_compared_once(figures.values(), self.digitised)
        return figures

    @cached_property
    def tables(self) -> Mapping[str, TableSpec]:
        """Name -> table, those that every paper has too."""
        tables = self.file.tables if self.is_comparison else with_default_tables(self.file.tables)
        with naming(self.path):
            parsed = {name: parse_table(name, entry) for name, entry in tables.items()}
            return {
                name: table.model_copy(update={"caption": self._caption(f"tables.{name}", table)})
                for name, table in parsed.items()
            }

    def figure(self, name: str) -> FigureSpec:
        """Return a figure; InputError if there is none of that name."""
        if name not in self._figures:
            entry = self._named("figure", name, self.file.figures)
            looks = self.about.looks if self.about else {}
            with naming(self.path):
                self._figures[name] = parse_figure(name, entry, self.digitised, looks)
        return self._figures[name]

    def caption(self, name: str) -> str:
        """Return the caption of a figure with its numbers filled in."""
        with naming(self.path):
            return self._caption(f"figures.{name}", self.figure(name))

    def table(self, name: str) -> TableSpec:
        """Return a table; InputError if there is none of that name."""
        return self._named("table", name, self.tables)

    def _named(self, kind: str, name: str, known: Mapping[str, Known]) -> Known:
        if name not in known:
            raise InputError.unknown(f"{self.path}: {kind}", name, known)
        return known[name]

    def _caption(self, place: str, shown: FigureSpec | TableSpec) -> str:
        """Return the caption of a figure or table with its numbers filled in."""
        found = _PLACEHOLDER.findall(shown.caption)
        if unknown := [each for each in found if each not in NUMBERS]:
            wrong, allowed = ", ".join(unknown), ", ".join(NUMBERS)
            raise InputError(f"{place}.caption has {wrong}; allowed: {allowed}")
        if not found:
            return shown.caption
        others = (*READS_CLAIMS, *READS_DIGITISED, *self.file.analytic)
        simulated = [name for name in shown.reads if name not in others]
        plans = [self.simulation(name) for name in simulated]
        if not plans:
            raise InputError(
                f"{place}.caption has {found[0]}; allowed: none, no simulation is read"
            )
        numbers = {
            "{horizon}": number_range(horizon for plan in plans for horizon in plan.horizons),
            "{runs}": number_range(plan.runs for plan in plans),
        }
        return _PLACEHOLDER.sub(lambda found: numbers[found[0]], shown.caption)

    @cached_property
    def simulations(self) -> Mapping[str, "SimulationPlan"]:
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
            self.code,
            where,
            self.algorithms,
            {str(each): instances[str(each)] for _, each in named},
        )

    @cached_property
    def algorithms(self) -> Mapping[str, "Definition"]:
        return algorithms_of(self.path.parent)

    def results_fingerprint(self, name: str, seed: int) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date."""
        if name in self.file.analytic:
            given = [self.scale, seed] if name in self.file.scaled else []
            if name in self.file.settings_of:
                given = [self.results_fingerprint(self.file.settings_of[name], seed)]
            played = audited_algorithms() if name in self.file.audited else []
            modules = [*self.code.modules("analytic"), *(registered()[each] for each in played)]
            return digest_of([name, apart_from_registry(*modules), played, *given])[:16]
        plan = self.simulation(name)
        tuned = self.results_fingerprint(plan.tuned_by, seed) if plan.tuned_by else ""
        return plan.fingerprint(seed, fingerprint(*self._formulas_of(plan)), tuned)

    def _formulas_of(self, plan: SimulationPlan) -> list[str]:
        makes = any("make" in instance for instance in (plan.instance, *plan.named.values()))
        return [*self.code.modules("formulas"), *self.code.modules(*["instances"] * makes)]

    def modules_of(self, name: str) -> list[str]:
        """Return the modules that make the results ``name``."""
        if name in self.file.analytic:
            return self.code.modules("analytic")
        plan = self.simulation(name)
        played = {entry.algorithm for entry in plan.spec.cells} & set(registered())
        return [*self._formulas_of(plan), PLAY, *(registered()[each] for each in sorted(played))]

    def config_of(self, name: str, seed: int) -> Mapping[str, Any]:
        """Return what the config says of the results ``name``, by the names of the keys."""
        if name in self.file.analytic:
            if name in self.file.settings_of:
                return self.config_of(self.file.settings_of[name], seed)
            return {"scale": self.scale, "seed": seed} if name in self.file.scaled else {}
        plan = self.simulation(name)
        own = {entry.algorithm for entry in plan.spec.cells} & set(self.algorithms)
        tuned = [plan.tuned_by] if plan.tuned_by else []
        return {
            f"simulations.{name}": plan.spec.model_dump(by_alias=True, exclude_unset=True),
            "instances": {str(plan.spec.instance): dict(plan.instance), **plan.named},
            "quick": plan.caps.model_dump(exclude_none=True),
            "seed": seed,
            **{f"algorithm {each}": plan.fingerprint_of(each) for each in sorted(own)},
            **{f"result {each}": self.results_fingerprint(each, seed) for each in tuned},
        }

    @property
    def claims_path(self) -> Path:
        return self.config_path("claims")

    @property
    def findings_path(self) -> Path:
        """The file of the findings, which may be missing."""
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
        """The files that name the paper under their key ``paper``, with their paths."""
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
        """Id of a claim or finding that pages once named -> where it went."""
        of_findings = self._findings_file.withdrawn if self._findings_file else {}
        return {**self.notes.withdrawn, **of_findings}

    @cached_property
    def claims(self) -> list[Claim]:
        file, place = self._claims_file, f"{self.claims_path}: claims"
        if file is None:
            return []
        defaults = file.defaults.model_dump(exclude_unset=True)
        return complete_entries(place, file.claims, defaults, file.series, self._simulated)

    @cached_property
    def _simulated(self) -> dict[str, tuple[int, int]]:
        return {
            name: (spec.runs.count, spec.runs_of_curve)
            for name, spec in self.file.simulations.items()
        }

    @property
    def notes(self) -> Notes:
        return self._claims_file or Notes()

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings; none where there is no such file."""
        file, claims = self._findings_file, self._claims_file
        if file is None or claims is None:
            return []
        place = f"{self.findings_path}: findings"
        defaults = claims.defaults.model_dump(include={"runs"}, exclude_unset=True)
        series = {**claims.series, **file.series}
        return complete_entries(place, file.findings, defaults, series, self._simulated)

    @cached_property
    def errata(self) -> ErrataFile:
        """The errata; none where there is no such file."""
        return load_errata(self.config_path("errata"), self.name)

    @property
    def stated(self) -> list[Claim | Finding]:
        return [*self.claims, *self.findings]

    def summary(self) -> Summary:
        """Return the summary of the paper; InputError where there is none."""
        if self.about is not None and self.about.summary is not None:
            with naming(self.config_path("paper")):
                return validated(Summary, self.about.summary)
        summary = self._findings_file and self._findings_file.summary
        if not summary:
            where = self.findings_path
            raise InputError(f"{where}: key summary is missing; allowed: here or in paper.yaml")
        return summary

    @cached_property
    def read_to_judge(self) -> Mapping[str, list[str]]:
        """``claims`` and ``findings`` -> sorted names of the results that they read."""
        return {
            "claims": sorted({name for claim in self.claims for name in claim.reads}),
            "findings": sorted({name for finding in self.findings for name in finding.reads}),
        }

    @property
    def judging_modules(self) -> list[str]:
        """The modules that claims and findings are judged with."""
        return [*self.code.modules("quantities"), SHARED, "dpbandits.claims.tables"]

    def _judged_files(self, kind: str) -> list[Path]:
        # A finding may name a claim whose settings it shares.
        return [self.claims_path, *([self.findings_path] if kind == "findings" else [])]

    def judged_entry(self, kind: str) -> Mapping[str, Any]:
        """Return what the files of claims or findings say, by the names of the keys."""
        return {path.name: load_yaml(path) for path in self._judged_files(kind)}

    def judged_fingerprint(self, kind: str) -> str:
        """Return the hash of the entries and of the sources that judge them."""
        texts = [path.read_text(encoding="utf-8") for path in self._judged_files(kind)]
        return digest_of([*texts, fingerprint(*self.judging_modules)])[:16]
