"""A project folder: its config, its papers, and where results, figures and tables are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from dpbandits._cache_folder import given_folder
from dpbandits.engine.documents import load_yaml, parsed
from dpbandits.engine.models import Allowed, Different, Name, OneOf, Spec, Text
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS
from dpbandits.pipeline.study import Experiments, PaperFile, Statements, found_papers

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.claims.entries import Claim, Finding
    from dpbandits.claims.files import Notes, Summary
    from dpbandits.engine.experiments import Series

SCALES = ("paper", "quick")


class ConfigFile(Spec):
    """What to build and where."""

    papers: (
        Annotated[
            tuple[Name, ...],
            Different,
            Allowed("null, or a list of papers, each at most once", has_entries=True),
        ]
        | None
    ) = None
    comparisons: Annotated[
        tuple[Annotated[str, OneOf(COMPARISONS)], ...],
        Different,
        Allowed("a list of comparisons across papers, each at most once", has_entries=True),
    ] = ()
    scale: Annotated[str, OneOf(SCALES)]
    seed: Annotated[
        int,
        Field(strict=True, ge=0, le=2**53),
        Allowed("a whole number from 0 to 9007199254740992"),
    ]
    cache: Text


CONFIG = Path("config/config.yaml")


def owner(paper: str, name: str) -> tuple[str, str]:
    """Return whose results a name means: claims may read those of COMPARISON/NAME.

    Args:
        paper: the paper whose claims, figures or tables read them.
        name: as it is in its config.
    """
    comparison, _, rest = name.rpartition("/")
    return comparison or paper, rest


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
                twice in the file; a chosen paper is not there.
        """
        path = folder / CONFIG
        # Snakemake has read it too, but keeps the last of two equal keys.
        stated = load_yaml(path)
        document = dict(config) if config is not None else stated
        parsed(document, path, ConfigFile)
        project = cls(folder, document)
        if unknown := [name for name in project.chosen if name not in project.papers]:
            raise InputError(
                f"{path}: papers has {', '.join(unknown)}; allowed: {', '.join(project.papers)}"
            )
        return project

    def at(
        self,
        *,
        scale: str | None = None,
        seed: int | None = None,
        papers: Sequence[str] | None = None,
        comparisons: Sequence[str] | None = None,
    ) -> "Project":
        """Return the project at another scale or root seed or choice, where one is given.

        Args:
            scale: ``paper`` or ``quick``.
            seed: root of all random streams, from 0.
            papers: short names of the papers to build; ``comparisons`` then holds as given.
            comparisons: names of the comparisons across papers to build.

        Raises:
            InputError: one of them is not allowed.
        """
        changes: dict[str, Any] = {"scale": scale, "seed": seed, "comparisons": comparisons}
        given = {key: value for key, value in changes.items() if value is not None}
        if papers is not None:
            given |= {"papers": list(papers), "comparisons": list(comparisons or ())}
        return Project.load(self.folder, {**self.config, **given}) if given else self

    @cached_property
    def papers(self) -> Mapping[str, PaperFile]:
        """What is known of every paper, drafts too, by short name and in their order."""
        return found_papers(self.folder)

    @property
    def published(self) -> list[str]:
        """Names of the papers that are no drafts."""
        return [name for name, paper in self.papers.items() if paper.is_published]

    @property
    def chosen(self) -> list[str]:
        """Names of the papers to build: those of the config, by default those published."""
        papers = self.config.get("papers")
        return self.published if papers is None else list(papers)

    @property
    def comparisons(self) -> list[str]:
        """Names of the comparisons across papers to build."""
        return list(self.config.get("comparisons", ()))

    def require(self, name: str) -> None:
        """Raise InputError unless this is the name of a paper or of a comparison."""
        allowed = [*self.papers, *COMPARISONS]
        if name not in allowed:
            raise InputError.unknown("paper", name, allowed)

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
        """Folder of the caches: that of ``DPBANDITS_CACHE``, without it that of the config."""
        return given_folder() or self.folder / str(self.config["cache"])

    def config_path(self, paper: str, kind: str) -> Path:
        """Return the config file of a paper or comparison.

        Args:
            paper: its short name.
            kind: ``paper``, ``experiments``, ``claims``, ``findings`` or ``errata``; a comparison
                has experiments alone, in a file of its name.
        """
        if paper in COMPARISONS:
            return self.folder / "config/comparisons" / f"{paper}.yaml"
        return self.folder / "config/papers" / paper / f"{kind}.yaml"

    def results_folder(self) -> Path:
        """Folder of the results at this scale."""
        return self.folder / "results" / ("quick" if self.scale == "quick" else "")

    def results_path(self, paper: str, name: str) -> Path:
        """File of one simulation's (or analytic) results, of a comparison as COMPARISON/NAME."""
        paper, name = owner(paper, name)
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
            self.require(paper)
            path = self.config_path(paper, "experiments")
            about = self.papers.get(paper)
            self._experiments[paper] = Experiments.load(paper, path, self.scale, about)
        return self._experiments[paper]

    @cached_property
    def _fingerprints(self) -> dict[tuple[str, str], str]:
        return {}

    def results_fingerprint(self, paper: str, name: str) -> str:
        """Return the fingerprint that the results ``name`` have when they are up to date."""
        key = paper, name = owner(paper, name)
        if key not in self._fingerprints:
            experiments = self.experiments(paper)
            self._fingerprints[key] = experiments.results_fingerprint(name, self.seed)
        return self._fingerprints[key]

    def frame(self, paper: str, name: str) -> "pd.DataFrame":
        """Read the results ``name``; InputError if they are missing, damaged or stale."""
        # The workflow asks for paths and fingerprints alone.
        from dpbandits.engine.results import read_results

        return read_results(self.results_path(paper, name), self.results_fingerprint(paper, name))

    def series(self, paper: str, name: str) -> list["Series"]:
        """Return every series of a simulation; results that tune it are read where it has some."""
        plan = self.experiments(paper).plan(name)
        return plan.series(self.frame(paper, plan.tuned_by) if plan.tuned_by else None)

    def figure_spec(self, paper: str, figure: str) -> Mapping[str, Any]:
        """Return the entry of a figure; InputError if there is none of that name."""
        return self.experiments(paper).figure_spec(figure)

    def table_spec(self, paper: str, table: str) -> Mapping[str, Any]:
        """Return the entry of a table; InputError if there is none of that name."""
        return self.experiments(paper).table_spec(table)

    @cached_property
    def _statements(self) -> dict[str, Statements]:
        return {}

    def statements(self, paper: str) -> Statements:
        """Return the claims of a paper and the findings on it, each file read once."""
        # Simulations and drawing do without the claims.

        if paper not in self._statements:
            claims, findings = (self.config_path(paper, kind) for kind in ("claims", "findings"))
            self._statements[paper] = Statements(paper, claims, findings)
        return self._statements[paper]

    def claims(self, paper: str) -> list["Claim"]:
        """Return the claims of a paper, checked; a comparison has none."""
        return self.statements(paper).claims

    def notes(self, paper: str) -> "Notes":
        """Return what a paper's claims file says beside its claims; a comparison has none."""
        return self.statements(paper).notes

    def findings(self, paper: str) -> list["Finding"]:
        """Return the findings on a paper, checked; none where it has no such file."""
        return self.statements(paper).findings

    def summary(self, paper: str) -> "Summary":
        """Return the sentence that sums up a paper; InputError where there is none."""
        # Simulations and drawing do without the claims.
        from dpbandits.claims.files import Summary

        given = self.papers[paper].summary
        if given is None:
            return self.statements(paper).summary
        return parsed({**given}, self.config_path(paper, "paper"), Summary)

    def claims_path(self, paper: str) -> Path:
        """File that states a paper's claims."""
        return self.config_path(paper, "claims")

    def findings_path(self, paper: str) -> Path:
        """File that states the findings on a paper; it may be missing."""
        return self.config_path(paper, "findings")

    def built(self) -> list[str]:
        """Return the papers to build and the comparisons across papers, by name."""
        return [*self.chosen, *self.comparisons]

    def check(self) -> None:
        """Check every file that a build of the chosen papers reads."""
        from dpbandits.pipeline.check import check_files

        check_files(self)


