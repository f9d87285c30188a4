"""Judge claims from results: what rules call, with provenance."""

import time
from pathlib import Path

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import comparisons, explain, ledger, to_csv
from dpbandits.engine.files import write_text
from dpbandits.errors import InputError
from dpbandits.outputs import Outputs
from dpbandits.project import Project


def _judged(project: Project, paper: str, claims: list[Claim]) -> list[Judgement]:
    evidence = Evidence.of(lambda name: project.frame(paper, name), root_seed=project.seed)
    return judge(claims, evidence, "quick" if project.scale == "quick" else "paper")


def judge_paper(project: Project, paper: str) -> None:
    """Judge every claim of a paper; write the ledger and the comparisons behind it."""
    begun = time.monotonic()
    outputs = Outputs(project)
    judgements = _judged(project, paper, project.claims(paper))
    claims, evidence = (Path(path) for path in outputs.ledger(paper))
    write_text(claims, to_csv(ledger(judgements)))
    write_text(evidence, to_csv(comparisons(judgements)))
    outputs.finish(claims, begun, outputs.ledger_made_from(paper))


def explain_claim(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim, such as ``TSDP-C8``, comes about from the results."""
    known: list[str] = []
    for paper in project.selected()[0]:
        claims = project.claims(paper)
        known += [claim.id for claim in claims]
        chosen = [claim for claim in claims if claim.id == identifier]
        if chosen:
            return "\n".join(explain(each) for each in _judged(project, paper, chosen)).rstrip()
    raise InputError(f"claim is {identifier!r}; allowed: {', '.join(known)}")
