"""Add "did you mean" to error messages that name an unknown word and the allowed ones."""

import difflib
import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from dpbandits.errors import InputError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_MESSAGE = re.compile(r"(?P<given>.*)(?:; allowed: | \(choose from )(?P<allowed>.*)")
_QUOTED = re.compile(r"'([^']*)'")
_LISTED = re.compile(r"parameters are (.*)")
_NAME = re.compile(r"[A-Za-z][\w./-]+")


def with_suggestion(message: str) -> str:
    """Return an error message, with the nearest allowed name where one is near."""
    parts = _MESSAGE.fullmatch(message)
    if parts is None or "did you mean" in message:
        return message
    listed = parts["allowed"].partition(")")[0].split(", ")
    allowed = [name for name in (word.strip("'") for word in listed) if _NAME.fullmatch(name)]
    names = {name.lower(): name for name in allowed}
    for word in _words(parts["given"]):
        near = difflib.get_close_matches(word.lower(), names, n=1)
        if word not in allowed and near:
            return f"{message}; did you mean {names[near[0]]!r}?"
    return message


def _words(given: str) -> Iterator[str]:
    """Yield the words that a message may complain of."""
    yield from reversed(_QUOTED.findall(given))
    for listed in _LISTED.findall(given):
        yield from _NAME.findall(listed)


def suggesting(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function with suggestions in the messages of its InputErrors."""

    @wraps(function)
    def suggested(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except InputError as error:
            message = with_suggestion(str(error))
            if message == str(error):
                raise
            raise InputError(message) from error.__cause__

    return suggested