FIGURES = Path("docs/figures")
"""Folder of the published copies of figures and verdicts, in a folder with config."""

TABLES = Path("docs/tables")
"""Folder of the published copies of tables."""

NUMBERS = ("estimate", "lo", "hi", "level")
"""Columns of numbers, which may be empty."""

KEYS = ["claim", "variant", "interpretation"]
"""What the rows of the tables of a paper are told apart by."""


def published_folder() -> Path:
    """Return the folder with the config and the verdicts that belong to this package."""
    package = Path(__file__).parents[1]
    packed = package / "published"
    return packed if packed.is_dir() else package.parents[1]


def published_project(folder: Path) -> Project:
    """Return the project of a folder, or, where it is none, the one that the package has with it.

    Raises:
        InputError: the package was installed without it.
    """
    found = folder if (folder / CONFIG).is_file() else published_folder()
    if not (found / CONFIG).is_file():
        raise InputError(
            "the published verdicts were not installed; allowed: this command in the project's "
            "folder, or with --project FOLDER"
        )
    return Project.load(found)


def published_table(project: Project, paper: str, name: str) -> "pd.DataFrame":
    """Return a published table of verdicts: text, and numbers with NaN where there is none.

    Args:
        project: the project.
        paper: short name of the paper.
        name: ``claims``, ``simultaneous``, ``evidence`` or ``findings``.

    Raises:
        InputError: it is not published.
    """
    import pandas as pd

    path = project.folder / FIGURES / paper / f"{name}.csv"
    if not path.is_file():
        raise InputError(f"{path}: does not exist; allowed: a paper whose verdicts are published")
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in set(NUMBERS) & set(frame.columns):
        frame[column] = pd.to_numeric(frame[column])
    return frame
