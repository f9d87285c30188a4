"""Made-up worlds for claims on the statistics of the vocabulary, made from their entries alone.

A world has one mean (a rate of trials, or an exact number) for each series and time that a claim
reads. A recipe for each statistic moves the means so that it comes to a number; the number is
chosen by the comparison's region: inside it, outside, or at its end.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from claims.worlds import ROOT_SEED, SEED
from dpbandits.claims.docket import Claim, Comparison, parameters_of
from dpbandits.claims.evidence import Evidence, Recorded
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.statistics import REGRET, TIME
from dpbandits.claims.verdict import Region

BASE, HALF = 10.0, 0.5
"""Every mean, and every rate, before a recipe moves it."""

QUIET, LOUD = 1e-3, 100.0
"""Standard deviation of one run over its mean: nothing to chance, and everything."""

RESAMPLES = 2000
"""Of the bootstrap: what is decided here is decided by far."""

ROUNDS = 20
"""How often recipes are followed in turn: those that share series move each other's numbers."""

Arguments = Mapping[str, Any]
Question = tuple[Comparison, Arguments]
"""One comparison with the values that it runs over."""


@dataclass(frozen=True)
class World:
    """Frames by name, whose column ``value`` has means in place of runs; exact ones have ``y``."""

    frames: dict[str, pd.DataFrame]
    _series: dict[str, Recorded] = field(default_factory=dict, repr=False)

    def copy(self) -> "World":
        """Return a world of the same numbers."""
        return World({name: frame.copy() for name, frame in self.frames.items()}, self._series)

    def recorded(self, name: str) -> Recorded:
        """Return the series of some results, found by their tags."""
        if name not in self._series:
            self._series[name] = Recorded(name, self.frames[name])
        return self._series[name]

    def rows(self, asked: Arguments, tags: Mapping[str, Any], at: int | None) -> "pd.Series[bool]":
        """Mask of the rows of one series at one time, by default its last."""
        frame = self.frames[asked["results"]]
        counted = "success" if "trials" in frame else REGRET
        label = self.recorded(asked["results"]).find(tags)
        mask = (frame["series"] == label) & (frame["metric"] == asked.get("metric", counted))
        return mask & (frame["t"] == (frame.loc[mask, "t"].max() if at is None else at))

    def put(self, asked: Arguments, tags: Mapping[str, Any], number: float) -> None:
        """Set the mean of a series."""
        tags, at = _with_time(asked, tags)
        self.frames[asked["results"]].loc[self.rows(asked, tags, at), "value"] = number

    def get(self, asked: Arguments, tags: Mapping[str, Any]) -> float:
        """Return the mean of a series."""
        tags, at = _with_time(asked, tags)
        return float(self.frames[asked["results"]].loc[self.rows(asked, tags, at), "value"].iloc[0])

    def evidence(self, noise: float) -> Evidence:
        """Return runs with these means."""
        frames = {name: _runs(frame, noise) for name, frame in self.frames.items()}
        return Evidence.of_frames(frames, root_seed=ROOT_SEED, resamples=RESAMPLES)


