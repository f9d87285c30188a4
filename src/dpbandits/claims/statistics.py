"""What a comparison measures: an operation on series, along an axis, and a pick of its points.

Operations are ``value``, ``difference``, ``ratio`` and ``deviation`` (a ratio less 1) of series.
Without an axis there is one number. Along a tag of the results, the time ``t``, or several of them,
there is one at each point, of which picks make others or one. Quantities that papers share, those
of the privacy audit, are at the end.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits.claims import numbers
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.numbers import Estimate, Rate, exact
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Tags = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """A number at a point of an axis.

    Attributes:
        number: what is measured.
        x: the point; of several axes its place on the last.
        names: variables that its label may name, the axes before all.
    """

    number: Estimate
    x: Any
    names: Tags

    def precedes(self, later: "Point") -> bool:
        """Return whether both are on one line along the last axis."""
        *others, _ = self.names
        return all(self.names[axis] == later.names[axis] for axis in others)


def _value(one: Estimate) -> Estimate:
    return one


def _deviation(one: Estimate, other: Estimate) -> Estimate:
    return numbers.difference(numbers.ratio(one, other), exact(1.0))


OPERATIONS: dict[str, Callable[..., Estimate]] = {
    "value": _value,
    "difference": numbers.difference,
    "ratio": numbers.ratio,
    "deviation": _deviation,
}
"""Operation -> function of the numbers of its series, of which ``value`` has one, others two."""


def _columns(points: list[Point]) -> tuple[list[Any], list[Estimate]]:
    return [point.x for point in points], [point.number for point in points]


def _each(points: list[Point]) -> list[Point]:
    return points


def _steps(points: list[Point], by: str = "difference") -> list[Point]:
    """Return the change from each point to the next; ``by``: as a difference, or as a ratio."""
    return [
        Point(
            OPERATIONS[by](after.number, before.number), after.x, {**before.names, "next": after.x}
        )
        for before, after in itertools.pairwise(points)
        if before.precedes(after)
    ]


def _between(points: list[Point]) -> list[Point]:
    """Return the points between the ends."""
    if len(points) < 3:
        raise InputError(f"{len(points)} points; allowed: 3 or more")
    return points[1:-1]


def _absolute(points: list[Point]) -> list[Point]:
    """Return the sizes of the numbers, whatever their signs."""
    return [
        point
        if point.number.value >= 0.0
        else replace(point, number=numbers.difference(exact(0.0), point.number))
        for point in points
    ]


def _smallest(points: list[Point]) -> Estimate:
    return numbers.smallest(point.number for point in points)


def _largest(points: list[Point]) -> Estimate:
    return numbers.largest(point.number for point in points)


def _interior(points: list[Point], by: str = "difference") -> Estimate:
    """Return the better end minus the best point between, or the best one between over it."""
    between = [point.number for point in _between(points)]
    first, last = points[0].number, points[-1].number
    operation = OPERATIONS[by]
    if by == "ratio":
        return numbers.smallest(
            numbers.largest(operation(inner, end) for end in (first, last)) for inner in between
        )
    return numbers.largest(
        numbers.smallest(operation(end, inner) for end in (first, last)) for inner in between
    )


def _margin(points: list[Point], of: Sequence[Any]) -> Estimate:
    """Return the smallest number at some points minus the largest at the others."""
    inside = [point for point in points if point.x in of]
    outside = [point for point in points if point.x not in of]
    if len(inside) != len(of) or not outside:
        allowed = ", ".join(str(point.x) for point in points)
        raise InputError(f"margin of {', '.join(map(str, of))}; allowed: some of {allowed}")
    return numbers.smallest(
        numbers.difference(above.number, below.number)
        for above, below in itertools.product(inside, outside)
    )


def _share(points: list[Point], at_least: float) -> Estimate:
    """Return the share of the points with an exact number of at least so much."""
    if any(point.number.is_random for point in points):
        raise InputError("share of random numbers; allowed: of exact ones")
    values = [point.number.value for point in points]
    reached = sum(value >= at_least for value in values) / len(values)
    return exact(math.nan if any(map(math.isnan, values)) else reached)


def _trend(points: list[Point]) -> Estimate:
    """Return Kendall's tau between the points and the numbers, from -1 (falls) to 1 (rises)."""
    return numbers.rank_correlation(
        [point.x for point in points], [point.number for point in points]
    )


