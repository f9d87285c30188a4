"""Progress on standard error: a bar on a terminal, a whole line every ten seconds elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


def progress(items: Iterable[Item], total: int, title: str) -> Iterator[Item]:
    """Pass the items on and show how many of ``total`` are done."""
    if sys.stderr.isatty():
        yield from tqdm(items, total=total, desc=title, unit="block", leave=True)
        return
    begun = last = time.monotonic()
    done = 0
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES and done < total:
            last = now
            left = (now - begun) * (total - done) / done
            print(f"{title}: {done} of {total} blocks, about {left:.0f} s left", file=sys.stderr)
    if done:
        elapsed = time.monotonic() - begun
        print(f"{title}: {done} blocks computed in {elapsed:.1f} s", file=sys.stderr)
