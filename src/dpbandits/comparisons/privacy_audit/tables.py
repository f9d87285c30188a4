"""The audit ledger: a line for each algorithm, variant, statement and engine."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.statements import stated_in
from dpbandits.comparisons.privacy_audit.verdicts import judged, strongest
from dpbandits.errors import InputError

Frames = Mapping[str, pd.DataFrame]

AUDITED = frozenset(name for name, definition in REGISTRY.items() if definition.audit)
"""Algorithms that the audit plays; the ledger lists the others as not audited."""


def all_rows(frames: Frames) -> pd.DataFrame:
    """Return the judged rows of all results, in the order of the statements.

    Args:
        frames: results by name.

    Raises:
        InputError: an algorithm that is audited, or a variant of it, has no row.
    """
    rows = pd.concat([frame for frame in frames.values() if len(frame)], ignore_index=True)
    lacking = missing(rows)
    if lacking:
        raise InputError(f"audit: {', '.join(lacking)}: no row; allowed: one at least of each")
    # No anytime code was released: our wrapper around the released code is nobody's statement.
    is_wrapper = rows["algorithm"].isin(["anytime-gdp-ncb", "anytime-ldp-ncb"])
    rows = rows[~(is_wrapper & (rows["variant"] == "as-coded"))]
    number = rows["statement"].str.removeprefix("AUD-").astype(int)
    return judged(rows.iloc[number.argsort(kind="stable")].reset_index(drop=True))


def missing(rows: pd.DataFrame) -> list[str]:
    """Return the audited algorithms and variants of the registry without a row."""
    found = set(zip(rows["algorithm"], rows["variant"], strict=True))
    return [
        f"{name} {variant}"
        for name, definition in REGISTRY.items()
        for variant in definition.variants
        if name in AUDITED and (name, variant) not in found
    ]


def not_audited() -> list[str]:
    """Return the algorithms of the registry that the audit does not play."""
    return [name for name in REGISTRY if name not in AUDITED]


def ledger(frames: Frames) -> pd.DataFrame:
    """Return the strongest row of each statement, algorithm, variant, interpretation and engine.

    Algorithms that are not audited have one line each that says so, with no numbers.

    Further columns: ``stated``, ``name``, ``setting``, ``shown_by``, ``bound``, ``claim_in_words``,
    ``share`` and ``chance``, texts of the table.

    Args:
        frames: all results that are rows of the audit, by name.
    """
    rows = strongest(all_rows(frames)).drop(columns=["series", "x", "y"])
    texts = {
        "stated": lambda row: stated_in(row["statement"], row["algorithm"]),
        "name": _name,
        "setting": _setting,
        "shown_by": _shown_by,
        "bound": lambda row: f"{row['measure']} ≥ {_number(row['lower'])}",
        "claim_in_words": lambda row: _number(row["claimed"], "nothing"),
        "share": lambda row: "" if pd.isna(row["ratio"]) else _number(row["ratio"]),
        "chance": _chance,
    }
    found = rows.assign(
        **{key: [text(row) for _, row in rows.iterrows()] for key, text in texts.items()}
    )
    words = dict.fromkeys(found.select_dtypes(exclude="number").columns, "")
    others = [
        {**words, "algorithm": each, "name": REGISTRY[each].name, "verdict": "not audited"}
        for each in not_audited()
    ]
    return pd.concat([found, pd.DataFrame(others)], ignore_index=True) if others else found


def _name(row: "pd.Series[Any]") -> str:
    choices = [row["variant"]] * (row["variant"] != "as-written")
    choices += [row["interpretation"]] * bool(row["interpretation"])
    return ", ".join([REGISTRY[row["algorithm"]].name, *choices])


def _setting(row: "pd.Series[Any]") -> str:
    scaled = ["constants scaled down"] if row["scaled"] else []
    parameters = [row["parameters"]] if row["parameters"] else []
    return ", ".join([f"K={row['arms']}", f"T={row['horizon']}", *parameters, *scaled])


def _shown_by(row: "pd.Series[Any]") -> str:
    exact = row["confidence"] == 1.0
    return f"{row['engine']}, exact" if exact else f"{row['engine']}, {row['confidence']:.0%}"


def _number(value: float, infinite: str = "unbounded") -> str:
    return infinite if value == float("inf") else f"{value:.4g}"


def _chance(row: "pd.Series[Any]") -> str:
    """Return the chance, which may be far below the smallest float."""
    log10 = row["log10_alpha"]
    if log10 == -float("inf"):
        return "0"
    if log10 >= -3.0:
        return f"{10.0**log10:.2g}"
    exponent = math.floor(log10 + math.log10(1.0 / 0.995))
    return f"{10.0 ** (log10 - exponent):.1f}e{exponent}"


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {"ledger": ledger}
"""Tables by name, as the experiments file lists them."""
