"""How the verdict on a claim came about, in words: by results, or by what is published."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpbandits.claims.docket import Claim, Finding
from dpbandits.claims.ledger import ALONE, EXACT
from dpbandits.engine.progress import announce
from dpbandits.errors import InputError
from dpbandits.pages.verdicts import in_words
from dpbandits.pipeline.project import KEYS, Project, published_table
from dpbandits.pipeline.publish import claim_figures, published_file, variant_figure
from dpbandits.text_tables import interval_text


def find_claim(project: Project, identifier: str) -> tuple[str, Claim | Finding]:
    """Return the paper, or draft, of a claim or finding such as ``TSDP-C8``, and its entry."""
    known: dict[str, str] = {}
    # Drafts come last: one that is not in order does not stand in the way of the others.
    for paper in dict.fromkeys([*project.chosen, *project.published, *project.papers]):
        for claim in project.study(paper).stated:
            if claim.id.lower() == identifier.lower():
                return paper, claim
            known[claim.id.lower()] = claim.id
    near = difflib.get_close_matches(identifier.lower(), known, n=3, cutoff=0.0)
    ids = ", ".join(known[each] for each in near)
    raise InputError(f"claim is {identifier!r}; nearest ids: {ids or 'none'}")


def explain(project: Project, identifier: str, *, is_published: bool) -> str:
    """Return how the verdict on a claim or finding came about.

    It is by results, or ``is_published``: by what is published, as that of a finding always is.
    InputError where these are missing.
    """
    paper, claim = find_claim(project, identifier)
    if isinstance(claim, Finding):
        return "\n".join(_finding_lines(project, paper, claim))
    if is_published:
        names = ("claims", "simultaneous", "evidence")
        verdicts, both, compared = (published_table(project, paper, name) for name in names)
    else:
        # The published verdicts are explained without the engine that judges.
        from dpbandits.claims.ledger import comparisons, ledger, simultaneous
        from dpbandits.pipeline.jobs import evidence_of, judged

        announce(f"judging {claim.id}")
        judgements = judged(project, paper, [claim], evidence_of(project, paper))
        verdicts, both, compared = (
            make(judgements) for make in (ledger, simultaneous, comparisons)
        )
    rows = verdicts.merge(both, on=[*KEYS, "verdict"])
    texts = [
        "\n".join(_lines(project, paper, claim, row, _of_row(compared, row), is_published))
        for row in rows[rows["claim"] == claim.id].to_dict("records")
    ]
    if not texts:
        raise InputError(f"{claim.id}: no verdict is published; run snakemake to compute one")
    return "\n\n".join(texts)


def _lines(
    project: Project,
    paper: str,
    claim: Claim,
    row: Mapping[Any, Any],
    compared: pd.DataFrame,
    is_published: bool,
) -> Iterator[str]:
    """Yield how a claim came out, by a row of the ledger and what was compared for it."""
    study, shown = project.study(paper), None
    if name := variant_figure(study, claim, row["variant"]):
        of_variant = claim.model_copy(update={"figure": (name,)})
        [shown] = claim_figures(project, paper, of_variant)
        shown = published_file(study, name) if is_published else shown
    deciding = int((compared["exploratory"].astype(str) == "False").sum())
    yield f"{claim.id} ({claim.kind}; {claim.place}), {_choice(project, paper, row)}"
    yield f"  statement: {claim.statement}"
    yield f"  scope: {claim.scope}"
    yield f"  decided by: {claim.rule}"
    yield f"  metric: {claim.metric}; results: {', '.join(claim.reads)}"
    yield from _decision(claim, row, compared)
    evidence = ", no evidence" * (row["scale"] == "quick") + ", as published" * is_published
    yield f"  scale: {row['scale']}{evidence}"
    yield from _reservations(project, paper)
    if not is_published:
        yield from (f"  figure: {path}" for path in claim_figures(project, paper, claim))
    yield f"  {_conclusion(claim, row, deciding, shown)}"


def _decision(claim: Claim, row: Mapping[Any, Any], compared: pd.DataFrame) -> Iterator[str]:
    """Yield what was compared at which runs and levels, and the verdicts that follow."""
    if claim.runs and row["measured"]:
        analyses, level = ", ".join(map(str, claim.runs)), claim.level / len(claim.runs)
        yield f"  interim analyses: at {analyses} runs, each at level {level:.4g}"
    yield from _comparisons(compared)
    yield f"  verdict: {row['verdict']}; {row['detail']}"
    if claim.runs_paper:
        yield f"  verdict at the paper's {claim.runs_paper} runs: {row['verdict_at_paper_runs']}"
    if not row["measured"]:
        return
    if row["family_wise"] == EXACT:
        said = ": the same, as nothing in it depends on chance"
    else:
        level, runs = float(row["level_in_family"]), row["runs_in_family"]
        said = f" {level:.3g} ({runs} runs): {row['verdict_in_family']}"
        if row["family_wise"] == ALONE:
            said += "; the one above is decided only at the claim's own level"
    yield f"  verdict at the family-wise level{said}"


def _of_row(table: pd.DataFrame, row: Mapping[Any, Any]) -> pd.DataFrame:
    """Return the rows of a table that belong to a row of the ledger."""
    return table[(table[KEYS] == [row[key] for key in KEYS]).all(axis=1)]


def _finding_lines(project: Project, paper: str, finding: Finding) -> Iterator[str]:
    """Yield what is published of a finding, line by line, with its numbers."""
    # Claims are explained without what fills in numbers.
    from dpbandits.pages.published import filled

    place = f"{project.study(paper).findings_path}: findings.{finding.id}"
    yield f"{finding.id} ({finding.kind}; {finding.place})"
    yield f"  title: {finding.title}"
    yield f"  statement: {filled(project, paper, finding.statement, finding.numbers, place)}"
    names = ("findings", "findings-evidence")
    rows, compared = (published_table(project, paper, name) for name in names)
    for row in rows[rows["claim"] == finding.id].to_dict("records"):
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


def _choice(project: Project, paper: str, row: Mapping[Any, Any]) -> str:
    """Return the variant and the interpretations of a row, these in words too."""
    label = row["interpretation"]
    named = f"{label} ({in_words([project.papers[paper]], label)})" if label else ""
    return ", ".join(filter(None, [row["variant"], named]))


def _comparisons(compared: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each comparison, and one for each part."""
    part = ""
    for one in compared.to_dict("records"):
        if one["part"] and one["part"] != part:
            part = one["part"]
            yield f"  part {part!r}"
        asked = f", asked: {one['threshold']}" if one["threshold"] else ""
        is_beside = str(one["exploratory"]) == "True" and one["decided"] != "reported"
        beside = " (exploratory)" if is_beside else ""
        level = f" at level {one['level']:.3g}" if one["level"] > 0.0 else ""
        number = f"{_found(one)}{asked}{level}"
        yield f"    {one['decided']:<9} {one['comparison']}{beside}: {number}"