def _with_time(asked: Arguments, tags: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Return the tags that are none of time, with those of all series; and the time."""
    common = asked.get("where") or {}
    if asked.get("tag") is not None:
        common = {**common, asked["tag"]: asked.get("value")}
    every = {**common, **tags}
    return every, every.pop(TIME, asked.get("at"))


def _runs(frame: pd.DataFrame, noise: float) -> pd.DataFrame:
    """Return runs in place of means: noise in pairs that cancel, trials as near as whole ones."""
    if "run" not in frame:
        return frame
    keys = ["series", "metric", "t", "arm"]
    means = frame["value"].to_numpy(dtype=float)
    if "trials" in frame:
        ends = frame.groupby(keys, sort=False)["trials"].cumsum().to_numpy()
        starts = ends - frame["trials"].to_numpy()
        return frame.assign(value=np.floor(ends * means + 0.5) - np.floor(starts * means + 0.5))
    number = frame.groupby(keys, sort=False).cumcount()
    drawn = pd.Series(np.random.default_rng(SEED).standard_normal(len(frame)), index=frame.index)
    paired = drawn.groupby([*(frame[key] for key in keys), number // 2]).transform("first")
    signs = np.where(number % 2, -1.0, 1.0)
    return frame.assign(value=means + noise * np.maximum(np.abs(means), 1.0) * signs * paired)


def _points(world: World, asked: Arguments) -> list[Any]:
    """Return the points that a statistic runs along, in order."""
    along, points = asked["along"], asked.get("points")
    if points is not None:
        return sorted(points)
    tags, _ = _with_time(asked, asked.get("of") or {})
    recorded = world.recorded(asked["results"])
    labels = recorded.matching(tags)
    if along == TIME:
        frame = world.frames[asked["results"]]
        return sorted(frame.loc[frame["series"] == labels[0], "t"].unique())
    tag = recorded.tag(along).to_dict()
    return sorted({tag[label] for label in labels})


def _line(world: World, asked: Arguments, mean: Callable[[int, Any], float]) -> None:
    """Set the means along the points, each by its number and its place."""
    for number, point in enumerate(_points(world, asked)):
        world.put(asked, {**(asked.get("of") or {}), asked["along"]: point}, mean(number, point))


def _average(world: World, asked: Arguments, number: float) -> None:
    world.put(asked, asked.get("of") or {}, number)


def _difference(world: World, asked: Arguments, number: float) -> None:
    world.put(asked, asked["of"], world.get(asked, asked["minus"]) + number)


def _ratio(world: World, asked: Arguments, number: float) -> None:
    world.put(asked, asked["of"], world.get(asked, asked["over"]) * number)


def _contrast(world: World, asked: Arguments, number: float) -> None:
    weights = asked["weights"]
    moved = max(weights, key=lambda name: abs(weights[name]))
    others = sum(
        weight * world.get(asked, asked["series"][name])
        for name, weight in weights.items()
        if name != moved
    )
    world.put(asked, asked["series"][moved], (number - others) / weights[moved])


def _steps(world: World, asked: Arguments, number: float) -> None:
    _line(world, asked, lambda k, _: BASE + k * number)


def _trend(world: World, asked: Arguments, number: float) -> None:
    """Rise, fall or stay: Kendall's tau of a line is 1, -1 or nothing."""
    _line(world, asked, lambda k, _: BASE * (1.0 + 0.05 * k * np.sign(number)))


def _slope(world: World, asked: Arguments, number: float) -> None:
    def mean(_: int, point: Any) -> float:
        first = _points(world, asked)[0]
        run = math.log(point / first) if asked.get("x") == "log" else point - first
        return BASE * math.exp(number * run) if asked.get("y") == "log" else BASE + number * run

    _line(world, asked, mean)


def _place(world: World, asked: Arguments, number: float) -> None:
    """Be lowest at that point, and flat at the end of a region."""
    _line(world, asked, lambda _, point: BASE / 2 if point == number else BASE)


def _ends(world: World, asked: Arguments, number: float) -> None:
    last = len(_points(world, asked)) - 1
    _line(world, asked, lambda k, _: BASE + number if k in (0, last) else BASE)


def _success_difference(world: World, asked: Arguments, number: float) -> None:
    world.put(asked, asked["of"], HALF + number / 2)
    world.put(asked, asked["minus"], HALF - number / 2)


def _exact(world: World, asked: Arguments, number: float) -> None:
    frame = world.frames[asked["results"]]
    tags, _ = _with_time(asked, asked.get("of") or {})
    mask = np.ones(len(frame), dtype=bool)
    for key, value in tags.items():
        mask &= (frame[key] == value).to_numpy()
    frame.loc[mask, "y"] = number


RECIPES: dict[str, Callable[[World, Arguments, float], None]] = {
    "average": _average,
    "difference": _difference,
    "ratio": _ratio,
    "contrast": _contrast,
    "largest_step": _steps,
    "smallest_step": _steps,
    "trend": _trend,
    "slope": _slope,
    "place_of_lowest": _place,
    "ends_minus_interior": _ends,
    "success": _average,
    "success_difference": _success_difference,
    "exact_number": _exact,
}
"""Statistic -> how a world is moved so that it comes to a number."""

RANGES = {"ratio": (0.0, math.inf), "success": (0.0, 1.0)} | dict.fromkeys(
    ("success_difference", "trend"), (-1.0, 1.0)
)
"""Statistic -> the numbers that it can be, where that is not all."""


def _farthest(stretches: list[tuple[float, float]], region: Region) -> float:
    """Return a number of some stretches that is far from the ends of a region."""
    ends = [end for end in (region.low, region.high) if math.isfinite(end)]
    found = [
        low + share * (high - low)
        for low, high in map(_finite, stretches)
        if low <= high
        for share in (0.05, 0.5, 0.95)
    ]
    return max(found, key=lambda each: min(abs(each - end) for end in ends))


def _finite(stretch: tuple[float, float]) -> tuple[float, float]:
    low, high = stretch
    low = high - 2 * max(1.0, abs(high)) if low == -math.inf else low
    return low, (low + 2 * max(1.0, abs(low)) if high == math.inf else high)


def aim(world: World, question: Question, wanted: str) -> float:
    """Return a number that is ``inside`` the region of a comparison, ``outside``, or at its end."""
    comparison, asked = question
    region, statistic = comparison.region, comparison.statistic.__name__
    if statistic == "place_of_lowest":
        points = _points(world, asked)
        chosen = [x for x in points if region.contains(x, x) == (wanted == "inside")]
        return math.nan if wanted == "end" else float(chosen[0])
    if wanted == "end":
        edge = region.low if math.isfinite(region.low) else region.high
        return 0.0 if statistic == "trend" else edge
    least, most = RANGES.get(statistic, (-math.inf, math.inf))
    if wanted == "inside":
        return _farthest([(max(region.low, least), min(region.high, most))], region)
    below, above = region.low - region.indifference, region.high + region.indifference
    sides = [(least, below)] if math.isfinite(below) else []
    return _farthest([*sides, (above, most)] if math.isfinite(above) else sides, region)


def questions(claim: Claim) -> Iterator[Question]:
    """Yield what the first row of a claim asks, in the order in which it is judged."""
    interpretation = claim.interpretations[0]
    settings = claim.settings(interpretation)
    for comparison in claim.comparisons:
        if comparison.is_asked_of(interpretation):
            accepted = parameters_of(comparison.statistic)
            for variables in comparison.bindings(settings):
                yield comparison, {k: v for k, v in variables.items() if k in accepted}


def deciding(claim: Claim) -> list[Question]:
    """Return what enters the verdict."""
    return [each for each in questions(claim) if each[0].decides]


def follow(world: World, question: Question, number: float) -> None:
    """Move a world so that a statistic comes to a number."""
    RECIPES[question[0].statistic.__name__](world, question[1], number)


def judged(claim: Claim, world: World, noise: float = QUIET) -> Judgement:
    """Judge the one row of a claim."""
    return judge([claim], world.evidence(noise))[0]


def holding(claim: Claim, world: World) -> World:
    """Return a world in which every comparison is for the claim, where recipes lead there."""
    world = world.copy()
    for _ in range(ROUNDS):
        found = judged(claim, world)
        decisions = [each.decision for each in found.comparisons if each.comparison.decides]
        amiss = [
            question
            for question, decision in zip(deciding(claim), decisions, strict=True)
            if decision != "for"
        ]
        if not amiss:
            break
        for question in amiss:
            follow(world, question, aim(world, question, "inside"))
    return world


def failing(claim: Claim, world: World) -> World:
    """Return a holding world with one comparison moved outside; all of them under rule ``any``."""
    world = world.copy()
    moved = deciding(claim)
    for question in moved if claim.combine == "any" else moved[:1]:
        follow(world, question, aim(world, question, "outside"))
    return world


def at_the_end(claim: Claim, world: World) -> World:
    """Return a world whose numbers lie at the ends of their regions."""
    world = world.copy()
    for question in deciding(claim):
        follow(world, question, aim(world, question, "end"))
    return world


def losing_a_number(claim: Claim, world: World) -> World:
    """Return a holding world in which a number of each comparison is not known."""
    world = world.copy()
    for question in deciding(claim):
        follow(world, question, math.nan)
    return world


def is_left_to_chance(claim: Claim) -> bool:
    """Whether chance can leave a claim undecided: not exact, nor for unless excluded."""
    return bool(claim.analyses) and not all(each.region.is_presumed for each, _ in deciding(claim))


def by_row(claims: list[Claim]) -> Iterator[Claim]:
    """Yield every row of claims that results decide, as a claim of its own."""
    for claim in claims:
        for interpretation in claim.interpretations:
            if interpretation.is_judged:
                yield replace(claim, interpretations=(interpretation,))
