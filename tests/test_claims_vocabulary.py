"""Statistics that every paper's claims may name, against the same numbers computed directly."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpbandits.claims import statistics
from dpbandits.claims.docket import statistics_of
from dpbandits.claims.evidence import Evidence
from dpbandits.errors import InputError

RUNS = 60
EPSILONS = (1, 2, 4, 8)
TIMES = (10, 100, 1000)
RESULTS: dict[str, Any] = {"results": "runs"}
A, B = ({"algorithm": name} for name in "ab")


def made() -> dict[str, pd.DataFrame]:
    """Return results of two algorithms at four epsilons: regret, trials and exact numbers."""
    generator = np.random.default_rng(5)
    keys = itertools.product("ab", EPSILONS)
    rows, trials = [], []
    for algorithm, epsilon in keys:
        tags = {"series": f"{algorithm}{epsilon}", "algorithm": algorithm, "epsilon": epsilon}
        tags |= {"arm": -1}
        curves = np.cumsum(generator.uniform(5.0, 50.0, (RUNS, len(TIMES))), axis=1)
        curves += generator.uniform(0.0, 40.0)
        rows += [
            {**tags, "metric": "pseudo_regret", "run": run, "t": t, "value": curves[run, place]}
            for run in range(RUNS)
            for place, t in enumerate(TIMES)
        ]
        won = float(generator.integers(200, 900))
        trials.append(
            {**tags, "metric": "success", "run": 0, "trials": 1000, "t": 1000, "value": won}
        )
    numbers = pd.DataFrame({"quantity": ["c", "d"], "x": [1.0, 1.0], "y": [2.5, 7.0]})
    return {"runs": pd.DataFrame(rows), "trials": pd.DataFrame(trials), "numbers": numbers}


FRAMES = made()
EVIDENCE = Evidence.of_frames(FRAMES, root_seed=1, resamples=500)


def runs(algorithm: str, epsilon: int, t: int = 1000) -> np.ndarray:
    """Return the runs of a series at a time, read from the frame."""
    frame = FRAMES["runs"]
    is_asked = (frame["algorithm"] == algorithm) & (frame["epsilon"] == epsilon)
    return frame.loc[is_asked & (frame["t"] == t), "value"].to_numpy()


def won(algorithm: str, epsilon: int) -> float:
    frame = FRAMES["trials"]
    is_asked = (frame["algorithm"] == algorithm) & (frame["epsilon"] == epsilon)
    return float(frame.loc[is_asked, "value"].item()) / 1000


MEANS = {name: np.array([runs(name, epsilon).mean() for epsilon in EPSILONS]) for name in "ab"}
OVER_TIME = np.array([runs("a", 1, t).mean() for t in TIMES])
ALONG: dict[str, Any] = {"along": "epsilon", "of": A}
IN_TIME: dict[str, Any] = {"along": "t", "of": {**A, "epsilon": 1}}
PAIR: dict[str, Any] = {"tag": "epsilon", "value": 2}
WEIGHTED: dict[str, Any] = {
    "series": {
        "one": {**A, "epsilon": 2},
        "two": {**B, "epsilon": 2},
        "three": {**B, "epsilon": 8},
    },
    "weights": {"one": 1, "two": -0.5, "three": -0.25},
}
TRIALS: dict[str, Any] = {"results": "trials"}


def fitted(x: Any, y: Any) -> float:
    return float(np.polyfit(x, y, 1)[0])


CASES: list[tuple[str, dict[str, Any], float]] = [
    ("average", {**RESULTS, "of": {**A, "epsilon": 4}}, MEANS["a"][2]),
    ("average", {**RESULTS, "of": A, **PAIR, "at": 100}, runs("a", 2, 100).mean()),
    ("difference", {**RESULTS, **PAIR, "of": A, "minus": B}, MEANS["a"][1] - MEANS["b"][1]),
    ("ratio", {**RESULTS, **PAIR, "of": A, "over": B}, MEANS["a"][1] / MEANS["b"][1]),
    (
        "contrast",
        {**RESULTS, **WEIGHTED},
        MEANS["a"][1] - 0.5 * MEANS["b"][1] - 0.25 * MEANS["b"][3],
    ),
    ("largest_step", {**RESULTS, **ALONG}, np.diff(MEANS["a"]).max()),
    ("largest_step", {**RESULTS, **IN_TIME}, np.diff(OVER_TIME).max()),
    ("smallest_step", {**RESULTS, **ALONG}, np.diff(MEANS["a"]).min()),
    ("smallest_step", {**RESULTS, **ALONG, "points": [8, 1]}, MEANS["a"][3] - MEANS["a"][0]),
    ("trend", {**RESULTS, **ALONG}, stats.kendalltau(EPSILONS, MEANS["a"]).statistic),
    ("slope", {**RESULTS, **ALONG}, fitted(EPSILONS, MEANS["a"])),
    ("slope", {**RESULTS, **ALONG, "x": "log"}, fitted(np.log(EPSILONS), MEANS["a"])),
    (
        "slope",
        {**RESULTS, **IN_TIME, "x": "log", "y": "log"},
        fitted(np.log(TIMES), np.log(OVER_TIME)),
    ),
    ("place_of_lowest", {**RESULTS, **ALONG}, EPSILONS[MEANS["a"].argmin()]),
    (
        "ends_minus_interior",
        {**RESULTS, **ALONG},
        min(MEANS["a"][0], MEANS["a"][-1]) - MEANS["a"][1:-1].min(),
    ),
    ("success", {**TRIALS, "of": A, **PAIR}, won("a", 2)),
    ("success_difference", {**TRIALS, **PAIR, "of": A, "minus": B}, won("a", 2) - won("b", 2)),
    ("exact_number", {"results": "numbers", "of": {"quantity": "d"}}, 7.0),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_a_number_is_the_one_computed_directly(
    name: str, arguments: dict[str, Any], expected: float
) -> None:
    found = getattr(statistics, name)(EVIDENCE, **arguments)
    assert found.value == pytest.approx(expected)
    lo, hi = found.interval(0.05)
    assert lo <= found.value <= hi


def test_every_statistic_of_the_vocabulary_has_a_case() -> None:
    """Those of the audit read its results, and are tested with them."""
    names = {name for name in statistics_of(statistics) if not name.startswith("audited")}
    assert names == {name for name, *_ in CASES}


def test_steps_in_time_are_of_the_same_runs() -> None:
    """Run by run their interval is that of the increments."""
    found = statistics.largest_step(EVIDENCE, **RESULTS, **IN_TIME, points=[10, 100])
    increments = runs("a", 1, 100) - runs("a", 1, 10)
    half = stats.t.ppf(0.975, RUNS - 1) * stats.sem(increments)
    lo, hi = found.interval(0.05)
    assert hi - lo == pytest.approx(2 * half, rel=0.05)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("contrast", {**WEIGHTED, "weights": {"one": 1}}),
        ("slope", {**ALONG, "x": "cubic"}),
        ("slope", {**IN_TIME, "x": "log", "points": [0, 10]}),
        ("trend", {**ALONG, "points": [1]}),
        ("ends_minus_interior", {**ALONG, "points": [1, 2]}),
    ],
)
def test_what_has_no_answer_is_refused(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        getattr(statistics, name)(EVIDENCE, **RESULTS, **arguments)
