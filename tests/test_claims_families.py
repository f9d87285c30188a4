"""The family of the error rate is the paper: what one paper says moves nothing of another."""

import copy
import shutil
from pathlib import Path

import yaml

from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import ROOT

LAST = "dp-ncb"
OTHERS = [paper for paper in PAPERS if paper != LAST]


def test_a_claim_more_or_a_paper_less_moves_no_verdict_of_other_papers(tmp_path: Path) -> None:
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    paths = {
        section: tmp_path / f"config/papers/{LAST}/{section}.yaml"
        for section in ("claims", "findings")
    }
    for section, path in paths.items():
        document = yaml.safe_load(path.read_text())
        first, entry = next(iter(document[section].items()))
        document[section][f"{first.rstrip('0123456789abc')}99"] = copy.deepcopy(entry)
        path.write_text(yaml.safe_dump(document, sort_keys=False))

    def fingerprints(project: Project, papers: list[str]) -> list[str]:
        return [project.study(paper).judged_fingerprint("claims") for paper in papers]

    before, more = Project.load(ROOT), Project.load(tmp_path)
    assert fingerprints(before, OTHERS) == fingerprints(more, OTHERS)
    assert fingerprints(before, [LAST]) != fingerprints(more, [LAST])
    for path in paths.values():
        path.unlink()
    less = Project.load(tmp_path, config=dict(before.config) | {"papers": OTHERS})
    assert fingerprints(before, OTHERS) == fingerprints(less, OTHERS)
