"""How the verdict on a claim came about, in words: by results, or by what is published."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpbandits.claims.docket import FINDING, Claim, Finding
from dpbandits.claims.judge import conclusion, found_text
from dpbandits.claims.ledger import (
    ALONE,
    EXACT,
    IN_FAMILY,
    OPEN,
    InFamily,
    comparisons,
    explain,
    ledger,
    simultaneous,
    standing,
)
from dpbandits.engine.progress import announce
from dpbandits.errors import InputError
from dpbandits.pipeline.project import KEYS, Project, published_table
from dpbandits.pipeline.publish import claim_figures, published_file, variant_figure

if TYPE_CHECKING:
    from dpbandits.claims.judge import Judgement


def find_claim(project: Project, identifier: str) -> tuple[str, Claim]:
    """Return the paper, a draft perhaps, of a claim or finding such as ``TSDP-C8``, and its entry.

    Raises:
        InputError: no paper has it.
    """
    known: dict[str, str] = {}
    # Drafts come last: one that is not in order does not stand in the way of the others.
    for paper in dict.fromkeys([*project.chosen, *project.published, *project.papers]):
        findings = [finding.claim for finding in project.study(paper).findings]
        for claim in (*project.study(paper).claims, *findings):
            if claim.id.lower() == identifier.lower():
                return paper, claim
            known[claim.id.lower()] = claim.id
    near = difflib.get_close_matches(identifier.lower(), known, n=3, cutoff=0.0)
    ids = ", ".join(known[each] for each in near)
    raise InputError(f"claim is {identifier!r}; nearest ids: {ids or 'none'}")


def explain_claim(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim, such as ``TSDP-C8``, comes about from the results."""
    # The published verdicts are explained without the engine that judges.
    from dpbandits.pipeline.jobs import evidence_of, judged

    paper, claim = find_claim(project, identifier)
    announce(f"judging {claim.id}")
    alone, within = judged(project, paper, [claim], evidence_of(project, paper))
    rows = ledger(alone).merge(simultaneous(alone, within), on=[*KEYS, "verdict"])
    compared = comparisons(alone)
    texts = []
    for first, second, row in zip(alone, within, rows.to_dict("records"), strict=True):
        name = variant_figure(project.study(paper), claim, row["variant"])
        [shown] = claim_figures(project, paper, replace(claim, figures=(name,))) if name else [None]
        last = conclusion(claim, row, _deciding(compared, row), shown)
        texts.append("\n".join([*_explained(project, paper, first, second), f"  {last}"]))
    return "\n\n".join(texts)


def _explained(project: Project, paper: str, alone: "Judgement", within: InFamily) -> Iterator[str]:
    """Yield how a verdict comes about, what it is at the family-wise level, and the figures."""
    yield explain(alone).rstrip()
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
        yield f"  verdict at the family-wise level{level}: {meaning}"
    evidence = ", no evidence" if alone.scale == "quick" else ""
    yield f"  scale: {alone.scale}{evidence}"
    yield from _reservations(project, paper)
    for path in claim_figures(project, paper, alone.claim):
        yield f"  figure: {path}"


def _deciding(compared: pd.DataFrame, row: Mapping[Any, Any]) -> int:
    """Return how many comparisons enter the verdict of a row."""
    return int((_of_row(compared, row)["exploratory"].astype(str) == "False").sum())


def _of_row(table: pd.DataFrame, row: Mapping[Any, Any]) -> pd.DataFrame:
    """Return the rows of a table that belong to a row of the ledger."""
    return table[(table[KEYS] == [row[key] for key in KEYS]).all(axis=1)]


def explain_published(project: Project, identifier: str) -> str:
    """Return how the verdict on a claim or finding came about, by what is published of it.

    Args:
        project: with config and published verdicts.
        identifier: of the claim or finding, such as ``TSDP-C8``.

    Raises:
        InputError: nothing is published of it, or not every number of a finding.
    """
    paper, claim = find_claim(project, identifier)
    if claim.kind == FINDING:
        [finding] = [each for each in project.study(paper).findings if each.claim.id == claim.id]
        return "\n".join(_finding_lines(project, paper, finding))
    verdicts, both, compared = (
        published_table(project, paper, name) for name in ("claims", "simultaneous", "evidence")
    )
    rows = verdicts.merge(both, on=[*KEYS, "verdict"])
    texts = []
    for row in rows[rows["claim"] == claim.id].to_dict("records"):
        name = variant_figure(project.study(paper), claim, row["variant"])
        shown = published_file(project.study(paper), name) if name else None
        last = conclusion(claim, row, _deciding(compared, row), shown)
        lines = _published_lines(project, paper, claim, row, _of_row(compared, row))
        texts.append("\n".join([*lines, f"  {last}"]))
    if not texts:
        raise InputError(f"{claim.id}: no verdict is published; run snakemake to compute one")
    return "\n\n".join(texts)


def _finding_lines(project: Project, paper: str, finding: Finding) -> Iterator[str]:
    """Yield what is published of a finding, line by line, with its numbers."""
    # Claims are explained without what fills in numbers.
    from dpbandits.pages.published import filled

    claim = finding.claim
    place = f"{project.study(paper).findings_path}: findings.{claim.id}"
    yield f"{claim.id} ({claim.kind}; {claim.place})"
    yield f"  title: {finding.title}"
    yield f"  statement: {filled(project, paper, claim.statement, finding.numbers, place)}"
    rows, compared = (published_table(project, paper, name) for name in ("findings", "evidence"))
    for row in rows[rows["claim"] == claim.id].to_dict("records"):
        yield f"  {_choice(project, paper, row)}: {row['verdict']}"
        yield from _comparisons(_of_row(compared, row))
        yield f"  scale: {row['scale']}, as published"
    yield from _reservations(project, paper)


def _reservations(project: Project, paper: str) -> Iterator[str]:
    """Yield what is said beside every verdict on a paper."""
    about = project.papers[paper]
    if about.reduced:
        yield f"  at a smaller scale than the paper's: {about.reduced}"
    if not about.is_published:
        yield f"  a draft's: `state` in {project.study(paper).config_path('paper')}"


def _published_lines(
    project: Project, paper: str, claim: Claim, row: Mapping[Any, Any], compared: pd.DataFrame
) -> Iterator[str]:
    """Yield what is published of one row of the ledger, line by line."""
    yield f"{claim.id} ({claim.kind}; {claim.place}), {_choice(project, paper, row)}"
    yield f"  statement: {claim.statement}"
    yield f"  scope: {claim.scope}"
    yield f"  decided by: {claim.rule}"
    yield from _comparisons(compared)
    yield f"  verdict: {row['verdict']}; {row['detail']}"
    if claim.runs_paper:
        yield f"  verdict at the paper's {claim.runs_paper} runs: {row['verdict_at_paper_runs']}"
    yield f"  verdict at the family-wise level: {row['verdict_in_family']}"
    yield f"  scale: {row['scale']}, as published"
    yield from _reservations(project, paper)


def _choice(project: Project, paper: str, row: Mapping[Any, Any]) -> str:
    """Return the variant and the interpretations of a row, these in words too."""
    label = row["interpretation"]
    named = f"{label} ({project.papers[paper].words_of(label)})" if label else ""
    return ", ".join(filter(None, [row["variant"], named]))


def _comparisons(compared: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each published comparison."""
    for each in compared.to_dict("records"):
        asked = f", asked: {each['threshold']}" if each["threshold"] else ""
        yield f"    {each['decided']:<9} {each['comparison']}: {found_text(each)}{asked}"
