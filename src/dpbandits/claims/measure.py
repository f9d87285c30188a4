"""What claims read, and what a comparison measures in it.

Results are handed in as data frames; a ``Series`` is one curve of a simulation, or rows of an exact
result, by its tags. Operations are ``value``, ``difference`` and ``ratio`` of series. Without an
axis there is one number. Along tags of the results, or the time ``t``, there is one at each point,
of which picks make others or one; a summary describes all that were measured. Quantities of the
privacy audit are at the end.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from string import Formatter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.claims import estimates
from dpbandits.claims.estimates import Estimate, Measured, Rate, exact, mean, rate
from dpbandits.config.claims import Comparison, Entry, Question, Shares, Tags
from dpbandits.config.documents import naming
from dpbandits.errors import InputError
from dpbandits.metrics import NOMINAL, QUANTITIES
from dpbandits.metrics.nash_curve import NashCurve

Values = NDArray[np.float64]

Loader = Callable[[str], pd.DataFrame]
"""From a name to a simulation's long table, or analytic curves."""

Quantity = Callable[..., Any]
"""A function that makes one number, or one for each named point, of series."""

_MEASURED = ["run", "metric", "t", "arm", "value"]
_TRIALS = "trials"


@dataclass(frozen=True, eq=False)
class Block:
    """One metric of one series: axes and the values, shape (runs, times, arms)."""

    runs: NDArray[np.int64]
    times: NDArray[np.int64]
    values: Values


