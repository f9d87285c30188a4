"""The documents that `dpbandits publish` writes, whole or in their marked regions."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.pages.choosing import choosing_page, which_one
from dpbandits.pages.front import api_page, findings_page, front_page
from dpbandits.pages.papers import claims_page, errata_page, gallery_page
from dpbandits.pages.published import with_tables
from dpbandits.pages.render import render, table, with_region
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import PAPERS, PaperFile
from dpbandits.pipeline.targets import REPORT, Target, targets, timing_path

CITATION = "CITATION.cff"
REFERENCES = "references:\n"
"""The last key of ``CITATION.cff``."""


def citation_page(project: Project, text: str) -> str:
    """Return the citation with the references of the published papers.

    Raises:
        InputError: the key ``references`` is missing.
    """
    head, mark, _ = text.partition(f"\n{REFERENCES}")
    if not mark:
        raise InputError(f"{CITATION}: key references is missing; allowed: the last key")
    references = [_reference(paper) for paper in _published(project)]
    written = yaml.safe_dump(references, sort_keys=False, allow_unicode=True, width=200)
    indented = "".join(f"  {line}\n" for line in written.splitlines())
    return f"{head}\n{REFERENCES}{indented}"


def _published(project: Project) -> list[PaperFile]:
    return [paper for paper in project.papers.values() if paper.is_published]


def _reference(paper: PaperFile) -> dict[str, Any]:
    """Return a paper as the Citation File Format has it."""
    names = [{"family-names": each.family, "given-names": each.given} for each in paper.authors]
    authors = [{key: name for key, name in each.items() if name} for each in names]
    found = {
        "type": "conference-paper" if paper.proceedings else "article",
        "title": paper.title,
        "authors": authors,
        "collection-title": paper.proceedings,
        "year": paper.year,
        "doi": paper.doi,
        "notes": f"arXiv:{paper.arxiv}" if paper.arxiv else None,
    }
    return {key: value for key, value in found.items() if value}


HEAD = ("", "results", "figures", "panels", "tables", "claims")


def artifact_page(project: Project, text: str) -> str:
    """Return the page with the table of what the archive holds.

    Args:
        project: the project, at its paper scale.
        text: the page as it is.
    """
    counts = {f"`{name}`": _counts(project, name) for name in project.built()}
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[name, *numbers] for name, numbers in {**counts, "all": total}.items()]
    return with_region(text, "contents", table(HEAD, rows, texts=len(HEAD)))


def _counts(project: Project, paper: str) -> list[int]:
    """Return how many sets of results, figures, panels, tables and claims a paper has."""
    study = project.study(paper)
    stems = {stem for figure in study.figures.values() for stem in figure.stems}
    return [
        len(study.simulations) + len(study.exact),
        len(study.figures),
        len(stems - set(study.figures)),
        len(study.tables),
        len(study.claims),
    ]


COSTS = Path("docs/cost.csv")
KEY = ["paper", "kind", "name"]
MEASURED = {"seconds": "s", "cpu_seconds": "cpu_time", "memory": "max_rss"}
"""Column -> that of the files of Snakemake; memory in MiB. Short jobs have no memory."""


def write_costs(project: Project) -> Path:
    """Write what was measured, and what was known of jobs that were not measured again."""
    path = project.folder / COSTS
    built = [target for target in targets(project) if target.kind != REPORT]
    measured = pd.DataFrame(_measured(project, built), columns=[*KEY, *MEASURED])
    known = read_costs(project)
    names = {(target.paper, target.kind, target.name) for target in built}
    is_kept = [
        key in names or key[0] not in project.built()
        for key in known[KEY].itertuples(index=False, name=None)
    ]
    both = [frame for frame in (known[is_kept], measured) if len(frame)] or [measured]
    rows = pd.concat(both).drop_duplicates(KEY, keep="last").sort_values(KEY)
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
    return path


def read_costs(project: Project) -> pd.DataFrame:
    """Return the published costs; none where there is no file."""
    path, columns = project.folder / COSTS, [*KEY, *MEASURED]
    return pd.read_csv(path, usecols=columns) if path.is_file() else pd.DataFrame(columns=columns)


def _measured(project: Project, built: list[Target]) -> Iterator[list[object]]:
    for target in built:
        path = timing_path(project, target)
        if path.is_file():
            last = pd.read_csv(path, sep="\t", na_values="-").iloc[-1]
            values = [round(float(last[column]), 1) for column in MEASURED.values()]
            yield [target.paper, target.kind, target.name, *values]


def cluster_page(project: Project, text: str) -> str:
    """Return the page with its table filled in: the jobs of each paper by kind, and the longest."""
    rows = []
    for (paper, kind), jobs in read_costs(project).groupby(["paper", "kind"]):
        minutes = jobs["cpu_seconds"] / 60
        longest = jobs["name"].iloc[int(minutes.argmax())]
        numbers = [f"{minutes.sum():.1f}", f"{minutes.max():.1f}", f"{jobs['memory'].max():.0f}"]
        rows.append([paper, kind, longest, len(jobs), *numbers])
    heads = ["paper", "kind", "longest job", "jobs", "CPU minutes", "of the longest", "MiB at most"]
    return with_region(text, "cost", table(heads, rows, texts=3))


FILES = ("paper", "experiments", "claims")
"""What a paper states about itself, by file."""

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_skeleton(project: Project, name: str) -> list[Path]:
    """Write the folder of a draft; return its files.

    Raises:
        InputError: the name is not allowed, or taken.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"name is {name!r}; allowed: small letters, digits and -")
    folder = project.folder / PAPERS / name
    if folder.exists() or name in project.known_comparisons:
        raise InputError(f"name is {name!r}, which is taken; allowed: another")
    prefix = re.sub("[^A-Z]", "", name.upper())
    paths = []
    for kind in FILES:
        paths.append(folder / f"{kind}.yaml")
        text = render(f"new-paper.{kind}.yaml", paper=name, prefix=prefix, year=date.today().year)
        write_text(paths[-1], text)
    return paths


PAGES: Mapping[str, Callable[[Project], str]] = {
    "docs/api.md": lambda project: api_page(),
    "docs/choosing.md": choosing_page,
    "docs/claims.md": claims_page,
    "docs/errata.md": errata_page,
    "docs/gallery.md": gallery_page,
}
"""Document -> what returns the whole of it."""

REGIONS: Mapping[str, Callable[[Project, str], str]] = {
    "README.md": lambda project, text: which_one(project, front_page(project, text)),
    "CITATION.cff": citation_page,
    "docs/artifact.md": artifact_page,
    "docs/cluster.md": cluster_page,
    "docs/deviations.md": with_tables,
    "docs/findings.md": findings_page,
}
"""Document -> what fills in its computed parts, in the text that it has."""

DOCUMENTS = (*PAGES, *REGIONS)


def document(project: Project, name: str) -> str:
    """Return one of ``DOCUMENTS`` as the published copies have it.

    Raises:
        InputError: a number is not published, or the marks of a region are missing.
    """
    if name in PAGES:
        return PAGES[name](project)
    text = (project.folder / name).read_text(encoding="utf-8")
    return REGIONS[name](project, text)


def write_documents(project: Project) -> list[Path]:
    """Write every document from the published copies; return their paths."""
    texts = {project.folder / name: document(project, name) for name in DOCUMENTS}
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
