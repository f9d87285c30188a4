"""The ledger of all papers: every verdict, at its own and at stricter levels, in one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from dpbandits.claims.entries import Claim
from dpbandits.claims.simultaneous import ALONE, IN_FAMILY
from dpbandits.claims.verdict import ALPHA

COLUMNS = (
    *("paper", "claim", "kind", "variant", "interpretation", "verdict", "verdict_in_family"),
    *("family_wise", "family_wise_in_all", "measured", "asked", "estimate", "lo", "hi", "runs"),
    *("runs_paper", "verdict_at_paper_runs", "scale", "level", "level_in_family"),
    *("smallest_level", "runs_in_family", "place", "scope", "rule", "figure", "statement"),
    "detail",
)

KEYS = ["claim", "variant", "interpretation", "verdict"]
"""What the rows of the two files of a paper are told apart by."""

_TEXT = (
    *("claim", "kind", "variant", "interpretation", "verdict", "verdict_in_family", "family_wise"),
    *("verdict_at_paper_runs", "scale", "measured", "asked", "detail"),
)


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
    for column in ("statement", "scope", "rule"):
        joined[column] = [" ".join(getattr(claim, column).split()) for claim in named]
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
