"""The computed parts of `README.md`: summaries, verdicts by variant, claims and findings."""

import re

import pandas as pd

from dpbandits.claims.verdict import VERDICTS
from dpbandits.errors import InputError
from dpbandits.pages.published_ledger import (
    REPAIRED,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.published_numbers import filled
from dpbandits.pages.published_tables import published_digitised
from dpbandits.pages.regions import table, with_region
from dpbandits.pages.render import claim
from dpbandits.pipeline.project import Project
from dpbandits.reporting.agreement import reproduced_as_drawn
from dpbandits.reporting.tables import choice

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

_VERDICTS = re.compile(r"<!-- begin (verdicts ((?:[A-Z]+-C[0-9]+[a-z]? ?)+)) -->")


def front_page(project: Project, text: str) -> str:
    """Return the page with its regions as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is. Its region ``papers`` lists the papers, the region ``summaries``
            has the sentence that sums up each, the region ``verdicts by variant`` counts claims,
            the region ``least repair`` those of the variant ``repaired``, each region
            ``verdicts CLAIM ...`` has the verdicts on these claims, of all papers, the region
            ``findings`` those findings that are worth the front page.

    Raises:
        InputError: the marks of a region are missing, a claim is unknown, or a number is not
            published.
    """
    papers = published_papers(project)
    ledgers = {paper: published_ledger(project, paper) for paper in papers}
    text = with_region(text, "papers", _papers(project))
    summaries = [f"**`{paper}`**\n{_summary(project, paper)}" for paper in papers]
    text = with_region(text, "summaries", "\n\n".join(summaries))
    of_papers = [name for name in VARIANTS if name != REPAIRED]
    text = with_region(text, "verdicts by variant", _by_variant(ledgers, of_papers))
    text = with_region(text, "least repair", _by_variant(ledgers, [REPAIRED]))
    text = with_region(text, "findings", _headlines(project, papers))
    whole = pd.concat(ledgers.values(), ignore_index=True)
    for block, claims in _VERDICTS.findall(text):
        text = with_region(text, block, _verdicts(whole, claims.split()))
    return text


def _papers(project: Project) -> str:
    """Return the published papers with their titles, authors, and whether figures come out."""
    rows = [
        [
            f"`{name}`",
            f"*{paper.short_title or paper.title}* ({paper.credit})",
            reproduced_as_drawn(published_digitised(project, name), "fig"),
        ]
        for name, paper in project.papers.items()
        if paper.is_published
    ]
    return table(["", "paper", "figures reproduced as drawn"], rows, texts=3)


def _summary(project: Project, paper: str) -> str:
    """Return the sentence that sums up a paper, its numbers filled in."""
    summary = project.study(paper).summary()
    place = f"{project.study(paper).findings_path}: summary"
    return filled(project, paper, summary.statement, summary.numbers, place)


def _by_variant(ledgers: dict[str, pd.DataFrame], variants: list[str]) -> str:
    """Return the number of claims by variant and verdict, and of those that differ inside."""
    head = ["paper", "variant", "claims", *VERDICTS[:-1], "differs by interpretation"]
    rows: list[list[object]] = []
    for paper, ledger in ledgers.items():
        judged = ledger[ledger["verdict"] != "not applicable"]
        for variant in variants:
            verdicts = judged[judged["variant"] == variant].groupby("claim")["verdict"]
            if verdicts.ngroups:
                agree = verdicts.nunique() == 1
                counts = verdicts.first()[agree].value_counts()
                numbers = [counts.get(word, 0) for word in VERDICTS[:-1]]
                link = f"[`{paper}`](docs/claims.md#{paper})"
                rows.append([link, VARIANTS[variant], verdicts.ngroups, *numbers, (~agree).sum()])
    return table(head, rows, texts=2)


def _verdicts(whole: pd.DataFrame, claims: list[str]) -> str:
    """Return a row for each claim: its verdicts by variant, and by interpretation if needed."""
    whole = whole[whole["variant"] != REPAIRED]
    judged = whole[whole["claim"].isin(claims) & (whole["verdict"] != "not applicable")]
    variants = [variant for variant in VARIANTS if variant in set(judged["variant"])]
    head = ["claim", "what the paper says", *(VARIANTS[variant] for variant in variants)]
    rows = []
    for name in claims:
        of_claim = judged[judged["claim"] == name]
        if of_claim.empty:
            raise InputError(f"README.md: claim is {name!r}; allowed: a claim with verdicts")
        verdicts = [_of_variant(of_claim[of_claim["variant"] == variant]) for variant in variants]
        rows.append([claim(name, "docs/"), of_claim["statement"].iloc[0], *verdicts])
    return table(head, rows, texts=len(head))


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
        f"- {claim(finding.claim.id, 'docs/')}, {finding.title}: {statement}"
        for paper in papers
        for finding, statement, _ in published_findings(project, paper)
        if finding.is_headline
    ]
    return "\n".join(lines) or "There is none."
