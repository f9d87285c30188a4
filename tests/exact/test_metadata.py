"""CITATION.cff, .zenodo.json, codemeta.json and pyproject.toml say the same."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from dpbandits.pages.documents import document
from dpbandits.pages.metadata import identifier
from dpbandits.pipeline.project import Project

ROOT = Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
CODEMETA = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
CFFCONVERT = ROOT / ".venv-metadata/bin/cffconvert"


def test_all_say_the_same() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert CITATION["version"] == ZENODO["version"] == CODEMETA["version"] == pyproject["version"]
    assert CITATION["title"] == ZENODO["title"] == CODEMETA["name"]
    assert CITATION["abstract"] == ZENODO["description"] == CODEMETA["description"]
    assert CITATION["keywords"] == ZENODO["keywords"] == CODEMETA["keywords"]
    assert CITATION["license"] == ZENODO["license"] == pyproject["license"]
    assert CODEMETA["license"] == f"https://spdx.org/licenses/{CITATION['license']}"
    dates = {CITATION["date-released"].isoformat(), CODEMETA["datePublished"]}
    assert dates == {ZENODO["publication_date"]}
    authors = [each["name"] for each in CITATION["authors"]]
    assert authors == [each["name"] for each in ZENODO["creators"]]
    assert authors == [each["name"] for each in CODEMETA["author"]]
    assert authors == [each["name"] for each in pyproject["authors"]]


@pytest.mark.parametrize("name", ["CITATION.cff", "codemeta.json", ".zenodo.json"])
def test_the_published_papers_are_cited_as_they_describe_themselves(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == document(Project.load(ROOT), name)


def test_every_paper_is_cited_everywhere_and_no_draft() -> None:
    published = [paper for paper in Project.load(ROOT).papers.values() if paper.is_published]
    assert [each["title"] for each in CITATION["references"]] == [each.title for each in published]
    numbers = [identifier(paper) for paper in published]
    assert [each["identifier"] for each in CODEMETA["referencePublication"]] == numbers
    assert [each["identifier"] for each in ZENODO["related_identifiers"]] == numbers


def test_files_that_codemeta_names_are_there() -> None:
    for key in ("softwareRequirements", "readme", "buildInstructions"):
        assert (ROOT / CODEMETA[key]).is_file(), key


@pytest.mark.skipif(not CFFCONVERT.exists(), reason="`make metadata` sets up cffconvert")
def test_cffconvert_accepts_the_citation(tmp_path: Path) -> None:
    command = [CFFCONVERT, "--validate", "-i"]
    done = subprocess.run([*command, ROOT / "CITATION.cff"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = tmp_path / "CITATION.cff"
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    broken.write_text(text.replace("cff-version", "cf-version"), encoding="utf-8")
    assert subprocess.run([*command, broken], capture_output=True).returncode != 0
