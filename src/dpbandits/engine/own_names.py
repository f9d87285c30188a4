"""Which names a function uses: globals, attributes, and modules that it imports when called."""

import contextlib
import dis
import types
from collections.abc import Iterator
from operator import attrgetter
from typing import Any


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code and those of the functions inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def names_of(code: types.CodeType) -> Iterator[str]:
    """Yield every name of a global or an attribute."""
    for each in _codes(code):
        yield from each.co_names


def globals_of(code: types.CodeType) -> Iterator[str]:
    """Yield the globals that a code reads."""
    for each in _codes(code):
        for line in dis.get_instructions(each):
            if "GLOBAL" in line.opname or line.opname == "LOAD_NAME":
                yield str(line.argval)


def late_imports(value: types.FunctionType) -> Iterator[types.ModuleType]:
    """Yield what a function imports when it is called; what is not there is left out."""
    for code in _codes(value.__code__):
        lines = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
        for number, line in enumerate(lines):
            if line.opname == "IMPORT_NAME":
                builtins: dict[str, Any] = attrgetter("__builtins__")(value)
                own_import = builtins["__import__"]
                level = lines[number - 2].argval
                with contextlib.suppress(ImportError):
                    yield own_import(line.argval, value.__globals__, None, ("__name__",), level)
