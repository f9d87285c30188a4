"""Rows and curves of the Gaussian engine, at a scale of seconds."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpbandits import privacy
from dpbandits.auditing.curves import (
    budget_curves,
    epsilon_curves,
    modified_curves,
    theorem_3_curves,
    tradeoff_curves,
)
from dpbandits.auditing.rows import AuditRow, to_frame
from dpbandits.auditing.thompson_statements import (
    budget_rows,
    epsilon_rows,
    modified_rows,
    quoted_rows,
    round_rows,
    sampled_rows,
    standard_rows,
    theorem_3_rows,
)

SAMPLED = ((2, 20, 4_000), (3, 6, 400))


def thompson_rows(seed: int = 0) -> list[AuditRow]:
    """Return rows of every statement at a scale of seconds."""
    return [
        *round_rows(),
        *standard_rows((0.1, 1e-3)),
        *theorem_3_rows((3, 30), (4,), (10, 100, 10_000)),
        *sampled_rows(SAMPLED, seed),
        *epsilon_rows((10, 30)),
        *modified_rows((1, 5), 60, (0, 5), (0, 1_000)),
        *quoted_rows((10, 100, 10_000), 10_000),
        *budget_rows((100,), (0.0, 1.0)),
    ]


PROVED = ("AUD-1", "AUD-2", "AUD-3", "AUD-4", "AUD-7", "AUD-8")
"""Statements with a proof: a bound above them would be an error of the engine."""


@pytest.fixture(scope="module")
def rows() -> list[AuditRow]:
    return thompson_rows()


def test_all_statements_have_rows(rows: list[AuditRow]) -> None:
    assert {row.statement for row in rows} == {f"AUD-{n}" for n in range(1, 9)}
    assert {row.claim for row in rows if row.statement == "AUD-5"} == {"TSDP-C28b"}


def test_no_bound_exceeds_what_is_proved(rows: list[AuditRow]) -> None:
    for row in rows:
        if row.statement in PROVED:
            assert 0.0 < row.lower <= row.claimed * (1.0 + 1e-9), row


def test_bounds_on_mu_are_those_of_their_events(rows: list[AuditRow]) -> None:
    for row in rows:
        observable = -6.1 < row.log10_alpha < -1e-6 and -6.1 < row.log10_beta < -1e-6
        if row.measure == "mu" and row.engine in ("exact lattice", "likelihood") and observable:
            shown = norm.isf(10.0**row.log10_alpha) - norm.ppf(10.0**row.log10_beta)
            assert row.lower == pytest.approx(shown, rel=1e-5), row


def test_delta_of_one_decision_is_that_of_report_noisy_max(rows: list[AuditRow]) -> None:
    lowest = -math.sqrt(2.0)
    for row in (row for row in rows if row.statement == "AUD-5"):
        epsilon = privacy.ts_round_epsilon(row.claimed, 2)
        limit = privacy.report_noisy_max_true_delta(epsilon, math.sqrt(0.5), lowest)
        assert row.lower <= limit + 1e-12
        assert row.lower == pytest.approx(limit, rel=2e-2, abs=1e-12)


def test_rows_do_not_depend_on_the_run(rows: list[AuditRow]) -> None:
    assert to_frame(rows).equals(to_frame(thompson_rows()))
    other = to_frame(thompson_rows(1))
    exact = other["runs"] == 0
    assert to_frame(rows)[exact].equals(other[exact])
    assert not to_frame(rows)[~exact].equals(other[~exact])


def test_curves_hold_what_rows_say(rows: list[AuditRow]) -> None:
    frames = {
        "AUD-2": theorem_3_curves(rows),
        "AUD-3": modified_curves(rows),
        "AUD-4": epsilon_curves(rows),
        "AUD-7": budget_curves(rows),
    }
    for statement, frame in frames.items():
        assert list(frame.columns[-4:]) == ["x", "y", "lo", "hi"]
        assert np.isfinite(frame[["x", "y", "lo", "hi"]]).all(axis=None)
        drawn = frame.dropna(subset=["log10_chance"])
        bounds = drawn["y"] * (drawn["eta"] if statement == "AUD-3" else 1.0)
        expected = [row.lower for row in rows if row.statement == statement]
        np.testing.assert_allclose(sorted(bounds), sorted(expected), rtol=1e-12)


def test_the_trade_off_curve_lies_between_the_claim_and_chance() -> None:
    frame = tradeoff_curves(4_000)
    exact = frame[frame["series"] == "exact"]
    claimed = frame[frame["series"] == "claimed"]
    assert exact["x"].is_monotonic_increasing
    assert (exact["y"].to_numpy() >= claimed["y"].to_numpy()).all()
    assert (exact["y"] <= 1.0 - exact["x"] + 1e-12).all()
    assert len(exact) <= 400
    boxes = frame[frame["series"] == "simulated"]
    # The curve falls, so that it meets a box if it is not wholly above or below it. 13 boxes of
    # two 95 % intervals of dependent counts: more than 4 missed ones are no chance.
    highest = np.interp(boxes["x_lo"], exact["x"], exact["y"])
    lowest = np.interp(boxes["x_hi"], exact["x"], exact["y"])
    assert ((highest < boxes["lo"]) | (lowest > boxes["hi"])).sum() <= 4
