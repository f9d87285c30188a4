"""Judge claims from results: what rules call, with provenance."""

import time
from pathlib import Path

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, Scale, judge
from dpbandits.claims.ledger import comparisons, explain, ledger, to_csv
from dpbandits.claims.simultaneous import (
    ALONE,
    EXACT,
    IN_FAMILY,
    OPEN,
    InFamily,
    judge_in_family,
    simultaneous,
    standing,
)
from dpbandits.engine.files import write_text
from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, PAPERS
from dpbandits.project.claims_summary import join, read_ledger, tables, together
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs


def _evidence(project: Project, paper: str) -> Evidence:
    return Evidence.of(lambda name: project.frame(paper, name), root_seed=project.seed)


def _scale(project: Project) -> Scale:
    return "quick" if project.scale == "quick" else "paper"


def _judged(
    project: Project, paper: str, claims: list[Claim]
) -> tuple[list[Judgement], list[InFamily]]:
    """Judge claims at their own levels, and at the family-wise one of their paper."""
    evidence, scale = _evidence(project, paper), _scale(project)
    alone = judge(claims, evidence, scale)
    size = len(project.claims(paper))
    return alone, judge_in_family(alone, evidence, size, scale)


def judge_paper(project: Project, paper: str) -> None:
    """Judge every claim of a paper and the findings on it; write the files of its ledger.

    Raises:
        InputError: it is ours and has no claims.
    """
    if paper in COMPARISONS:
        raise InputError(f"paper is {paper!r}, which has no claims; allowed: {', '.join(PAPERS)}")
    begun = time.monotonic()
    outputs = Outputs(project)
    alone, within = _judged(project, paper, project.claims(paper))
    entries = [each.claim for each in project.findings(paper)]
    found = judge(entries, _evidence(project, paper), _scale(project))
    claims, both, evidence, findings = (Path(path) for path in outputs.ledger(paper))
    write_text(claims, to_csv(ledger(alone)))
    write_text(both, to_csv(simultaneous(alone, within)))
    write_text(evidence, to_csv(comparisons([*alone, *found])))
    write_text(findings, to_csv(ledger(found)))
    outputs.finish(claims, begun, outputs.ledger_made_from(paper))


def explain_claim(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim, such as ``TSDP-C8``, comes about from the results."""
    known: list[str] = []
    for paper in project.selected()[0]:
        claims = project.claims(paper)
        known += [claim.id for claim in claims]
        chosen = [claim for claim in claims if claim.id == identifier]
        if chosen:
            rows = zip(*_judged(project, paper, chosen), strict=True)
            texts = (_explained(project, paper, alone, within) for alone, within in rows)
            return "\n".join(texts).rstrip()
    raise InputError(f"claim is {identifier!r}; allowed: {', '.join(known) or 'none'}")


def _explained(project: Project, paper: str, alone: Judgement, within: InFamily) -> str:
    """Return how a verdict comes about, what it is at the family-wise level, and the figures."""
    lines = [explain(alone).rstrip()]
    if alone.interpretation.is_judged:
        second = within.judgement
        stands = standing(alone, second)
        meaning = {
            EXACT: "the same, as nothing in it depends on chance",
            IN_FAMILY: f"{second.verdict}",
            ALONE: f"{second.verdict}; the one above is decided only at the claim's own level",
            OPEN: second.verdict,
        }[stands]
        level = "" if stands == EXACT else f" {second.claim.level:.3g} ({second.runs} runs)"
        lines.append(f"  verdict at the family-wise level{level}: {meaning}")
    lines.append(f"  scale: {alone.scale}{', no evidence' * (alone.scale == 'quick')}")
    paths = Outputs(project).claim_figures(paper, alone.claim)
    lines += [f"  figure: {path}" for path in paths]
    return "\n".join(lines) + "\n"


def write_whole_ledger(project: Project) -> None:
    """Write the verdicts on the claims of all chosen papers, as csv and as a table.

    Raises:
        InputError: the ledger of a paper is missing or stale.
    """
    begun = time.monotonic()
    outputs = Outputs(project)
    ledgers = []
    for paper in project.selected()[0]:
        verdicts, both = (Path(path) for path in outputs.ledger(paper)[:2])
        require_current(verdicts, outputs.ledger_made_from(paper))
        claims = project.claims(paper)
        figures = {each.id: outputs.claim_figures(paper, each) for each in claims}
        ledgers.append(join(paper, claims, read_ledger(verdicts), read_ledger(both), figures))
    whole = together(ledgers)
    ledger_csv, *shown = (Path(path) for path in outputs.whole_ledger())
    write_text(ledger_csv, to_csv(whole))
    texts = tables(whole)
    for path in shown:
        write_text(path, texts[path.suffix])
    outputs.finish(ledger_csv, begun, outputs.whole_ledger_made_from())
