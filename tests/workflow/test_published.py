"""What is published belongs to the sources beside it, and the documents to what is published."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from dpbandits.documents import (
    PUBLISHED_TABLES,
    documents_with_tables,
    with_block,
    with_tables,
)
from dpbandits.outputs import Outputs
from dpbandits.papers import PAPERS
from dpbandits.project import Project
from dpbandits.publishing import (
    FINGERPRINTS,
    PUBLISHED,
    claims_table,
    current_fingerprints,
)

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Project.load(ROOT)


@pytest.mark.parametrize("paper", PAPERS)
def test_sources_and_published_copies_agree(paper: str) -> None:
    """Where this fails: `make publish` builds what changed and copies it."""
    published = json.loads((ROOT / PUBLISHED / paper / FINGERPRINTS).read_text())
    assert published == current_fingerprints(PROJECT, paper)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_panel_is_published_and_nothing_else(paper: str) -> None:
    outputs = Outputs(PROJECT)
    expected = {Path(path).name for path in outputs.ledger(paper)} | {FINGERPRINTS}
    for figure in PROJECT.experiments(paper).figures:
        names = {Path(path).name for _, path in outputs.figure_files(paper, figure)}
        expected |= {name for name in names if not name.endswith(".pdf")}
    assert {path.name for path in (ROOT / PUBLISHED / paper).iterdir()} == expected
    tables = PROJECT.experiments(paper).tables
    expected = {Path(path).name for each in tables for path in outputs.table_files(paper, each)}
    assert {path.name for path in (ROOT / PUBLISHED_TABLES / paper).iterdir()} == expected


@pytest.mark.parametrize("paper", PAPERS)
def test_published_claims_are_at_paper_scale_and_mostly_decided(paper: str) -> None:
    ledger = pd.read_csv(ROOT / PUBLISHED / paper / "claims.csv", keep_default_na=False)
    assert set(ledger["scale"]) == {"paper"}
    assert set(ledger["claim"]) == {claim.id for claim in PROJECT.claims(paper)}
    open_ended = ledger["detail"].str.contains("not contradicted")
    is_undecided = ledger["verdict"] == "undecided"
    unmeasured = ledger["detail"].str.contains("no number was measured")
    assert set(ledger["claim"][unmeasured]) <= set(ledger["claim"][~is_undecided])
    undecided = ledger[is_undecided & ~open_ended & ~unmeasured]
    assert undecided["claim"].nunique() <= 3
    assert undecided["detail"].str.contains("runs would decide it").all()


@pytest.mark.parametrize("paper", PAPERS)
def test_the_readme_shows_the_published_verdicts(paper: str) -> None:
    ledger = pd.read_csv(ROOT / PUBLISHED / paper / "claims.csv", keep_default_na=False)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_block(readme, f"claims {paper}", claims_table(PROJECT, paper, ledger)) == readme


def test_a_perturbed_ledger_would_not_pass_for_the_published_one() -> None:
    ledger = pd.read_csv(ROOT / PUBLISHED / "ts-is-dp" / "claims.csv", keep_default_na=False)
    ledger.loc[0, "verdict"] = "fails"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = claims_table(PROJECT, "ts-is-dp", ledger)
    assert with_block(readme, "claims ts-is-dp", table) != readme


def test_documents_show_the_published_tables() -> None:
    documents = documents_with_tables(PROJECT)
    assert ROOT / "docs/deviations.md" in documents
    for path in documents:
        text = path.read_text(encoding="utf-8")
        assert with_tables(text, PROJECT) == text


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "config/README.md"])
def test_links_and_pictures_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / document).parent.joinpath(target).exists(), target


def test_conda_environment_has_the_versions_of_the_lock() -> None:
    lock = dict(
        re.findall(
            r"^([a-z0-9._-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE
        )
    )
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    [own] = [each["pip"] for each in dependencies if isinstance(each, dict)]
    pinned = dict(each.split("==") for each in own if "==" in each)
    assert pinned == {name: lock[name] for name in pinned}
    pyproject = (ROOT / "pyproject.toml").read_text()
    block = pyproject.partition("\ndependencies = [")[2].partition("\n]")[0]
    direct = set(re.findall(r'^  "([a-z0-9_-]+)', block, re.MULTILINE))
    assert set(pinned) == direct | {"setuptools"}


def test_locks_carry_hashes_and_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        for pin in re.findall(r"^[a-z0-9._-]+==[^\n]*(?:\n +[^\n]*)*", text, re.MULTILINE):
            assert "--hash=sha256:" in pin, pin