def _conclusion(claim: Claim, row: Mapping[Any, Any], compared: int, figure: str | None) -> str:
    """Return what was asked, found and concluded on one row of the ledger, in a sentence or two."""
    shown = f"; see {figure}" if figure else "; no figure shows this variant"
    choice = f" ({row['interpretation']})" if row["interpretation"] else ""
    begin = f"In short, {str(row['variant']).replace('-', ' ')}{choice}:"
    verdict = row["verdict"] if row["verdict"] in ("holds", "fails") else f"is {row['verdict']}"
    why = ", since its parts come out differently" * (row["verdict"] == "mixed")
    followed = f"the claim {verdict}{why}"
    if not row["measured"]:
        reason = str(row["detail"]).rstrip(".") or "Nothing was compared"
        return f"{begin} {followed}{shown}. {reason[0].upper()}{reason[1:]}."
    metric = claim.metric.replace("nash_regret", "Nash regret").replace("pseudo_", "pseudo-")
    measured = f"{row['measured']} ({metric.replace('_', ' ')})"
    runs = int(row["runs"])
    by = f"{runs:,} run{'s' * (runs > 1)} found" if runs else "exact computation found"
    if not row["asked"]:
        known = f"{by} {_found(row)} for {measured}, which is reported"
        return f"{begin} {known}; by {compared} comparisons with a threshold {followed}{shown}."
    binding = f", the binding one of {compared} comparisons" if compared > 1 else ""
    asked = f"asked whether {measured} is {row['asked']}{binding}"
    return f"{begin} {asked}, {by} {_found(row)}, so that {followed}{shown}."


def _found(row: Mapping[Any, Any]) -> str:
    """Return the estimate, with its interval where it has one."""
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    return interval_text(value, low, high) or "no number"
