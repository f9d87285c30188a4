"""Evidence: selection of runs, times and tags, and what it says where nothing is selected."""

from itertools import product

import pandas as pd

from dpbandits.claims.evidence import Evidence, Series
from support import refused
from toy_claims import toy_frame


def small() -> pd.DataFrame:
    """Two series, three runs out of order, two times, one metric per arm."""
    regret = pd.DataFrame(product((0, 1), (12, 10, 11), (5, 2)), columns=["b", "run", "t"])
    regret["value"] = regret @ [100.0, 10.0, 1.0]
    pulls = pd.DataFrame(product((0, 1), (10, 11, 12), (1, 0)), columns=["b", "run", "arm"])
    pulls["value"] = pulls["arm"] + pulls["run"]
    frame = pd.concat([regret.assign(metric="regret", arm=-1), pulls.assign(metric="pulls", t=5)])
    return frame.assign(series="b=" + frame["b"].astype(str)).reset_index(drop=True)


def evidence(**frames: pd.DataFrame) -> Evidence:
    return Evidence.of_frames(frames or {"sim": small()})


def series(name: str = "sim", given: Evidence | None = None, **tags: object) -> Series:
    return Series(given or evidence(), {"in": name, "metric": "regret", **tags})


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
    limited = evidence().limited(2)
    assert series(given=limited, t=2, b=0).per_run().tolist() == [102.0, 112.0]
    assert series(given=limited, b=0).block("pulls").values.shape == (2, 1, 2)
    assert limited.runs(["sim"]) == 3
    assert series(given=evidence().limited(2, skip=1), t=2, b=0).per_run()[0] == 112.0


def test_results_are_loaded_once_and_only_when_asked_for() -> None:
    asked = []

    def load(name: str) -> pd.DataFrame:
        asked.append(name)
        return small()

    lazy = Evidence(load)
    assert asked == []
    series(given=lazy, b=0).number()
    series(given=lazy.limited(1).of_results(["sim"]), b=1).number()
    assert asked == ["sim"]


def test_analytic_rows_come_by_increasing_x() -> None:
    frame = pd.DataFrame(
        {"series": ["a", "a", "b"], "kind": [1, 1, 2], "x": [2.0, 1.0, 0.0], "y": [4.0, 3.0, 9.0]}
    )
    found = series("curves", evidence(curves=frame), kind=1).rows
    assert found["y"].tolist() == [3.0, 4.0]


FRAME = pd.DataFrame({"series": ["a"], "kind": [1], "x": [2.0], "y": [4.0]})


def test_an_empty_selection_is_one_clear_line() -> None:
    known = evidence(sim=small(), curves=FRAME)
    for given, words in [
        (series(given=known, t=3, b=0), ["sim", "t = 3", "the nearest is 2"]),
        (series(given=known, b=7), ["0 series with b=7", "allowed: one"]),
        (series(given=known), ["2 series with no tags", "allowed: one"]),
        (series(given=known, c=1), ["tag of a series", "'c'", "allowed: b"]),
        (series(given=known, b=0, metric="reward"), ["no reward recorded for 'b=0'"]),
        (series("other", known, b=0), ["'other'", "allowed: sim, curves"]),
        (series("curves", known, kind=2), ["0 series with kind=2"]),
        (series("curves", known, size=2), ["tag of a series", "'size'", "kind, series, x, y"]),
    ]:
        refused(given.number, *words)
    undeclared = known.of_results(["curves"])
    refused(lambda: undeclared.results("sim"), "'sim' are not declared; allowed: curves")
    refused(series("curves", known, kind=1).per_run, "'curves' are analytic")
    refused(lambda: series(given=known, b=0).rows, "'sim' are a simulation")


def test_results_that_lack_a_time_or_a_column_are_refused() -> None:
    for lacking, words in [
        (small().iloc[1:], "has 5 rows; allowed: one for each of 3 runs, 2 times"),
        (small().drop(columns=["arm", "value"]), "results of sim: column arm, value is missing"),
    ]:
        refused(series(given=evidence(sim=lacking), b=0).number, words)


def test_runs_are_the_fewest_of_any_series() -> None:
    frame = pd.concat([toy_frame([0.0], runs=20), toy_frame([0.0], runs=5).assign(series="x")])
    assert evidence(toy=frame, curves=FRAME).runs(["toy", "curves"]) == 5
    assert evidence(toy=frame, curves=FRAME).runs(["curves"]) == 0
