"""What a comparison measures: operations on series, along axes, with picks and summaries.

Operations are ``value``, ``difference`` and ``ratio`` of series. Without an axis there is one
number. Along tags of the results, or the time ``t``, there is one at each point. Picks turn points
into other points or into one number; a summary describes all of them.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from string import Formatter
from typing import Any

import numpy as np

from dpbandits.claims import estimates
from dpbandits.claims.estimates import Estimate, Rate, exact
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.config.claims import ComparisonCase, Shares, Tags
from dpbandits.errors import InputError


@dataclass(frozen=True)
class Point:
    """A number at a point ``x`` of an axis, the variables that its label may name, the label."""

    number: Estimate
    x: Any
    names: Tags
    label: str = ""


OPERATIONS: dict[str, Callable[[Estimate, Estimate], Estimate]] = {
    "difference": estimates.difference,
    "ratio": estimates.ratio,
}
"""Operation -> function of two numbers."""


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
    """Return the lower end minus the lowest point between, or (ratio) that point over that end."""
    between = [point.number for point in _between(points)]
    ends = points[0].number, points[-1].number
    operation = OPERATIONS[by]
    if by == "ratio":
        return estimates.smallest(
            estimates.largest(operation(inner, end) for end in ends) for inner in between
        )
    return estimates.largest(
        estimates.smallest(operation(end, inner) for end in ends) for inner in between
    )


def _margin(points: list[Point], of: Sequence[Any]) -> Estimate:
    """Return the smallest number at the points ``of`` minus the largest at the others."""
    inside = [point.number for point in points if point.x in of]
    outside = [point.number for point in points if point.x not in of]
    if len(inside) != len(of) or not outside:
        allowed = ", ".join(str(point.x) for point in points)
        raise InputError(f"margin of {', '.join(map(str, of))}; allowed: some of {allowed}")
    pairs = itertools.product(inside, outside)
    return estimates.smallest(estimates.difference(above, below) for above, below in pairs)


def _cut(points: list[Point]) -> Estimate:
    """Return the smallest number up to a cut minus the largest beyond it, at the best cut."""
    firsts = ([point.x for point in points[:end]] for end in range(1, len(points)))
    return estimates.largest(_margin(points, first) for first in firsts)


def _slope(points: list[Point], x: str = "linear", y: str = "linear") -> Estimate:
    """Return the slope by least squares; of rates their trend (Cochran-Armitage).

    Both scales ``log``: the exponent of a power law; ``x`` alone: growth per factor of e;
    ``log-inverse`` has log(1/x) for x.
    """
    places = np.array([point.x for point in points], dtype=np.float64)
    if x != "linear":
        places = {"log": 1.0, "log-inverse": -1.0}[x] * np.log(places)
    values = [point.number for point in points]
    if y == "linear" and all(isinstance(one, Rate) for one in values):
        return estimates.rate_trend(
            [one.counted for one in values if isinstance(one, Rate)], places
        )
    means = [estimates.as_measured(one) for one in values]
    return estimates.slope(places, [one.log() if y == "log" else one for one in means])


PICKS: dict[str, Callable[..., list[Point] | Estimate]] = {
    "steps": _steps,
    "between": _between,
    "smallest": lambda points: estimates.smallest(point.number for point in points),
    "largest": lambda points: estimates.largest(point.number for point in points),
    "interior": _interior,
    "margin": _margin,
    "cut": _cut,
    "slope": _slope,
    "place": lambda points: estimates.place_of_lowest(
        [point.x for point in points], [point.number for point in points]
    ),
}
"""Pick -> function of the points of an axis, in increasing order of x, and of its own options."""


def _summarise(points: list[Point], function: Callable[[list[float]], float]) -> Estimate:
    """Return a function of the measured numbers, without an interval; NaN of none."""
    if not points:
        return exact(math.nan)
    value = function([point.number.value for point in points])
    return exact(value, min(point.number.runs for point in points))


def _share(points: list[Point], at_least: float) -> Estimate:
    """Return the share of the numbers of at least this size; NaN where one is not known."""
    if any(math.isnan(point.number.value) for point in points):
        return exact(math.nan)
    return _summarise(
        points, lambda values: sum(value >= at_least for value in values) / len(values)
    )


SUMMARIES: dict[str, Callable[..., Mapping[str, Estimate] | Estimate]] = {
    "smallest": lambda points: _summarise(points, min),
    "largest": lambda points: _summarise(points, max),
    "furthest": lambda points: _summarise(points, lambda values: max(map(abs, values))),
    "share": _share,
    "ends": lambda points: {
        "lowest": _summarise(points, min),
        "highest": _summarise(points, max),
    },
}
"""Summary -> function of all points that were measured; its numbers have no interval."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """The numbers of one case of a comparison in some results."""

    case: ComparisonCase
    evidence: Evidence

    def numbers(self) -> Mapping[str, Estimate]:
        """Return the numbers by the labels of their points; the label of a single one is "".

        Raises:
            InputError: something is not in the results, or in several places.
        """
        points, summary = self._points(), self.case.comparison.summary
        if summary is None:
            return {point.label: point.number for point in points}
        (template, options), variables = summary, self.case.variables
        name, functions = template.format(**variables), {**self.evidence.functions, **SUMMARIES}
        if name not in functions:
            raise InputError.unknown("summary", name, functions)
        answer = functions[name](points, **_filled(options, variables))
        return answer if isinstance(answer, Mapping) else {"": answer}

    def check(self) -> None:
        """Raise InputError where a series, its metric or its time is missing, or tags fit several.

        Tags of a quantity may fit several series, because it asks for one after the other.
        """
        comparison = self.case.comparison
        for axes in self._combinations(self.case.over, comparison.along):
            for series in self.resolve({**self.case.over, **axes}):
                series.check(is_one=not comparison.quantity)

    def _points(self) -> list[Point]:
        """Return its points with their labels."""
        comparison, over = self.case.comparison, self.case.over
        variables = self.case.variables
        if not comparison.along:
            series = self.resolve(over)
            self._require_two_series([series])
            answer = self._number(series, variables)
            answers = answer if isinstance(answer, Mapping) else {"": answer}
            label = comparison.point.format(**variables)
            return [Point(number, name, {}, label or name) for name, number in answers.items()]
        points = []
        *outer, axis = comparison.along
        for place in self._combinations(over, outer):
            at = [
                (x, series)
                for x in self._values({**over, **place}, axis)
                for series in [self.resolve({**over, **place, axis: x})]
                if all(
                    inside.low <= series[0].values_of(tag)[0] <= inside.high
                    for tag, inside in comparison.where.items()
                )
            ]
            for group in [at] if comparison.pick else [[each] for each in at]:
                self._require_two_series([series for _, series in group])
                measured = [
                    Point(self._number(series, {**variables, **names}), x, names)
                    for x, series in group
                    for names in [{**place, axis: x}]
                ]
                points += self._picked(measured, variables, place)
        return points

    def _picked(self, points: list[Point], variables: Tags, names: Tags) -> list[Point]:
        """Return what the picks make of points along the last axis."""
        picked: list[Point] | Estimate = points
        comparison = self.case.comparison
        for name, options in comparison.pick:
            if isinstance(picked, Estimate):
                raise InputError(f"pick {name} of one number; allowed: none")
            least = 1 if name in ("smallest", "largest") else 2
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

    def resolve(self, over: Tags) -> list[SeriesQuery]:
        """Return the series that the operands name, at these values of the variables."""
        comparison, reading = self.case.comparison, self.case.reading
        over = {**over, **_filled(comparison.at, {**reading, **over})}
        texts = [comparison.at, comparison.arguments, comparison.summary or ()]
        named = _variables_in([*texts, *comparison.operands])
        resolved, deciding = [], set(named)
        known = self.case.series
        for template, more in comparison.operands:
            fixed = _filled(more, {**reading, **over})
            variables = {**reading, **over, **fixed}
            name = template.format(**variables)
            if name and name not in known:
                raise InputError.unknown("series", name, known)
            own = known.get(name, {})
            templates = named | _variables_in(own)
            loose = {key: value for key, value in over.items() if key not in templates}
            one = SeriesQuery(self.evidence, _filled(own, variables), loose=reading).having(**loose)
            tags = {**one.tags, **fixed}
            if "metric" in tags:
                tags["metric"] = self.evidence.functions.get(tags["metric"], tags["metric"])
            resolved.append(replace(one, tags=tags))
            deciding |= templates
        for key in over:
            if key not in deciding and not any(key in one.tags or one.has(key) for one in resolved):
                raise InputError(f"for, at or along has {key}, which no series has")
        return resolved

    def _number(self, series: Sequence[SeriesQuery], variables: Tags) -> Any:
        """Return the number that the operation makes of series; a quantity may make several."""
        comparison = self.case.comparison
        if quantity := comparison.quantity:
            arguments = _filled(comparison.arguments, variables)
            made = self.evidence.functions[quantity](*series, **arguments)
            return exact(float(made)) if isinstance(made, Real) else made
        numbers = [one.number() for one in series]
        if comparison.value:
            return numbers[0]
        return OPERATIONS["ratio" if comparison.ratio else "difference"](*numbers)

    def _require_two_series(self, several: Sequence[Sequence[SeriesQuery]]) -> None:
        """Raise InputError where a series is compared with itself at every point."""
        comparison = self.case.comparison
        if not several or not (comparison.difference or comparison.ratio):
            return
        if all(first.key == second.key for first, second in several):
            raise InputError(f"both series are {several[0][0].key}; allowed: two")

    def _combinations(self, over: Tags, axes: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the existing points of several axes, the last axis fastest."""
        if not axes:
            yield {}
            return
        first, *others = axes
        for x in self._values(over, first):
            for rest in self._combinations({**over, first: x}, others):
                yield {first: x, **rest}

    def _values(self, over: Tags, axis: str) -> list[Any]:
        """Return the points of an axis at those of the axes before it."""
        comparison = self.case.comparison
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
                    # Raises InputError with what is missing.
                    _ = one.selection
                return values
        raise InputError(f"along is {axis}, which no series has")


def _filled(tags: Tags, variables: Tags) -> dict[str, Any]:
    """Return tags with variables in the place of their names in braces."""
    try:
        return {
            key: variables[value[1:-1]]
            if isinstance(value, str) and value[:1] == "{" and value[-1:] == "}"
            else (value.format(**variables) if isinstance(value, str) else value)
            for key, value in tags.items()
        }
    except KeyError as error:
        raise InputError(f"{error.args[0]}; allowed: {', '.join(variables)}") from None


def _variables_in(texts: Any) -> set[str]:
    """Return the variables that texts name in braces."""
    if isinstance(texts, str):
        return {name for _, name, _, _ in Formatter().parse(texts) if name}
    if isinstance(texts, Mapping):
        texts = texts.values()
    return set().union(*map(_variables_in, texts)) if isinstance(texts, Iterable) else set()
