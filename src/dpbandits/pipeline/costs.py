"""What results cost: timings of each job, and the costs condensed from them.

A simulation that takes its blocks from the cache costs next to nothing, so that timings are kept of
blocks that were computed only, apart from the results, in ``results/timings``. ``docs/cost.csv`` is
what ``dpbandits publish`` makes of them.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.engine.files import write_text
from dpbandits.engine.spent import Spent
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project

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


def write_timing(project: Project, paper: str, name: str, spent: Spent, fingerprint: str) -> None:
    """Keep what some results took, unless all of it came from the cache.

    Args:
        project: the project.
        paper: its short name.
        name: a simulation or an exact result.
        spent: what it took.
        fingerprint: of what was computed.
    """
    if spent.computed == 0:
        return
    record = spent.record() | {"fingerprint": fingerprint}
    text = json.dumps(record, indent=2, sort_keys=True) + "\n"
    write_text(timings_folder(project, paper) / f"{name}.json", text)


def recorded_cost(project: Project, paper: str, name: str, fingerprint: str) -> Cost | None:
    """Return what current results took; None where nothing was timed.

    Where some blocks alone were timed, the core seconds are those of all blocks in proportion.
    """
    timing = _timing(timings_folder(project, paper) / f"{name}.json")
    if timing.get("fingerprint") != fingerprint:
        return None
    blocks, computed = int(timing["blocks"]), int(timing["computed"])
    return Cost(
        core_seconds=round(float(timing["core_seconds"]) * blocks / computed, 1),
        longest=round(float(timing["longest"]), 1),
        memory=int(timing["memory"]),
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