class Results:
    """Results of one name by their tags: columns of the rows of an exact result."""

    def __init__(self, name: str, tags: pd.DataFrame) -> None:
        """Take a table of tags."""
        self.name = name
        self.tags = tags
        self._kept: dict[frozenset[tuple[str, Any]], NDArray[np.bool_]] = {}

    def tag(self, name: str) -> "pd.Series[Any]":
        """Return a tag of everything; InputError where there is none."""
        if name not in self.tags:
            allowed = ", ".join(self.tags.columns)
            raise InputError(f"results of {self.name}: no tag {name!r}; allowed: {allowed}")
        return self.tags[name]

    def having(self, where: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return what has these tags; None stands for no value of a tag.

        Raises:
            InputError: an unknown tag.
        """
        named = frozenset(where.items())
        if named not in self._kept:
            kept = np.ones(len(self.tags), dtype=bool)
            for key, value in where.items():
                if value is not None or key in self.tags:
                    tags = self.tag(key)
                    kept &= np.asarray(tags.isna() if value is None else tags == value, dtype=bool)
            self._kept[named] = kept
        return self._kept[named]

    def values_of(self, tag: str, where: Mapping[str, Any]) -> list[Any]:
        """Return the values of a tag of what has these tags."""
        return list(self.tag(tag)[self.having(where)].dropna().unique().tolist())


class Recorded(Results):
    """The results of one simulation, looked up by the tags of a series and by metric."""

    def __init__(self, name: str, frame: pd.DataFrame) -> None:
        """Take a long table: series, tags, run, metric, t, arm and value."""
        missing = {"series", *_MEASURED} - set(frame.columns)
        if missing:
            raise InputError(f"results of {name}: column {', '.join(sorted(missing))} is missing")
        tags = frame.drop(columns=[*_MEASURED, _TRIALS], errors="ignore")
        super().__init__(name, tags.drop_duplicates("series").set_index("series"))
        self.counts_trials = _TRIALS in frame
        self._frame = frame
        self._rows = frame.groupby(["series", "metric"], sort=False).indices
        self._blocks: dict[tuple[str, str], Block] = {}
        self._curves: dict[tuple[str, str], dict[int, NashCurve]] = {}

    @cached_property
    def runs(self) -> int:
        """Smallest number of runs of any series."""
        if not len(self._frame):
            return 0
        if self.counts_trials:
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

    def matching(self, where: Mapping[str, Any]) -> list[str]:
        """Return the labels of all series with these tags; None stands for no value of a tag."""
        return [str(label) for label in self.tags.index[self.having(where)]]

    def block(self, series: str, metric: str) -> Block:
        """Return all that is recorded of one metric of one series.

        Raises:
            InputError: nothing is recorded, or a run lacks a time or an arm.
        """
        key = (series, metric)
        if key not in self._blocks:
            if key not in self._rows:
                raise InputError(f"results of {self.name}: no {metric} recorded for {series!r}")
            self._blocks[key] = self._pivot(series, metric)
        return self._blocks[key]

    def counts(self, series: str, metric: str, window: slice) -> tuple[int, int]:
        """Return (sum of a counted metric, trials) over a window of the trials of one series.

        Raises:
            InputError: the metric is not counted over trials, or the window cuts a block.
        """
        key = (series, metric)
        if not self.counts_trials or key not in self._rows:
            raise InputError(f"results of {self.name}: no {metric} counted for {series!r}")
        frame = self._frame.iloc[self._rows[key]].sort_values("run")
        trials, values = frame[_TRIALS].to_numpy(np.int64), frame["value"].to_numpy()
        ends = np.concatenate([[0], trials.cumsum()])
        start = window.start or 0
        stop = int(ends[-1]) if window.stop is None else window.stop
        if not {start, stop} <= set(ends.tolist()):
            raise InputError(
                f"results of {self.name}: trials {start} to {stop} of {series!r} cut a block; "
                f"allowed: ends at {', '.join(map(str, ends.tolist()))}"
            )
        inside = (ends[:-1] >= start) & (ends[1:] <= stop)
        return round(values[inside].sum()), int(trials[inside].sum())

    def curves(self, series: str, prefix: str = "") -> dict[int, NashCurve]:
        """Return every Nash curve of a series, by the number of runs before its own.

        Without recorded influences a curve has none, of shape (0, G).

        Raises:
            InputError: no Nash regret is recorded under this prefix.
        """
        key = (series, prefix)
        if key not in self._curves:
            blocks = [self.block(series, prefix + name) for name in QUANTITIES]
            times = blocks[0].times
            quantities = np.stack([block.values[:, :, 0] for block in blocks], axis=1)
            starts = blocks[0].runs - blocks[0].runs[0]
            influences = np.empty((0, times.size))
            if (series, name := f"{prefix}nash_influence") in self._rows:
                influences = self.block(series, name).values[:, :, 0]
            parts = np.split(influences, starts[1:])
            self._curves[key] = {
                int(start): NashCurve.of_parts(times, each, part)
                for start, each, part in zip(starts, quantities, parts, strict=True)
            }
        return self._curves[key]

    def _pivot(self, series: str, metric: str) -> Block:
        frame = self._frame.iloc[self._rows[series, metric]].sort_values(["run", "t", "arm"])
        axes = [np.unique(frame[axis].to_numpy(np.int64)) for axis in ("run", "t", "arm")]
        shape = tuple(axis.size for axis in axes)
        if len(frame) != np.prod(shape):
            raise InputError(
                f"results of {self.name}: {metric} of {series!r} has {len(frame)} rows; allowed: "
                f"one for each of {shape[0]} runs, {shape[1]} times and {shape[2]} arms"
            )
        values = frame["value"].to_numpy(np.float64).reshape(shape)
        return Block(axes[0], axes[1], values)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Results by name, loaded when they are first asked for, limited to the first runs.

    Attributes:
        load: returns the frame of a name.
        functions: quantities that comparisons may name.
        limit: how many runs are read, the first in the order of run numbers; None for all.
        skip: how many runs are left out before them.
        reads: names that may be read; None for any.
    """

    load: Loader
    functions: Mapping[str, Quantity] = field(default_factory=dict)
    limit: int | None = None
    skip: int = 0
    reads: Collection[str] | None = None
    _loaded: dict[str, Results] = field(default_factory=dict, repr=False)

    @classmethod
    def of_frames(
        cls, frames: Mapping[str, pd.DataFrame], functions: Mapping[str, Quantity] | None = None
    ) -> "Evidence":
        """Return evidence over frames at hand."""

        def load(name: str) -> pd.DataFrame:
            if name not in frames:
                raise InputError(f"no results named {name!r}; allowed: {', '.join(frames)}")
            return frames[name]

        return cls(load, functions or {})

    def limited(self, runs: int, skip: int = 0) -> "Evidence":
        """Return the same evidence limited to ``runs`` runs after the first ``skip``."""
        return replace(self, limit=runs, skip=skip)

    def of_results(self, names: Collection[str]) -> "Evidence":
        """Return the same evidence limited to some results."""
        return replace(self, reads=tuple(names))

    @property
    def window(self) -> slice:
        """The runs that are read."""
        return slice(self.skip, None if self.limit is None else self.skip + self.limit)

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

LARGEST = "largest"
"""In the place of the largest value of a tag."""

NASH_REGRET = "nash_regret"
FARTHEST = 0.02
"""Largest distance of a recorded time from a share of the horizon, relative to that share."""

Place = tuple[str, dict[str, Any]]
"""Name of results, and the tags that select something in them."""


@dataclass(frozen=True, eq=False)
class Series:
    """One series of a simulation, or rows of an exact result, by its tags.

    Attributes:
        evidence: the results.
        tags: column -> value, None for none there; or one of the keys of ``OPTIONS``: ``in``, the
            results that it may be in (all that the claim reads), ``metric`` (what is recorded:
            success where trials are counted, else pseudo-regret), ``t`` or ``share`` of the
            horizon (the last time), ``column`` of an exact result (y), ``best_mean`` against which
            a Nash regret is scored (the largest mean).
        loose: more tags, which hold where results have such a column.
    """

    evidence: Evidence
    tags: Mapping[str, Any]
    loose: Mapping[str, Any] = field(default_factory=dict)

    def having(self, **changes: Any) -> "Series":
        """Return the series with other tags where its results have them; none there stays none."""
        tags, loose = dict(self.tags), dict(self.loose)
        for key, value in changes.items():
            if key in OPTIONS or tags.get(key) is not None:
                tags[key] = value
            elif key not in tags:
                loose[key] = value
        return replace(self, tags=tags, loose=loose)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the results that it may be in."""
        allowed = self.evidence.reads
        names = self.tags.get("in", allowed or ())
        several = (names,) if isinstance(names, str) else tuple(names)
        return tuple(name for name in several if allowed is None or name in allowed)

    def has(self, tag: str) -> bool:
        """Return whether any of its results has such a tag."""
        return any(tag in self.evidence.results(name).tags for name in self.names)

    @cached_property
    def places(self) -> list[Place]:
        """Where series or rows have these tags."""
        own = {key: value for key, value in self.tags.items() if key not in OPTIONS}
        places = []
        for name in self.names:
            results = self.evidence.results(name)
            if any(key not in results.tags and own[key] is not None for key in own):
                continue
            merged = {**self.loose, **own}
            where = {key: value for key, value in merged.items() if key in results.tags}
            for key in [key for key, value in where.items() if value == LARGEST]:
                others = {other: where[other] for other in where if other != key}
                where[key] = max(results.values_of(key, others), default=None)
            if results.having(where).any():
                places.append((name, where))
        return places

    @cached_property
    def place(self) -> Place:
        """Where its one series is; InputError where not exactly one result has the tags."""
        places = self.places
        if len(places) != 1:
            columns = {tag for name in self.names for tag in self.evidence.results(name).tags}
            for key in self.tags.keys() - {*OPTIONS} - columns:
                if self.tags[key] is not None:
                    raise InputError.unknown("tag of a series", key, sorted(map(str, columns)))
            tags = {**self.loose, **self.tags}
            where = _describe({key: tags[key] for key in tags if key not in OPTIONS})
            looked = ", ".join(self.names)
            raise InputError(
                f"results of {looked}: {len(places)} series with {where}; allowed: one"
            )
        return places[0]

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells its number from those of other series."""
        name, where = self.place
        options = {key: self.tags[key] for key in self.tags if key in OPTIONS and key != "in"}
        return name, *sorted(map(str, {**where, **options}.items()))

    def values_of(self, tag: str) -> list[Any]:
        """Return the values of a tag in increasing order.

        For ``t`` these are the recorded times, for ``in`` the results that it is in, in theirs.
        """
        if tag == "t":
            return self.times
        if tag == "in":
            return [name for name, _ in self.places]
        values = (self.evidence.results(name).values_of(tag, where) for name, where in self.places)
        return sorted({value for several in values for value in several})

    @cached_property
    def results(self) -> Results:
        """The results that it is in, whatever the limit of runs."""
        return self.evidence.results(self.place[0])

    @property
    def recorded(self) -> Recorded:
        """All that its simulation records; InputError where its results are exact."""
        if not isinstance(self.results, Recorded):
            raise InputError(f"results {self.results.name!r} are analytic; allowed: a simulation")
        return self.results

    @property
    def rows(self) -> pd.DataFrame:
        """The rows of an exact result, by increasing x; InputError where there is none."""
        name, where = self.place
        if isinstance(self.results, Recorded):
            raise InputError(f"results {name!r} are a simulation; allowed: analytic results")
        rows = self.results.tags[self.results.having(where)]
        return pd.DataFrame(rows.sort_values("x", kind="stable"))

    @cached_property
    def label(self) -> str:
        """Label of the one series of a simulation that it is."""
        name, where = self.place
        labels = self.recorded.matching(where)
        if len(labels) != 1:
            described = f"{len(labels)} series with {_describe(where)}"
            raise InputError(f"results of {name}: {described}; allowed: one")
        return labels[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """All tags of that series in its results."""
        tags = self.recorded.tags.to_dict()
        return {str(tag): values[self.label] for tag, values in tags.items()}

    @cached_property
    def metric(self) -> str:
        """What is read of it."""
        metric = self.tags.get("metric")
        if isinstance(metric, str):
            return metric
        return "success" if self.recorded.counts_trials else "pseudo_regret"

    def block(self, metric: str = "") -> Block:
        """Return the recorded values of a metric (default: ``metric``), of the runs read."""
        block = self.recorded.block(self.label, metric or self.metric)
        window = self.evidence.window
        return Block(block.runs[window], block.times, block.values[window])

    @property
    def times(self) -> list[int]:
        """All recorded times."""
        if self.metric.endswith(NASH_REGRET):
            return next((curve.times.tolist() for curve in self.curves.values()), [])
        return list(self.block().times.tolist())

    @cached_property
    def curves(self) -> Curves:
        """Its Nash curves, that begin among the runs read, whose runs cannot be parted."""
        evidence, best = self.evidence, self.tags.get("best_mean")
        prefix = NOMINAL if self.metric.startswith(NOMINAL) else ""
        end = math.inf if evidence.limit is None else evidence.skip + evidence.limit
        return {
            (self.place[0], self.label, start): curve if best is None else curve.against(best)
            for start, curve in self.recorded.curves(self.label, prefix).items()
            if evidence.skip <= start < end
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
        if not isinstance(self.results, Recorded):
            return
        if is_one and not callable(metric):
            self.number()
            return
        for label in self.recorded.matching(self.place[1]):
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

        Where its metric is a quantity of the paper, what that makes of the series.
        """
        if callable(self.tags.get("metric")):
            quantity: Estimate = self.tags["metric"](self)
            return quantity
        if not isinstance(self.results, Recorded):
            return self._exact()
        name = self.place[0]
        if self.metric.endswith(NASH_REGRET):
            times = self.times
            index = self._nearest(np.array(times)) if times else 0
            return nash_regret(self.curves, index)
        if self.recorded.counts_trials and self.metric == "success":
            if {"t", "share"} & self.tags.keys():
                raise InputError(f"results of {name}: trials have no t and no share; allowed: none")
            return rate(self.recorded.counts(self.label, self.metric, self.evidence.window))
        return mean(self.per_run(), (name, self.label))

    def _exact(self) -> Estimate:
        name, where = self.place
        rows = self.rows
        if len(rows) != 1:
            raise InputError(
                f"results of {name}: {len(rows)} rows with {_describe(where)}; allowed: one"
            )
        runs = rows["runs"].iloc[0] if "runs" in rows else 0
        return exact(rows[self.tags.get("column", "y")].iloc[0], int(runs))

    def _nearest(self, times: NDArray[np.int64], farthest: float = FARTHEST) -> int:
        """Return the index of the recorded time that is meant; InputError where none is near."""
        wanted = self.tags.get("t", self.tags.get("share", 1.0) * times[-1])
        nearest = int(np.abs(times - wanted).argmin())
        if abs(times[nearest] - wanted) > farthest * wanted:
            raise InputError(
                f"results of {self.place[0]}: t = {wanted:.0f} is not recorded; "
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
        geometric_mean = float(curve.geometric_mean[index])
        bias = geometric_mean * math.expm1(float(curve.log_bias[index]))
        value += weight * (curve.best_mean - geometric_mean - bias)
        influences[sample] = weight * (-geometric_mean * curve.influences[:, index])
    return Measured.of(value, influences)


@dataclass(frozen=True)
class Point:
    """A number at a point ``x`` of an axis, the variables that its label may name, the label."""

    number: Estimate
    x: Any
    names: Tags
    label: str = ""


OPERATIONS: dict[str, Callable[..., Estimate]] = {
    "value": lambda one: one,
    "difference": estimates.difference,
    "ratio": estimates.ratio,
}
"""Operation -> function of the numbers of its series, of which ``value`` has one, others two."""


def _xs(points: list[Point]) -> list[Any]:
    return [point.x for point in points]


def _numbers(points: list[Point]) -> list[Estimate]:
    return [point.number for point in points]


def _steps(points: list[Point], by: str = "difference") -> list[Point]:
    """Return the change from each point to the next; ``by``: as a difference, or as a ratio."""
    return [
        Point(
            OPERATIONS[by](after.number, before.number), after.x, {**before.names, "next": after.x}
        )
        for before, after in itertools.pairwise(points)
    ]


def _between(points: list[Point]) -> list[Point]:
    """Return the points between the ends."""
    if len(points) < 3:
        raise InputError(f"{len(points)} points; allowed: 3 or more")
    return points[1:-1]


def _interior(points: list[Point], by: str = "difference") -> Estimate:
    """Return the better end minus the best point between, or the best one between over it."""
    between, ends = _numbers(_between(points)), _numbers([points[0], points[-1]])
    operation = OPERATIONS[by]
    if by == "ratio":
        return estimates.smallest(
            estimates.largest(operation(inner, end) for end in ends) for inner in between
        )
    return estimates.largest(
        estimates.smallest(operation(end, inner) for end in ends) for inner in between
    )


def _margin(points: list[Point], of: Sequence[Any]) -> Estimate:
    """Return the smallest number at some points minus the largest at the others."""
    inside = [point.number for point in points if point.x in of]
    outside = [point.number for point in points if point.x not in of]
    if len(inside) != len(of) or not outside:
        allowed = ", ".join(map(str, _xs(points)))
        raise InputError(f"margin of {', '.join(map(str, of))}; allowed: some of {allowed}")
    pairs = itertools.product(inside, outside)
    return estimates.smallest(estimates.difference(above, below) for above, below in pairs)


def _slope(points: list[Point], x: str = "linear", y: str = "linear") -> Estimate:
    """Return the slope by least squares; of rates their trend (Cochran-Armitage).

    Both scales ``log``: the exponent of a power law; ``x`` alone: growth per factor of e;
    ``log-inverse`` has log(1/x) for x.
    """
    places = np.array(_xs(points), dtype=np.float64)
    if x != "linear":
        places = {"log": 1.0, "log-inverse": -1.0}[x] * np.log(places)
    values = _numbers(points)
    if y == "linear" and all(isinstance(one, Rate) for one in values):
        return estimates.rate_trend(
            [one.counted for one in values if isinstance(one, Rate)], places
        )
    means = [estimates.as_measured(one) for one in values]
    return estimates.slope(places, [one.log() if y == "log" else one for one in means])


PICKS: dict[str, Callable[..., list[Point] | Estimate]] = {
    "each": lambda points: points,
    "steps": _steps,
    "between": _between,
    "smallest": lambda points: estimates.smallest(_numbers(points)),
    "largest": lambda points: estimates.largest(_numbers(points)),
    "interior": _interior,
    "margin": _margin,
    "trend": lambda points: estimates.rank_correlation(_xs(points), _numbers(points)),
    "slope": _slope,
    "place": lambda points: estimates.place_of_lowest(_xs(points), _numbers(points)),
}
"""Pick -> function of the points of an axis, in increasing order of x, and of its own options."""


def _described(points: list[Point], function: Callable[[list[float]], float]) -> Estimate:
    """Return a function of measured numbers, which says nothing of others; NaN of none."""
    if not points:
        return exact(math.nan)
    value = function([point.number.value for point in points])
    return exact(value, min(point.number.runs for point in points))


def _share(points: list[Point], at_least: float) -> Estimate:
    """Return the share of the numbers that are at least so much; NaN where one is not known."""
    if any(math.isnan(point.number.value) for point in points):
        return exact(math.nan)
    return _described(
        points, lambda values: sum(value >= at_least for value in values) / len(values)
    )


SUMMARIES: dict[str, Callable[..., Mapping[str, Estimate] | Estimate]] = {
    "smallest": lambda points: _described(points, min),
    "median": lambda points: _described(points, median),
    "largest": lambda points: _described(points, max),
    "furthest": lambda points: _described(points, lambda values: max(map(abs, values))),
    "share": _share,
    "ends": lambda points: {
        "lowest": _described(points, min),
        "highest": _described(points, max),
    },
}
"""Summary -> function of all points that were measured, which describes these without interval."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a comparison, with values of its variables, measures in some results."""

    question: Question
    evidence: Evidence

    def numbers(self) -> Mapping[str, Estimate]:
        """Return what is measured, by the labels of points; one number has none.

        Raises:
            InputError: something is not in the results, or in several places.
        """
        points, summary = self._measured(), self.question.comparison.summary
        if summary is None:
            return {point.label: point.number for point in points}
        (template, options), variables = summary, self.question.variables
        name, functions = template.format(**variables), {**self.evidence.functions, **SUMMARIES}
        if name not in functions:
            raise InputError.unknown("summary", name, functions)
        answer = functions[name](points, **_filled(options, variables))
        return answer if isinstance(answer, Mapping) else {"": answer}

    def check(self) -> None:
        """Raise InputError where a series, its metric or its time is not there, or it is several.

        A quantity may be given several, of which it asks for one after the other.
        """
        comparison = self.question.comparison
        is_quantity = comparison.operation == "quantity"
        for axes in self._combinations(self.question.over, comparison.along):
            for series in self.resolve({**self.question.over, **axes}):
                series.check(is_one=not is_quantity)

    def _measured(self) -> list[Point]:
        """Return its points with their labels."""
        comparison, over = self.question.comparison, self.question.over
        variables = self.question.variables
        if not comparison.along:
            series = self.resolve(over)
            self._refuse_itself([series])
            answer = self._number(series, variables)
            answers = answer if isinstance(answer, Mapping) else {"": answer}
            label = comparison.point.format(**variables)
            return [Point(number, name, {}, label or name) for name, number in answers.items()]
        points = []
        *outer, axis = comparison.along
        for place in self._combinations(over, outer):
            values = self._values({**over, **place}, axis)
            for group in [values] if comparison.pick else [[x] for x in values]:
                names = dict(place) if comparison.pick else {**place, axis: group[0]}
                at = [(x, self.resolve({**over, **place, axis: x})) for x in group]
                if comparison.where:
                    at = [(x, series) for x, series in at if self._is_inside(series[0])]
                self._refuse_itself([series for _, series in at])
                measured = [
                    Point(self._number(series, {**variables, **at_x}), x, at_x)
                    for x, series in at
                    for at_x in [{**names, axis: x}]
                ]
                points += self._picked(measured, variables, names)
        return points

    def _picked(self, points: list[Point], variables: Tags, names: Tags) -> list[Point]:
        """Return what the picks make of points along the last axis."""
        picked: list[Point] | Estimate = points
        comparison = self.question.comparison
        for name, options in comparison.pick:
            if isinstance(picked, Estimate):
                raise InputError(f"pick {name} of one number; allowed: none")
            least = 1 if name in ("each", "smallest", "largest") else 2
            if len(picked) < least:
                axis = comparison.along[-1]
                raise InputError(f"{len(picked)} points of {axis}; allowed: {least} or more")
            picked = PICKS[name](picked, **options)
        axes, steps = comparison.along, ""
        if isinstance(picked, Estimate):
            axes = comparison.along[:-1]
            picked = [Point(picked, None, names)]
        elif any(name == "steps" for name, _ in comparison.pick):
            steps = " to {next}"
        default = ", ".join(f"{axis}={{{axis}}}" for axis in axes)
        label = comparison.point or default + steps
        return [replace(one, label=label.format(**{**variables, **one.names})) for one in picked]

    def resolve(self, over: Tags) -> list[Series]:
        """Return the series that are meant; each has one place, or one at each point."""
        comparison, row = self.question.comparison, self.question.row
        over = {**over, **_filled(comparison.at, {**row, **over})}
        texts = [comparison.at, comparison.arguments, comparison.summary or ()]
        named = _variables_in([*texts, *comparison.operands])
        resolved, deciding = [], set(named)
        known = self.question.series
        for template, more in comparison.operands:
            fixed = _filled(more, {**row, **over})
            variables = {**row, **over, **fixed}
            name = template.format(**variables)
            if name and name not in known:
                raise InputError.unknown("series", name, known)
            own = known.get(name, {})
            templates = named | _variables_in(own)
            loose = {key: value for key, value in over.items() if key not in templates}
            one = Series(self.evidence, _filled(own, variables), row).having(**loose)
            tags = {**one.tags, **fixed}
            if "metric" in tags:
                tags["metric"] = self.evidence.functions.get(tags["metric"], tags["metric"])
            resolved.append(replace(one, tags=tags))
            deciding |= templates
        for key in over:
            if key not in deciding and not any(key in one.tags or one.has(key) for one in resolved):
                raise InputError(f"for, at or along has {key}, which no series has")
        return resolved

    def _number(self, series: Sequence[Series], variables: Tags) -> Any:
        """Return the number of series; a quantity may have several, by name."""
        comparison = self.question.comparison
        if quantity := comparison.quantity:
            arguments = _filled(comparison.arguments, variables)
            return self.evidence.functions[quantity](*series, **arguments)
        return OPERATIONS[comparison.operation](*(one.number() for one in series))

    def _refuse_itself(self, several: Sequence[Sequence[Series]]) -> None:
        """Raise InputError where all numbers are of a series and the same series."""
        is_operation = self.question.comparison.operation in OPERATIONS
        pairs = [series for series in several if len(series) == 2 and is_operation]
        if pairs and all(first.key == second.key for first, second in pairs):
            raise InputError(f"both series are {pairs[0][0].key}; allowed: two")

    def _is_inside(self, series: Series) -> bool:
        """Return whether the tags of a series are where the points are that are kept."""
        ranges = self.question.comparison.where.items()
        return all(one.low <= series.values_of(tag)[0] <= one.high for tag, one in ranges)

    def _combinations(self, over: Tags, axes: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the points of several axes that there are, the last axis fastest."""
        if not axes:
            yield {}
            return
        first, *others = axes
        for x in self._values(over, first):
            for rest in self._combinations({**over, first: x}, others):
                yield {first: x, **rest}

    def _values(self, over: Tags, axis: str) -> list[Any]:
        """Return the points of an axis at those of the axes before it."""
        comparison = self.question.comparison
        points, is_last = comparison.points, axis == comparison.along[-1]
        if isinstance(points, Shares) and is_last:
            return list(np.geomspace(points.begin, points.to, points.count).tolist())
        if isinstance(points, tuple) and is_last:
            return list(points)
        if isinstance(points, dict) and axis in points:
            return list(points[axis])
        for one, (_, fixed) in zip(self.resolve(over), comparison.operands, strict=True):
            if axis not in fixed and (axis in ("t", "in") or one.has(axis)):
                values = one.values_of(axis)
                if not values:
                    # Says what is not there.
                    _ = one.place
                return values
        raise InputError(f"along is {axis}, which no series has")


def _filled(tags: Tags, variables: Tags) -> dict[str, Any]:
    """Return tags with variables in the place of their names in braces."""
    missing = _variables_in(tags) - set(variables)
    if missing:
        raise InputError(f"{', '.join(sorted(missing))}; allowed: {', '.join(variables)}")
    return {
        key: variables[value[1:-1]]
        if isinstance(value, str) and value[:1] == "{" and value[-1:] == "}"
        else (value.format(**variables) if isinstance(value, str) else value)
        for key, value in tags.items()
    }


def _variables_in(texts: Any) -> set[str]:
    """Return the variables that texts name in braces."""
    if isinstance(texts, str):
        return {name for _, name, _, _ in Formatter().parse(texts) if name}
    if isinstance(texts, Mapping):
        texts = texts.values()
    return set().union(*map(_variables_in, texts)) if isinstance(texts, Iterable) else set()


LOG10_OBSERVABLE = -6.0
"""log10 of the chance from which on an event is called observable."""


def audited_share(series: Series, *, events: str = "any") -> Estimate:
    """Return the largest lower bound of the rows of an audit over its claim.

    A share above 1 refutes the claim; one below proves nothing. Of ``any`` events, or of those
    ``observable``, which have a chance of 1e-6 under both inputs.
    """
    return exact(_strongest(series, events, "ratio"))


def audited_chance(series: Series) -> Estimate:
    """Return log10 of the chance of the event behind ``audited_share``."""
    return exact(_strongest(series, "any", "log10_alpha"))


def _strongest(series: Series, events: str, column: str) -> float:
    """Return a number of the row of the largest bound over its claim."""
    rows = series.rows
    if events == "observable":
        rows = rows[rows["log10_alpha"] >= LOG10_OBSERVABLE]
    if rows.empty:
        raise InputError(f"results of {series.place[0]}: no {events} event of {series.place[1]}")
    return float(rows[column].iloc[int(rows["ratio"].to_numpy().argmax())])


def seen_from(series: Series, *, events: str = "any") -> Estimate:
    """Return by how much a guarantee would have to be exceeded for the audit to see it.

    An algorithm that loses so many times more loses its whole claim at the strongest event.
    """
    share = _strongest(series, events, "ratio")
    return exact(max(1.0, 1.0 / share) if share > 0.0 else math.inf)


SHARED: dict[str, Callable[..., Estimate]] = {
    "audited_share": audited_share,
    "audited_chance": audited_chance,
    "seen_from": seen_from,
}
"""Quantities that every paper has, by name."""


def check_names(entries: Iterable[Entry], functions: Mapping[str, Quantity]) -> None:
    """Raise InputError where a function, a pick or a series that entries name is not there.

    Or where it does not take its arguments.
    """
    for entry in entries:
        for name, comparison in entry.compare.items():
            with naming(f"{entry.id}: {name}"):
                _check_names(comparison, entry, functions)
        labels: list[str] = []
        for reading in (*entry.readings, *entry.beside):
            for question in entry.questions(reading):
                with naming(f"{entry.id}: {question.name}"):
                    labels.append(question.label)
        for key in ("chance", "seen_from"):
            named = getattr(entry, key, "")
            if named and not any(f"{named} [".startswith(f"{label} [") for label in labels):
                raise InputError.unknown(f"{entry.id}: {key}", named, labels)


def _check_names(comparison: Comparison, entry: Entry, functions: Mapping[str, Quantity]) -> None:
    quantity = comparison.quantity
    if quantity:
        if quantity not in functions:
            raise InputError.unknown("quantity", quantity, functions)
        _check_call(quantity, functions[quantity], *comparison.of, **comparison.arguments)
    for pick, options in comparison.pick:
        if pick not in PICKS:
            raise InputError.unknown("pick", pick, PICKS)
        _check_call(pick, PICKS[pick], [], **options)
    for name, _ in comparison.operands:
        if name and "{" not in name and name not in entry.series:
            raise InputError.unknown("series", name, entry.series)


def _check_call(name: str, function: Quantity, *given: Any, **arguments: Any) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **arguments)
    except TypeError as error:
        raise InputError(f"{name}: {error}; allowed: {signature}") from None


class _UnknownError(Exception):
    """Results are not known before they are computed."""


def check_series(
    entries: Iterable[Entry],
    load: Loader,
    known: Collection[str],
    functions: Mapping[str, Quantity],
) -> None:
    """Raise InputError where a comparison asks for a series, tag, metric or time that is not there.

    ``load`` returns a table with the columns and series of the real one, for the names ``known``.
    """

    def load_known(name: str) -> pd.DataFrame:
        if name not in known:
            raise _UnknownError
        return load(name)

    evidence = Evidence(load_known, functions)
    for entry in entries:
        for reading in (*entry.readings, *entry.beside):
            for question in entry.questions(reading):
                with naming(f"{entry.id}: {question.name}"), suppress(_UnknownError):
                    Measurement(question, evidence.of_results(entry.reads)).check()
