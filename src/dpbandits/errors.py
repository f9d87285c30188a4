"""The one error that bad input raises, the check of whole numbers, and errors of users' code."""

import difflib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """Bad input; the message names the file or argument, the key and what is allowed.

    The command line prints the line and exits with status 2; Python callers catch a ValueError.
    """

    def __init__(self, message: str) -> None:
        """Keep the message on one line, whatever a library put into it."""
        super().__init__(" ".join(message.split()))

    @classmethod
    def unknown(cls, what: str, given: object, allowed: Iterable[object]) -> "InputError":
        """Return the error of a name that is not allowed, with the nearest one where one is near.

        Args:
            what: what the name is of, such as ``algorithm``.
            given: the name.
            allowed: the names that are allowed.
        """
        known = [*map(str, allowed)]
        names = {name.lower(): name for name in known}
        near = difflib.get_close_matches(str(given).lower(), names, n=1)
        nearest = f"; did you mean {names[near[0]]!r}?" if near else ""
        listed = ", ".join(known) or "none"
        return cls(f"{what} is {given!r}; allowed: {listed}{nearest}")


def require_count(key: str, value: Any, minimum: int, maximum: float = math.inf) -> int:
    """Return a whole number; InputError unless it is one between the bounds.

    Floats that are whole, such as 1e5, and the numbers of numpy count as such.
    """
    is_whole = isinstance(value, Integral) or (
        isinstance(value, Real) and math.isfinite(value) and value % 1 == 0
    )
    if isinstance(value, bool) or not is_whole or not minimum <= value <= maximum:
        bounds = f"of at least {minimum}" if maximum == math.inf else f"from {minimum} to {maximum}"
        raise InputError(f"{key} is {value!r}; allowed: a whole number {bounds}")
    return int(value)


LONGEST = 300
"""Characters of a foreign error message that are repeated; the traceback has all of it."""


@contextmanager
def user_code(place: str, function: str) -> Iterator[None]:
    """Turn whatever the user's code raises into an InputError of one line.

    Args:
        place: the algorithm, and the round where there is one.
        function: name of the function that is called.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        shown = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}..."
        raise InputError(f"{place}: {function} raises {shown}") from error
