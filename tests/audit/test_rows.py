"""Rows of the audit table."""

import math
from dataclasses import replace

import pytest

from dpbandits.auditing.rows import AUDIT_COLUMNS, AuditRow, to_frame
from dpbandits.errors import InputError

ROW = AuditRow(
    statement="AUD-2",
    algorithm="ts-gaussian",
    variant="as-written",
    interpretation="",
    arms=2,
    horizon=10,
    parameters="",
    notion="pull table",
    pair="first reward of arm 1: 0 or 1",
    engine="exact lattice",
    event="arm 1 once",
    direction="x' over x",
    measure="mu",
    lower=1.0,
    confidence=1.0,
    claimed=2.0,
    log10_alpha=-1.0,
    log10_beta=-2.0,
    seconds=3.0,
)


def test_published_tables_do_not_depend_on_the_machine() -> None:
    assert to_frame([ROW]).equals(to_frame([replace(ROW, seconds=4.0)]))
    assert "seconds" in to_frame([ROW], seconds=True)


def test_columns_are_in_the_agreed_order() -> None:
    assert list(to_frame([ROW], seconds=True)) == AUDIT_COLUMNS
    assert list(to_frame([])) == [name for name in AUDIT_COLUMNS if name != "seconds"]
    place = AUDIT_COLUMNS.index("ratio")
    assert AUDIT_COLUMNS[place - 1 : place + 2] == ["claimed", "ratio", "log10_alpha"]


def test_ratio_is_bound_over_claim() -> None:
    assert ROW.ratio == 0.5
    assert replace(ROW, claimed=math.inf).ratio == 0.0
    assert replace(ROW, claimed=0.0).ratio == math.inf


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("notion", "table"),
        ("direction", "both"),
        ("measure", "eta"),
        ("engine", "A"),
        ("lower", -1.0),
        ("lower", math.nan),
        ("lower", math.inf),
        ("confidence", 0.0),
    ],
)
def test_what_is_no_bound_is_rejected(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"audit row.*{value}" if isinstance(value, str) else name):
        replace(ROW, **{name: value})  # type: ignore[arg-type]


def test_an_infinite_bound_needs_a_proof() -> None:
    assert replace(ROW, engine="support", lower=math.inf).lower == math.inf
