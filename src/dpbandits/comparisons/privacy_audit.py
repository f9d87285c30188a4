"""The audit of every algorithm, as results: one row a certified lower bound.

Rows have the columns of ``dpbandits.auditing.rows.AUDIT_COLUMNS`` and ``p_value``,
the level at which a statistical bound exceeds what is claimed (NaN where the bound is exact). Those
of the black box have ``power``, whether it sees the loss at twice the epsilon. They
depend on the scale: ``quick`` has smaller horizons and fewer runs.

The ledger has a line for each algorithm, variant, statement and engine, with its verdict.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.blackbox import COUNTEREXAMPLE, NOT_CONTRADICTED, NOTHING_CLAIMED
from dpbandits.auditing.rows import STATEMENTS, AuditRow, is_observable, to_frame
from dpbandits.auditing.run import ERROR_LEVEL, published
from dpbandits.auditing.statements import SWEPT, swept_rows
from dpbandits.engine.cache import require_cache
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import holm_levels

RUNS = {"paper": 1_000_000, "quick": 10_000}
"""Scale -> outputs per table of each black-box audit."""


def rows_frame(
    name: str,
    rows: Iterable[AuditRow],
    p_values: Sequence[float] | None = None,
    power: Sequence[str] | str = "",
) -> pd.DataFrame:
    """Return rows as results.

    Without p-values a statistical bound has the level 1 - confidence where it exceeds the claim and
    1 where it does not, which is never too small.
    """
    table = to_frame(rows)
    confidence = table["confidence"].astype(float)
    levels = (1.0 - confidence).where(table["lower"] > table["claimed"], 1.0)
    levels = levels.where(confidence < 1.0)
    table = table.assign(series=name, p_value=levels if p_values is None else p_values, power=power)
    return table.assign(x=table["horizon"], y=table["lower"])


def swept(name: str, scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of some statements."""
    return rows_frame(name, swept_rows(name, quick=scale == "quick", seed=seed))


