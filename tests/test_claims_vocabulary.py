"""Operations on series, picks of points and tags, against numbers computed directly."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from dpbandits.claims.docket import ClaimsFile, Question, claims_of
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.numbers import Estimate, mean
from dpbandits.claims.statistics import OPERATIONS, PICKS, Measurement
from dpbandits.errors import InputError
from support import ROOT

RUNS = 60
EPSILONS = (1, 2, 4, 8)
TIMES = (10, 100, 1000)


def made() -> dict[str, pd.DataFrame]:
    """Return results of two algorithms at four epsilons: regret, trials and exact numbers."""
    generator, names = np.random.default_rng(36), ["algorithm", "epsilon", "run", "t"]
    runs = pd.DataFrame(itertools.product("ab", EPSILONS, range(RUNS), TIMES), columns=names)
    runs["value"] = generator.uniform(5.0, 50.0, len(runs)) * np.log(runs["t"])
    runs = runs.assign(metric="pseudo_regret", arm=-1, variant="as-written", c=1 / runs["epsilon"])
    runs["series"] = runs["algorithm"] + runs["epsilon"].astype(str)
    won = generator.integers(200, 900, 8).astype(float)
    trials = runs[(runs["run"] == 0) & (runs["t"] == 1000)]
    trials = trials.assign(metric="success", trials=1000, value=won)
    numbers = pd.DataFrame({"quantity": ["c", "d"], "x": [1.0, 1.0], "y": [2.5, 7.0]})
    return {"runs": runs, "trials": trials, "numbers": numbers}


FRAMES = made()
EVIDENCE = Evidence.of_frames(FRAMES).of_results(FRAMES)


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


def quantity(series: Series, *, plus: float = 0.0) -> Estimate:
    """A quantity of a paper."""
    return 2.0 * mean(series.per_run()) + plus


def side(*series: Series) -> str:
    """A class of a paper: where the last of several series is above the first."""
    return "up" if series[-1].number().value > series[0].number().value else "down"


SERIES = {
    "a": {"in": "runs", "algorithm": "a"},
    "b": {"in": "runs", "algorithm": "b", "when": {"side=right": {"algorithm": "a"}}},
    "won": {"in": "trials", "algorithm": "a"},
    "other": {"in": "trials", "algorithm": "b"},
    "doubled": {"in": "runs", "algorithm": "a", "metric": "quantity"},
    "largest": {"in": "runs", "algorithm": "a", "epsilon": "largest"},
}


def questions(entry: dict[str, Any], row: dict[str, Any] | None = None) -> list[Question]:
    """Return a comparison as a claims file would state it, for all values it runs over."""
    claim = {
        **dict.fromkeys(("statement", "place", "scope", "rule", "metric"), "Some words."),
        **{"kind": "experiment", "verdicts": ["holds", "fails"], "runs": 50, "runs_paper": 50},
        "reads": [*FRAMES],
        "interpretations": [row or {}],
        "comparisons": {"compared": {"less": 0, **entry}},
    }
    file = ClaimsFile.model_validate({"paper": "toy", "series": SERIES, "claims": {"A-C1": claim}})
    [stated] = claims_of(file, ROOT, {"quantity": quantity, "side": side})
    return list(stated.questions(stated.interpretations[0]))


def measured(entry: str, row: dict[str, Any] | None = None) -> dict[str, Estimate]:
    """Measure a comparison; points by their labels."""
    answers = {}
    for question in questions(entry_of(entry), row):
        over = "".join(f" {key}={value}" for key, value in question.over.items())
        for label, number in Measurement(question, EVIDENCE).numbers().items():
            answers[f"{label}{over}"] = number
    return answers


def fitted(x: Any, y: Any) -> float:
    return float(np.polyfit(x, y, 1)[0])


def entry_of(text: str) -> Any:
    return yaml.safe_load(f"{{{text}}}")


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
    ("deviation: [a, b], at: {epsilon: 2}", {"": A[1] / B[1] - 1.0}),
    ("quantity: quantity, of: a, at: {epsilon: 1}, arguments: {plus: 3}", {"": 2 * A[0] + 3}),
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
    (ALONG + "pick: trend", {"": stats.kendalltau(EPSILONS, A).statistic}),
    (ALONG + "pick: slope", {"": fitted(EPSILONS, A)}),
    (ALONG + "pick: {slope: {x: log}}", {"": fitted(np.log(EPSILONS), A)}),
    (ALONG + "pick: {slope: {x: log-inverse}}", {"": -fitted(np.log(EPSILONS), A)}),
    (ALONG + "pick: {slope: {y: log}}", {"": fitted(EPSILONS, np.log(A))}),
    ("value: won, along: epsilon, pick: slope", {"": fitted(EPSILONS, RATES)}),
    (ALONG + "pick: place", {"": EPSILONS[A.argmin()]}),
    (ALONG + "pick: {lowest_at: {place: 1}}", {"": 1.0}),
    (ALONG + "pick: {lowest_at: {place: 8}}", {"": 0.0}),
    (ALONG + "pick: interior", {"": min(A[0], A[-1]) - A[1:-1].min()}),
    (ALONG + "pick: {interior: {by: ratio}}", {"": A[1:-1].min() / min(A[0], A[-1])}),
    (ALONG + "pick: between", {"epsilon=2": A[1], "epsilon=4": A[2]}),
    (ALONG + "pick: {margin: {of: [1, 8]}}", {"": A[[0, 3]].min() - A[[1, 2]].max()}),
    (ALONG + "pick: steps, summary: furthest", {"": abs(np.diff(A)).max()}),
    (ALONG + "summary: median", {"": np.median(A)}),
    (ALONG + "summary: ends", {"lowest": A.min(), "highest": A.max()}),
    (ALONG + f"summary: {{share: {{at_least: {A[1]}}}}}", {"": np.mean(A[1] <= A)}),
    (ALONG + "where: {c: {from: 0.2, to: 0.5}}", {"epsilon=2": A[1], "epsilon=4": A[2]}),
    (
        "difference: [a, b], along: epsilon, keep: {side: up}",
        {name: a - b for (name, a), b in zip(by_epsilon(A).items(), B, strict=True) if b > a},
    ),
    (
        "value: a, along: [epsilon, t], pick: {slope: {x: log}}, keep: {side: [up, down]}, "
        "point: '{epsilon}: {side}'",
        {
            f"{epsilon}: up": fitted(np.log(TIMES), [runs("a", epsilon, t).mean() for t in TIMES])
            for epsilon in EPSILONS
        },
    ),
    (
        "value: a, places: [{at: {epsilon: 1}, along: t, pick: steps}, "
        "{at: {epsilon: 8}, point: last}]",
        {**STEPS, "last": A[3]},
    ),
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


@pytest.mark.parametrize(("entry", "expected"), CASES)
def test_a_number_is_the_one_computed_directly(entry: str, expected: dict[str, float]) -> None:
    answers = measured(entry)
    assert {label: one.value for label, one in answers.items()} == pytest.approx(expected)
    for one in answers.values():
        lo, hi = one.interval(0.05)
        assert lo <= one.value <= hi


def test_every_operation_and_pick_has_a_case() -> None:
    entries = [entry_of(entry) for entry, _ in CASES]
    picks = [entry.get("pick", "each") for entry in entries]
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


def test_a_series_may_be_another_one_by_an_interpretation() -> None:
    for side, expected in {"left": B[0], "right": A[0]}.items():
        found = measured("value: b, at: {epsilon: 1}", {"side": side})
        assert found[""].value == pytest.approx(expected)


SEVERAL = "quantity: quantity, at: {}, "


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("value: {a: {metric: regrte}}", "no regrte recorded"),
        ("quantity: quantity, of: {a: {metric: regrte}}", "no regrte recorded"),
        ("value: {a: {epsilon: 3}}", "0 series"),
        ("value: {a: {t: 55}}", "t = 55 is not recorded"),
        # Of four series, with and without the metric; what a quantity makes of one is not known.
        (SEVERAL + "of: {a: {metric: regrte}}", "no regrte recorded"),
        (SEVERAL + "of: {a: {metric: pseudo_regret, t: 55}}", "t = 55 is not recorded"),
        (SEVERAL + "of: {a: {t: 55}}", "t = 55 is not recorded"),
        ("value: {won: {t: 55}}", "trials have no t and no share"),
        ("value: {won: {share: 0.55}}", "trials have no t and no share"),
        ("value: {a: {share: 0.55}}", "is not recorded"),
        ("value: {a: {metric: quantity, t: 55}}", "t = 55 is not recorded"),
    ],
)
def test_a_mistyped_metric_tag_or_time_is_seen_by_the_check(entry: str, words: str) -> None:
    [question] = questions({"at": {"epsilon": 1}} | entry_of(entry))
    with pytest.raises(InputError, match=words):
        Measurement(question, EVIDENCE).check()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("value: a", "4 series"),
        ("value: a, at: {epsilon: 3}", "0 series with"),
        ("value: {a: {where: {epsilon: 1}}}", "is 'where'; allowed: .*epsilon"),
        ("value: a, at: {epsilon: 1}, for: {epsilno: [1]}", "epsilno, which no series"),
        ("value: '{name}', for: {name: [c]}", "series is 'c'"),
        ("value: a, along: horizon", "horizon, which no series"),
        ("value: a, at: {epsilon: '{other}'}", "other; allowed"),
        (ALONG + "pick: {margin: {of: [3]}}", "margin of 3"),
        ("ratio: [a, a], along: epsilon", "both series are"),
        (ALONG + "pick: highest", "pick is 'highest'"),
        (ALONG + "pick: [trend, steps]", "of one number"),
        (ALONG + "points: [1, 2], pick: interior", "3 or more"),
        (ALONG + "points: [1], pick: trend", "2 or more"),
        ("value: {a: {variant: repaired}}, along: epsilon, pick: trend", "0 series with"),
        ("quantity: halved, of: a", "quantity is 'halved'"),
        ("quantity: quantity, of: a, arguments: {less: 1}", "unexpected keyword"),
        (ALONG + "pick: {slope: {z: log}}", "slope: got an unexpected keyword"),
    ],
)
def test_what_has_no_answer_is_refused(entry: str, words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        measured(entry)
