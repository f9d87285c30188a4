"""What claims read, and numbers that they measure, against those computed directly."""

import math
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from dpbandits.claims.estimates import Estimate, mean
from dpbandits.claims.measure import OPERATIONS, PICKS, Measurement
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.config.claims import Claim
from dpbandits.papers import code_of
from dpbandits.papers.quantities import audited_chance, audited_share, seen_from
from dpbandits.pipeline.check import check_names, check_series
from support import refused
from toy_claims import claim, toy_frame


def small() -> pd.DataFrame:
    """Two series, three runs out of order, two times, one metric per arm."""
    regret = pd.DataFrame(product((0, 1), (12, 10, 11), (5, 2)), columns=["b", "run", "t"])
    regret["value"] = regret @ [100.0, 10.0, 1.0]
    pulls = pd.DataFrame(product((0, 1), (10, 11, 12), (1, 0)), columns=["b", "run", "arm"])
    pulls["value"] = pulls["arm"] + pulls["run"]
    frame = pd.concat([regret.assign(metric="regret", arm=-1), pulls.assign(metric="pulls", t=5)])
    return frame.assign(series="b=" + frame["b"].astype(str)).reset_index(drop=True)


ROWS = pd.DataFrame({"series": ["a"], "kind": [1], "x": [2.0], "y": [4.0]})


def evidence(**frames: pd.DataFrame) -> Evidence:
    return Evidence.of_frames(frames or {"sim": small()})


def series(name: str = "sim", given: Evidence | None = None, **tags: object) -> SeriesQuery:
    return SeriesQuery(given or evidence(), {"in": name, "metric": "regret", **tags})


def test_values_are_sorted_by_run_at_the_time_asked_for() -> None:
    assert series(t=2, b=1).per_run().tolist() == [202.0, 212.0, 222.0]
    assert series(b=1).per_run().tolist() == [205.0, 215.0, 225.0]
    assert series(b=0).times == [2, 5]
    assert series(b=1).parameters == {"b": 1}
    block = series(b=0).block()
    assert (block.runs.tolist(), block.times.tolist()) == ([10, 11, 12], [2, 5])
    assert series(b=0).block("pulls").values[:, -1].tolist() == [[10, 11], [11, 12], [12, 13]]


def test_a_series_is_read_at_its_share_of_the_horizon() -> None:
    """5 is the horizon, and 2 and 5 are recorded."""
    for share, read in [({"share": 0.4}, 2), ({"share": 1.0}, 5), ({}, 5)]:
        assert series(b=1, **share).per_run().tolist() == series(b=1, t=read).per_run().tolist()
    refused(series(b=1, share=0.7).per_run, "is not recorded; the nearest is")


def test_the_first_runs_are_those_of_the_smallest_numbers() -> None:
    limited = replace(evidence(), limit=2)
    assert series(given=limited, t=2, b=0).per_run().tolist() == [102.0, 112.0]
    assert series(given=limited, b=0).block("pulls").values.shape == (2, 1, 2)
    frame = pd.concat([toy_frame([0.0], runs=20), toy_frame([0.0], runs=5).assign(series="x")])
    given = evidence(toy=frame, curves=ROWS, sim=small())
    for names, fewest in {("toy", "curves"): 5, ("curves",): 0, ("sim", "toy"): 3}.items():
        assert replace(given, limit=2).runs(names) == fewest


def test_results_are_loaded_once_and_only_when_asked_for() -> None:
    asked = []

    def load(name: str) -> pd.DataFrame:
        asked.append(name)
        return small()

    lazy = Evidence(load)
    assert asked == []
    series(given=lazy, b=0).number()
    series(given=replace(lazy, limit=1, reads=["sim"]), b=1).number()
    assert asked == ["sim"]


def test_analytic_rows_come_by_increasing_x() -> None:
    frame = pd.concat([ROWS, ROWS.assign(x=1.0, y=3.0), ROWS.assign(kind=2)])
    assert series("curves", evidence(curves=frame), kind=1).rows["y"].tolist() == [3.0, 4.0]


