"""Progress on standard error, of whatever takes longer than two seconds.

A bar on a terminal and in a notebook, a whole line every ten seconds elsewhere.
"""

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")

SECONDS_UNTIL_SHOWN = 2.0
"""What is done sooner shows nothing."""

SECONDS_BETWEEN_LINES = 10.0

_COUNTED = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
_UNCOUNTED = "{desc}: {elapsed}"

_bars: list[Any] = []
"""The bars of this process, the innermost last."""


def progress(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """Pass the items on and show how many of ``total`` are done.

    Args:
        items: each a batch of runs, or another share of the work.
        total: their number.
        title: what is done.
    """
    if not _is_watched():
        yield from _in_lines(items, total, title)
        return
    with _bar(total, title, _COUNTED) as bar:
        for item in items:
            yield item
            bar.update()


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show for how long something goes on of which no share can be told; nothing but bars.

    Args:
        title: what is done.
    """
    if not _is_watched():
        yield
        return
    with _bar(None, title, _UNCOUNTED):
        yield


def seconds_between() -> float:
    """Return the seconds between two calls of ``tell``: bars can be told more often than lines."""
    return 1.0 if _bars else SECONDS_BETWEEN_LINES


def tell(title: str, text: str) -> None:
    """Say how far one item is, in the bar, or as a line of its own where there is none."""
    if _bars:
        _bars[-1].set_postfix_str(text, refresh=False)
    else:
        print(f"{title}: {text}", file=sys.stderr)


def _is_watched() -> bool:
    """Return whether someone sees a bar move: at a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _in_lines(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """Pass the items on and print a line now and then."""
    begun = time.monotonic()
    due = begun + SECONDS_UNTIL_SHOWN
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now >= due and done < total:
            due = now + SECONDS_BETWEEN_LINES
            left = (now - begun) * (total - done) / done
            print(f"{title}: {done} of {total} batches, about {left:.0f} s left", file=sys.stderr)


@contextmanager
def _bar(total: int | None, title: str, form: str) -> Iterator[Any]:
    """Show a bar, drawn again every second, since one item may take minutes."""
    # Here: it looks for a notebook when it is imported.
    from tqdm.auto import tqdm

    ended = threading.Event()
    # Without `miniters` an update by nothing would not be drawn.
    bar = tqdm(total=total, desc=title, bar_format=form, delay=SECONDS_UNTIL_SHOWN, miniters=0)

    def draw() -> None:
        while not ended.wait(1.0):
            bar.update(0)

    thread = threading.Thread(target=draw, daemon=True)
    _bars.append(bar)
    thread.start()
    try:
        yield bar
    finally:
        ended.set()
        thread.join()
        _bars.remove(bar)
        bar.close()
