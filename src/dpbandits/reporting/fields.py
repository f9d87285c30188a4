"""Templates of labels, such as ``b={b}``; whatever is wrong in one is one line."""

from collections.abc import Mapping
from typing import Any

from dpbandits.errors import InputError


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