def test_an_empty_selection_is_one_clear_line() -> None:
    known = evidence(sim=small(), curves=ROWS)
    for given, words in [
        (series(given=known, t=3, b=0), ["sim", "t = 3", "the nearest is 2"]),
        (series(given=known, b=7), ["results of sim: tag b is 7", "allowed: 0, 1"]),
        (series(given=known), ["2 series with no tags (b=0, b=1)", "allowed: one"]),
        (series(given=known, c=1), ["tag of a series", "'c'", "allowed: b"]),
        (series(given=known, b=0, metric="reward"), ["no reward recorded for 'b=0'"]),
        (series("other", known, b=0), ["'other'", "allowed: sim, curves"]),
        (series("curves", known, kind=2), ["results of curves: tag kind is 2", "allowed: 1"]),
        (series("curves", known, size=2), ["tag of a series", "'size'", "kind, series, x, y"]),
    ]:
        refused(given.number, *words)
    undeclared = replace(known, reads=["curves"])
    refused(lambda: undeclared.results("sim"), "'sim' are not declared; allowed: curves")
    refused(series("curves", known, kind=1).per_run, "'curves' are analytic")
    refused(lambda: series(given=known, b=0).rows, "'sim' are a simulation")


def test_results_that_lack_a_time_or_a_column_are_refused() -> None:
    for lacking, words in [
        (small().iloc[1:], "has 5 rows; allowed: one for each of 3 runs, 2 times"),
        (small().drop(columns=["arm", "value"]), "results of sim: column arm, value is missing"),
    ]:
        refused(series(given=evidence(sim=lacking), b=0).number, words)


RUNS = 60
EPSILONS = (1, 2, 4, 8)
TIMES = (10, 100, 1000)


def made() -> dict[str, pd.DataFrame]:
    """Return results of two algorithms at four epsilons: regret, trials and exact numbers."""
    generator, names = np.random.default_rng(36), ["algorithm", "epsilon", "run", "t"]
    runs = pd.DataFrame(product("ab", EPSILONS, range(RUNS), TIMES), columns=names)
    runs["value"] = generator.uniform(5.0, 50.0, len(runs)) * np.log(runs["t"])
    runs = runs.assign(metric="pseudo_regret", arm=-1, variant="as-written", c=1 / runs["epsilon"])
    runs["series"] = runs["algorithm"] + runs["epsilon"].astype(str)
    won = generator.integers(200, 900, 8).astype(float)
    trials = runs[(runs["run"] == 0) & (runs["t"] == 1000)]
    trials = trials.assign(metric="success", trials=1000, value=won)
    numbers = pd.DataFrame({"quantity": ["c", "d"], "x": [1.0, 1.0], "y": [2.5, 7.0]})
    return {"runs": runs, "trials": trials, "numbers": numbers}


FRAMES = made()


def runs(algorithm: str, epsilon: int, t: int = 1000) -> np.ndarray:
    """Return the runs of a series at a time, read from the frame."""
    own = FRAMES["runs"].groupby(["series", "t"]).get_group((f"{algorithm}{epsilon}", t))
    return own["value"].to_numpy()


def won(algorithm: str, epsilon: int) -> float:
    return float(FRAMES["trials"].set_index("series")["value"][f"{algorithm}{epsilon}"]) / 1000


MEANS = {name: np.array([runs(name, epsilon).mean() for epsilon in EPSILONS]) for name in "ab"}
RATES = [won("a", epsilon) for epsilon in EPSILONS]
OVER_TIME = np.array([runs("a", 1, t).mean() for t in TIMES])
A, B = MEANS["a"], MEANS["b"]


def quantity(series: SeriesQuery, *, plus: float = 0.0) -> Estimate:
    """A quantity of a paper."""
    return 2.0 * mean(series.per_run()) + plus


