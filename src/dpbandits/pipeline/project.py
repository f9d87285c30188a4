"""A project folder: its config, its papers, and where results, figures and tables are."""

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dpbandits._cache_folder import expanded, given_folder
from dpbandits.config.documents import load_document, load_yaml, naming, validated
from dpbandits.config.experiments import ExperimentsFile
from dpbandits.config.project import CONFIG, PAPERS, ConfigFile, PaperFile, Scale
from dpbandits.errors import InputError
from dpbandits.pipeline.study import Study, algorithms_of

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.algorithms import Definition
    from dpbandits.config.claims import Claim, Finding
    from dpbandits.engine.cells import Series

COMPARISONS = Path("config/comparisons")
"""Folder of the comparisons across papers, supplementary figures and tables, a file for each."""


def owner(paper: str, name: str) -> tuple[str, str]:
    """Return paper or comparison, and name, of results: claims may read COMPARISON/NAME."""
    comparison, _, rest = name.rpartition("/")
    return comparison or paper, rest


@dataclass(frozen=True)
class Project:
    """A folder with ``config/`` and ``workflow/``, at one scale and root seed."""

    folder: Path
    config: ConfigFile
    studies: dict[str, Study] = field(default_factory=dict, init=False, repr=False)
    _fingerprints: dict[tuple[str, str], str] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def load(cls, folder: Path = Path(), config: Mapping[str, Any] | None = None) -> Self:
        """Read and check the config of a folder; one already read (and changed) may be given."""
        path = folder / CONFIG
        # Read again, because of two equal keys Snakemake keeps the last.
        stated = load_yaml(path)
        document = dict(config) if config is not None else stated
        with naming(path):
            project = cls(folder, validated(ConfigFile, document))
            expanded(project.config.cache, "cache")
        for key, named, known in (
            ("papers", project.config.papers or (), list(project.papers)),
            ("comparisons", project.config.comparisons or (), project.known_comparisons),
        ):
            if unknown := [name for name in named if name not in known]:
                raise InputError(
                    f"{path}: {key} has {', '.join(unknown)}; allowed: {', '.join(known)}"
                )
        return project

    def at(
        self,
        *,
        scale: str | None = None,
        seed: int | None = None,
        papers: Sequence[str] | None = None,
        comparisons: Sequence[str] | None = None,
    ) -> Self:
        """Return the project at another scale or root seed or choice, where one is given."""
        changes: dict[str, Any] = {"scale": scale, "seed": seed, "comparisons": comparisons}
        given = {key: value for key, value in changes.items() if value is not None}
        if papers is not None:
            given |= {"papers": list(papers), "comparisons": list(comparisons or ())}
        return self.load(self.folder, {**dict(self.config), **given}) if given else self

    def only(self, names: Sequence[str]) -> Self:
        """Return the project with some papers or comparisons chosen, drafts too."""
        comparisons = [name for name in names if self.study(name).is_comparison]
        papers = [name for name in names if name not in comparisons]
        return self.at(papers=papers, comparisons=comparisons)

    @cached_property
    def papers(self) -> Mapping[str, PaperFile]:
        """What is known of every paper, drafts too, by short name and in their order."""
        root = self.folder / PAPERS
        folders = sorted(each for each in root.glob("[!._]*") if each.is_dir())
        papers = {each.name: load_document(each / "paper.yaml", PaperFile) for each in folders}
        if not papers:
            raise InputError(f"{root}: has no paper; allowed: a folder for each")
        return dict(sorted(papers.items(), key=lambda item: (item[1].order, item[0])))

    @property
    def published(self) -> list[str]:
        """Names of the papers that are no drafts."""
        return [name for name, paper in self.papers.items() if paper.is_published]

    @property
    def chosen(self) -> list[str]:
        """Names of the papers to build: those of the config, by default those published."""
        papers = self.config.papers
        return self.published if papers is None else list(papers)

    @cached_property
    def known_comparisons(self) -> list[str]:
        """Names of the comparisons across papers, sorted."""
        return sorted(path.stem for path in (self.folder / COMPARISONS).glob("*.yaml"))

    @property
    def comparisons(self) -> list[str]:
        """Names of the comparisons across papers to build: those of the config, by default all."""
        comparisons = self.config.comparisons
        return self.known_comparisons if comparisons is None else list(comparisons)

    @property
    def scale(self) -> Scale:
        """Either ``paper`` or ``quick``."""
        return self.config.scale

    @property
    def seed(self) -> int:
        """Root of all random streams."""
        return self.config.seed

    @property
    def cache_folder(self) -> Path:
        """Folder of the caches: that of ``DPBANDITS_CACHE``, without it that of the config."""
        return given_folder() or self.folder / expanded(self.config.cache, "cache")

    def results_folder(self) -> Path:
        """Folder of the results at this scale."""
        return self._of_scale("results")

    def _of_scale(self, name: str) -> Path:
        return self.folder / name / ("quick" if self.scale == "quick" else "")

    def results_path(self, paper: str, name: str) -> Path:
        """File of one simulation's (or analytic) results, of a comparison as COMPARISON/NAME."""
        paper, name = owner(paper, name)
        return self.results_folder() / paper / f"{name}.parquet"

    def figures_folder(self, paper: str) -> Path:
        """Folder of a paper's figures at this scale."""
        return self._of_scale("figures") / paper

    def tables_folder(self, paper: str) -> Path:
        """Folder of a paper's tables at this scale."""
        return self.results_folder() / "tables" / paper

    def study(self, name: str) -> Study:
        """Return a paper or comparison, read and checked once."""
        if name not in self.studies:
            allowed = [*self.papers, *self.known_comparisons]
            if name not in allowed:
                raise InputError.unknown("paper", name, allowed)
            path = self.folder / PAPERS / name / "experiments.yaml"
            if name not in self.papers:
                path = self.folder / COMPARISONS / f"{name}.yaml"
            file = load_document(path, ExperimentsFile)
            self.studies[name] = Study(name, path, file, self.scale, self.papers.get(name))
        return self.studies[name]

    def results_fingerprint(self, paper: str, name: str) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date."""
        key = paper, name = owner(paper, name)
        if key not in self._fingerprints:
            self._fingerprints[key] = self.study(paper).results_fingerprint(name, self.seed)
        return self._fingerprints[key]

    def frame(self, paper: str, name: str) -> "pd.DataFrame":
        """Read the results ``name``; InputError if they are missing, damaged or stale."""
        # The workflow needs paths and fingerprints alone.
        from dpbandits.engine.provenance import results_stamp
        from dpbandits.engine.results import read_results

        path, fingerprint = self.results_path(paper, name), self.results_fingerprint(paper, name)
        stamp = results_stamp(path) if path.is_file() else None
        if not path.is_file() or stamp not in (None, fingerprint):
            from dpbandits.pipeline.stale import not_current
            from dpbandits.pipeline.targets import results_target

            target = results_target(self, *owner(paper, name))
            raise not_current(target, path, exists=path.is_file())
        return read_results(path)

    def command_for(self, paper: str, goal: str) -> str:
        """Return the command that builds a rule or file of a paper, as this project is set."""
        stated = self._stated
        changed = [key for key in ("scale", "seed") if getattr(self, key) != getattr(stated, key)]
        choice = [f"{key}={getattr(self, key)}" for key in changed]
        if paper and paper not in stated.built():
            choice += (
                ['"papers=[]"', f'"comparisons=[{paper}]"']
                if paper in self.known_comparisons
                else [f'"papers=[{paper}]"', '"comparisons=[]"']
            )
        return " ".join(["snakemake --cores 2", goal, *(["--config", *choice] if choice else [])])

    @cached_property
    def _stated(self) -> "Project":
        """The project without options of the command line: as its config file says."""
        return Project.load(self.folder)

    def series(self, paper: str, name: str) -> list["Series"]:
        """Return every series of a simulation; results that tune it are read where it has some."""
        plan = self.study(paper).simulation(name)
        return plan.series(self.frame(paper, plan.tuned_by) if plan.tuned_by else None)

    def warn_of_other_sources(self) -> None:
        """Warn where the imported package is not the one in the project's folder."""
        own, imported = self.folder / "src/dpbandits", Path(__file__).parents[1]
        if own.is_dir() and not own.samefile(imported):
            folder = self.folder.absolute()
            print(
                f"warning: the sources of {imported.parents[1]} are run, not those of {folder}; "
                f"its own command is {folder / '.venv/bin/dpbandits'} (make check sets it up)",
                file=sys.stderr,
            )

    def built(self) -> list[str]:
        """Return the papers to build and the comparisons across papers, by name."""
        return [*self.chosen, *self.comparisons]


