"""Progress on standard error, of whatever takes longer than two seconds.

A bar on a terminal and in a notebook, a whole line every ten seconds in a log.
"""

import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

SECONDS_UNTIL_SHOWN = 2.0
"""What is done sooner shows nothing."""

SECONDS_BETWEEN_LINES = 10.0

_LINE = "{desc}: {n_fmt} of {total_fmt} batches, {elapsed} gone, about {remaining} left"


class _Lines(io.StringIO):
    """Standard error where nothing can be drawn again: each drawing is a line."""

    def write(self, text: str) -> int:
        """Print a drawing as a line."""
        if text.strip():
            print(text.strip(), file=sys.stderr)
        return len(text)


def progress(items: Iterable[Item], title: str, total: int | None = None) -> Iterator[Item]:
    """Pass the items on and show how many are done, of ``total`` where they have no length."""
    # Here: it looks for a notebook when it is imported.
    from tqdm.auto import tqdm

    shown: dict[str, Any] = {"file": sys.stderr}
    if not _is_watched():
        shown = {"file": _Lines(), "mininterval": SECONDS_BETWEEN_LINES, "bar_format": _LINE}
        # Else the last line is said twice.
        shown["leave"] = False
    shown["delay"] = SECONDS_UNTIL_SHOWN
    yield from tqdm(items, total=total, desc=title, miniters=0, **shown)


def announce(title: str) -> None:
    """Say what takes a while and has no countable shares, to whoever watches."""
    if _is_watched():
        print(f"{title} ...", file=sys.stderr)


def _is_watched() -> bool:
    """Return whether someone sees a bar move: at a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
