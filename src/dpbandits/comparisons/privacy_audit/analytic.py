"""The audit of every algorithm, as results: one row a certified lower bound.

Rows have the columns of ``dpbandits.auditing.rows.AUDIT_COLUMNS`` but the seconds, and ``p_value``,
the level at which a statistical bound exceeds what is claimed (NaN where the bound is exact). Those
of the black box have ``power``, whether it sees a loss of twice the claim. They
depend on the scale: ``quick`` has smaller horizons and fewer runs.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pandas as pd

from dpbandits.auditing import statements, thompson_statements  # noqa: F401
from dpbandits.auditing.curves import ratios_by_alternation, ratios_by_angle, tradeoff_curves
from dpbandits.auditing.rows import AuditRow, swept_rows, to_frame
from dpbandits.auditing.run import published
from dpbandits.engine.cache import require_cache

RUNS = {"paper": 1_000_000, "quick": 10_000}
"""Scale -> outputs per table of each black-box audit."""

TRADED_RUNS = {"paper": 200_000, "quick": 10_000}
"""Scale -> simulated outputs of the trade-off curve."""


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
    return table.assign(x=table["horizon"], y=table["lower"])


def _level(row: AuditRow) -> float:
    if row.confidence == 1.0:
        return math.nan
    return 1.0 - row.confidence if row.lower > row.claimed else 1.0


def swept_frame(name: str) -> Callable[[str, int, int], pd.DataFrame]:
    """Return what computes the rows of the statements by scale, root seed and threads."""

    def compute(scale: str, seed: int, workers: int) -> pd.DataFrame:
        return rows_frame(name, swept_rows(name, quick=scale == "quick", seed=seed))

    return compute


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


def trade_off(scale: str, seed: int, workers: int) -> pd.DataFrame:
    """Return both errors of the tests between two inputs of Thompson sampling, T = 100."""
    return tradeoff_curves(TRADED_RUNS[scale], seed)


SWEPT = ("releases", "decisions", "thompson", "thompson-long", "modified", "budgets")
"""Names of the results that are rows of the statements."""

ANALYTIC: dict[str, Callable[..., pd.DataFrame]] = {
    **{name: swept_frame(name) for name in SWEPT},
    "black-box": black_box,
    "trade-off": trade_off,
    "angles": ratios_by_angle,
    "alternation": ratios_by_alternation,
}
"""Results by name, as the experiments file lists them."""

ROWS = (*SWEPT, "black-box")
"""Names of the results that are rows of the audit."""