def black_box(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the black-box audit of every algorithm and variant of the registry.

    Its root seed is the next one: some pairs of tables were chosen with runs of the default root
    seed in sight, which therefore must not certify.
    """
    cases = published(RUNS[scale], seed=seed + 1, workers=workers)
    cache = require_cache(True)
    audits = [case.audit(cache) for case in cases]
    # Each variant is played as it is; the row names what the variant itself changes.
    rows = [replace(audit.row, interpretation="") for audit in audits]
    power = [case.power(cache) for case in cases]
    return rows_frame("black-box", rows, [audit.p_value for audit in audits], power)


ANALYTIC: dict[str, Callable[..., pd.DataFrame]] = {
    **{name: partial(swept, name) for name in SWEPT},
    "black-box": black_box,
}
"""Results by name, as the experiments file lists them."""

TOLERANCE = 1e-6
"""Relative excess over the claim that an exact bound needs, for rounding."""

GROUP = ["statement", "algorithm", "variant", "interpretation", "measure", "scaled", "engine"]


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with their ``verdict`` and ``observable``.

    An exact bound refutes by its value; statistical ones are judged together, with a chance of at
    most ``ERROR_LEVEL`` of refuting any correct claim (Holm, 1979).
    """
    exact = rows["p_value"].isna().to_numpy()
    p_values = rows["p_value"][~exact].to_numpy()
    refuted = (rows["lower"] > rows["claimed"] * (1.0 + TOLERANCE)).to_numpy(copy=True)
    refuted[~exact] = p_values <= holm_levels(p_values.tolist(), ERROR_LEVEL)
    verdict = np.where(refuted, COUNTEREXAMPLE, NOT_CONTRADICTED)
    verdict = np.where(np.isinf(rows["claimed"]), NOTHING_CLAIMED, verdict)
    return rows.assign(verdict=verdict, observable=~exact | is_observable(rows))


def strongest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of each group the row with the largest bound over its claim.

    A group has one statement, algorithm, variant, interpretation, measure and engine. Where nothing
    is claimed the largest bound counts.
    """
    size = rows["ratio"].where(np.isfinite(rows["claimed"]), rows["lower"]).fillna(math.inf)
    order = rows.assign(size=size, failing=rows["verdict"] == COUNTEREXAMPLE)
    order = order.sort_values(["failing", "size"], ascending=False, kind="stable")
    best = order.drop_duplicates(GROUP).index
    return rows.loc[sorted(best)]


Frames = Mapping[str, pd.DataFrame]

AUDITED = frozenset(name for name, definition in REGISTRY.items() if definition.audit)
"""Algorithms that the audit plays; the ledger lists the others as not audited."""


def all_rows(frames: Frames) -> pd.DataFrame:
    """Return the judged rows of all results, in the order of the statements."""
    rows = pd.concat([frame for frame in frames.values() if len(frame)], ignore_index=True)
    if lacking := missing(rows):
        raise InputError(f"audit: {', '.join(lacking)}: no row; allowed: one at least of each")
    # No anytime code was released: our wrapper around the released code is nobody's statement.
    is_wrapper = rows["algorithm"].isin(["anytime-gdp-ncb", "anytime-ldp-ncb"])
    rows = rows[~(is_wrapper & (rows["variant"] == "as-coded"))]
    number = rows["statement"].str.removeprefix("AUD-").astype(int)
    return judged(rows.iloc[number.argsort(kind="stable")].reset_index(drop=True))


def missing(rows: pd.DataFrame) -> list[str]:
    """Return the audited algorithms and variants of the registry without a row."""
    found = set(zip(rows["algorithm"], rows["variant"], strict=True))
    every = [(name, each) for name in REGISTRY for each in REGISTRY[name].variants]
    return [" ".join(key) for key in every if key[0] in AUDITED and key not in found]


def ledger(frames: Frames) -> pd.DataFrame:
    """Return the strongest row of each statement, algorithm, variant, interpretation and engine.

    Algorithms that are not audited have one line each that says so, with no numbers.
    """
    rows = strongest(all_rows(frames)).drop(columns=["series", "x", "y"])
    words = [in_words(row) for row in rows.to_dict("records")]
    found = rows.assign(**pd.DataFrame(words, rows.index))
    blank = dict.fromkeys(found.select_dtypes(exclude="number").columns, "")
    others = [
        {**blank, "algorithm": each, "name": REGISTRY[each].name, "verdict": "not audited"}
        for each in REGISTRY
        if each not in AUDITED
    ]
    return pd.concat([found, pd.DataFrame(others)], ignore_index=True) if others else found


def stated_in(statement: str, algorithm: str) -> str:
    """Return where a statement on an algorithm is made."""
    return STATEMENTS[statement][0] or REGISTRY[algorithm].stated


def in_words(row: Mapping[Any, Any]) -> dict[str, str]:
    """Return what a line of the ledger says of a row."""
    is_exact, engine, variant = row["confidence"] == 1.0, row["engine"], row["variant"]
    proof = "exact" if is_exact else f"{row['confidence']:.0%}"
    scaled = "constants scaled down" if row["scaled"] else ""
    size = f"K={row['arms']}", f"T={row['horizon']}"
    named = REGISTRY[row["algorithm"]].name, "" if variant == "as-written" else variant
    return {
        "stated": stated_in(row["statement"], row["algorithm"]),
        "name": _listed(*named, row["interpretation"]),
        "setting": _listed(*size, row["parameters"], scaled),
        "shown_by": engine if is_exact and engine.startswith("exact") else _listed(engine, proof),
        "bound": f"{row['measure']} ≥ {_number(row['lower'])}",
        "claim_in_words": _number(row["claimed"], "nothing"),
        "share": "" if math.isnan(row["ratio"]) else _number(row["ratio"]),
        "chance": chance_in_words(row["log10_alpha"]),
    }


def _listed(*words: str) -> str:
    return ", ".join(filter(None, words))


def _number(value: float, infinite: str = "unbounded") -> str:
    return infinite if value == math.inf else f"{value:.4g}"


def chance_in_words(log10: float) -> str:
    """Return a chance, which may be far below the smallest float."""
    if log10 == -math.inf:
        return "0"
    if log10 >= -3.0:
        return f"{10.0**log10:.2g}"
    exponent = math.floor(log10 + math.log10(1.0 / 0.995))
    return f"{10.0 ** (log10 - exponent):.1f}e{exponent}"


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {"ledger": ledger}
"""Tables by name, as the experiments file lists them."""
