"""Tables of rates and of exact numbers: rows found in the results, differences, pulls, errors."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.tables import write_table
from support import refused
from synthetic_results import THIRD


def table(name: str, folder: Path) -> pd.DataFrame:
    """Write a table of the third paper and return its csv."""
    write_table(THIRD.tables[name], name, THIRD.frame, folder)
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])


def test_appendix_b_has_each_printed_number_beside_the_computed_one(tmp_path: Path) -> None:
    """Appendix B at d = 16, K = 10,000, by Equations 4 to 8."""
    found = table("appendix-b", tmp_path).set_index(["quantity", "phase"])
    sizes = ["10,000", "423", "77", "64", "32", "16", "8", "4", "2", "1"]
    assert found.loc["size", "computed"].tolist() == sizes
    # lambda is 27.64963, the ratios 27.677 and 27.615.
    assert found.loc[("lambda", 0), "computed"] == "27.65"
    assert found.loc["ratio", "computed"].tolist() == ["27.68", "27.62", "division by 0"]
    wrong = [("M1", 0), ("M", 0), ("size", 1), ("ratio", 2), ("ratio", 3), ("ratio", 4)]
    assert found[found["verdict"] == "deviates"].index.tolist() == wrong


def test_table_1_counts_cases_for_and_against_each_tick(tmp_path: Path) -> None:
    """dp-bai, Theorem 4.2: the ticks found, and (derived) no case against them."""
    found = table("table1", tmp_path).set_index("row")
    assert found["tick"].fillna("").tolist() == ["DP-BAI-Gauss", "", "DP-BAI", "DP-BAI"]
    assert found["met"].iloc[:3].sum() == 1_000_000
    assert found["loses"].tolist() == [0, 0, 0, 0]


def test_overshoot_has_a_row_for_each_algorithm_and_schedule(tmp_path: Path) -> None:
    found = table("extra-overshoot", tmp_path).set_index(["algorithm", "schedule"])
    assert len(found) == 3 + 4 + 2
    rows = THIRD.frame("overshoot")
    for quantity, column in (
        ("share", "share"),
        ("worst", "worst"),
        ("worst_relative", "relative"),
    ):
        exact = rows[rows["quantity"] == quantity].set_index(["algorithm", "schedule"])["y"]
        np.testing.assert_allclose(found[column], exact.loc[found.index], rtol=1e-8)
    worst = rows[(rows["quantity"] == "worst") & (rows["algorithm"] == "dp-bai")].iloc[0]
    own = found.loc[("dp-bai", worst["schedule"])]
    assert own["worst_budget"] == worst["budget"]


def test_interpretations_are_compared_with_the_default_of_their_algorithm(tmp_path: Path) -> None:
    found = table("extra-interpretations", tmp_path)
    frames = {
        name: THIRD.frame(name)
        for name in ("interpretations-section5", "interpretations-two-armed")
    }
    assert len(found) == sum(frame["series"].nunique() for frame in frames.values())
    default = found["interpretation"].isna()
    assert default.sum() == 4 + 2
    assert (
        found.loc[default, ["difference", "difference_lo", "difference_hi"]].isna().all(axis=None)
    )
    counts = {}
    for _, row in found.iterrows():
        name = "interpretations-section5" if row["x"] == 1000 else "interpretations-two-armed"
        rows = frames[name][frames[name]["series"] == row["series"]]
        hits = rows.loc[rows["metric"] == "success", ["value", "trials"]].sum()
        pulls = rows.loc[rows["metric"] == "total_pulls", ["value", "trials"]].sum()
        counts[row["series"]] = (int(hits["value"]), int(hits["trials"]))
        # The csv keeps ten significant digits.
        assert row["y"] == pytest.approx(hits["value"] / 20_000, rel=1e-8)
        assert row["pulls"] == pytest.approx(pulls["value"] / 20_000, rel=1e-8)
    for _, row in found[~default].iterrows():
        same = found[default & (found["algorithm"] == row["algorithm"]) & (found["x"] == row["x"])]
        [base] = same["series"]
        expected = difference_interval(counts[row["series"]], counts[base])
        shown = row[["difference", "difference_lo", "difference_hi"]].tolist()
        assert shown == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert shown[1] < shown[0] < shown[2]


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_differences_have_the_intervals_of_newcombe(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe (1998), Table II, method 10, of which four digits are printed."""
    found = difference_interval(first, second)
    assert found[0] == pytest.approx(first[0] / first[1] - second[0] / second[1])
    assert found[1:] == pytest.approx((low, high), abs=5.1e-5)
    back = difference_interval(second, first)
    assert back == pytest.approx((-found[0], -found[2], -found[1]))


def test_pulls_that_were_not_recorded_are_left_empty(tmp_path: Path) -> None:
    def successes(name: str) -> pd.DataFrame:
        rows = THIRD.frame(name)
        return rows[rows["metric"] == "success"]

    write_table(THIRD.tables["extra-interpretations"], "extra-interpretations", successes, tmp_path)
    assert pd.read_csv(tmp_path / "extra-interpretations.csv")["pulls"].isna().all()


def test_rows_left_to_the_results_stand_in_their_order(tmp_path: Path) -> None:
    """Listed values give every combination, and one that is not there is refused."""
    spec = copy.deepcopy(THIRD.tables["extra-overshoot"])
    for rows, values in zip(spec["rows"], (["dp-bai"], ["printed", "literal"]), strict=True):
        rows["values"] = values
    write_table(spec, "extra-overshoot", THIRD.frame, tmp_path)
    listed = pd.read_csv(tmp_path / "extra-overshoot.csv")
    assert listed["schedule"].tolist() == ["printed", "literal"]
    spec["rows"][1]["values"].append("halving")
    with pytest.raises(InputError, match=r"0 rows have algorithm dp-bai and schedule halving"):
        write_table(spec, "extra-overshoot", THIRD.frame, tmp_path)


Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[str, Change, str]] = [
    (
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(same=["law"]),
        "difference_from.same: no column 'law'; allowed: series",
    ),
    (
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(same=["algorithm"]),
        "2 default rows have algorithm dp-bai; allowed: one",
    ),
    (
        "extra-interpretations",
        lambda spec: spec["difference_from"].update(where={"interpretation": "norm=l1"}),
        "0 default rows have algorithm dp-bai and x 1000; allowed: one",
    ),
    (
        "extra-overshoot",
        lambda spec: spec["rows"][0].update(column="policy"),
        "rows: no column 'policy'; allowed: series",
    ),
]


@pytest.mark.parametrize(("name", "change", "words"), WRONG)
def test_results_that_do_not_fit_are_refused_and_nothing_is_written(
    name: str, change: Change, words: str, tmp_path: Path
) -> None:
    spec = copy.deepcopy(THIRD.tables[name])
    change(spec)
    refused(lambda: write_table(spec, name, THIRD.frame, tmp_path / "out"), f"tables.{name}", words)
    assert not (tmp_path / "out").exists()


def test_what_is_ours_is_named_extra_but_for_the_claims() -> None:
    for name, spec in THIRD.tables.items():
        ours = name.startswith("extra-") or name == "claims"
        assert spec["caption"].startswith("Ours:") == ours
