"""`docs/claims.md`: every claim with its rule and its verdicts, and the findings beside them."""

from collections.abc import Iterable, Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.simultaneous import ALONE, EXACT, IN_FAMILY
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.pages.published_ledger import (
    published_figures,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.regions import table_row, with_block
from dpbandits.project.claims_summary import at_paper_runs, choice, interval, together
from dpbandits.project.config import Project

PAGE = Path("docs/claims.md")

Row = Mapping[Any, Any]
"""A row of the ledger, column -> value."""


def claims_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is.

    Raises:
        InputError: the marks of a block are missing.
    """
    papers = published_papers(project)
    whole = together([published_ledger(project, paper) for paper in papers])
    text = with_block(text, "error rate", _error_rate(whole))
    text = with_block(text, "summary", _summary(whole, papers))
    text = with_block(text, "only at their own level", _only_at_their_own_level(whole))
    for paper in papers:
        text = with_block(text, f"ledger {paper}", _ledger(whole[whole["paper"] == paper]))
        text = with_block(text, f"findings {paper}", _findings(project, paper))
        text = with_block(text, f"notes {paper}", _notes(project, paper))
    return text


def _error_rate(whole: pd.DataFrame) -> str:
    size = whole["claim"].nunique()
    random = whole[whole["level"].notna()]
    own = random["level"].sum()
    family, among_all = (
        (random[column] == IN_FAMILY).sum() for column in ("family_wise", "family_wise_in_all")
    )
    return (
        f"The ledger has {size} claims and {len(whole)} verdicts, of which {len(random)} depend on "
        f"chance. At the claims' own levels at most {own:.1f} of these are expected to be wrong.\n"
        f"At the family-wise level of their papers {family} of them are the same, and {among_all} "
        f"at the level for all papers together, {ALPHA:.0%} / {size} = {ALPHA / size:.2g} a claim."
    )


def _summary(whole: pd.DataFrame, papers: Iterable[str]) -> str:
    head = ["paper", "claims", "verdicts", *VERDICTS, "exact", "same family-wise", ALONE]
    lines = [table_row(head), "|---" + "|---:" * (len(head) - 1) + "|"]
    for paper in papers:
        ledger = whole[whole["paper"] == paper]
        verdicts, stands = ledger["verdict"].value_counts(), ledger["family_wise"].value_counts()
        counts = [verdicts.get(each, 0) for each in VERDICTS]
        counts += [stands.get(each, 0) for each in (EXACT, IN_FAMILY, ALONE)]
        numbers = [ledger["claim"].nunique(), len(ledger), *counts]
        lines.append(table_row([f"[`{paper}`](#{paper})", *map(str, numbers)]))
    return "\n".join(lines)


def _only_at_their_own_level(whole: pd.DataFrame) -> str:
    alone = whole[whole["family_wise"] == ALONE]
    if alone.empty:
        return "There is none."
    head = [
        "claim",
        "variant, interpretation",
        "at its own level",
        "family-wise",
        "binding comparison",
    ]
    lines = [table_row(head), "|---" * len(head) + "|"]
    for row in alone.to_dict("records"):
        name = link(row["claim"])
        cells = [name, choice(row), row["verdict"], row["verdict_in_family"], row["measured"]]
        lines.append(table_row(cells))
    return "\n".join(lines)


def _ledger(ledger: pd.DataFrame) -> str:
    """Return the claims of a paper, each with its rule and a table of its verdicts."""
    entries = (_claim(rows.to_dict("records")) for _, rows in ledger.groupby("claim", sort=False))
    return "\n\n".join(entries)


def _claim(rows: Sequence[Row]) -> str:
    first = rows[0]
    figures = _figures(first["figure"].split())
    head = ["variant, interpretation", "verdict", "family-wise", "estimate [interval]", "of"]
    head += ["runs", "at the paper's runs"]
    lines = [
        f'<a id="{first["claim"].lower()}"></a>',
        f"#### {first['claim']} ({first['kind']})",
        "",
        f"*{first['statement']}* ({first['place']}) {figures}".rstrip(),
        "",
        f"Scope: {first['scope']}  ",
        f"Decided by: {first['rule']}",
        "",
        table_row(head),
        "|---" * len(head) + "|",
    ]
    return "\n".join([*lines, *(_verdict(row) for row in rows)])


def _verdict(row: Row) -> str:
    runs = f"{row['runs']}" if row["runs"] else EXACT
    of = f"{row['measured']}; asked: {row['asked']}" if row["measured"] else row["detail"]
    is_judged = row["verdict"] not in ("not applicable", "not testable")
    cells = [
        choice(row),
        f"**{row['verdict']}**",
        row["family_wise"],
        interval(row),
        of,
        (runs if is_judged else "-") + ("" if row["scale"] == "paper" else f" ({row['scale']})"),
        at_paper_runs(row) if is_judged else "-",
    ]
    return table_row(cells)


def _findings(project: Project, paper: str) -> str:
    """Return what was found beyond the statements of a paper, as a list."""
    lines = []
    for finding, statement, outcome in published_findings(project, paper):
        claims = ", ".join(link(claim) for claim in finding.beside)
        figures = _figures(published_figures(project, paper, finding.claim))
        beside = f" Beside {claims}." if claims else ""
        name = finding.claim.id
        lines.append(
            f'- <a id="{name.lower()}"></a>**{name}, {finding.title}** ({finding.claim.place}; '
            f"{outcome}). {statement}{beside} {figures}".rstrip()
        )
    return "\n".join(lines) or "There is none."


def _notes(project: Project, paper: str) -> str:
    """Return the variants that no claim is judged on, and what is no claim, with the reasons."""
    notes = project.notes(paper)
    lines = [
        f"- `{variant}`: not applicable. {why}" for variant, why in notes.not_applicable.items()
    ]
    lines += [
        f'- <a id="{name.lower()}"></a>{name}: withdrawn. {why}'
        for name, why in notes.withdrawn.items()
    ]
    lines += [f"- {name}: no claim. {why}" for name, why in notes.not_judged.items()]
    return "\n".join(" ".join(line.split()) for line in lines) or "None."


def link(claim: str) -> str:
    """Return a link from another page of the same folder to a claim or finding."""
    return f"[{claim}]({PAGE.name}#{claim.lower()})"


def _figures(paths: Iterable[str]) -> str:
    return " ".join(f"[{Path(path).stem}]({relpath(path, PAGE.parent)})" for path in paths)
