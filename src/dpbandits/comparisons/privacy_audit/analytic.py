"""The audit of every algorithm, as results: one row a certified lower bound.

Rows have the columns of ``dpbandits.auditing.rows.AUDIT_COLUMNS`` but the seconds, and ``p_value``,
the level at which a statistical bound exceeds what is claimed (NaN where the bound is exact). Those
of the black box have ``power``, whether it sees a loss of twice the claim. They
depend on the scale: ``quick`` has smaller horizons and fewer runs.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dpbandits.auditing.curves import ratios_by_alternation, ratios_by_angle, tradeoff_curves
from dpbandits.auditing.rows import AuditRow, claim_on, to_frame
from dpbandits.auditing.run import black_box_audits, black_box_power
from dpbandits.auditing.statements import exact_rows
from dpbandits.auditing.thompson_statements import (
    FULL,
    QUICK,
    Scale,
    budget_rows,
    epsilon_rows,
    modified_rows,
    quoted_rows,
    round_rows,
    sampled_rows,
    standard_rows,
    theorem_3_rows,
)

LONG = 1_000
"""Horizon of the lattice beyond which it is a result of its own, for its time."""

BLACK_BOX_RUNS = {"paper": 1_000_000, "quick": 10_000}
"""Scale -> outputs per table of each black-box audit."""


def rows_frame(
    name: str,
    rows: Iterable[AuditRow],
    p_values: Sequence[float] = (),
    power: Sequence[str] = (),
) -> pd.DataFrame:
    """Return rows as results.

    Args:
        name: of the results.
        rows: the rows.
        p_values: of each; without them, of a statistical bound the level 1 - confidence where it
            exceeds the claim and 1 where it does not, which is never too small.
        power: of each, whether a loss of twice the claim is seen; "" where that is not asked.
    """
    bounds = list(rows)
    levels = list(p_values) or [_level(row) for row in bounds]
    seen = list(power) or [""] * len(bounds)
    table = to_frame(bounds).assign(series=name, p_value=levels, power=seen)
    table["claim"] = [claim_on(row.statement, row.algorithm) for row in bounds]
    return table.assign(x=table["horizon"], y=table["lower"])


def _level(row: AuditRow) -> float:
    if row.confidence == 1.0:
        return math.nan
    return 1.0 - row.confidence if row.lower > row.claimed else 1.0


def _scale(scale: str) -> Scale:
    return QUICK if scale == "quick" else FULL


def releases(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of Laplace releases, local reports and support arguments."""
    return rows_frame("releases", exact_rows(quick=scale == "quick"))


def decisions(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of single decisions of Thompson sampling (AUD-1, AUD-5)."""
    return rows_frame("decisions", [*round_rows(), *standard_rows()])


def thompson(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of Thompson sampling over T rounds (AUD-2, AUD-4)."""

    def rows() -> Iterator[AuditRow]:
        used = _scale(scale)
        short = tuple(horizon for horizon in used.horizons if horizon <= LONG)
        yield from theorem_3_rows(replace(used, horizons=short))
        yield from sampled_rows(used, seed)
        yield from epsilon_rows(used)

    return rows_frame("thompson", rows())


def thompson_long(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of Thompson sampling at the longest horizons of the lattice (AUD-2)."""
    used = _scale(scale)
    long = tuple(horizon for horizon in used.horizons if horizon > LONG)
    alone = replace(used, horizons=long, far_horizons=(), three_armed_horizons=())
    return rows_frame("thompson-long", theorem_3_rows(alone))


def modified(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of Modified TS (AUD-3)."""
    return rows_frame("modified", modified_rows(_scale(scale)))


def budgets(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the rows of DP-TS-UCB, and of what its paper quotes (AUD-6 to AUD-8)."""
    used = _scale(scale)
    return rows_frame("budgets", [*quoted_rows(used), *budget_rows(used)])


def black_box(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return the black-box audit of every algorithm and variant of the registry.

    Its root seed is the next one: some pairs of tables were chosen with runs of the default root
    seed in sight, which therefore must not certify.
    """
    budget: dict[str, Any] = {"seed": seed + 1, "workers": workers}
    audits = black_box_audits(BLACK_BOX_RUNS[scale], **budget)
    # Each variant is played as it is; the row names what the variant itself changes.
    rows = [replace(audit.row, interpretation="") for audit in audits]
    power = black_box_power(BLACK_BOX_RUNS[scale], **budget)
    return rows_frame("black-box", rows, [audit.p_value for audit in audits], power)


def trade_off(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return both errors of the tests between two inputs of Thompson sampling, T = 100."""
    return tradeoff_curves(_scale(scale), seed)


ANALYTIC: dict[str, Callable[..., pd.DataFrame]] = {
    "releases": releases,
    "decisions": decisions,
    "thompson": thompson,
    "thompson-long": thompson_long,
    "modified": modified,
    "budgets": budgets,
    "black-box": black_box,
    "trade-off": trade_off,
    "angles": ratios_by_angle,
    "alternation": ratios_by_alternation,
}
"""Results by name, as the experiments file lists them."""

ROWS = ("releases", "decisions", "thompson", "thompson-long", "modified", "budgets", "black-box")
"""Names of the results that are rows of the audit."""
