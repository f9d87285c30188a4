"""What a comparison measures: an operation on series, along an axis, and a pick of its points.

Operations are ``value``, ``difference``, ``ratio`` and ``deviation`` (a ratio less 1) of series.
Without an axis there is one number. Along a tag of the results, or the time ``t``, there is one at
each point, of which picks make others or one. Statistics of the privacy audit are at the end.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits.claims import numbers
from dpbandits.claims.docket import (
    Comparison,
    NamedSeries,
    Question,
    Shares,
    Tags,
    parameters_of,
)
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.numbers import Estimate, Rate, exact
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Point:
    """A number at a point of an axis.

    Attributes:
        number: what is measured.
        x: the point.
        names: variables that its label may name.
    """

    number: Estimate
    x: Any
    names: Tags


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
    ]


def _smallest(points: list[Point]) -> Estimate:
    return numbers.smallest(point.number for point in points)


def _largest(points: list[Point]) -> Estimate:
    return numbers.largest(point.number for point in points)


def _interior(points: list[Point], by: str = "difference") -> Estimate:
    """Return the better end minus the best point between, or the best one between over it."""
    first, *between, last = (point.number for point in points)
    if not between:
        raise InputError(f"{len(points)} points; allowed: 3 or more")
    operation = OPERATIONS[by]
    if by == "ratio":
        return numbers.smallest(
            numbers.largest(operation(inner, end) for end in (first, last)) for inner in between
        )
    return numbers.largest(
        numbers.smallest(operation(end, inner) for end in (first, last)) for inner in between
    )


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
    "smallest": _smallest,
    "largest": _largest,
    "interior": _interior,
    "trend": _trend,
    "slope": _slope,
    "place": _place,
    "lowest_at": _lowest_at,
}
"""Pick -> function of the points of an axis, in increasing order of x, and of its own options."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a comparison measures in some evidence.

    Attributes:
        question: the comparison, with values of its variables.
        evidence: the results.
    """

    question: Question
    evidence: Evidence

    @property
    def _comparison(self) -> Comparison:
        return self.question.comparison

    def numbers(self) -> "Mapping[str, Estimate]":
        """Return what is measured, by the labels of points; one number has none.

        Raises:
            InputError: something is not in the results, or in several places.
        """
        comparison, over = self._comparison, self.question.over
        variables, functions = self.question.variables, self.question.vocabulary.functions
        if comparison.statistic:
            statistic = functions[comparison.statistic]
            accepted = parameters_of(statistic)
            chosen = {key: value for key, value in variables.items() if key in accepted}
            return _by_label(statistic(self.evidence, **chosen))
        if comparison.quantity:
            arguments = _filled(comparison.arguments, variables)
            return _by_label(functions[comparison.quantity](*self.resolve(over), **arguments))
        if not comparison.along:
            return {"": self._number(self.resolve(over))}
        points = []
        for x in self.places():
            at_point = {comparison.along: x}
            number = self._number(self.resolve({**over, **at_point}))
            points.append(Point(number, x, at_point))
        picked: list[Point] | Estimate = points
        for name, options in comparison.pick:
            if isinstance(picked, Estimate):
                raise InputError(f"pick {name} of one number; allowed: none")
            least = 1 if name in ("each", "smallest", "largest") else 2
            if len(picked) < least:
                allowed = f"allowed: {least} or more"
                raise InputError(f"{len(picked)} points of {comparison.along}; {allowed}")
            picked = PICKS[name](picked, **options)
        if isinstance(picked, Estimate):
            return {"": picked}
        steps = " to {next}" if any(name == "steps" for name, _ in comparison.pick) else ""
        label = comparison.point or f"{comparison.along}={{{comparison.along}}}{steps}"
        return {label.format(**{**variables, **point.names}): point.number for point in picked}

    def check(self) -> None:
        """Raise InputError where a series, or its metric, is not there, or a series is several."""
        over, along = self.question.over, self._comparison.along
        for point in [{along: x} for x in self.places()] if along else [{}]:
            for one in self.resolve({**over, **point}):
                one.check()

    def resolve(self, over: Tags) -> list[Series]:
        """Return the series that are meant; each has one place, or one at each point."""
        comparison, row = self._comparison, self.question.row
        vocabulary = self.question.vocabulary
        over = {**over, **_filled(comparison.at, {**row, **over})}
        named = _variables_in([comparison.at, comparison.arguments, *comparison.operands])
        resolved, deciding = [], set(named)
        for template, more in comparison.operands:
            fixed = _filled(more, {**row, **over})
            variables = {**row, **over, **fixed}
            name = template.format(**variables)
            if name and name not in vocabulary.series:
                raise InputError.unknown("series", name, vocabulary.series)
            series = vocabulary.series[name] if name else NamedSeries()
            own, conditions = series.resolved(variables)
            templates = named | _variables_in(own)
            loose = {key: value for key, value in over.items() if key not in templates}
            one = Series(self.evidence, _filled(own, variables), row).having(**loose)
            tags = {**one.tags, **fixed}
            if "metric" in tags:
                tags["metric"] = vocabulary.functions.get(tags["metric"], tags["metric"])
            resolved.append(replace(one, tags=tags, fixed=frozenset(fixed)))
            deciding |= templates | conditions
        for key in over:
            if key not in deciding and not any(key in one.tags or one.has(key) for one in resolved):
                raise InputError(f"for, at or along has {key}, which no series has")
        return resolved

    def _number(self, series: Sequence[Series]) -> Estimate:
        if len(series) == 2 and series[0].key == series[1].key:
            raise InputError(f"both series are {series[0].key}; allowed: two")
        return OPERATIONS[self._comparison.operation](*(one.number() for one in series))

    def places(self) -> list[Any]:
        """Return the points of the axis."""
        points, along = self._comparison.points, self._comparison.along
        if isinstance(points, Shares):
            return list(np.geomspace(points.begin, points.to, points.count).tolist())
        if points is not None:
            return list(points)
        for one in self.resolve(self.question.over):
            if along not in one.fixed and (along == "t" or one.has(along)):
                values = one.values_of(along)
                if not values:
                    # Says what is not there.
                    _ = one.place
                return values
        raise InputError(f"along is {along}, which no series has")


def _by_label(answer: Any) -> "Mapping[str, Estimate]":
    return answer if isinstance(answer, Mapping) else {"": answer}


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