def _slope(points: list[Point], x: str = "linear", y: str = "linear") -> Estimate:
    """Return the slope by least squares; of rates their trend (Cochran-Armitage).

    Both scales ``log``: the exponent of a power law; ``x`` alone: growth per factor of e.
    """
    places = np.array([float(point.x) for point in points])
    if x == "log":
        places = np.log(places)
    values = [point.number for point in points]
    if y == "linear" and all(isinstance(one, Rate) for one in values):
        return numbers.rate_trend([one.counted for one in values if isinstance(one, Rate)], places)
    means = [numbers.as_measured(one) for one in values]
    return numbers.slope(places, [one.log() if y == "log" else one for one in means])


def _place(points: list[Point]) -> Estimate:
    """Return the point with the lowest number."""
    return numbers.place_of_lowest(
        [point.x for point in points], [point.number for point in points]
    )


def _lowest_at(points: list[Point], place: Any) -> Estimate:
    """Return 1 where the number at a place is the lowest, otherwise 0."""
    xs, values = _columns(points)
    return numbers.is_lowest(xs.index(place), values)


PICKS: dict[str, Callable[..., "list[Point] | Estimate"]] = {
    "each": _each,
    "steps": _steps,
    "between": _between,
    "absolute": _absolute,
    "smallest": _smallest,
    "largest": _largest,
    "interior": _interior,
    "margin": _margin,
    "share": _share,
    "trend": _trend,
    "slope": _slope,
    "place": _place,
    "lowest_at": _lowest_at,
}
"""Pick -> function of the points, in their order, and of its own options."""

OF_ONE_AXIS = ("between", "interior", "margin", "trend", "slope", "place", "lowest_at")
"""Picks that make nothing of points along several axes."""

Range = tuple[float, float]
Points = tuple[Any, ...] | None


