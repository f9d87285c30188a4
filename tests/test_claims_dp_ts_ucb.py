"""Statistics of dp-ts-ucb on made-up final regrets, against the same numbers computed directly."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.engine.results import results_frame
from dpbandits.papers.dp_ts_ucb import statistics
from dpbandits.pipeline.project import Project
from shared import ExactResults
from support import ROOT
from synthetic_results import PAPERS

EXACT = ExactResults("dp-ts-ucb")
RUNS, NOISE = 40, 5.0
OWN, PRIVACY, FINER = "final-verdicts", "equal-privacy-verdicts", "finer-verdicts"
BOUND, BASELINES = "equal-bound-verdicts", "baseline-verdicts"

Mean = Callable[[str, Mapping[str, Any]], float]
"""Mean final regret by name of the results and tags of a series."""


def drawn(name: str, tags: Mapping[str, Any]) -> float:
    """Return a mean of its own for each series."""
    label = "|".join(f"{key}={tags[key]}" for key in sorted(tags))
    return float(np.random.default_rng([*f"{name}|{label}".encode()]).uniform(200.0, 2000.0))


def frame_of(name: str, mean: Mean = drawn) -> pd.DataFrame:
    """Return results with normal final regrets, the same errors in every series."""
    if name in EXACT:
        return EXACT[name]
    series = PAPERS["dp-ts-ucb"].plan(name, {"runs": RUNS}).series()
    errors = np.random.default_rng(3).standard_normal(RUNS)
    blocks = []
    for each in series:
        cell = each.cell
        tags = {"algorithm": cell.definition.id, "horizon": cell.horizon, **each.tags}
        final = mean(name, tags) + NOISE * errors[: len(each.runs)]
        blocks.append({"pseudo_regret": np.repeat(final[:, None], len(cell.grid), axis=1)})
    return results_frame(series, blocks)


def evidence_of(mean: Mean = drawn) -> Evidence:
    return Evidence.of(cache(lambda name: frame_of(name, mean)), root_seed=7, resamples=500)


EVIDENCE = evidence_of()


def regret(name: str, **where: Any) -> float:
    """Return the mean final regret of the series with these tags, read from the frame."""
    frame = frame_of(name)
    for key, value in where.items():
        frame = frame[frame[key] == value]
    assert frame["series"].nunique() == 1
    return float(frame.loc[frame["t"] == frame["t"].max(), "value"].mean())


def own(alpha: float, horizon: int = 1_000_000) -> float:
    return regret(OWN, alpha=alpha, horizon=horizon)


def private(alpha: float, b: int, count: str = "n+1") -> float:
    return regret(PRIVACY, alpha=alpha, b=b, count=count)


def test_regrets_of_the_alphas() -> None:
    found = statistics.alpha_difference(EVIDENCE, horizon=31_622, alpha=0.25, minus=1)
    assert found.value == pytest.approx(own(0.25, 31_622) - own(1, 31_622))
    found_bound = statistics.equal_bound_difference(EVIDENCE, alpha=0.5, count="n")
    expected = own(0.5) - regret(BOUND, alpha=0.5, count="n")
    assert found_bound.value == pytest.approx(expected)


def test_steps_of_alpha_are_counted() -> None:
    """Of 8 steps two go down; a step without a number leaves no count."""
    alphas = [0, 0.25, 0.5, 0.75, 1]
    levels = {0: 300.0, 0.25: 600.0, 0.5: 500.0, 0.75: 900.0, 1: 800.0}

    def falling(name: str, tags: Mapping[str, Any]) -> float:
        return levels[tags["alpha"]] if tags["horizon"] == 10**6 else 1000.0 * tags["alpha"]

    horizons = (316_227, 10**6)
    assert statistics.steps_down(evidence_of(falling), horizons=horizons).value == 2
    rising = evidence_of(lambda name, tags: 1000.0 * alphas.index(tags["alpha"]))
    assert statistics.steps_down(rising, horizons=horizons).value == 0
    assert statistics.alpha_trend(rising, horizon=10**6).value == 1.0
    lost = evidence_of(lambda name, tags: float("nan"))
    assert np.isnan(statistics.steps_down(lost, horizons=horizons).value)


@pytest.mark.parametrize("count", ["n", "n+1"])
def test_the_best_pre_pulls_are_the_lowest_of_the_seven_with_this_count(count: str) -> None:
    means = {b: private(1, b, count) for b in statistics.PRE_PULLS}
    best = min(means, key=means.__getitem__)
    for b in statistics.PRE_PULLS:
        where: dict[str, Any] = {"alpha": 1, "b": b, "count": count}
        assert statistics.is_best_b(EVIDENCE, **where).value == float(b == best)
        others = [mean for other, mean in means.items() if other != b]
        margin = statistics.best_b_margin(EVIDENCE, **where)
        assert margin.value == pytest.approx(min(others) - means[b])
    # A choice that all resamples make is decided as far as they resolve it, and no further.
    choice = statistics.is_best_b(EVIDENCE, alpha=1, b=best, count=count).with_tails()
    assert choice.interval(0.01) == (1.0, 1.0)
    assert choice.interval(1e-4) == (-np.inf, np.inf)


def test_pre_pulls_beyond_the_seven_are_those_of_the_finer_grid() -> None:
    ten = regret(FINER, alpha=0, b=10)
    assert statistics.pre_pull_regret(EVIDENCE, alpha=0, b=10).value == pytest.approx(ten)
    step = statistics.pre_pull_difference(EVIDENCE, alpha=0, b=1, minus=10)
    assert step.value == pytest.approx(private(0, 1) - ten)
    factor = statistics.regret_over_pre_pulled(EVIDENCE, alpha=0, b=10)
    assert factor.value == pytest.approx(own(0) / ten)
    margin = statistics.best_between_margin(EVIDENCE, alpha=0, b=1, between=[10, 500])
    assert margin.value == pytest.approx(min(ten, private(0, 500)) - private(0, 1))


def test_figure_7_compares_in_the_interpretations_asked_for() -> None:
    lazy = {log: regret(BASELINES, algorithm="lazy-dp-ts", log=log) for log in ("base2", "natural")}
    for log, expected in lazy.items():
        found = statistics.regret_difference(
            EVIDENCE, first="lazy-dp-ts", second="dp-ts-ucb", alpha=1, lazy_dp_ts_log=log
        )
        assert found.value == pytest.approx(expected - own(1))
    other = regret(BASELINES, algorithm="anytime-lazy-ucb", log="natural") - private(1, 2000, "n")
    found = statistics.regret_difference(
        EVIDENCE,
        first="anytime-lazy-ucb",
        second="m-ts-gaussian",
        alpha=1,
        count="n",
        lazy_ucb_log="natural",
    )
    assert found.value == pytest.approx(other)
    ratio = statistics.regret_ratio(
        EVIDENCE, first="dp-ts-ucb", second="m-ts-gaussian", alpha=0, count="n"
    )
    assert ratio.value == pytest.approx(own(0) / private(0, 1, "n"))
    share = (own(0) - private(0, 1)) / (private(1, 2000) - own(1))
    assert statistics.gap_share(EVIDENCE, count="n+1").value == pytest.approx(share)


def test_exact_claims_come_out_as_computed_by_hand() -> None:
    """651.5 against 447.2 at alpha = 0; the ratio is 2.15, 1.43, 0.92, 0.58, 0.36 by T."""
    claims = [each for each in Project.load(ROOT).study("dp-ts-ucb").claims if not each.analyses]
    found = {each.claim.id: each for each in judge(claims, Evidence.of_frames(EXACT, root_seed=1))}
    assert {name: each.verdict for name, each in found.items()} == {
        **dict.fromkeys(("DTU-C2", "DTU-C3", "DTU-C14a", "DTU-C14c", "DTU-C16"), "holds"),
        **dict.fromkeys(("DTU-C14b", "DTU-C15", "DTU-C17"), "not contradicted"),
        "DTU-C5": "mixed",
    }
    assert [name for name, each in found["DTU-C5"].parts.items() if each == "fails"] == ["alpha=0"]
    numbers = {
        each.label: each.estimate.value for name in found for each in found[name].comparisons
    }
    label = "eta of DP-TS-UCB over that of M-TS-Gaussian, alpha=0"
    assert numbers[label] == pytest.approx(651.5 / 447.21, rel=1e-3)
    assert numbers["the same without the factor 2, alpha=0"] == pytest.approx(1.030, abs=5e-4)
    reported = [
        each.estimate.value for each in found["DTU-C14b"].comparisons if not each.comparison.decides
    ]
    assert reported == pytest.approx([2.15, 1.43, 0.92, 0.58, 0.36], abs=0.005)


def test_a_wrong_level_fails_the_exact_claims() -> None:
    """The control: levels of alpha in reverse order, or growing with the horizon."""
    claims = {each.id: each for each in Project.load(ROOT).study("dp-ts-ucb").claims}
    levels = EXACT["privacy-by-horizon"]
    mirrored = levels.assign(alpha=1.0 - levels["alpha"])
    growing = levels.assign(y=levels["y"] * levels["x"] ** 0.5)
    for name, wrong in (("DTU-C2", mirrored), ("DTU-C3", growing), ("DTU-C16", growing)):
        frames = {**EXACT, "privacy-by-horizon": wrong}
        [found] = judge([claims[name]], Evidence.of_frames(frames, root_seed=1))
        assert found.verdict == "fails"