FUNCTIONS = {
    "quantity": quantity,
    "printed": lambda *, places: 7 * places,
    **code_of("toy").quantities,
}
EVIDENCE = replace(Evidence.of_frames(FRAMES, FUNCTIONS), reads=FRAMES)
SERIES = {
    "a": {"in": "runs", "algorithm": "a"},
    "b": {"in": "runs", "algorithm": "b"},
    "won": {"in": "trials", "algorithm": "a"},
    "other": {"in": "trials", "algorithm": "b"},
    "doubled": {"in": "runs", "algorithm": "a", "metric": "quantity"},
    "largest": {"in": "runs", "algorithm": "a", "epsilon": "largest"},
}


def entry_of(text: str) -> Any:
    return yaml.safe_load(f"{{{text}}}")


def stating(text: str, row: dict[str, Any] | None = None, **keys: Any) -> Claim:
    """Return a claim with a comparison as a claims file would state it."""
    entry = "compared", {"less": 0, **keys, **entry_of(text)}
    return claim(entry, reads=[*FRAMES], readings=[row or {}], series=SERIES)


def measured(text: str, row: dict[str, Any] | None = None) -> dict[str, Estimate]:
    """Measure a comparison; points by their labels."""
    stated, answers = stating(text, row), {}
    for case in stated.cases(stated.readings[0]):
        over = "".join(f" {key}={value}" for key, value in case.over.items())
        for label, number in Measurement(case, EVIDENCE).numbers().items():
            answers[f"{label}{over}"] = number
    return answers


def fitted(x: Any, y: Any) -> float:
    return float(np.polyfit(x, y, 1)[0])


def by_epsilon(values: Any) -> dict[str, float]:
    return {f"epsilon={x}": y for x, y in zip(EPSILONS, values, strict=True)}


ALONG = "value: a, along: epsilon, "
IN_TIME = "value: {a: {epsilon: 1}}, along: t, "
STEPS = {f"t={t} to {10 * t}": step for t, step in zip(TIMES, np.diff(OVER_TIME), strict=False)}

