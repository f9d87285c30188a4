"""What is published belongs to the sources beside it, and the documents to what is published."""

import json
import tomllib
from functools import cache

import pytest
import yaml

import dpbandits
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import documents
from dpbandits.pipeline.project import PUBLISHED_FIGURES, PUBLISHED_TABLES
from dpbandits.pipeline.publish import FINGERPRINTS, current_fingerprints, published_targets
from dpbandits.pipeline.targets import TABLE, Target
from found_papers import COMPARISONS, PAPERS, PROJECT
from support import ROOT

EVERY = (*PAPERS, *COMPARISONS)


@cache
def targets_of() -> dict[str, list[Target]]:
    """Return what is published of each paper and comparison."""
    every = published_targets(PROJECT)
    return {paper: [target for target in every if target.paper == paper] for paper in EVERY}


@pytest.mark.release
@pytest.mark.parametrize("paper", EVERY)
def test_sources_and_published_copies_agree(paper: str) -> None:
    """Where this fails: `make publish` builds what changed and copies it."""
    published = json.loads((ROOT / PUBLISHED_FIGURES / paper / FINGERPRINTS).read_text())
    assert published == current_fingerprints(targets_of()[paper])


@pytest.mark.parametrize("paper", EVERY)
def test_every_panel_is_published_and_nothing_else(paper: str) -> None:
    figures, tables = {FINGERPRINTS}, set()
    for target in targets_of()[paper]:
        names = {path.name for path in target.files}
        if target.kind == TABLE:
            tables |= {name for name in names if name.endswith((".tex", ".csv"))}
        else:
            whole = f"{target.name}.pdf"
            figures |= {name for name in names if name == whole or not name.endswith(".pdf")}
    for folder, expected in ((PUBLISHED_FIGURES, figures), (PUBLISHED_TABLES, tables)):
        assert {path.name for path in (ROOT / folder / paper).iterdir()} == expected


def test_documents_show_what_is_published() -> None:
    """Where this fails: `dpbandits publish` writes what is computed in them anew."""
    for name, text in documents(Contents.of(PROJECT)).items():
        assert text == (ROOT / name).read_text(encoding="utf-8"), name


def test_the_citation_is_of_the_present_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for key in ("version", "license", "authors"):
        assert citation[key] == package[key]
    assert dpbandits.__version__ == citation["version"]
    assert f"dpbandits-{citation['version']}.tar.gz" in (ROOT / "docs/artifact.md").read_text()
