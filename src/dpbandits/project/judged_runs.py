"""The runs behind verdicts that are decided in stages, simulated by the job that judges.

A simulation that claims and findings alone read, some of them at fewer runs than it has, is not
simulated before they are judged: its runs are played as interim analyses ask for them. What they
asked for is kept beside the verdicts, so that judging or explaining them again simulates nothing.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from dpbandits.claims.evidence import Partial
from dpbandits.claims.staged import Needed
from dpbandits.engine.blank_results import blank_results
from dpbandits.engine.cache import PackedCache
from dpbandits.engine.experiments import Series
from dpbandits.engine.fan_out import compute
from dpbandits.engine.results import read_results, results_frame, write_results
from dpbandits.engine.spent import Spent
from dpbandits.engine.stamps import results_stamp
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.staged import kept_path, staged


@dataclass
class JudgedRuns:
    """Results that a paper's claims read, those that are staged as far as they are simulated.

    Attributes:
        project: the project.
        paper: its short name.
        workers: processes to simulate with.
        spent: what simulating took.
    """

    project: Project
    paper: str
    workers: int = 1
    spent: Spent = field(default_factory=Spent)
    _frames: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict, repr=False)
    _caches: dict[str, PackedCache] = field(default_factory=dict, repr=False)
    _more: set[str] = field(default_factory=set, repr=False)

    @cached_property
    def staged(self) -> list[str]:
        """Names of the simulations whose runs are simulated when they are asked for."""
        return staged(self.project, self.paper)

    def load(self, name: str) -> pd.DataFrame | Partial:
        """Return results by name; InputError where they are missing, damaged or stale."""
        if name not in self.staged:
            return self.project.frame(self.paper, name)
        series = self.project.series(self.paper, name)
        there = self._there(name)
        blank = [each for each in series if each.label not in there]
        made_up = dict(_by_series(blank_results(blank))) if blank else {}
        frames = there | made_up
        return Partial(
            pd.concat([frames[each.label] for each in series], ignore_index=True),
            {label: runs_of(frame) for label, frame in there.items()},
            min(each.cell.runs for each in series),
        )

    def simulate(self, needed: Needed) -> None:
        """Simulate runs that are not there."""
        for name, wanted in needed.items():
            there = self._there(name)
            series = [
                _from(each, runs_of(there.get(each.label)), wanted[each.label])
                for each in self.project.series(self.paper, name)
                if each.label in wanted
            ]
            blocks = compute(
                [each.cell for each in series],
                root_seed=self.project.seed,
                workers=self.workers,
                cache=self._cache(name),
                title=f"{self.paper}: {name}",
                spent=self.spent,
            )
            for each, block in zip(series, blocks, strict=True):
                frames = [there[each.label]] if each.label in there else []
                frames.append(results_frame([each], [block]))
                there[each.label] = pd.concat(frames, ignore_index=True)
            self._more.add(name)

    def _cache(self, name: str) -> PackedCache:
        if name not in self._caches:
            self._caches[name] = PackedCache(self.project.cache_folder, f"{self.paper}/{name}")
        return self._caches[name]

    def refuse(self, needed: Needed) -> None:
        """Raise InputError: some runs are not there, and are not to be simulated."""
        path = kept_path(self.project, self.paper, next(iter(needed)))
        raise InputError(f"{path}: lacks runs of the verdicts; run snakemake to build it")

    def keep(self) -> None:
        """Write the runs that were simulated beside the verdicts."""
        for name in sorted(self._more):
            there = self._there(name)
            labels = [each.label for each in self.project.series(self.paper, name)]
            frames = [there[label] for label in labels if label in there]
            fingerprint = self.project.results_fingerprint(self.paper, name)
            path = kept_path(self.project, self.paper, name)
            write_results(path, pd.concat(frames, ignore_index=True), fingerprint)
        self._more.clear()

    def _there(self, name: str) -> dict[str, pd.DataFrame]:
        """Return the rows of every series that has runs."""
        if name not in self._frames:
            kept = kept_runs(self.project, self.paper, name)
            self._frames[name] = {} if kept is None else dict(_by_series(kept))
        return self._frames[name]


def kept_runs(project: Project, paper: str, name: str) -> pd.DataFrame | None:
    """Return the runs of a simulation that are kept beside the verdicts; None without current ones.

    Damaged ones are none, which is said.
    """
    path = kept_path(project, paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    if not path.is_file() or results_stamp(path) not in (fingerprint, None):
        return None
    try:
        return read_results(path, fingerprint)
    except InputError:
        print(f"{path}: is damaged, computed again", file=sys.stderr)
        return None


def runs_of(frame: pd.DataFrame | None) -> int:
    """Return how many runs the rows of one series are of; 0 without rows."""
    if frame is None:
        return 0
    first = frame.iloc[0]
    rows = frame[(frame[["metric", "t", "arm"]] == first[["metric", "t", "arm"]]).all(axis=1)]
    return int(rows["trials"].sum()) if "trials" in rows else len(rows)


def _by_series(frame: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    for label, rows in frame.groupby("series", sort=False):
        yield str(label), rows


def _from(series: Series, there: int, wanted: int) -> Series:
    """Return a series with the runs that are wanted and not there."""
    cell = series.cell
    return replace(
        series, cell=replace(cell, first_run=cell.first_run + there, runs=wanted - there)
    )