PUBLISHED_FIGURES = Path("docs/figures")
"""Folder of the published copies of figures and verdicts, in a folder with config."""

PUBLISHED_TABLES = Path("docs/tables")
"""Folder of the published copies of tables."""


def published_folder() -> Path:
    """Return the folder with the config and the verdicts that belong to this package."""
    package = Path(__file__).parents[1]
    packed = package / "published"
    return packed if packed.is_dir() else package.parents[1]


def published_project(folder: Path) -> Project:
    """Return the project of a folder, or, where it is none, the one within the package."""
    found = folder if (folder / CONFIG).is_file() else published_folder()
    if not (found / CONFIG).is_file():
        raise InputError(
            "the published verdicts were not installed; allowed: this command in the project's "
            "folder, or with --project FOLDER"
        )
    return Project.load(found)


def published_algorithms(folder: Path) -> dict[str, "Definition"]:
    """Return the algorithms that published papers define themselves, by id; none without papers."""
    found = folder if (folder / CONFIG).is_file() else published_folder()
    if not any((found / PAPERS).glob("*/[!_]*.py")):
        return {}
    folders = [found / PAPERS / name for name in Project.load(found).published]
    return {name: own for paper in folders for name, own in algorithms_of(paper).items()}


def find_claim(project: Project, identifier: str) -> "tuple[str, Claim | Finding]":
    """Return the paper, or draft, of a claim or finding such as ``TSDP-C8``, and its entry."""
    known: dict[str, str] = {}
    # Drafts come last, so that a mistake in one does not hide the claims of others.
    for paper in dict.fromkeys([*project.chosen, *project.published, *project.papers]):
        study = project.study(paper)
        for entry in study.stated:
            if entry.id.lower() == identifier.lower():
                return paper, entry
            known[entry.id.lower()] = entry.id
        for name, why in study.withdrawn.items():
            if name.lower() == identifier.lower():
                raise InputError(f"{name} is a row no more: {' '.join(why.split())}")
    near = difflib.get_close_matches(identifier.lower(), known, n=3, cutoff=0.0)
    ids = ", ".join(known[each] for each in near)
    raise InputError(f"claim is {identifier!r}; nearest ids: {ids or 'none'}")


def published_table(project: Project, paper: str, name: str) -> "pd.DataFrame":
    path = project.folder / PUBLISHED_FIGURES / paper / f"{name}.csv"
    if not path.is_file():
        raise InputError(f"{path}: does not exist; allowed: a paper whose verdicts are published")
    return read_verdicts(path)


NUMBERS = ("estimate", "lo", "hi", "runs", "runs_paper", "level")
"""Columns of numbers, which may be empty; some have another one that ends in ``_in_family``."""


def read_verdicts(path: Path) -> "pd.DataFrame":
    """Read a table of verdicts: texts unchanged, numbers with NaN where there is none."""
    import pandas as pd

    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in frame:
        if str(column).removesuffix("_in_family") in NUMBERS:
            frame[column] = pd.to_numeric(frame[column])
    return frame