@dataclass(frozen=True, eq=False)
class NamedSeries:
    """A series that a file names.

    Attributes:
        tags: as ``evidence.Series`` has them.
        when: ``KEY=VALUE`` of a variable -> tags that it has then.
    """

    tags: Tags = field(default_factory=dict)
    when: Mapping[str, Tags] = field(default_factory=dict)

    def resolved(self, variables: Tags) -> tuple[dict[str, Any], set[str]]:
        """Return its tags under some variables, and which of these have decided on them."""
        tags, keys = dict(self.tags), set()
        for condition, more in self.when.items():
            key, _, value = condition.partition("=")
            keys.add(key)
            if str(variables.get(key)) == value:
                tags |= more
        return tags, keys


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a comparison measures.

    Attributes:
        operation: a key of ``OPERATIONS``, or a quantity: a function of series and arguments.
        operands: name of each series, which may name variables, with more tags.
        series: name -> series.
        at: tags of all operands that have them.
        along: the axis, or several: tags, or ``t``; none for one number.
        points: of each axis, None for all that there are.
        where: tag -> from where to where it is, in the first series of a point that is kept.
        picks: name of each pick in their order, with its options.
        point: label of a point; may name variables, the axes and, after steps, ``next``.
        arguments: of a quantity.
        quantities: functions of a series that may be its metric.
    """

    operation: str | Callable[..., Any]
    operands: tuple[tuple[str, Tags], ...]
    series: Mapping[str, NamedSeries]
    at: Tags = field(default_factory=dict)
    along: tuple[str, ...] = ()
    points: tuple[Points, ...] = ()
    where: Mapping[str, Range] = field(default_factory=dict)
    picks: tuple[tuple[str, Tags], ...] = ()
    point: str = ""
    arguments: Tags = field(default_factory=dict)
    quantities: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def __call__(self, evidence: Evidence, row: Tags, over: Tags) -> "Mapping[str, Estimate]":
        """Measure.

        Args:
            evidence: the results.
            row: variables of the row of the claim.
            over: variables that the comparison runs over.

        Raises:
            InputError: something is not in the results, or in several places.
        """
        places = self.places(evidence, row, over)
        series = [self.resolve(evidence, row, {**over, **place}) for place in places]
        if series and all(self._is_of_itself(each) for each in series):
            raise InputError(f"both series are {series[0][0].key}; allowed: two")
        answers = [
            self._number(each, {**row, **over, **place})
            for each, place in zip(series, places, strict=True)
        ]
        if not self.along:
            [answer] = answers
            return answer if isinstance(answer, Mapping) else {"": answer}
        picked: list[Point] | Estimate = [
            Point(answer, place[self.along[-1]], place)
            for answer, place in zip(answers, places, strict=True)
        ]
        for name, options in self.picks:
            if isinstance(picked, Estimate):
                raise InputError(f"pick {name} of one number; allowed: none")
            least = 2 if name in ("steps", *OF_ONE_AXIS) else 1
            if len(picked) < least:
                along = ", ".join(self.along)
                raise InputError(f"{len(picked)} points of {along}; allowed: {least} or more")
            picked = PICKS[name](picked, **options)
        if isinstance(picked, Estimate):
            return {"": picked}
        return {
            self._label().format(**{**row, **over, **point.names}): point.number for point in picked
        }

    def find(self, evidence: Evidence, row: Tags, over: Tags) -> None:
        """Raise InputError where a series is not there, or is several."""
        for place in self.places(evidence, row, over):
            for one in self.resolve(evidence, row, {**over, **place}):
                _ = one.place

    def resolve(self, evidence: Evidence, row: Tags, over: Tags) -> list[Series]:
        """Return the series that are meant; each has one place, or one at each point."""
        over = {**over, **_filled(self.at, {**row, **over})}
        named = _variables_in([self.at, self.arguments, *self.operands])
        resolved, deciding = [], set(named)
        for name, more in self.operands:
            fixed = _filled(more, {**row, **over})
            variables = {**row, **over, **fixed}
            own, conditions = self._named(name.format(**variables)).resolved(variables)
            templates = named | _variables_in(own)
            loose = {key: value for key, value in over.items() if key not in templates}
            one = Series(evidence, _filled(own, variables), row).having(**loose)
            tags = {**one.tags, **fixed}
            if "metric" in tags:
                tags["metric"] = self.quantities.get(tags["metric"], tags["metric"])
            resolved.append(replace(one, tags=tags, fixed=frozenset(fixed)))
            deciding |= templates | conditions
        for key in over:
            if key not in deciding and not any(key in one.tags or one.has(key) for one in resolved):
                raise InputError(f"for, at or along has {key}, which no series has")
        return resolved

    def _is_of_itself(self, series: Sequence[Series]) -> bool:
        """Return whether an operation is of a series and itself."""
        if callable(self.operation) or len(series) < 2:
            return False
        return series[0].key == series[1].key

    def _number(self, series: Sequence[Series], variables: Tags) -> Any:
        """Return the number of an operation, or what a quantity answers."""
        if callable(self.operation):
            return self.operation(*series, **_filled(self.arguments, variables))
        return OPERATIONS[self.operation](*(one.number() for one in series))

    def _named(self, name: str) -> NamedSeries:
        if name and name not in self.series:
            raise InputError(f"series {name!r}; allowed: {', '.join(self.series)}")
        return self.series[name] if name else NamedSeries()

    def places(self, evidence: Evidence, row: Tags, over: Tags) -> list[dict[str, Any]]:
        """Return the points, each as a place on every axis."""
        places: list[dict[str, Any]] = [{}]
        for axis, points in zip(self.along, self.points, strict=True):
            places = [
                {**place, axis: x}
                for place in places
                for x in self._points(axis, points, evidence, row, {**over, **place})
            ]
        if not self.where:
            return places
        kept = []
        for place in places:
            first = self.resolve(evidence, row, {**over, **place})[0]
            values = {tag: first.values_of(tag) for tag in self.where}
            if all(low <= values[tag][0] <= high for tag, (low, high) in self.where.items()):
                kept.append(place)
        return kept

    def _points(
        self, axis: str, points: Points, evidence: Evidence, row: Tags, over: Tags
    ) -> Sequence[Any]:
        if points is not None:
            return points
        for one in self.resolve(evidence, row, over):
            if axis not in one.fixed and (axis == "t" or one.has(axis)):
                values = one.values_of(axis)
                if not values:
                    # Says what is not there.
                    _ = one.place
                return values
        raise InputError(f"along is {axis}, which no series has")

    def _label(self) -> str:
        steps = " to {next}" if any(name == "steps" for name, _ in self.picks) else ""
        return self.point or ", ".join(f"{axis}={{{axis}}}" for axis in self.along) + steps


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


OBSERVABLE = -6.0
"""log10 of the chance from which on an event is called observable."""


def audited_share(
    evidence: Evidence,
    *,
    results: str,
    statement: str,
    algorithm: str,
    variant: str = "as-written",
    choice: str = "",
    engine: str = "",
    horizon: int | None = None,
    events: str = "any",
) -> Estimate:
    """Return the largest exact lower bound over its claim.

    A share above 1 refutes the claim; one below proves nothing. Bounds with constants scaled down
    are left out.

    Args:
        evidence: the results.
        results: rows of the audit.
        statement: ``AUD-n``.
        algorithm: id in the registry.
        variant: of the algorithm.
        choice: interpretation of the rows, such as ``norm=l2``.
        engine: of the rows; "" for all.
        horizon: T of the rows; None for all.
        events: ``any``, or ``observable``, which have a chance of 1e-6 under both inputs.

    Raises:
        InputError: no row is asked for.
    """
    row = _strongest(
        evidence, results, statement, algorithm, variant, choice, engine, horizon, events
    )
    return exact(float(row["ratio"]))


def audited_chance(
    evidence: Evidence,
    *,
    results: str,
    statement: str,
    algorithm: str,
    variant: str = "as-written",
    choice: str = "",
    engine: str = "",
    horizon: int | None = None,
    events: str = "any",
) -> Estimate:
    """Return log10 of the chance of the event behind ``audited_share``, of the same arguments."""
    row = _strongest(
        evidence, results, statement, algorithm, variant, choice, engine, horizon, events
    )
    return exact(float(row["log10_alpha"]))


def _strongest(
    evidence: Evidence,
    results: str,
    statement: str,
    algorithm: str,
    variant: str,
    choice: str,
    engine: str,
    horizon: int | None,
    events: str,
) -> "pd.Series[float]":
    """Return the row of the largest bound over its claim, with arguments of ``audited_share``."""
    wanted: dict[str, object] = {"statement": statement, "algorithm": algorithm}
    wanted |= {"variant": variant, "interpretation": choice, "confidence": 1.0, "scaled": False}
    wanted |= {"engine": engine} if engine else {}
    wanted |= {"horizon": horizon} if horizon is not None else {}
    rows = evidence.analytic(results, **wanted)
    if events == "observable":
        rows = rows[rows["log10_alpha"] >= OBSERVABLE]
    if rows.empty:
        raise InputError(f"results of {results}: no {events} event of {statement}, {algorithm}")
    return rows.iloc[int(rows["ratio"].to_numpy().argmax())]
