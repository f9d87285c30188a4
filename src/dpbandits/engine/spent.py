"""What computing took: core seconds and memory, for the forecast of what a run costs."""

import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

MEBIBYTE = 2**20


def peak_memory() -> int:
    """Return the largest memory that this process had so far, in MiB."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes, on macOS bytes.
    return int(largest * (1 if sys.platform == "darwin" else 1024) / MEBIBYTE)


@dataclass
class Spent:
    """What some results took. Blocks from the cache cost nothing, and tell nothing of the cost.

    Attributes:
        blocks: how many blocks the results are made of, all parts together.
        computed: how many of them were computed rather than read.
        core_seconds: time of all processors together for those computed.
        longest: core seconds of the longest block, which bounds the time from below.
        memory: MiB that the largest process had.
    """

    blocks: int = 0
    computed: int = 0
    core_seconds: float = 0.0
    longest: float = 0.0
    memory: int = 0

    def add(self, core_seconds: float, memory: int) -> None:
        """Count one block that was computed."""
        self.computed += 1
        self.core_seconds += core_seconds
        self.longest = max(self.longest, core_seconds)
        self.memory = max(self.memory, memory)

    def record(self) -> dict[str, Any]:
        """Return the numbers by name, rounded, for a file; the memory with that of this process."""
        rounded = {"core_seconds": round(self.core_seconds, 3), "longest": round(self.longest, 3)}
        return asdict(self) | rounded | {"memory": max(self.memory, peak_memory())}
