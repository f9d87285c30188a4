"""Statistics of dp-ts-ucb on made-up final regrets, against the same numbers computed directly."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits import privacy
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.claims.statistics import Measurement
from dpbandits.engine.results import results_frame
from dpbandits.pipeline.project import Project
from shared import ExactResults
from support import ROOT
from synthetic_results import PAPERS

EXACT = ExactResults("dp-ts-ucb")
STUDY = Project.load(ROOT).study("dp-ts-ucb")
RUNS, NOISE = 40, 5.0

Mean = Callable[[str, Mapping[str, Any]], float]
"""Mean final regret by name of the results and tags of a series."""


def frame_of(name: str, mean: Mean) -> pd.DataFrame:
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


def evidence_of(mean: Mean) -> Evidence:
    return Evidence(cache(lambda name: frame_of(name, mean)))


def compared(name: str, label: str, evidence: Evidence) -> float:
    """Return the number of a comparison in the first row."""
    [claim] = [one for one in STUDY.stated if one.id == name]
    questions = claim.questions(claim.interpretations[0])
    [question] = [one for one in questions if one.label == label]
    return Measurement(question, evidence.of_results(claim.reads)).numbers()[""].value


def test_the_share_of_a_gap_is_over_that_at_alpha_one() -> None:
    """600 against 500 at alpha = 0, 900 against 1300 at alpha = 1."""
    own, other = {0: 600.0, 1: 900.0}, {(0, 1): 500.0, (1, 2000): 1300.0}

    def planted(name: str, tags: Mapping[str, Any]) -> float:
        if name == "final-verdicts":
            return own.get(tags["alpha"], 0.0)
        return other.get((tags["alpha"], tags["b"]), 0.0)

    found = compared("DTU-C8b", "gap over the one at alpha=1", evidence_of(planted))
    assert found == pytest.approx(0.25)


def test_steps_of_alpha_are_counted() -> None:
    """Of 8 steps two go down; a step without a number leaves no count."""
    levels = {0: 300.0, 0.25: 600.0, 0.5: 500.0, 0.75: 900.0, 1: 800.0}

    def falling(name: str, tags: Mapping[str, Any]) -> float:
        return levels[tags["alpha"]] if tags["horizon"] == 10**6 else 1000.0 * tags["alpha"]

    steps = "DTU-F1", "steps down at the two longest horizons"
    assert compared(*steps, evidence_of(falling)) == 2
    rising = evidence_of(lambda name, tags: 1000.0 * tags["alpha"])
    assert compared(*steps, rising) == 0
    assert compared("DTU-C1", "Kendall's tau of alpha and regret, T=1000000", rising) == 1.0
    assert np.isnan(compared(*steps, evidence_of(lambda name, tags: float("nan"))))


def test_exact_claims_come_out_as_computed_by_hand() -> None:
    """651.5 against 447.2 at alpha = 0; the ratio is 2.15, 1.43, 0.92, 0.58, 0.36 by T."""
    claims = [each for each in STUDY.claims if not each.runs]
    found = {each.claim.id: each for each in judge(claims, Evidence.of_frames(EXACT))}
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
    claims = {each.id: each for each in STUDY.claims}
    levels = EXACT["privacy-by-horizon"]
    mirrored = levels.assign(alpha=1.0 - levels["alpha"])
    growing = levels.assign(y=levels["y"] * levels["x"] ** 0.5)
    for name, wrong in (("DTU-C2", mirrored), ("DTU-C3", growing), ("DTU-C16", growing)):
        frames = {**EXACT, "privacy-by-horizon": wrong}
        [found] = judge([claims[name]], Evidence.of_frames(frames))
        assert found.verdict == "fails"


def test_the_levels_in_the_pictures_of_figure_7_are_those_of_theorem_4_4() -> None:
    text = (ROOT / "config/papers/dp-ts-ucb/experiments.yaml").read_text(encoding="utf-8")
    levels = [privacy.epsilon(1e-6, privacy.dp_ts_ucb_gdp(alpha, 10**6)) for alpha in (0, 1)]
    assert "= 2.2×10⁵, the baselines 0.5" in text
    assert "= 17.2, the baselines 0.5" in text
    assert [f"{level:.3g}" for level in (round(levels[0], -4), levels[1])] == ["2.2e+05", "17.2"]
