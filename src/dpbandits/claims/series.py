"""What claims read: results by name, and the series in them by their tags.

Results are handed in as data frames. A ``SeriesQuery`` finds one series of a simulation, or rows of
an exact result, by tags; comparisons and the quantities of papers take their numbers from it.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, Measured, exact, mean, rate
from dpbandits.config.documents import LARGEST
from dpbandits.errors import InputError
from dpbandits.metrics import NASH_QUANTITIES, NASH_REGRET, NOMINAL
from dpbandits.metrics.nash_curve import NashCurve

Values = NDArray[np.float64]

Loader = Callable[[str], pd.DataFrame]
"""From a name to a simulation's long table, or analytic curves."""

Quantity = Callable[..., Any]
"""From series to one number, or to one for each named point."""

_RECORDED = ["run", "metric", "t", "arm", "value"]
_TRIALS = "trials"


@dataclass(frozen=True, eq=False)
class Block:
    """One metric of one series: axes and the values, shape (runs, times, arms)."""

    runs: NDArray[np.int64]
    times: NDArray[np.int64]
    values: Values


@dataclass(eq=False)
class Results:
    """Results of one name, by the tags of their series, or of the rows of an exact result."""

    name: str
    tags: pd.DataFrame
    _kept: dict[frozenset[tuple[str, Any]], pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """Arrays, which are compared many times as fast."""
        return {str(tag): self.tags[tag].to_numpy() for tag in self.tags}

    def having(self, where: Mapping[str, Any]) -> pd.DataFrame:
        """Return the rows with these tags, all of them columns; None stands for no value."""
        named = frozenset(where.items())
        if named not in self._kept:
            kept = np.ones(len(self.tags), dtype=bool)
            for key, value in where.items():
                tags = self._columns[key]
                kept &= np.asarray(pd.isna(tags) if value is None else tags == value, dtype=bool)
            self._kept[named] = self.tags[kept]
        return self._kept[named]

    def values_of(self, tag: str, where: Mapping[str, Any]) -> list[Any]:
        """Return the values of a tag in the rows with these tags; InputError for an unknown tag."""
        if tag not in self.tags:
            allowed = ", ".join(self.tags.columns)
            raise InputError(f"results of {self.name}: no tag {tag!r}; allowed: {allowed}")
        return list(self.having(where)[tag].dropna().unique().tolist())


class Recorded(Results):
    """The results of one simulation, looked up by the tags of a series and by metric."""

    def __init__(self, name: str, frame: pd.DataFrame) -> None:
        """Take a long table: series, tags, run, metric, t, arm and value."""
        missing = {"series", *_RECORDED} - set(frame.columns)
        if missing:
            raise InputError(f"results of {name}: column {', '.join(sorted(missing))} is missing")
        tags = frame.drop(columns=[*_RECORDED, _TRIALS], errors="ignore")
        super().__init__(name, tags.drop_duplicates("series").set_index("series"))
        # A row may stand for several runs: trials, or those of a Nash curve.
        self.has_trials = _TRIALS in frame
        self._frame = frame
        self._rows = frame.groupby(["series", "metric"], sort=False).indices
        self._blocks: dict[tuple[str, str], Block] = {}
        self._curves: dict[tuple[str, str], dict[int, NashCurve]] = {}

    @cached_property
    def parameters(self) -> dict[Hashable, dict[str, Any]]:
        """All tags of each series."""
        return {
            label: {str(tag): value for tag, value in tags.items()}
            for label, tags in self.tags.to_dict("index").items()
        }

    @cached_property
    def runs(self) -> int:
        """Smallest number of runs of any series."""
        if not len(self._frame):
            return 0
        if self.has_trials:
            curve = ["series", "metric", "t", "arm"]
            return int(self._frame.groupby(curve, sort=False)[_TRIALS].sum().min())
        return int(self._frame.groupby("series", sort=False)["run"].nunique().min())

    @cached_property
    def horizon(self) -> int:
        """Largest recorded time."""
        return int(self._frame["t"].max())

    def times(self, series: str) -> NDArray[np.int64]:
        """Return the times at which anything is recorded of a series, increasing."""
        return np.unique(self._frame.loc[self._frame["series"] == series, "t"].to_numpy(np.int64))

    def block(self, series: str, metric: str) -> Block:
        """Return all that is recorded of one metric of one series.

        Raises:
            InputError: nothing is recorded, or a run lacks a time or an arm.
        """
        key = (series, metric)
        if key in self._blocks:
            return self._blocks[key]
        if key not in self._rows:
            raise InputError(f"results of {self.name}: no {metric} recorded for {series!r}")
        run, time, arm, value = (
            self._frame[column].to_numpy()[self._rows[key]]
            for column in ("run", "t", "arm", "value")
        )
        runs, times, arms = (np.unique(axis.astype(np.int64)) for axis in (run, time, arm))
        if len(value) != runs.size * times.size * arms.size:
            raise InputError(
                f"results of {self.name}: {metric} of {series!r} has {len(value)} rows; allowed: "
                f"one for each of {runs.size} runs, {times.size} times and {arms.size} arms"
            )
        values = value[np.lexsort((arm, time, run))].astype(np.float64)
        values = values.reshape(runs.size, times.size, arms.size)
        self._blocks[key] = Block(runs, times, values)
        return self._blocks[key]

    def counts(self, series: str, metric: str, limit: int | None) -> tuple[int, int]:
        """Return (sum of a counted metric, trials) over the first trials of one series, or all.

        Raises:
            InputError: the metric is not counted over trials, or the limit cuts a block.
        """
        key = (series, metric)
        if not self.has_trials or key not in self._rows:
            raise InputError(f"results of {self.name}: no {metric} counted for {series!r}")
        runs, trials, values = (
            self._frame[column].to_numpy()[self._rows[key]] for column in ("run", _TRIALS, "value")
        )
        order = np.argsort(runs)
        trials, values = trials[order].astype(np.int64), values[order]
        ends = [0, *trials.cumsum().tolist()]
        if limit is not None and limit not in ends:
            raise InputError(
                f"results of {self.name}: the first {limit} trials of {series!r} cut a block; "
                f"allowed: {', '.join(map(str, ends))}"
            )
        blocks = slice(None if limit is None else ends.index(limit))
        return round(values[blocks].sum()), int(trials[blocks].sum())

    def curves(self, series: str, prefix: str = "") -> dict[int, NashCurve]:
        """Return every Nash curve of a series, by the number of runs before its own.

        Without recorded influences a curve has none, of shape (0, G).

        Raises:
            InputError: no Nash regret is recorded under this prefix.
        """
        key = (series, prefix)
        if key not in self._curves:
            blocks = [self.block(series, prefix + name) for name in NASH_QUANTITIES]
            times = blocks[0].times
            quantities = np.stack([block.values[:, :, 0] for block in blocks], axis=1)
            starts = blocks[0].runs - blocks[0].runs[0]
            influences = np.empty((0, times.size))
            if (series, name := f"{prefix}nash_influence") in self._rows:
                influences = self.block(series, name).values[:, :, 0]
            parts = np.split(influences, starts[1:])
            self._curves[key] = {
                int(start): NashCurve.of_parts(times, each, len(part), part)
                for start, each, part in zip(starts, quantities, parts, strict=True)
            }
        return self._curves[key]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What claims read: results by name, loaded when they are first asked for.

    Copies with other limits share what is loaded. The file ``evidence.csv`` is what was measured.

    Attributes:
        load: returns the frame of a name.
        functions: quantities that comparisons may name.
        limit: how many runs are read, the first in the order of run numbers; None for all.
        reads: names that may be read; None for any.
    """

    load: Loader
    functions: Mapping[str, Quantity] = field(default_factory=dict)
    limit: int | None = None
    reads: Collection[str] | None = None
    _loaded: dict[str, Results] = field(default_factory=dict, repr=False)

    @classmethod
    def of_frames(
        cls, frames: Mapping[str, pd.DataFrame], functions: Mapping[str, Quantity] | None = None
    ) -> "Evidence":
        """Return evidence that reads these frames."""

        def load(name: str) -> pd.DataFrame:
            if name not in frames:
                raise InputError(f"no results named {name!r}; allowed: {', '.join(frames)}")
            return frames[name]

        return cls(load, functions or {})

    def results(self, name: str) -> Results:
        """Return results, whatever the limit of runs; InputError where they may not be read."""
        if self.reads is not None and name not in self.reads:
            raise InputError(f"results {name!r} are not declared; allowed: {', '.join(self.reads)}")
        if name not in self._loaded:
            frame = self.load(name)
            kind = Recorded if "run" in frame else Results
            self._loaded[name] = kind(name, frame)
        return self._loaded[name]

    def runs(self, names: Iterable[str]) -> int:
        """Return the smallest number of runs of the simulations among the names; 0 without any."""
        results = map(self.results, names)
        return min((one.runs for one in results if isinstance(one, Recorded)), default=0)


def _describe(where: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in where.items()) or "no tags"


CurveName = tuple[str, str, int]
"""Names the runs of a curve: simulation, series, and number of runs of the series before them."""

Curves = dict[CurveName, NashCurve]


OPTIONS = ("in", "metric", "t", "share", "column", "best_mean")
"""Keys of a series that are no tags of its results."""

FARTHEST = 0.02
"""Largest distance of a recorded time from a share of the horizon, relative to that share."""


class Selection(NamedTuple):
    """Where a series is: its results, whatever the limit of runs, and the tags that select it."""

    results: Results
    where: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SeriesQuery:
    """Finds one series of a simulation, or rows of an exact result, by tags.

    Attributes:
        evidence: the results.
        tags: column -> value, None for no value. The keys of ``OPTIONS`` are no columns (defaults
            in brackets): ``in``, the results that it may be in (all that the claim reads);
            ``metric`` (success where trials are counted, else pseudo-regret); ``t``, or ``share``
            of the horizon (the last time); ``column`` of an exact result (y); ``best_mean``
            against which a Nash regret is scored (the largest mean).
        loose: more tags, which apply where results have such a column.
    """

    evidence: Evidence
    tags: Mapping[str, Any]
    loose: Mapping[str, Any] = field(default_factory=dict)

    def having(self, **changes: Any) -> "SeriesQuery":
        """Return the series with other tags where its results have them; a tag None stays None."""
        tags, loose = dict(self.tags), dict(self.loose)
        for key, value in changes.items():
            if key in OPTIONS or tags.get(key) is not None:
                tags[key] = value
            elif key not in tags:
                loose[key] = value
        return replace(self, tags=tags, loose=loose)

    @cached_property
    def among(self) -> list[Results]:
        """The results that it may be in."""
        allowed = self.evidence.reads
        names = self.tags.get("in", allowed or ())
        several = (names,) if isinstance(names, str) else tuple(names)
        return [
            self.evidence.results(name) for name in several if allowed is None or name in allowed
        ]

    def has(self, tag: str) -> bool:
        """Return whether any of its results has such a tag."""
        return any(tag in results.tags for results in self.among)

    @cached_property
    def selections(self) -> list[Selection]:
        """Where series or rows have these tags."""
        own = {key: value for key, value in self.tags.items() if key not in OPTIONS}
        selections = []
        for results in self.among:
            if any(key not in results.tags and own[key] is not None for key in own):
                continue
            merged = {**self.loose, **own}
            where = {key: value for key, value in merged.items() if key in results.tags}
            for key in [key for key, value in where.items() if value == LARGEST]:
                others = {other: where[other] for other in where if other != key}
                where[key] = max(results.values_of(key, others), default=None)
            if len(results.having(where)):
                selections.append(Selection(results, where))
        return selections

    @cached_property
    def selection(self) -> Selection:
        """Where its one series is; InputError where not exactly one result has the tags."""
        selections = self.selections
        if len(selections) != 1:
            looked = ", ".join(results.name for results in self.among)
            self._require_known_tags(looked)
            tags = {**self.loose, **self.tags}
            where = _describe({key: tags[key] for key in tags if key not in OPTIONS})
            raise InputError(
                f"results of {looked}: {len(selections)} series with {where}; allowed: one"
            )
        return selections[0]

    def _require_known_tags(self, looked: str) -> None:
        for key, value in self.tags.items():
            if key in OPTIONS or value is None:
                continue
            having = [results for results in self.among if key in results.tags]
            if not having:
                columns = {str(tag) for results in self.among for tag in results.tags}
                raise InputError.unknown("tag of a series", key, sorted(columns))
            known = dict.fromkeys(v for results in having for v in results.values_of(key, {}))
            if value not in known and value != LARGEST:
                raise InputError.unknown(f"results of {looked}: tag {key}", value, known)

    @property
    def key(self) -> tuple[Any, ...]:
        """Identifies its number among those of other series."""
        results, where = self.selection
        options = {key: self.tags[key] for key in self.tags if key in OPTIONS and key != "in"}
        return results.name, *sorted(map(str, {**where, **options}.items()))

    def values_of(self, tag: str) -> list[Any]:
        """Return the values of a tag in increasing order.

        For ``t`` these are the recorded times; for ``in`` the names of its results, in their order.
        """
        if tag == "t":
            return self.times
        if tag == "in":
            return [results.name for results, _ in self.selections]
        values = (results.values_of(tag, where) for results, where in self.selections)
        return sorted({value for several in values for value in several})

    @property
    def recorded(self) -> Recorded:
        """All that its simulation records; InputError where its results are exact."""
        results = self.selection.results
        if not isinstance(results, Recorded):
            raise InputError(f"results {results.name!r} are analytic; allowed: a simulation")
        return results

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of an exact result, by increasing x; InputError where there is none."""
        results, where = self.selection
        if isinstance(results, Recorded):
            raise InputError(
                f"results {results.name!r} are a simulation; allowed: analytic results"
            )
        return pd.DataFrame(results.having(where).sort_values("x", kind="stable"))

    @cached_property
    def label(self) -> str:
        where = self.selection.where
        labels = self.recorded.having(where).index
        if len(labels) != 1:
            raise InputError(
                f"results of {self.recorded.name}: {len(labels)} series with {_describe(where)} "
                f"({', '.join(map(str, labels[:4]))}); allowed: one, chosen by its tags"
            )
        return str(labels[0])

    @property
    def parameters(self) -> dict[str, Any]:
        """All tags of that series in its results."""
        return dict(self.recorded.parameters[self.label])

    @cached_property
    def metric(self) -> str:
        """The metric that is read: that of its tags, else success or pseudo-regret."""
        metric = self.tags.get("metric")
        if isinstance(metric, str):
            return metric
        return "success" if self.recorded.has_trials else "pseudo_regret"

    def block(self, metric: str = "") -> Block:
        """Return the recorded values of a metric (default: ``metric``), of the runs read."""
        block = self.recorded.block(self.label, metric or self.metric)
        limit = self.evidence.limit
        return Block(block.runs[:limit], block.times, block.values[:limit])

    @property
    def times(self) -> list[int]:
        if self.metric.endswith(NASH_REGRET):
            return next((curve.times.tolist() for curve in self.curves.values()), [])
        return list(self.block().times.tolist())

    @cached_property
    def curves(self) -> Curves:
        """Its Nash curves that begin among the runs read; a curve is read whole."""
        evidence, best = self.evidence, self.tags.get("best_mean")
        prefix = NOMINAL if self.metric.startswith(NOMINAL) else ""
        end = math.inf if evidence.limit is None else evidence.limit
        return {
            (self.recorded.name, self.label, start): curve if best is None else curve.against(best)
            for start, curve in self.recorded.curves(self.label, prefix).items()
            if start < end
        }

    @property
    def regrets(self) -> tuple[list[int], list[Measured]]:
        """All recorded times and the Nash regret there, less its bias; none without runs."""
        return self.times, [nash_regret(self.curves, index) for index in range(len(self.times))]

    def check(self, *, is_one: bool = True) -> None:
        """Raise InputError where it, its metric or its time is not there.

        Args:
            is_one: whether it has to be one series; a quantity may choose among several, and names
                what it reads where the series has no metric.
        """
        metric = self.tags.get("metric")
        if not isinstance(self.selection.results, Recorded):
            return
        if is_one and not callable(metric):
            self.number()
            return
        for label in map(str, self.recorded.having(self.selection.where).index):
            if not isinstance(metric, str):
                self._nearest(self.recorded.times(label))
            elif metric.endswith(NASH_REGRET):
                prefix = metric.removesuffix(NASH_REGRET)
                self._nearest(self.recorded.curves(label, prefix)[0].times)
            else:
                self._nearest(self.recorded.block(label, metric).times, self._farthest)

    def per_run(self) -> Values:
        """Return one number a run at its time, runs increasing."""
        block = self.block()
        return block.values[:, self._nearest(block.times, self._farthest), 0]

    @property
    def _farthest(self) -> float:
        return 0.0 if "t" in self.tags else FARTHEST

    def number(self) -> Estimate:
        """Return its number at its time: a mean, a rate, a Nash regret, or an exact one.

        Where its metric is a quantity of the paper, the value of that.
        """
        if callable(self.tags.get("metric")):
            quantity: Estimate = self.tags["metric"](self)
            return quantity
        if not isinstance(self.selection.results, Recorded):
            return self._exact()
        name = self.selection.results.name
        if self.metric.endswith(NASH_REGRET):
            times = self.times
            index = self._nearest(np.array(times)) if times else 0
            return nash_regret(self.curves, index)
        if self.recorded.has_trials and self.metric == "success":
            if {"t", "share"} & self.tags.keys():
                raise InputError(f"results of {name}: trials have no t and no share; allowed: none")
            return rate(self.recorded.counts(self.label, self.metric, self.evidence.limit))
        return mean(self.per_run(), (name, self.label))

    def _exact(self) -> Estimate:
        rows = self.rows
        if len(rows) != 1:
            where = _describe(self.selection.where)
            raise InputError(
                f"results of {self.selection.results.name}: {len(rows)} rows with {where}; "
                f"allowed: one"
            )
        runs = rows["runs"].iloc[0] if "runs" in rows else 0
        return exact(rows[self.tags.get("column", "y")].iloc[0], int(runs))

    def _nearest(self, times: NDArray[np.int64], farthest: float = FARTHEST) -> int:
        """Return the index of the recorded time that is meant; InputError where none is near."""
        wanted = self.tags.get("t", self.tags.get("share", 1.0) * times[-1])
        nearest = int(np.abs(times - wanted).argmin())
        if abs(times[nearest] - wanted) > farthest * wanted:
            raise InputError(
                f"results of {self.selection.results.name}: t = {wanted:.0f} is not recorded; "
                f"the nearest is {times[nearest]}"
            )
        return nearest


def nash_regret(curves: Curves, index: int) -> Measured:
    """Return the Nash regret at one recorded time, by its index: the mean over curves; NaN of none.

    Its bias of first order in 1/R, by which it is too high, is subtracted.
    """
    if not curves:
        return Measured(math.nan)
    weight, value = 1.0 / len(curves), 0.0
    influences: dict[Hashable, Values] = {}
    for sample, curve in curves.items():
        value += weight * float(curve.nash_regret[index])
        influences[sample] = -weight * curve.geometric_mean[index] * curve.influences[:, index]
    return Measured.of(value, influences)