# A comparison as a file states it, and its numbers by their labels.
CASES: list[tuple[str, dict[str, float]]] = [
    ("value: a, at: {epsilon: 4}", {"": A[2]}),
    ("value: a, at: {epsilon: 2, t: 100}", {"": runs("a", 2, 100).mean()}),
    ("value: largest", {"": A[3]}),
    ("value: {in: numbers, quantity: d}", {"": 7.0}),
    ("value: {in: numbers, quantity: d, column: x}", {"": 1.0}),
    ("value: won, for: {epsilon: [1, 8]}", {" epsilon=1": RATES[0], " epsilon=8": RATES[3]}),
    ("difference: [a, b], at: {epsilon: 2}", {"": A[1] - B[1]}),
    ("difference: [a, {a: {epsilon: 1}}], at: {epsilon: 2}", {"": A[1] - A[0]}),
    ("difference: [won, other], at: {epsilon: 2}", {"": RATES[1] - won("b", 2)}),
    ("ratio: [a, '{of}'], at: {epsilon: 2}, for: {of: [b]}", {" of=b": A[1] / B[1]}),
    ("ratio: [won, a], at: {epsilon: 2}", {"": RATES[1] / A[1]}),
    ("quantity: quantity, of: a, at: {epsilon: 1}, arguments: {plus: 3}", {"": 2 * A[0] + 3}),
    ("quantity: printed, arguments: {places: 2}", {"": 14.0}),
    (
        "quantity: quantity, of: {a: {epsilon: '{epsilon}'}}, arguments: {plus: '{epsilon}'}, "
        "along: epsilon, points: [1, 2, 4, 8], pick: largest",
        {"": (2 * A + EPSILONS).max()},
    ),
    ("difference: [doubled, a], at: {epsilon: 1}", {"": A[0]}),
    (ALONG, by_epsilon(A)),
    (
        ALONG + "points: [1, 8], pick: {steps: {by: ratio}}, point: '{next} over {epsilon}'",
        {"8 over 1": A[3] / A[0]},
    ),
    (IN_TIME + "pick: steps", STEPS),
    (ALONG + "pick: [steps, largest]", {"": np.diff(A).max()}),
    (ALONG + "pick: [steps, smallest]", {"": np.diff(A).min()}),
    (ALONG + "pick: slope", {"": fitted(EPSILONS, A)}),
    (ALONG + "pick: {slope: {x: log}}", {"": fitted(np.log(EPSILONS), A)}),
    (ALONG + "pick: {slope: {x: log-inverse}}", {"": -fitted(np.log(EPSILONS), A)}),
    (ALONG + "pick: {slope: {y: log}}", {"": fitted(EPSILONS, np.log(A))}),
    ("value: won, along: epsilon, pick: slope", {"": fitted(EPSILONS, RATES)}),
    (ALONG + "pick: place", {"": EPSILONS[A.argmin()]}),
    (ALONG + "pick: interior", {"": min(A[0], A[-1]) - A[1:-1].min()}),
    (ALONG + "pick: {interior: {by: ratio}}", {"": A[1:-1].min() / min(A[0], A[-1])}),
    (ALONG + "pick: between", {"epsilon=2": A[1], "epsilon=4": A[2]}),
    (ALONG + "pick: {margin: {of: [1, 8]}}", {"": A[[0, 3]].min() - A[[1, 2]].max()}),
    (
        ALONG + "pick: cut",
        {"": max(A[:end].min() - A[end:].max() for end in range(1, len(A)))},
    ),
    (ALONG + "pick: steps, summary: furthest", {"": abs(np.diff(A)).max()}),
    (ALONG + "summary: ends", {"lowest": A.min(), "highest": A.max()}),
    (ALONG + f"summary: {{share: {{at_least: {A[1]}}}}}", {"": np.mean(A[1] <= A)}),
    (ALONG + "where: {c: {from: 0.2, to: 0.5}}", {"epsilon=2": A[1], "epsilon=4": A[2]}),
    (
        "value: '{name}', along: [name, epsilon], points: {name: [a, b]}, summary: smallest",
        {"": min(A.min(), B.min())},
    ),
    (
        "value: a, along: [epsilon, t], points: {epsilon: [4, 8], t: [10, 100]}",
        {f"epsilon={x}, t={t}": runs("a", x, t).mean() for x in (4, 8) for t in (10, 100)},
    ),
    ("value: {algorithm: a, epsilon: 2}, along: in", {"in=runs": A[1], "in=trials": RATES[1]}),
]


def test_a_number_is_the_one_computed_directly() -> None:
    for entry, expected in CASES:
        answers = measured(entry)
        assert {label: one.value for label, one in answers.items()} == pytest.approx(expected), (
            entry
        )
        for one in answers.values():
            lo, hi = one.interval(0.05)
            assert lo <= one.value <= hi


def test_every_operation_and_pick_has_a_case() -> None:
    entries = [entry_of(entry) for entry, _ in CASES]
    picks = [entry.get("pick", []) for entry in entries]
    named = {name for pick in picks for name in ([pick] if isinstance(pick, str) else pick)}
    assert named == {*PICKS}
    assert {*OPERATIONS} <= {key for entry in entries for key in entry}


def test_steps_in_time_are_of_the_same_runs() -> None:
    """Run by run their interval is that of the increments."""
    found = measured(IN_TIME + "points: [10, 100], pick: steps")["t=10 to 100"]
    increments = runs("a", 1, 100) - runs("a", 1, 10)
    half = stats.t.ppf(0.975, RUNS - 1) * stats.sem(increments)
    lo, hi = found.interval(0.05)
    assert hi - lo == pytest.approx(2 * half, rel=0.05)


