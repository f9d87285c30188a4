"""Say how the verdict on a claim came about."""

import argparse

from dpbandits.claims.judge import Judgement
from dpbandits.claims.ledger import explain
from dpbandits.claims.simultaneous import ALONE, EXACT, IN_FAMILY, OPEN, InFamily, standing
from dpbandits.commands.judge import judged
from dpbandits.commands.options import add_project_options, project_of
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.statements import claim_figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the claim to the project's options."""
    add_project_options(parser)
    parser.add_argument("claim")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    print(explain_claim(project_of(arguments), arguments.claim))


def explain_claim(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim, such as ``TSDP-C8``, comes about from the results."""
    known: list[str] = []
    for paper in project.selected()[0]:
        claims = project.claims(paper)
        known += [claim.id for claim in claims]
        chosen = [claim for claim in claims if claim.id == identifier]
        if chosen:
            rows = zip(*judged(project, paper, chosen), strict=True)
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
    evidence = ", no evidence" if alone.scale == "quick" else ""
    lines.append(f"  scale: {alone.scale}{evidence}")
    lines += [f"  figure: {path}" for path in claim_figures(project, paper, alone.claim)]
    return "\n".join(lines) + "\n"
