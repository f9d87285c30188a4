"""The computed parts of `README.md`: how many claims hold, and the verdicts on some of them."""

import re

import pandas as pd

from dpbandits.blocks import table_row, with_block
from dpbandits.claims_page import PAGE, VERDICTS, published_ledger, published_papers
from dpbandits.project import Project

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

_VERDICTS = re.compile(r"<!-- begin (verdicts ([A-Z0-9 -]+)) -->")


def front_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is. Its block ``summary`` counts claims by verdict, each block
            ``verdicts CLAIM ...`` has the verdicts on these claims, of all papers.

    Raises:
        InputError: the marks of a block are missing.
    """
    ledgers = {paper: published_ledger(project, paper) for paper in published_papers(project)}
    text = with_block(text, "summary", _summary(ledgers))
    whole = pd.concat(ledgers.values(), ignore_index=True)
    for block, claims in _VERDICTS.findall(text):
        text = with_block(text, block, _verdicts(whole, claims.split()))
    return text


def _summary(ledgers: dict[str, pd.DataFrame]) -> str:
    """Count claims by what all their verdicts say; several verdicts are a column of their own."""
    head = ["paper", "claims", *VERDICTS[:4], "it depends"]
    lines = [table_row(head), "|---" + "|---:" * (len(head) - 1) + "|"]
    for paper, ledger in ledgers.items():
        decided = ledger[ledger["verdict"] != "not-applicable"].groupby("claim")["verdict"]
        alike = decided.first()[decided.nunique() == 1].value_counts()
        counts = [alike.get(each, 0) for each in VERDICTS[:4]]
        numbers = [decided.ngroups, *counts, decided.ngroups - sum(counts)]
        link = f"[`{paper}`]({PAGE.as_posix()}#{paper})"
        lines.append(table_row([link, *map(str, numbers)]))
    return "\n".join(lines)


def _verdicts(whole: pd.DataFrame, claims: list[str]) -> str:
    """Return a row a claim, with the verdict on the first reading of each variant that it has."""
    rows = whole[whole["claim"].isin(claims)]
    used = [variant for variant in VARIANTS if variant in set(rows["variant"])]
    lines = [table_row(["claim", "what the paper says", *(VARIANTS[each] for each in used)])]
    lines.append("|---" * (len(used) + 2) + "|")
    for claim in claims:
        own = rows[rows["claim"] == claim]
        first = own.drop_duplicates("variant").set_index("variant")["verdict"]
        link = f"[{claim}]({PAGE.as_posix()}#{claim.lower()})"
        found = [f"**{first[each]}**" if each in first else "" for each in used]
        lines.append(table_row([link, own["statement"].iloc[0], *found]))
    return "\n".join(lines)
