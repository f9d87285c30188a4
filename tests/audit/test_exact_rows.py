"""The exact rows as a whole: what exceeds its claim, what must not, and their curves."""

import math
from functools import cache

import pytest

from dpbandits.algorithms import REGISTRY
from dpbandits.auditing.best_arm import deviation, difference_loss, gaussian_witness, sign_loss
from dpbandits.auditing.best_arm_statements import worst_angles
from dpbandits.auditing.curves import (
    ratios_by_alternation,
    ratios_by_angle,
    ratios_by_horizon,
)
from dpbandits.auditing.rows import AuditRow
from dpbandits.auditing.statements import QUICK

TOLERANCE = 1e-9


@cache
def exact_rows() -> tuple[AuditRow, ...]:
    """Return all of them; not at import, which all processes of the tests would wait for."""
    return tuple(row for rows in QUICK.values() for row in rows())


def of(statement: str, **tags: object) -> list[AuditRow]:
    """Return the rows of a statement with these fields."""
    return [
        row
        for row in exact_rows()
        if row.statement == statement
        and all(getattr(row, name) == value for name, value in tags.items())
    ]


def largest(rows: list[AuditRow]) -> float:
    assert rows
    return max(row.ratio for row in rows)


def test_every_statement_of_these_engines_has_rows() -> None:
    assert {row.statement for row in exact_rows()} == {f"AUD-{number}" for number in range(9, 20)}


def test_every_row_is_of_the_registry_and_can_be_read() -> None:
    for row in exact_rows():
        assert row.variant in REGISTRY[row.algorithm].variants
        assert row.confidence == 1.0
        assert row.runs == row.seed == 0
        assert row.pair and row.event  # noqa: PT018
        assert row.log10_alpha <= 0.0
        assert row.log10_beta <= 0.0


@pytest.mark.parametrize(
    # Of the repaired GDP-NCB eight releases cost 8 / log2 T = 0.888 together, at T = 515.
    ("statement", "least"),
    [("AUD-9", 0.9), ("AUD-15", 0.88), ("AUD-18", 0.9)],
)
def test_nothing_is_found_against_these(statement: str, least: float) -> None:
    assert least < largest(of(statement)) <= 1.0 + TOLERANCE


def test_adap_ucb_passes_as_written_and_not_as_coded() -> None:
    assert 0.9 < largest(of("AUD-17", variant="as-written")) <= 1.0
    assert largest(of("AUD-17", variant="as-coded")) == math.inf


def test_rewards_up_to_1_1_exceed_epsilon_by_a_tenth() -> None:
    assert largest(of("AUD-10")) == pytest.approx(1.1, rel=1e-12)


def test_dp_od_exceeds_epsilon_by_the_euclidean_norm_alone() -> None:
    assert largest(of("AUD-11", interpretation="norm=l1")) <= 1.0 + TOLERANCE
    assert largest(of("AUD-11", interpretation="norm=l2")) == pytest.approx(math.sqrt(2.0))
    for norm, limit in (("l1", 1.0), ("l2", math.sqrt(2.0))):
        ratios = ratios_by_angle().query(f"norm == '{norm}'")["y"]
        assert 0.99 * limit < ratios.max() <= limit
    assert abs(worst_angles("l2")[0] - worst_angles("l2")[1]) == pytest.approx(180.0, abs=3.0)


def test_the_classical_calibration_fails_at_large_epsilon_alone() -> None:
    classical = of("AUD-12", interpretation="calibration=classical")
    assert largest([row for row in classical if "epsilon=20" in row.parameters]) > 100.0
    assert largest([row for row in classical if row.parameters.endswith("epsilon=1")]) < 1.0
    analytic = of("AUD-12", interpretation="calibration=analytic")
    assert 0.99 < largest(analytic) <= 1.0 + TOLERANCE


def test_the_witness_of_a_delta_has_these_chances() -> None:
    witness = gaussian_witness(
        8.0, deviation(8.0, 0.1, "classical"), 50, two_sums=False, binary=False
    )
    excess = math.exp(witness.log_likely) - math.exp(8.0 + witness.log_unlikely)
    assert witness.delta == pytest.approx(excess, rel=1e-12)
    assert witness.delta > 0.2


def test_gdp_ncb_fails_but_for_the_repaired_variant() -> None:
    assert largest(of("AUD-13", algorithm="gdp-ncb", scaled=False)) > 1.2
    assert largest(of("AUD-13", algorithm="anytime-gdp-ncb")) > 1.2
    assert largest(of("AUD-13", scaled=True)) > 1.2
    written = of("AUD-14", algorithm="gdp-ncb", interpretation="", scaled=False)
    assert all(row.ratio > 1.0 for row in written)
    assert any(row.lower == math.inf for row in of("AUD-14", engine="support"))


def test_losses_of_less_likely_events_may_be_left_out() -> None:
    everything = difference_loss(500, 1.0)
    observable = difference_loss(500, 1.0, least_log_chance=math.log(1e-6))
    assert everything.log_chance < math.log(1e-6) <= observable.log_chance
    assert observable.value < everything.value
    assert sign_loss(5, 1.0, least_log_chance=0.0).value == 0.0


def test_curves_over_the_horizon_and_the_rounds() -> None:
    curves = ratios_by_horizon(exact_rows(), 0.2)
    assert curves.query("variant == 'repaired'")["y"].max() <= 1.0
    assert curves.query("variant == 'as-coded' and scaled")["y"].max() > 1.2
    assert (curves.groupby("series")["x"].diff().dropna() > 0).all()
    for _, curve in ratios_by_alternation().groupby("series"):
        assert curve["y"].is_monotonic_increasing
        assert curve["log10_alpha"].is_monotonic_decreasing
