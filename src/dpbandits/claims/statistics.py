"""Statistics that every paper's claims may name: a paper of its own needs no Python for these.

A series is given by its tags, as in ``{algorithm: dp-se, epsilon: 1}``; ``where`` holds tags that
all series of a comparison have in common, and ``tag: epsilon`` with ``for: {value: [0.5, 1]}`` one
more, which runs over values. Regret is in rounds times reward, means are over runs. ``at`` is the
time, by default the last one. ``along`` is a tag, or ``t`` for the times ``points``.

Those of the privacy audit are at the end.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.evidence import Evidence, Sample
from dpbandits.claims.numbers import (
    Estimate,
    Measured,
    exact,
    largest,
    mean,
    rank_correlation,
    rate,
    rate_difference,
    ratio_of_means,
    smallest,
    welch_difference,
)
from dpbandits.claims.numbers import (
    place_of_lowest as place_of,
)
from dpbandits.claims.numbers import slope as slope_of
from dpbandits.errors import InputError

Tags = Mapping[str, Any]

REGRET = "pseudo_regret"
TIME = "t"
SCALES = ("linear", "log")


def _tags(where: Tags | None, tag: str | None, value: Any) -> dict[str, Any]:
    """Return the tags that all series have in common."""
    return {**(where or {}), **({} if tag is None else {tag: value})}


def average(
    evidence: Evidence,
    *,
    results: str,
    of: Tags | None = None,
    where: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
    at: int | None = None,
) -> Measured:
    """Return the mean of a series."""
    tags = {**_tags(where, tag, value), **(of or {})}
    return mean(evidence.values(results, metric, at, **tags))


def difference(
    evidence: Evidence,
    *,
    results: str,
    of: Tags,
    minus: Tags,
    where: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
    at: int | None = None,
) -> Measured:
    """Return the mean of a series minus that of another, of other runs."""
    common = _tags(where, tag, value)
    one, other = (evidence.values(results, metric, at, **common, **each) for each in (of, minus))
    return welch_difference(one, other)


def ratio(
    evidence: Evidence,
    *,
    results: str,
    of: Tags,
    over: Tags,
    where: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
    at: int | None = None,
) -> Estimate:
    """Return the mean of a series over that of another, of other runs."""
    common = _tags(where, tag, value)
    one, other = (evidence.values(results, metric, at, **common, **each) for each in (of, over))
    return ratio_of_means(one, other)


def contrast(
    evidence: Evidence,
    *,
    results: str,
    series: Mapping[str, Tags],
    weights: Mapping[str, float],
    where: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
    at: int | None = None,
) -> Estimate:
    """Return the sum of the means of named series, each times its weight.

    Raises:
        InputError: a weight has no series, or the reverse.
    """
    if set(series) != set(weights):
        allowed = ", ".join(series)
        raise InputError(
            f"results {results!r}: weights has {', '.join(weights)}; allowed: {allowed}"
        )
    common = _tags(where, tag, value)
    samples = [evidence.sample(results, metric, at, **common, **each) for each in series.values()]
    terms = [weights[name] * sample.measured for name, sample in zip(series, samples, strict=True)]
    return sum(terms[1:], terms[0])


def _along(
    evidence: Evidence,
    results: str,
    metric: str,
    along: str,
    points: Sequence[Any] | None,
    of: Tags,
) -> tuple[list[Any], list[Sample]]:
    """Return the points along a tag, or times, in increasing order, with a sample at each.

    Raises:
        InputError: there are fewer than two points.
    """
    if along == TIME:
        times = evidence.times(results, metric, **of).tolist() if points is None else list(points)
        samples = [evidence.sample(results, metric, t, **of) for t in sorted(times)]
        return sorted(times), samples
    if points is None:
        recorded = evidence.recorded(results)
        found = recorded.tag(along).to_dict()
        points = list({found[label] for label in recorded.matching(of)})
    if len(points) < 2:
        raise InputError(
            f"results of {results}: {len(points)} values of {along}; allowed: 2 or more"
        )
    ordered = sorted(points)
    return ordered, [evidence.sample(results, metric, **{**of, along: x}) for x in ordered]


def largest_step(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
) -> Estimate:
    """Return the largest step of the mean from one point to the next: below 0 where all fall."""
    return largest(_steps(evidence, results, metric, along, points, _tags(of, tag, value)))


def smallest_step(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
) -> Estimate:
    """Return the smallest step of the mean from one point to the next: above 0 where all rise."""
    return smallest(_steps(evidence, results, metric, along, points, _tags(of, tag, value)))


def _steps(
    evidence: Evidence,
    results: str,
    metric: str,
    along: str,
    points: Sequence[Any] | None,
    of: Tags,
) -> list[Measured]:
    _, samples = _along(evidence, results, metric, along, points, of)
    pairs = itertools.pairwise(each.values for each in samples)
    if along == TIME:
        # Two times of the same runs: run by run.
        return [mean(after - before) for before, after in pairs]
    return [welch_difference(after, before) for before, after in pairs]


def trend(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
) -> Estimate:
    """Return Kendall's tau between the points and the means, from -1 (falls) to 1 (rises)."""
    xs, samples = _along(evidence, results, metric, along, points, _tags(of, tag, value))
    return rank_correlation(xs, [sample.measured for sample in samples])


