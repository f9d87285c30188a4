"""Entries of a YAML file as frozen dataclasses; whatever is wrong is said in one line."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from dpbandits.errors import InputError


def require_keys(kind: type, document: Any, where: str) -> dict[str, Any]:
    """Return a copy of ``document``, whose keys are fields of the dataclass ``kind``.

    Args:
        kind: a dataclass; its fields without a default are required.
        document: what stands in the file.
        where: its place, for error messages.

    Raises:
        InputError: no mapping, an unknown key, or a required one missing.
    """
    given = mapping(document, where)
    known = [field.name for field in fields(kind)]
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise InputError(f"{where}: unknown key {', '.join(unknown)}; allowed: {', '.join(known)}")
    required = [
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    missing = [name for name in required if name not in given]
    if missing:
        raise InputError(f"{where}: key {', '.join(missing)} is missing")
    return given


def one_of(value: Any, allowed: Sequence[str], where: str) -> str:
    """Return the value; InputError unless it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{where} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def text(value: Any, where: str) -> str:
    """Return the value; InputError unless it is text of at least one character."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} is {value!r}; allowed: text")
    return value


def names(value: Any, where: str) -> tuple[str, ...]:
    """Return one name, or the names of a list, as a tuple; InputError unless all are text."""
    found = value if isinstance(value, list) else [value]
    if not found or len(set(map(str, found))) < len(found):
        raise InputError(f"{where} is {value!r}; allowed: a name, or a list of different names")
    return tuple(text(each, where) for each in found)


def flag(value: Any, where: str) -> bool:
    """Return the value; InputError unless it is true or false."""
    if not isinstance(value, bool):
        raise InputError(f"{where} is {value!r}; allowed: true, false")
    return value


def mapping(value: Any, where: str) -> dict[str, Any]:
    """Return a copy of the value; InputError unless it is a mapping."""
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {value!r}; allowed: a mapping of keys to values")
    return dict(value)


def fill(template: str, values: Mapping[str, Any], where: str) -> str:
    """Fill a template such as ``b={b}``; InputError where a name is unknown or a format wrong.

    Whole numbers that a table keeps as floats are printed as whole numbers.
    """
    try:
        return template.format_map({key: plain(value) for key, value in values.items()})
    except KeyError as error:
        allowed = ", ".join(values) or "none"
        raise InputError(
            f"{where} is {template!r}: no column {error}; allowed: {allowed}"
        ) from None
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{where} is {template!r}: {error}; allowed: names in braces") from None


def plain(value: Any) -> Any:
    """Return a whole float as an int, a numpy scalar as a Python one, all else as it is."""
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
