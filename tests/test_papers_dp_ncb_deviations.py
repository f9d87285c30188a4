"""The table of deviations: one row a switch, differences with intervals, scoring by constants."""

import math
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from dpbandits.pages.site.switches import CHANGES
from dpbandits.papers.dp_ncb.tables import DEVIATIONS, TABLES, TOGETHER, Curve, deviations
from dpbandits.reporting.tables import write_table
from synthetic_results import FOURTH, NOISE

ROOT = Path(__file__).resolve().parents[1]
TABLE = FOURTH.tables["extra-deviations"]
QUANTILE = stats.t.ppf(0.975, 49)


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return deviations({name: FOURTH.frame(name) for name in TABLE["reads"]})


def test_every_switch_that_is_played_has_a_row_and_every_row_its_results() -> None:
    """The differences that are switches of algorithms or of the scoring."""
    curves = {
        curve for each in DEVIATIONS for curve in (each.coded.simulation, each.changed.simulation)
    }
    assert curves == set(TABLE["reads"])
    for name in ("switches", TOGETHER):
        played = set(FOURTH.frame(name)["switch"].dropna())
        assert played == {each.id for each in DEVIATIONS if each.changed.simulation == name}
    ids = {part for each in DEVIATIONS for part in each.id.split()}
    numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 33, 34}
    assert {f"D{number}" for number in numbers} <= ids


@pytest.mark.parametrize("algorithm", ["gdp-ncb", "ldp-ncb", "adap-ucb", "ldp-ucb-l"])
def test_large_switches_of_an_algorithm_are_played_together(algorithm: str) -> None:
    """All combinations of them; D12 and D12 epsilon are two values of one interpretation."""
    published = pd.read_csv(ROOT / "docs/tables/dp-ncb/extra-deviations.csv")
    own = published[published["algorithm"] == algorithm]
    is_large = (own["factor"] - 1).abs() > CHANGES
    large = [name for name in own["id"][is_large] if " and " not in name]
    wanted = {
        frozenset(names)
        for size in range(2, len(large) + 1)
        for names in combinations(large, size)
        if not {"D12", "D12 epsilon"} <= set(names)
    }
    rows = [each for each in DEVIATIONS if each.algorithm == algorithm]
    assert wanted <= {frozenset(each.id.split(" and ")) for each in rows}


def test_the_change_of_two_samples_has_the_interval_of_both(found: pd.DataFrame) -> None:
    """Variances of independent curves add; t of 49 degrees of freedom, as each of them has."""
    row = found[(found["id"] == "D4") & (found["algorithm"] == "gdp-ncb")].iloc[0]
    # Made-up curves have a standard error of NOISE times the regret before it was perturbed, and
    # a bias of a tenth of it, which is subtracted.
    errors = [(row[f"{name}_hi"] - row[name]) / QUANTILE for name in ("coded", "changed")]
    for name, error in zip(("coded", "changed"), errors, strict=True):
        assert error / row[name] == pytest.approx(NOISE / 0.9, rel=4 * NOISE)
    assert row["change"] == pytest.approx(row["changed"] - row["coded"])
    half = QUANTILE * math.hypot(*errors)
    assert row["change_hi"] - row["change"] == pytest.approx(half, rel=1e-9)
    assert row["change"] - row["change_lo"] == pytest.approx(half, rel=1e-9)
    assert row["factor"] == pytest.approx(row["changed"] / row["coded"])


def test_another_best_mean_is_an_exact_change(found: pd.DataFrame) -> None:
    """D17: 1 - 0.9700603."""
    [row] = found[found["id"] == "D17"].to_dict("records")
    assert row["change"] == pytest.approx(-0.0299397, abs=1e-7)
    assert row["change_lo"] == row["change_hi"] == row["change"]


def test_panel_a_is_taken_at_a_thousand_rounds() -> None:
    rows = [each for each in DEVIATIONS if "panel (a)" in each.algorithm]
    assert [each.id for each in rows] == ["D15", "A15", "D19", "D20"]
    assert all(
        isinstance(each.coded, Curve) and each.coded.where["horizon"] == 1000 for each in rows
    )


def test_the_table_is_written_with_all_rows(tmp_path: Path) -> None:
    write_table(TABLE, "extra-deviations", FOURTH.frame, tmp_path, TABLES)
    table = pd.read_csv(tmp_path / "extra-deviations.csv")
    assert len(table) == len(DEVIATIONS)
    assert not table["change"].isna().any()
