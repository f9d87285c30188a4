"""CITATION.cff: valid where its schema asks most, and of the present version and papers.

The Dockerfile: what it runs exists, and nothing in it is unpinned.
"""

import datetime
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

from dpbandits.pages.documents import document
from dpbandits.pipeline.project import Project

ROOT = Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KEYS = "cff-version title message abstract type authors version date-released license keywords"
OF_REFERENCES = {"type", "title", "authors", "collection-title", "year", "doi", "notes"}
"""Keys of the Citation File Format 1.2.0 that are used."""


def test_the_citation_has_the_keys_of_its_format() -> None:
    assert set(CITATION) == {*KEYS.split(), "references"}
    assert (CITATION["cff-version"], CITATION["type"]) == ("1.2.0", "software")
    assert isinstance(CITATION["date-released"], datetime.date)
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= set(reference) <= OF_REFERENCES
        assert reference["type"] in ("article", "conference-paper")
        names = [set(author) for author in reference["authors"]]
        assert all({"family-names"} <= keys <= {"family-names", "given-names"} for keys in names)


def test_the_citation_says_what_the_package_and_the_papers_say() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for key in ("version", "license", "authors"):
        assert CITATION[key] == package[key]
    project = Project.load(ROOT)
    assert (ROOT / "CITATION.cff").read_text(encoding="utf-8") == document(project, "CITATION.cff")
    published = [paper.title for paper in project.papers.values() if paper.is_published]
    assert [each["title"] for each in CITATION["references"]] == published


def test_the_container_is_pinned_runs_as_a_user_and_gets_packed_results() -> None:
    [version] = re.findall(r"^FROM python:(\d+\.\d+)\.\d+-slim-\w+$", DOCKERFILE, re.MULTILINE)
    assert version in ("3.11", "3.12", "3.13")
    assert "pip install" not in DOCKERFILE
    assert DOCKERFILE.index("\nUSER 1000\n") < DOCKERFILE.index("\nCOPY --chown=evaluator")
    runs = re.findall(r"^RUN make (\S+)$", DOCKERFILE, re.MULTILINE)
    [command] = re.findall(r'^CMD \["make", "(\w+)"\]$', DOCKERFILE, re.MULTILINE)
    for target in [*runs, command]:
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv*", ".cache", ".snakemake"} <= set(ignored)
    assert not {"results", "figures"} & set(ignored)
