"""The computed parts of `README.md`: summaries, verdicts by variant, claims and findings."""

import re

import pandas as pd

from dpbandits.claims.verdict import VERDICTS
from dpbandits.errors import InputError
from dpbandits.pages.claims import PAGE
from dpbandits.pages.published_ledger import published_findings, published_ledger, published_papers
from dpbandits.pages.published_numbers import filled
from dpbandits.pages.regions import table_row, with_block
from dpbandits.project.claims_summary import choice
from dpbandits.project.config import Project

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired (ours)"}

_VERDICTS = re.compile(r"<!-- begin (verdicts ((?:[A-Z]+-C[0-9]+[a-z]? ?)+)) -->")


def front_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is. Its block ``verdicts by variant`` counts claims, each block
            ``summary PAPER`` has the sentence that sums up a paper, each block ``verdicts CLAIM
            ...`` has the verdicts on these claims, of all papers, the block ``findings`` those
            findings that are worth the front page.

    Raises:
        InputError: the marks of a block are missing, a claim is unknown, or a number is not
            published.
    """
    papers = published_papers(project)
    ledgers = {paper: published_ledger(project, paper) for paper in papers}
    text = with_block(text, "verdicts by variant", _by_variant(ledgers))
    text = with_block(text, "findings", _headlines(project, papers))
    for paper in papers:
        text = with_block(text, f"summary {paper}", _summary(project, paper))
    whole = pd.concat(ledgers.values(), ignore_index=True)
    for block, claims in _VERDICTS.findall(text):
        text = with_block(text, block, _verdicts(whole, claims.split()))
    return text


def _summary(project: Project, paper: str) -> str:
    """Return the sentence that sums up a paper, its numbers filled in."""
    summary = project.summary(paper)
    place = f"{project.findings_path(paper)}: summary"
    return filled(project, paper, summary.statement, summary.numbers, place)


def _by_variant(ledgers: dict[str, pd.DataFrame]) -> str:
    """Return the number of claims by variant and verdict, and of those that differ inside."""
    head = ["paper", "variant", "claims", *VERDICTS[:-1], "differs by interpretation"]
    lines = [table_row(head), "|---" * 2 + "|---:" * (len(head) - 2) + "|"]
    for paper, ledger in ledgers.items():
        judged = ledger[ledger["verdict"] != "not applicable"]
        for variant, name in VARIANTS.items():
            verdicts = judged[judged["variant"] == variant].groupby("claim")["verdict"]
            if verdicts.ngroups:
                agree = verdicts.nunique() == 1
                found = verdicts.first()[agree].value_counts()
                counts = [found.get(each, 0) for each in VERDICTS[:-1]]
                numbers = [verdicts.ngroups, *counts, (~agree).sum()]
                link = f"[`{paper}`]({PAGE.as_posix()}#{paper})"
                lines.append(table_row([link, name, *map(str, numbers)]))
    return "\n".join(lines)


def _verdicts(whole: pd.DataFrame, claims: list[str]) -> str:
    """Return a row for each claim: its verdicts by variant, and by interpretation if needed."""
    rows = whole[whole["claim"].isin(claims) & (whole["verdict"] != "not applicable")]
    used = [variant for variant in VARIANTS if variant in set(rows["variant"])]
    lines = [table_row(["claim", "what the paper says", *(VARIANTS[each] for each in used)])]
    lines.append("|---" * (len(used) + 2) + "|")
    for claim in claims:
        own = rows[rows["claim"] == claim]
        if own.empty:
            raise InputError(f"README.md: claim is {claim!r}; allowed: a claim with verdicts")
        link = f"[{claim}]({PAGE.as_posix()}#{claim.lower()})"
        found = [_of_variant(own[own["variant"] == variant]) for variant in used]
        lines.append(table_row([link, own["statement"].iloc[0], *found]))
    return "\n".join(lines)


def _of_variant(rows: pd.DataFrame) -> str:
    """Return the verdict of a variant, or each verdict with its interpretations."""
    if rows["verdict"].nunique() == 1:
        return f"**{rows['verdict'].iloc[0]}**"
    return "; ".join(
        f"**{row['verdict']}** ({row['interpretation'] or choice(row)})"
        for row in rows.to_dict("records")
    )


def _headlines(project: Project, papers: list[str]) -> str:
    """Return the findings that are worth the front page, as a list."""
    lines = [
        f"- [{finding.claim.id}]({PAGE.as_posix()}#{finding.claim.id.lower()}), {finding.title}: "
        f"{statement}"
        for paper in papers
        for finding, statement, _ in published_findings(project, paper)
        if finding.is_headline
    ]
    return "\n".join(lines) or "There is none."
