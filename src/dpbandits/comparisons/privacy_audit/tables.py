"""The audit ledger: a line for each algorithm, variant, statement and engine."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from dpbandits.algorithms import REGISTRY
from dpbandits.comparisons.privacy_audit.verdicts import judged, strongest
from dpbandits.errors import InputError

Frames = Mapping[str, pd.DataFrame]


def all_rows(frames: Frames) -> pd.DataFrame:
    """Return the judged rows of all results, in the order of the statements.

    Args:
        frames: results by name.

    Raises:
        InputError: an algorithm or variant of the registry has no row.
    """
    rows = pd.concat([frame for frame in frames.values() if len(frame)], ignore_index=True)
    lacking = missing(rows)
    if lacking:
        raise InputError(f"audit: {', '.join(lacking)}: no row; allowed: one at least of each")
    number = rows["statement"].str.removeprefix("AUD-").astype(int)
    return judged(rows.iloc[number.argsort(kind="stable")].reset_index(drop=True))


def missing(rows: pd.DataFrame) -> list[str]:
    """Return the algorithms and variants of the registry without a row."""
    audited = set(zip(rows["algorithm"], rows["variant"], strict=True))
    return [
        f"{name} {variant}"
        for name, definition in REGISTRY.items()
        for variant in definition.variants
        if (name, variant) not in audited
    ]


def ledger(frames: Frames) -> pd.DataFrame:
    """Return the strongest row of each statement, algorithm, variant, interpretation and engine.

    Further columns: ``name``, ``setting``, ``shown_by``, ``bound``, ``claim_in_words``, ``share``
    and ``chance``, texts of the table.

    Args:
        frames: all results that are rows of the audit, by name.
    """
    rows = strongest(all_rows(frames)).drop(columns=["series", "x", "y"])
    texts = {
        "name": _name,
        "setting": _setting,
        "shown_by": _shown_by,
        "bound": lambda row: f"{row['measure']} ≥ {_number(row['lower'])}",
        "claim_in_words": lambda row: _number(row["claimed"], "nothing"),
        "share": lambda row: "" if pd.isna(row["ratio"]) else _number(row["ratio"]),
        "chance": _chance,
    }
    return rows.assign(
        **{key: [text(row) for _, row in rows.iterrows()] for key, text in texts.items()}
    )


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
    return "0" if row["log10_alpha"] == -float("inf") else f"1e{row['log10_alpha']:,.1f}"


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {"ledger": ledger}
"""Tables by name, as the experiments file lists them."""