def test_a_series_may_be_that_of_the_reading() -> None:
    for name, expected in {"a": A[0], "b": B[0]}.items():
        for entry in ("value: '{of}'", "value: {in: runs, algorithm: '{of}'}"):
            found = measured(entry + ", at: {epsilon: 1}", {"of": name})
            assert found[""].value == pytest.approx(expected)


def test_a_mistyped_metric_tag_or_time_is_seen_by_the_check() -> None:
    for entry, words in [
        ("quantity: quantity, of: {a: {metric: regrte}}", "no regrte recorded"),
        ("value: {a: {t: 55}}", "t = 55 is not recorded"),
        # Of four series, with and without the metric; what a quantity makes of one is not known.
        ("quantity: quantity, at: {}, of: {a: {metric: regrte}}", "no regrte recorded"),
        (
            "quantity: quantity, at: {}, of: {a: {metric: pseudo_regret, t: 55}}",
            "t = 55 is not recorded",
        ),
        ("value: {won: {share: 0.55}}", "trials have no t and no share"),
        ("value: {a: {share: 0.55}}", "is not recorded"),
        ("value: {a: {metric: quantity, t: 55}}", "t = 55 is not recorded"),
    ]:
        one = [stating(entry, at={"epsilon": 1})]
        check = partial(check_series, one, FRAMES.get, functions=FUNCTIONS)
        refused(partial(check, FRAMES), "TOY-C1: compared", words)
        # What is not known before it is computed is not checked.
        check(())


def test_what_has_no_answer_is_refused() -> None:
    def answer(entry: str) -> None:
        check_names([stating(entry)], FUNCTIONS)
        measured(entry)

    for entry, words in [
        ("value: a", "4 series"),
        ("value: {a: {where: {epsilon: 1}}}", "is 'where'; allowed: algorithm, c, epsilon"),
        ("value: a, at: {epsilon: 1}, for: {epsilno: [1]}", "epsilno, which no series"),
        ("value: '{name}', for: {name: [c]}", "series is 'c'"),
        ("value: a, along: horizon", "horizon, which no series"),
        ("value: a, at: {epsilon: '{other}'}", "other; allowed"),
        (ALONG + "pick: {margin: {of: [3]}}", "margin of 3"),
        ("ratio: [a, a], along: epsilon", "both series are"),
        (ALONG + "pick: highest", "pick is 'highest'"),
        (ALONG + "pick: [slope, steps]", "of one number"),
        (ALONG + "points: [1, 2], pick: interior", "3 or more"),
        (ALONG + "points: [1], pick: slope", "2 or more"),
        ("value: {a: {variant: repaired}}, along: epsilon, pick: slope", "tag variant is"),
        ("quantity: halved, of: a", "quantity is 'halved'"),
        ("quantity: quantity, of: a, arguments: {less: 1}", "unexpected keyword"),
        (ALONG + "pick: {slope: {z: log}}", "slope: got an unexpected keyword"),
    ]:
        refused(partial(answer, entry), words)


def test_an_audit_sees_a_guarantee_exceeded_by_the_inverse_of_what_it_certifies() -> None:
    for shares, events, share, seen in [
        ((0.2, 0.4, 0.1), "any", 0.4, 2.5),
        ((0.2, 0.4, 0.1), "observable", 0.2, 5.0),
        ((0.0, 0.0, 0.0), "any", 0.0, math.inf),
        ((0.2, 1.5, 0.1), "any", 1.5, 1.0),
    ]:
        frame = pd.DataFrame({"ratio": shares, "log10_alpha": [-2.0, -7.0, -1.0], "x": 1.0})
        frame["log10_beta"] = -1.0
        one = series("audit", evidence(audit=frame))
        assert audited_share(one, events=events).value == share
        assert seen_from(one, events=events).value == pytest.approx(seen)
        assert audited_chance(one).value == (-2.0 if share == 0.0 else -7.0)
    rare = series("audit", evidence(audit=frame[1:2]))
    refused(lambda: seen_from(rare, events="observable"), "no observable event")
