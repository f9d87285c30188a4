"""Why a method does not compile, in a few words of numba's long ones."""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r"line (\d+):$", re.MULTILINE)
_CALL = re.compile(r"^\s*>>> (.+)$", re.MULTILINE)
_SELF = re.compile(r"numba\.\S*Self\(.*?\)\)?,?\)")
_DRAW = re.compile(r"NumPyRandomGeneratorType_(\w+)\(NumPyRandomGeneratorType,? ?")
_HELPER = re.compile(r"Untyped global name '(\w+)'.*<class 'function'>")


def reason_of(method: str, message: str) -> str:
    """Return the place and the cause that a message of numba names.

    Args:
        method: name of the method.
        message: the message, of many lines.
    """
    plain = _COLOUR.sub("", message)
    numbers = _LINE.findall(plain)
    place = f"{method}, line {numbers[-1]}" if numbers else method
    return f"{place}: {_cause(plain)}"


def _cause(message: str) -> str:
    helper = _HELPER.search(message)
    if helper:
        return f"{helper[1]} is plain Python; @numba.njit above it lets it compile"
    call = _CALL.search(message)
    if call:
        return f"numba has no {_named(call[1])}"
    lines = [line.strip() for line in message.splitlines()]
    said = (line for line in lines if line and not line.startswith("Failed in"))
    return _named(next(said, "numba does not compile it"))


def _named(text: str) -> str:
    """Return a text with the names of the user's in the place of numba's types."""
    drawn = _DRAW.sub(r"rng.\1(", text)
    return _SELF.sub("self", drawn).replace("NumPyRandomGeneratorType", "rng")
