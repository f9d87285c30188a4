"""Errors of user-defined algorithms, as one line each."""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbandits.errors import InputError

LONGEST = 300
"""Characters of a foreign error message that are repeated; the traceback has all of it."""


def place_of(algorithm: str, number: int | None = None) -> str:
    """Return how messages name an algorithm, and a round of it."""
    return f"algorithm {algorithm}" + ("" if number is None else f", round {number}")


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
