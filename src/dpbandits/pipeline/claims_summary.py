"""The ledger of all papers: every verdict, at its own and at stricter levels, in one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.claims.entries import Claim
from dpbandits.claims.simultaneous import ALONE, IN_FAMILY
from dpbandits.claims.verdict import ALPHA
from dpbandits.reporting.latex import document, tabular
from dpbandits.reporting.pages import page
from dpbandits.reporting.tables import interval_text

Row = Mapping[Any, Any]
"""A row of the ledger, column -> value."""

COLUMNS = (
    "paper",
    "claim",
    "kind",
    "variant",
    "interpretation",
    "verdict",
    "verdict_in_family",
    "family_wise",
    "family_wise_in_all",
    "measured",
    "asked",
    "estimate",
    "lo",
    "hi",
    "runs",
    "runs_paper",
    "verdict_at_paper_runs",
    "scale",
    "level",
    "level_in_family",
    "smallest_level",
    "runs_in_family",
    "place",
    "scope",
    "rule",
    "figure",
    "statement",
    "detail",
)

KEYS = ["claim", "variant", "interpretation", "verdict"]
"""What the rows of the two files of a paper are told apart by."""

CAPTION = (
    "The claims of all papers. Verdict: at the claim's own level. Family-wise: whether it is the "
    "same at the level that keeps the chance of any wrong decision on the paper to 5 %; exact "
    "verdicts do not depend on chance. The estimate, with its interval at the claim's own level, "
    "is that of the binding comparison."
)

_TEXT = [
    "claim",
    "kind",
    "variant",
    "interpretation",
    "verdict",
    "verdict_in_family",
    "family_wise",
]
_TEXT += ["verdict_at_paper_runs", "scale", "measured", "asked", "detail"]
_WIDTHS = (None, None, 44, 44, 30, 18, 15, 28, None, None, 17, 15)


def read_ledger(path: Path) -> pd.DataFrame:
    """Read a csv of the ledger: text as it stands, numbers with NaN where there is none."""
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in set(frame.columns) - set(_TEXT):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def join(
    paper: str,
    claims: Sequence[Claim],
    verdicts: pd.DataFrame,
    both: pd.DataFrame,
    figures: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return the rows of one paper in the ledger of all.

    Args:
        paper: its short name.
        claims: its claims.
        verdicts: ``claims.csv``.
        both: ``simultaneous.csv``.
        figures: claim -> the files that show what it is about.
    """
    joined = verdicts.merge(both, on=KEYS, how="left", validate="one_to_one")
    by_id = {claim.id: claim for claim in claims}
    named = [by_id[identifier] for identifier in joined["claim"]]
    joined["paper"] = paper
    joined["place"] = [claim.place for claim in named]
    joined["statement"] = [" ".join(claim.statement.split()) for claim in named]
    joined["scope"] = [" ".join(claim.scope.split()) for claim in named]
    joined["rule"] = [" ".join(claim.rule.split()) for claim in named]
    joined["figure"] = [" ".join(figures[claim.id]) for claim in named]
    joined["family_wise_in_all"] = ""
    return joined[list(COLUMNS)]


def together(ledgers: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the ledgers of several papers as one, with what stands among all of their claims.

    ``family_wise_in_all`` is that of the level of 5 % over all claims of all papers, of which each
    claim has an equal share (Bonferroni) and each of its rows an equal share of that.
    """
    whole = pd.concat(ledgers, ignore_index=True)
    is_judged = ~whole["verdict"].isin(["not applicable", "not testable"])
    rows = is_judged.groupby(whole["claim"]).transform("sum").clip(lower=1)
    level = ALPHA / whole["claim"].nunique() / rows
    is_random = whole["family_wise"].isin([IN_FAMILY, ALONE])
    stands = (whole["smallest_level"] <= level).map({True: IN_FAMILY, False: ALONE})
    whole["family_wise_in_all"] = whole["family_wise"].where(~is_random, stands)
    return whole


def interval(row: Row) -> str:
    """Return the estimate of a row with its interval; nothing where there is none."""
    value, lo, hi = (float(row[key]) for key in ("estimate", "lo", "hi"))
    return interval_text(value, lo, hi)


def choice(row: Row) -> str:
    """Return the variant and the interpretations of a row, a space behind each comma."""
    return ", ".join(filter(None, [row["variant"], row["interpretation"].replace(",", ", ")]))


def cells(whole: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger as text for a table, a row a verdict."""
    rows = whole.to_dict("records")
    return pd.DataFrame(
        {
            "Claim": whole["claim"],
            "Kind": whole["kind"],
            "What the paper says": whole["statement"],
            "Decided by": whole["rule"],
            "Variant, interpretation": [choice(row) for row in rows],
            "Verdict": whole["verdict"],
            "Family-wise": whole["family_wise"],
            "Estimate [interval]": [interval(row) for row in rows],
            "Runs": [str(row["runs"]) if row["runs"] else "exact" for row in rows],
            "Scale": whole["scale"],
            "At the paper's runs": [at_paper_runs(row) for row in rows],
            "Figure": [" ".join(Path(path).stem for path in row["figure"].split()) for row in rows],
        }
    )


def at_paper_runs(row: Row) -> str:
    """Return the verdict at the paper's own number of runs, with that number where it has one."""
    runs = f" ({row['runs_paper']})" if row["runs_paper"] else ""
    return f"{row['verdict_at_paper_runs']}{runs}"


def tables(whole: pd.DataFrame) -> dict[str, str]:
    """Return the ledger as a LaTeX longtable, a page of HTML with filters, and csv, by suffix."""
    texts = cells(whole)
    once = texts.copy()
    once.loc[once["Claim"].duplicated(), ["What the paper says", "Decided by"]] = ""
    types = "".join(
        "l" if width is None else rf">{{\raggedright\arraybackslash}}p{{{width}mm}}"
        for width in _WIDTHS
    )
    return {
        ".tex": document(once, CAPTION, types, long=True),
        ".tabular": tabular(once, types),
        ".html": page(texts, "The ledger of all claims", CAPTION),
        ".csv": str(texts.to_csv(index=False, lineterminator="\n")),
    }
