"""Judge every claim of a paper and write its ledger."""

import argparse
import time

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
        InputError: it is a comparison, which has no claims.
    """
    begun = time.monotonic()
    target = claims_target(project, paper)
    alone, within = judged(project, paper, project.claims(paper))
    entries = [finding.claim for finding in project.findings(paper)]
    found = judge(entries, _evidence(project, paper), _scale(project))
    claims, both, evidence, findings = target.files
    write_text(claims, to_csv(ledger(alone)))
    write_text(both, to_csv(simultaneous(alone, within)))
    write_text(evidence, to_csv(comparisons([*alone, *found])))
    write_text(findings, to_csv(ledger(found)))
    record(project, target, begun)


def judged(
    project: Project, paper: str, claims: list[Claim]
) -> tuple[list[Judgement], list[InFamily]]:
    """Return the judgements at the claims' own levels, and at the family-wise one of the paper."""
    evidence, scale = _evidence(project, paper), _scale(project)
    alone = judge(claims, evidence, scale)
    size = len(project.claims(paper))
    return alone, judge_in_family(alone, evidence, size, scale)


def _evidence(project: Project, paper: str) -> Evidence:
    return Evidence.of(lambda name: project.frame(paper, name), root_seed=project.seed)


def _scale(project: Project) -> Scale:
    return "quick" if project.scale == "quick" else "paper"
