"""Recompute the sample, without any cache, and write how every cell came out."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpbandits.engine.cache import Cache
from dpbandits.engine.fan_out import compute
from dpbandits.engine.files import write_text
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.verification.agreement import KEYS, OUTCOMES, OUTSIDE, compare
from dpbandits.verification.sample import Plan, Sample, Sampled, draw_sample

LEVEL = 0.05
"""Chance that any cell of a sample is found outside, were all its streams other ones."""


@dataclass(frozen=True)
class Verification:
    """What was recomputed.

    Attributes:
        plan: how the sample was drawn.
        sample: the cells, and what was left out.
        table: a row a cell: paper, results, series, first run, runs, horizon, outcome, detail.
        path: where the table stands.
    """

    plan: Plan
    sample: Sample
    table: pd.DataFrame
    path: Path

    def lines(self) -> list[str]:
        """Return the whole of it in words: a line a cell, what was left out, and the count."""
        cells = [
            f"{row['outcome']}: {row['paper']}/{row['results']}, {row['series']}, runs "
            f"{row['first_run']} to {row['first_run'] + row['runs'] - 1}, horizon "
            f"{row['horizon']}: {row['detail']}"
            for row in self.table.to_dict("records")
        ]
        sample = self.sample
        left_out = [
            f"{why}: {', '.join(names)}"
            for why, names in (
                ("left out, no cell is that cheap", sample.too_costly),
                ("left out, not built", sample.not_built),
            )
            if names
        ]
        counted = Counter(self.table["outcome"])
        count = ", ".join(f"{counted[each]} {each}" for each in OUTCOMES)
        drawn = f"sample: {self.plan}; {len(self.table)} of {sample.of} cells"
        return [*cells, *left_out, drawn, f"verified: {count} ({self.path})"]


def verify(project: Project, plan: Plan, workers: int) -> Verification:
    """Recompute a random sample of cells from the sources, and compare with the results.

    Raises:
        InputError: no results are there, or they are damaged or stale.
    """
    sample = draw_sample(project, plan)
    if not sample.cells:
        folder = project.results_folder()
        raise InputError(f"{folder}: has no results to verify; run snakemake to build them")
    table = pd.DataFrame(_compared(project, sample, workers))
    path = project.results_folder() / "verify.csv"
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    return Verification(plan, sample, table, path)


def require_agreement(verification: Verification) -> None:
    """Raise InputError where a cell is outside its interval."""
    outside = int((verification.table["outcome"] == OUTSIDE).sum())
    if outside:
        raise InputError(
            f"{verification.path}: {outside} of {len(verification.table)} cells are outside; "
            f"allowed: exact, or agrees within chance"
        )


def _compared(project: Project, sample: Sample, workers: int) -> list[dict[str, object]]:
    """Return a row for each cell."""
    frames = _packed(project, sample)
    with tempfile.TemporaryDirectory() as folder:
        blocks = compute(
            [each.cell for each in sample.cells],
            root_seed=project.seed,
            workers=workers,
            cache=Cache(Path(folder)),
            title="verifying",
        )
    rows = []
    for each, block in zip(sample.cells, blocks, strict=True):
        frame = frames[each.paper, each.name]
        again = results_frame([each.series], [block])
        own = frame[frame["series"] == each.series.label][_kept(frame)]
        found = compare(own, again[_kept(again)], LEVEL / len(sample.cells))
        rows.append(_row(each) | {"outcome": found.outcome, "detail": found.detail})
    return rows


def _packed(project: Project, sample: Sample) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the results that the sample is from, which must be current."""
    sets = dict.fromkeys((each.paper, each.name) for each in sample.cells)
    return {key: project.frame(*key) for key in sets}


def _kept(frame: pd.DataFrame) -> list[str]:
    return [*KEYS, "value", *(["trials"] if "trials" in frame else [])]


def _row(each: Sampled) -> dict[str, object]:
    cell = each.cell
    return {
        "paper": each.paper,
        "results": each.name,
        "series": each.series.label,
        "first_run": cell.first_run,
        "runs": cell.runs,
        "horizon": cell.horizon,
    }