def slope(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
    x: str = "linear",
    y: str = "linear",
) -> Estimate:
    """Return the slope of the line through the means by least squares.

    Both scales ``log``: the exponent of a power law; ``x`` alone: growth per factor of e.

    Raises:
        InputError: a scale is unknown, or a point is not above 0 on a logarithmic one.
    """
    for key, scale in (("x", x), ("y", y)):
        if scale not in SCALES:
            raise InputError(f"results {results!r}: {key} is {scale!r}; allowed: linear, log")
    xs, samples = _along(evidence, results, metric, along, points, _tags(of, tag, value))
    if x == "log" and min(xs) <= 0:
        raise InputError(f"results {results!r}: {along} is {min(xs)}; allowed: above 0 for x log")
    places = np.log(xs) if x == "log" else np.asarray(xs, dtype=float)
    means = [sample.measured for sample in samples]
    return slope_of(places, [one.log() if y == "log" else one for one in means])


def place_of_lowest(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
) -> Estimate:
    """Return the point at which the mean is lowest."""
    xs, samples = _along(evidence, results, metric, along, points, _tags(of, tag, value))
    return place_of(xs, [sample.measured for sample in samples])


def ends_minus_interior(
    evidence: Evidence,
    *,
    results: str,
    along: str,
    points: Sequence[Any] | None = None,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
    metric: str = REGRET,
) -> Estimate:
    """Return the lower mean of the two ends minus the lowest of the interior points.

    Above 0 where the optimum is in the interior (kind ``interior_optimum``).

    Raises:
        InputError: there is no interior point.
    """
    xs, samples = _along(evidence, results, metric, along, points, _tags(of, tag, value))
    if len(xs) < 3:
        raise InputError(f"results of {results}: {len(xs)} values of {along}; allowed: 3 or more")
    first, *interior, last = [sample.measured for sample in samples]
    return largest(smallest(end - inner for end in (first, last)) for inner in interior)


def success(
    evidence: Evidence,
    *,
    results: str,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
) -> Estimate:
    """Return the share of trials of a series in which the best arm was named."""
    return rate(evidence.counts(results, **_tags(of, tag, value)))


def success_difference(
    evidence: Evidence,
    *,
    results: str,
    of: Tags,
    minus: Tags,
    where: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
) -> Estimate:
    """Return the share of successes of a series minus that of another."""
    common = _tags(where, tag, value)
    one, other = (evidence.counts(results, **common, **each) for each in (of, minus))
    return rate_difference(one, other)


def exact_number(
    evidence: Evidence,
    *,
    results: str,
    of: Tags | None = None,
    tag: str | None = None,
    value: Any = None,
) -> Estimate:
    """Return y of the one row of exactly computed results with these tags."""
    return exact(evidence.number(results, **_tags(of, tag, value)))


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
