"""Judge every claim of a paper and write its ledger."""

import argparse
import time
from collections.abc import Iterable
from functools import partial

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, Scale, judge
from dpbandits.claims.ledger import comparisons, ledger, to_csv
from dpbandits.claims.simultaneous import InFamily, judge_in_family, simultaneous
from dpbandits.commands.options import add_paper_arguments, add_project_options, project_of
from dpbandits.engine.files import write_text
from dpbandits.project.config import Project
from dpbandits.project.target import record
from dpbandits.project.targets import claims_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    judge_paper(project_of(arguments), arguments.paper)


def judge_paper(project: Project, paper: str) -> None:
    """Judge every claim of a paper and the findings on it; write the files of its ledger.

    Raises:
        InputError: it is a comparison, which has no claims, or results are missing or stale.
    """
    begun = time.monotonic()
    target = claims_target(project, paper)
    evidence, scale = evidence_of(project, paper), _scale(project)
    alone, within = judged(project, paper, project.claims(paper), evidence)
    found = judge((finding.claim for finding in project.findings(paper)), evidence, scale)
    claims, both, compared, findings = target.files
    write_text(claims, to_csv(ledger(alone)))
    write_text(both, to_csv(simultaneous(alone, within)))
    write_text(compared, to_csv(comparisons([*alone, *found])))
    write_text(findings, to_csv(ledger(found)))
    record(project, target, begun)


def evidence_of(project: Project, paper: str) -> Evidence:
    """Return what the claims of a paper read; results are loaded when they are first asked for."""
    return Evidence.of(partial(project.frame, paper), root_seed=project.seed)


def judged(
    project: Project, paper: str, claims: Iterable[Claim], evidence: Evidence
) -> tuple[list[Judgement], list[InFamily]]:
    """Return the judgements at the claims' own levels, and at the family-wise one of the paper.

    Raises:
        InputError: results are missing, damaged or stale.
    """
    alone = judge(claims, evidence, _scale(project))
    size = len(project.claims(paper))
    return alone, judge_in_family(alone, evidence, size, _scale(project))


def _scale(project: Project) -> Scale:
    return "quick" if project.scale == "quick" else "paper"
