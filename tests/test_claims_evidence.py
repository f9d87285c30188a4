"""Evidence: selection of runs, times and tags, and what it says where nothing is selected."""

import pandas as pd
import pytest

from dpbandits.claims.evidence import Evidence, Series
from dpbandits.errors import InputError
from toy_claims import toy_frame


def small() -> pd.DataFrame:
    """Two series, three runs out of order, two times, one metric per arm."""
    rows = [
        (f"b={b}", b, run, "regret", t, -1, 100.0 * b + 10.0 * run + t)
        for b in (0, 1)
        for run in (12, 10, 11)
        for t in (5, 2)
    ]
    rows += [
        (f"b={b}", b, run, "pulls", 5, arm, arm + run)
        for b in (0, 1)
        for run in (10, 11, 12)
        for arm in (1, 0)
    ]
    columns = ["series", "b", "run", "metric", "t", "arm", "value"]
    return pd.DataFrame(rows, columns=columns)


def evidence(**frames: pd.DataFrame) -> Evidence:
    return Evidence.of_frames(frames or {"sim": small()})


def test_values_are_sorted_by_run_at_the_time_asked_for() -> None:
    assert evidence().values("sim", "regret", 2, b=1).tolist() == [202.0, 212.0, 222.0]
    assert evidence().values("sim", "regret", b=1).tolist() == [205.0, 215.0, 225.0]
    assert evidence().times("sim", "regret", b=0).tolist() == [2, 5]
    assert evidence().parameter("sim", "b", b=1) == 1.0


def test_a_series_is_read_at_its_share_of_the_horizon() -> None:
    """5 is the horizon, and 2 and 5 are recorded."""
    tags = {"in": "sim", "metric": "regret", "b": 1}
    for share, read in [({"share": 0.4}, 2), ({"share": 1.0}, 5), ({"t": 2}, 2), ({}, 5)]:
        found = Series(evidence(), tags | share).per_run()
        assert found.tolist() == evidence().values("sim", "regret", read, b=1).tolist()
    with pytest.raises(InputError, match="is not recorded; the nearest is"):
        Series(evidence(), tags | {"share": 0.7}).per_run()


def test_tables_and_arms() -> None:
    table = evidence().table("sim", "regret", b=0)
    assert table.index.tolist() == [10, 11, 12]
    assert table.columns.tolist() == [2, 5]
    assert table.loc[11, 5] == 115.0
    assert evidence().per_arm("sim", "pulls", b=0).tolist() == [[10, 11], [11, 12], [12, 13]]


def test_the_first_runs_are_those_of_the_smallest_numbers() -> None:
    limited = evidence().first(2)
    assert limited.values("sim", "regret", 2, b=0).tolist() == [102.0, 112.0]
    assert limited.per_arm("sim", "pulls", b=0).shape == (2, 2)
    assert limited.runs(["sim"]) == 3


def test_results_are_loaded_once_and_only_when_asked_for() -> None:
    asked = []

    def load(name: str) -> pd.DataFrame:
        asked.append(name)
        return small()

    lazy = Evidence(load)
    assert asked == []
    lazy.values("sim", "regret", b=0)
    lazy.first(1).of_results(["sim"]).values("sim", "regret", b=1)
    assert asked == ["sim"]


def test_analytic_rows_come_by_increasing_x() -> None:
    frame = pd.DataFrame(
        {"series": ["a", "a", "b"], "kind": [1, 1, 2], "x": [2.0, 1.0, 0.0], "y": [4.0, 3.0, 9.0]}
    )
    found = evidence(curves=frame).analytic("curves", kind=1)
    assert found["y"].tolist() == [3.0, 4.0]


FRAME = pd.DataFrame({"series": ["a"], "kind": [1], "x": [2.0], "y": [4.0]})


def test_an_empty_selection_is_one_clear_line() -> None:
    for call, words in [
        (lambda e: e.values("sim", "regret", 3, b=0), ["sim", "regret", "b=0", "t=3", "2, 5"]),
        (lambda e: e.values("sim", "regret", b=7), ["0 series with b=7", "allowed: one"]),
        (lambda e: e.values("sim", "regret"), ["2 series with no tags", "allowed: one"]),
        (lambda e: e.values("sim", "regret", c=1), ["no tag 'c'", "allowed: b"]),
        (lambda e: e.values("sim", "reward", b=0), ["no reward recorded for 'b=0'"]),
        (lambda e: e.values("other", "regret", b=0), ["'other'", "allowed: sim, curves"]),
        (lambda e: e.values("curves", "regret", b=0), ["'curves' are analytic"]),
        (lambda e: e.parameter("sim", "c", b=0), ["no tag 'c'"]),
        (lambda e: e.analytic("sim"), ["'sim' are a simulation"]),
        (lambda e: e.analytic("curves", kind=2), ["no row with kind=2"]),
        (lambda e: e.analytic("curves", size=2), ["no tag 'size'", "series, kind, x, y"]),
        (
            lambda e: e.of_results(["curves"]).values("sim", "regret", b=0),
            ["not declared", "curves"],
        ),
    ]:
        with pytest.raises(InputError) as caught:
            call(evidence(sim=small(), curves=FRAME))  # type: ignore[operator]
        message = str(caught.value)
        assert "\n" not in message
        assert all(word in message for word in words), message


def test_a_run_that_lacks_a_time_is_refused() -> None:
    with pytest.raises(InputError, match="has 5 rows; allowed: one for each of 3 runs, 2 times"):
        evidence(sim=small().iloc[1:]).values("sim", "regret", b=0)


def test_a_table_without_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="results of sim: column arm, value is missing"):
        evidence(sim=small().drop(columns=["arm", "value"])).values("sim", "regret", b=0)


def test_runs_are_the_fewest_of_any_series() -> None:
    frame = pd.concat([toy_frame([0.0], runs=20), toy_frame([0.0], runs=5).assign(series="x")])
    assert evidence(toy=frame, curves=FRAME).runs(["toy", "curves"]) == 5
    assert evidence(toy=frame, curves=FRAME).runs(["curves"]) == 0
