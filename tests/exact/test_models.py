"""Models of YAML entries: one line names the key, its value and what is allowed."""

import datetime
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.engine.documents import load_document
from dpbandits.engine.models import Choice, Count, Flag, Names, Spec, Values, Variant, validated
from dpbandits.errors import InputError


class Inner(Spec):
    count: Count
    flag: Flag = False


class Outer(Spec):
    reads: Names
    inner: Inner | None = None
    listed: tuple[Inner, ...] = ()
    values: Values = (1,)
    where: dict[str, Choice] = {}  # noqa: RUF012 (pydantic copies it)
    variant: Variant = "as-written"


VALID: dict[str, Any] = {"reads": "one", "listed": [{"count": 2}], "where": {"b": [1, "x"]}}


def test_a_valid_entry_keeps_its_numbers_and_texts() -> None:
    outer = validated(Outer, VALID)
    assert outer.reads == ("one",)
    assert outer.listed[0].count == 2
    assert outer.where == {"b": [1, "x"]}
    assert outer.model_dump(exclude_unset=True) == {
        "reads": ("one",),
        "listed": ({"count": 2},),
        "where": {"b": [1, "x"]},
    }


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"size": 1}, "o: unknown key size; allowed: reads, inner, listed, values, where, variant"),
        ({"reads": []}, "o.reads is []; allowed: a name, or a list of different names"),
        ({"reads": ["a", "a"]}, "o.reads is ['a', 'a']; allowed: a name, or a list of different"),
        ({"reads": "A b"}, "o.reads is 'A b'; allowed: a name"),
        ({"inner": 3}, "o.inner is 3; allowed: a mapping of keys to values"),
        ({"inner": {}}, "o.inner: key count is missing"),
        ({"listed": [{"count": 1}, {"count": 0}]}, "o.listed.1.count is 0; allowed: a whole num"),
        ({"listed": {"count": 1}}, "o.listed is {'count': 1}; allowed: a list"),
        ({"listed": [{"count": True}]}, "o.listed.0.count is True; allowed: a whole number"),
        ({"listed": [{"count": 2.5}]}, "o.listed.0.count is 2.5; allowed: a whole number"),
        ({"listed": [{"count": 1, "flag": "yes"}]}, "flag is 'yes'; allowed: true, false"),
        ({"values": [None]}, "o.values is [None]; allowed: a list of numbers or texts"),
        ({"where": {"b": {"c": 1}}}, "o.where.b is {'c': 1}; allowed: a number, a text, or a"),
        ({"where": [1]}, "o.where is [1]; allowed: a mapping of keys to values"),
        ({"variant": "fixed"}, "o.variant is 'fixed'; allowed: as-written, as-coded, repaired"),
        ({"reads": "A" * 999}, "A ...; allowed: a name"),
    ],
)
def test_whatever_is_wrong_is_one_line(change: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        validated(Outer, {**VALID, **change}, "o")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ({"b": math.nan}, "where.b is nan; allowed: finite numbers"),
        ({"b": -math.inf}, "where.b is -inf; allowed: finite numbers"),
        ({"epsilon": math.inf}, ""),
    ],
)
def test_numbers_are_finite_but_for_epsilon(
    tmp_path: Path, where: dict[str, Any], line: str
) -> None:
    path = tmp_path / "outer.yaml"
    path.write_text(yaml.safe_dump({**VALID, "where": where}))
    if not line:
        assert load_document(path, Outer).where == where
        return
    with pytest.raises(InputError) as caught:
        load_document(path, Outer)
    assert str(caught.value) == f"{path}: {line}"


def test_a_date_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "outer.yaml"
    path.write_text(yaml.safe_dump({**VALID, "reads": datetime.date(2026, 1, 1)}))
    with pytest.raises(InputError, match=r"outer\.yaml: reads is datetime.*; allowed: a name"):
        load_document(path, Outer)
