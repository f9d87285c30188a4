"""The family of the error rate is the paper: what one paper says moves nothing of another."""

import copy
import shutil
from pathlib import Path

import pytest
import yaml

from dpbandits.pipeline.project import Project
from found_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
LAST = "dp-ncb"
OTHERS = [paper for paper in PAPERS if paper != LAST]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the config in which one paper has one claim and one finding more."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    for section in ("claims", "findings"):
        path = tmp_path / f"config/papers/{LAST}/{section}.yaml"
        document = yaml.safe_load(path.read_text())
        first, entry = next(iter(document[section].items()))
        document[section][f"{first.rstrip('0123456789abc')}99"] = copy.deepcopy(entry)
        path.write_text(yaml.safe_dump(document, sort_keys=False))
    return tmp_path


def test_a_claim_more_moves_the_verdicts_of_its_own_paper_alone(folder: Path) -> None:
    before, after = Project.load(ROOT), Project.load(folder)
    moved = [
        paper
        for paper in PAPERS
        if before.study(paper).judged_fingerprint("claims")
        != after.study(paper).judged_fingerprint("claims")
    ]
    assert moved == [LAST]


def test_a_paper_less_moves_no_verdict_of_the_others(folder: Path) -> None:
    before = Project.load(ROOT)
    for section in ("claims", "findings"):
        (folder / f"config/papers/{LAST}/{section}.yaml").unlink()
    config = dict(before.config) | {"papers": OTHERS}
    after = Project.load(folder, config=config)
    for paper in OTHERS:
        assert before.study(paper).judged_fingerprint("claims") == after.study(
            paper
        ).judged_fingerprint("claims")
