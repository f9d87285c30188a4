"""Checkpoints of long cells, so that a kill costs a minute; and a line on how far they are."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tqdm import tqdm

from dpbandits._cache_folder import warn_unwritable
from dpbandits.engine.cache import CHECKPOINT, Cache, Origin
from dpbandits.engine.lockstep import Arrays
from dpbandits.engine.progress import SECONDS_BETWEEN_LINES

SECONDS_BETWEEN_CHECKPOINTS = 60.0


@dataclass
class Checkpoints:
    """Keeps the latest state of one block beside its cache entry, until the block is computed.

    Attributes:
        cache: where it is kept; written atomically, and a damaged one is not used.
        key: key of the block.
        title: what the lines on progress call it.
        origin: that of the block's entry.
    """

    cache: Cache
    key: str
    title: str
    origin: Origin | None = None
    _stored: float = field(default_factory=time.monotonic)
    _said: float = field(default_factory=time.monotonic)
    _first: tuple[float, int] | None = None

    @property
    def _name(self) -> str:
        return f"{self.key}{CHECKPOINT}"

    @property
    def exist(self) -> bool:
        """Whether there is one, so that the block is not computed from its beginning."""
        return self.cache.has(self._name)

    def resumed(self) -> Arrays | None:
        """Return what the last checkpoint keeps, or None."""
        kept = self.cache.load(self._name)
        if kept is not None:
            print(f"{self.title}: goes on from its checkpoint", file=sys.stderr)
        return kept

    def between(self, done: int, total: int, arrays: Callable[[], Arrays]) -> None:
        """Say now and then how far the block is, and keep a checkpoint, every minute."""
        now = time.monotonic()
        # From the first window on, before which kernels may have been compiled.
        begun, first = self._first = self._first or (now, done)
        if now - self._said >= SECONDS_BETWEEN_LINES and first < done < total:
            self._said = now
            left = (now - begun) * (total - done) / (done - first)
            share = f"{done / total:.0%} of {total} rounds"
            # A bar of this process stays below the line.
            tqdm.write(f"{self.title}: {share}, about {left:.0f} s left", file=sys.stderr)
        if now - self._stored >= SECONDS_BETWEEN_CHECKPOINTS and done < total:
            reason = self.cache.store(self._name, arrays(), self.origin)
            if reason is not None:
                warn_unwritable(self.cache.root, reason)
            self._stored = time.monotonic()

    def clear(self) -> None:
        """Remove the checkpoint of a block that is computed."""
        self.cache.remove(self._name)
