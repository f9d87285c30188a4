"""What is published belongs to the sources beside it, and the documents to what is published."""

import json
import tomllib
from pathlib import Path

import pytest
import yaml

import dpbandits
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import documents
from dpbandits.pipeline.project import FIGURES, TABLES, Project
from dpbandits.pipeline.publish import (
    FINGERPRINTS,
    current_fingerprints,
    published_targets,
)
from dpbandits.pipeline.targets import TABLE, Target
from found_papers import COMPARISONS, PAPERS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Project.load(ROOT)
TARGETS = published_targets(PROJECT)


def published_of(paper: str) -> list[Target]:
    return [target for target in TARGETS if target.paper == paper]


@pytest.mark.release
@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
def test_sources_and_published_copies_agree(paper: str) -> None:
    """Where this fails: `make publish` builds what changed and copies it."""
    published = json.loads((ROOT / FIGURES / paper / FINGERPRINTS).read_text())
    assert published == current_fingerprints(published_of(paper))


@pytest.mark.parametrize("paper", [*PAPERS, *COMPARISONS])
def test_every_panel_is_published_and_nothing_else(paper: str) -> None:
    names = [path.name for each in published_of(paper) if each.kind != TABLE for path in each.files]
    expected = {name for name in names if not name.endswith(".pdf")} | {FINGERPRINTS}
    assert {path.name for path in (ROOT / FIGURES / paper).iterdir()} == expected
    names = [path.name for each in published_of(paper) if each.kind == TABLE for path in each.files]
    expected = {name for name in names if name.endswith((".tex", ".csv"))}
    assert {path.name for path in (ROOT / TABLES / paper).iterdir()} == expected


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
