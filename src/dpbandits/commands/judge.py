"""Judge every claim of a paper and write its ledger."""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

from dpbandits.claims.entries import FINDING, Claim, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, Scale, judge_interpretation
from dpbandits.claims.ledger import comparisons, ledger, to_csv
from dpbandits.claims.simultaneous import InFamily, row_in_family, simultaneous
from dpbandits.claims.staged import Needed, in_stages
from dpbandits.commands.options import (
    add_paper_arguments,
    add_project_options,
    add_workers_option,
    project_of,
)
from dpbandits.engine.arguments import require_workers
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.files import write_text
from dpbandits.project.config import Project
from dpbandits.project.costs import write_timing
from dpbandits.project.judged_runs import JudgedRuns
from dpbandits.project.target import record
from dpbandits.project.targets import claims_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser)
    add_workers_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    require_workers(arguments.workers)
    judge_paper(project_of(arguments), arguments.paper, arguments.workers)


def judge_paper(project: Project, paper: str, workers: int = 1) -> None:
    """Judge every claim of a paper and the findings on it; write the files of its ledger.

    Runs that interim analyses ask for are simulated, and kept beside the ledger.

    Args:
        project: the project.
        paper: its short name.
        workers: processes to simulate with.

    Raises:
        InputError: it is a comparison, which has no claims.
    """
    begun = time.monotonic()
    target = claims_target(project, paper)
    runs = JudgedRuns(project, paper, workers)
    entries = [*project.claims(paper), *(finding.claim for finding in project.findings(paper))]
    rows = _judged(runs, entries, runs.simulate)
    alone = [row for row, within in rows if within is not None]
    both_levels = [within for _, within in rows if within is not None]
    found = [row for row, within in rows if within is None]
    runs.keep()
    write_timing(project, paper, target.name, runs.spent, digest_of(target.depends_on))
    claims, both, evidence, findings = target.files
    write_text(claims, to_csv(ledger(alone)))
    write_text(both, to_csv(simultaneous(alone, both_levels)))
    write_text(evidence, to_csv(comparisons([*alone, *found])))
    write_text(findings, to_csv(ledger(found)))
    record(project, target, begun)


def judged(
    project: Project, paper: str, claims: list[Claim]
) -> tuple[list[Judgement], list[InFamily]]:
    """Return the judgements at the claims' own levels, and at the family-wise one of the paper.

    Raises:
        InputError: results are missing, damaged or stale; runs that were judged are not there.
    """
    runs = JudgedRuns(project, paper)
    rows = _judged(runs, claims, runs.refuse)
    return [row for row, _ in rows], [within for _, within in rows if within is not None]


Row = tuple[Judgement, InFamily | None]


def _judged(
    runs: JudgedRuns, entries: Sequence[Claim], simulate: Callable[[Needed], None]
) -> list[Row]:
    """Return each row at the entry's own level and, of claims, at the family-wise one."""
    project, paper = runs.project, runs.paper
    evidence = Evidence.of(runs.load, root_seed=project.seed)
    scale: Scale = "quick" if project.scale == "quick" else "paper"
    size = len(project.claims(paper))

    settled: dict[tuple[str, Interpretation], Judgement] = {}

    def judge(claim: Claim, interpretation: Interpretation) -> Row:
        key = claim.id, interpretation
        if key not in settled:
            settled[key] = judge_interpretation(claim, interpretation, evidence, scale)
        if claim.kind == FINDING:
            return settled[key], None
        return settled[key], row_in_family(settled[key], evidence, size, scale)

    rows = [partial(judge, entry, each) for entry in entries for each in entry.interpretations]
    return in_stages(rows, evidence, simulate)
