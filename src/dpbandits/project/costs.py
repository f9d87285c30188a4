"""What results cost: timings of each job, the costs condensed from them, and what to ask for.

A simulation that takes its blocks from the cache costs next to nothing, so that timings are kept of
blocks that were computed only, apart from the results, in ``results/timings``. ``docs/cost.csv`` is
what ``dpbandits publish`` makes of them.
"""

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.engine.files import write_text
from dpbandits.engine.spent import Spent
from dpbandits.errors import InputError
from dpbandits.project.config import Project

COSTS = Path("docs/cost.csv")
RESULTS = "results"
"""Kind of the rows of simulated and of exactly computed results."""

COLUMNS = {
    "scale": str,
    "paper": str,
    "kind": str,
    "name": str,
    "core_seconds": float,
    "longest": float,
    "memory": int,
    "blocks": int,
    "computed": int,
}
"""Columns of ``docs/cost.csv``: core seconds of the whole, those of its longest block, MiB of its
largest process, blocks, and how many of them were timed (else the whole is estimated from them)."""

UNKNOWN_MINUTES = 120
"""Minutes that a job gets where nothing was ever recorded."""

UNKNOWN_MEMORY = 2000
"""MiB that a process gets where nothing was ever recorded."""

OVERHEAD_MEMORY = 1000
"""MiB of the two workflow processes that stand beside the command in a job of a cluster."""

LEAST_MINUTES = 10
"""Minutes that every job gets at least: nodes start slowly, and kernels may have to be compiled."""


@dataclass(frozen=True)
class Cost:
    """What one result, figure, table or ledger costs: a row of ``docs/cost.csv``."""

    core_seconds: float
    longest: float
    memory: int
    blocks: int
    computed: int


Key = tuple[str, str, str, str]
"""Scale, paper, kind and name."""


def timings_folder(project: Project, paper: str) -> Path:
    """Folder of the timings of a paper's results, at the project's scale."""
    return project.results_folder() / "timings" / paper


def write_timing(
    project: Project,
    paper: str,
    name: str,
    spent: Spent,
    fingerprint: str,
    shard: tuple[int, int] | None = None,
) -> None:
    """Keep what some results took, unless all of it came from the cache.

    Args:
        project: the project.
        paper: its short name.
        name: a simulation or an exact result.
        spent: what it took.
        fingerprint: of what was computed.
        shard: I and N where it was shard I of N.
    """
    if spent.computed == 0:
        return
    stem = name if shard is None else f"{name}.{shard[0]}-of-{shard[1]}"
    record = spent.record() | {"fingerprint": fingerprint}
    text = json.dumps(record, indent=2, sort_keys=True) + "\n"
    write_text(timings_folder(project, paper) / f"{stem}.json", text)


def recorded_cost(project: Project, paper: str, name: str, fingerprint: str) -> Cost | None:
    """Return what current results took, all shards together; None where nothing was timed.

    Where some blocks alone were timed, the core seconds are those of all blocks in proportion.
    """
    folder = timings_folder(project, paper)
    paths = [*folder.glob(f"{name}.json"), *folder.glob(f"{name}.*-of-*.json")]
    timings = [each for each in map(_timing, paths) if each.get("fingerprint") == fingerprint]
    if not timings:
        return None
    blocks, computed = int(timings[0]["blocks"]), sum(int(each["computed"]) for each in timings)
    seconds = sum(float(each["core_seconds"]) for each in timings) * blocks / computed
    return Cost(
        core_seconds=round(seconds, 1),
        longest=round(max(float(each["longest"]) for each in timings), 1),
        memory=max(int(each["memory"]) for each in timings),
        blocks=blocks,
        computed=min(computed, blocks),
    )


def _timing(path: Path) -> dict[str, Any]:
    """Return a timing; an empty one where the file is damaged, as nothing depends on it."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    needed = {"blocks", "computed", "core_seconds", "longest", "memory", "fingerprint"}
    return record if isinstance(record, dict) and needed <= set(record) else {}


@dataclass(frozen=True)
class Costs:
    """The costs published with a project; there may be none."""

    path: Path

    @cached_property
    def rows(self) -> dict[Key, Cost]:
        """Every row by its key.

        Raises:
            InputError: the file has other columns, or a value is no number.
        """
        if not self.path.is_file():
            return {}
        try:
            frame = pd.read_csv(self.path, dtype=COLUMNS, usecols=list(COLUMNS))
        except ValueError as error:
            allowed = ", ".join(COLUMNS)
            raise InputError(f"{self.path}: {error}; allowed: columns {allowed}") from None
        return {
            (str(row[0]), str(row[1]), str(row[2]), str(row[3])): Cost(*row[4:])
            for row in frame[list(COLUMNS)].itertuples(index=False)
        }

    def find(self, scale: str, paper: str, kind: str, name: str) -> Cost | None:
        """Return a row, or None where nothing was recorded."""
        return self.rows.get((scale, paper, kind, name))


def minutes_to_ask_for(cost: Cost | None, threads: int, shards: int, attempt: int) -> int:
    """Return the minutes that a job may take: three times what is expected, more after a failure.

    Args:
        cost: that of all shards, if it is known.
        threads: of the job.
        shards: how many jobs share the work.
        attempt: 1, or more where the job failed.
    """
    if cost is None:
        return UNKNOWN_MINUTES * attempt
    seconds = max(cost.core_seconds / shards / threads, cost.longest)
    return max(LEAST_MINUTES, math.ceil(3 * seconds / 60)) * attempt


def memory_to_ask_for(cost: Cost | None, threads: int, attempt: int) -> int:
    """Return the MiB of a job: a quarter more than its processes took, more after a failure."""
    memory = UNKNOWN_MEMORY if cost is None else 1.25 * cost.memory
    processes = 1 if threads == 1 else 1 + threads
    return math.ceil(OVERHEAD_MEMORY + processes * memory) * attempt
