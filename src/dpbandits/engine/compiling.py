"""A line on standard error when kernels are compiled: seconds in which nothing else is said."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _FirstCompilation(event.Listener):
    """Prints a line at the first compilation that it hears of."""

    def __init__(self, line: str) -> None:
        self.line = line

    def on_start(self, event: Any) -> None:
        if self.line:
            print(self.line, file=sys.stderr)
        self.line = ""

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compilation_shown(name: str) -> Iterator[None]:
    """Print one line if a kernel is compiled in this process; none where all are on disk.

    Args:
        name: id of the algorithm that is played.
    """
    with event.install_listener("numba:compile", _FirstCompilation(f"compiling {name} ...")):
        yield
