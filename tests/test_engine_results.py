"""Works of cells: what is computed again, by any number of workers; result tables of them."""

import functools
import hashlib
import math
import os
import pickle
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pandas as pd
import pytest
from tqdm.auto import tqdm

import dpbandits
from dpbandits import bernoulli, linear
from dpbandits._cache_folder import unwritable
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.base import whole
from dpbandits.engine import progress
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Cell, Series, Work, make_cell
from dpbandits.engine.compilation import compile_kernels
from dpbandits.engine.compute import _pieces, _play_sent, compute, compute_series
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.engine.play import TRIALS
from dpbandits.engine.provenance import (
    commit_of,
    is_current,
    read_provenance,
    write_provenance,
)
from dpbandits.engine.results import read_results, results_frame, write_results
from dpbandits.metrics import CURVES, NASH, NASH_QUANTITIES, PER_ARM
from dpbandits.metrics import NOMINAL as PREFIX
from dpbandits.pipeline.check import made_up_results
from invented import entries
from support import FAMILIES, ROOT, cell_of, message_of, mostly_slow, refused

FIVE_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])
ROOT_SEED = 7


def cell(**changes: Any) -> Cell:
    """Make a small cell of modified Thompson sampling."""
    base: dict[str, Any] = {
        "algorithm": "m-ts-gaussian",
        "parameters": {"b": 2, "c": 1.5},
        "bandit": FIVE_ARMS,
        "horizon": 60,
        "metrics": ["pseudo_regret", "realised_regret", "pulls", "inverse_counts"],
        "grid": [1, 17, 60],
    }
    return cell_of(**(base | changes))


def work(first: int, stop: int, **changes: Any) -> Work:
    return Work(cell(**changes), range(first, stop))


def example(name: str) -> Work:
    return work(0, 20, algorithm=name, parameters=dict(REGRET[name].example))


BY_FAMILY = pytest.mark.parametrize("name", mostly_slow(REGRET, *FAMILIES))


NASH_PARTS = ["nash_regret", "nash_influence", "nash_bins"]


def nash_curves() -> list[Work]:
    """Return curves of rounds, of episodes, and of arms that pay nothing."""
    rounds: dict[str, Any] = {"algorithm": "ucb1", "parameters": {}, "metrics": NASH_PARTS}
    episodes = rounds | {"algorithm": "dp-ts-ucb", "parameters": {"alpha": 1.0}}
    never = rounds | {"bandit": bernoulli([0.7, 0.0])}
    return [work(0, 6, **each) for each in (rounds, episodes, never)]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return a list that takes down the ends of all runs that are played."""
    compile_kernels([cell(), curve().cell])
    noted: list[tuple[int, int]] = []
    play = Work.play

    def noting(self: Work, *given: Any) -> dict[str, Any]:
        noted.append((self.runs.start, self.runs.stop))
        return play(self, *given)

    monkeypatch.setattr(Work, "play", noting)
    return noted


def runs_of(values: dict[str, Any], rows: Sequence[int]) -> list[bytes]:
    return [values[metric][row].tobytes() for metric in values for row in rows]


def bytes_of(values: dict[str, Any]) -> dict[str, bytes]:
    return {name: part.tobytes() for name, part in values.items()}


@pytest.mark.parametrize("names", mostly_slow([FAMILIES, tuple(REGRET)], FAMILIES))
def test_values_and_bytes_are_the_same_for_any_number_of_workers(
    names: Sequence[str], tmp_path: Path
) -> None:
    found, bytes_written = [], []
    works = [*map(example, names), *nash_curves()]
    for workers in (1, 3):
        cache = Cache(tmp_path / str(workers))
        found.append(compute(works, root_seed=ROOT_SEED, workers=workers, cache=cache))
        bytes_written.append({path.name: path.read_bytes() for path in entries(cache.folder)})
    assert len(bytes_written[0]) == len(works)
    assert bytes_written[0] == bytes_written[1]
    assert [*map(bytes_of, found[0])] == [*map(bytes_of, found[1])]


def test_only_missing_runs_are_played(played: list[tuple[int, int]]) -> None:
    for seed, asked, expected in (
        (1, [(0, 20), (0, 45), (0, 45)], [(0, 10), (10, 20), (20, 30), (30, 40), (40, 45)]),
        (2, [(15, 30), (0, 40)], [(15, 25), (25, 30), (0, 10), (10, 15), (30, 40)]),
        (3, [(5, 8), (3, 9)], [(5, 8), (3, 5), (8, 9)]),
    ):
        played.clear()
        works = [work(*ends) for ends in asked]
        parts = [compute([each], root_seed=seed)[0] for each in works]
        assert played == expected
        at_once = compute(works, root_seed=seed, cache=Cache(is_used=False))
        assert played == expected * 2, "runs that two works share are played once"
        whole = work(0, 50).play(seed)
        for ends, part, again in zip(asked, parts, at_once, strict=True):
            rows = range(ends[1] - ends[0])
            assert runs_of(part, rows) == runs_of(again, rows) == runs_of(whole, range(*ends))
            assert {values.shape[0] for values in part.values()} == {len(rows)}


def test_trials_of_a_stream_are_played_and_kept_whole(played: list[tuple[int, int]]) -> None:
    bandit = linear([[1, 0], [0, 1]], [0.5, 0.4])
    trials = make_cell(algorithm="sequential-halving", bandit=bandit, horizon=50)
    compile_kernels([trials])
    played.clear()
    [few] = compute([Work(trials, range(TRIALS - 5, TRIALS + 5))], root_seed=1)
    [more] = compute([Work(trials, range(2 * TRIALS))], root_seed=1)
    assert played == [(0, TRIALS), (TRIALS, 2 * TRIALS)]
    np.testing.assert_array_equal(few["success"], more["success"][TRIALS - 5 : TRIALS + 5])


@BY_FAMILY
def test_metrics_are_those_of_the_reference_s_decisions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At most 60 numbers below 1 are added in another order: errors of a few 1e-15.
    close = functools.partial(np.testing.assert_allclose, rtol=0, atol=1e-13)
    values, of = example(name).play(ROOT_SEED), example(name).cell
    monkeypatch.setattr("dpbandits.engine.play.SEGMENTS_AT_ONCE", 7)
    assert runs_of(example(name).play(ROOT_SEED), range(20)) == runs_of(values, range(20))
    for run in (0, 19):
        generator = run_generator(ROOT_SEED, stream_key(of.stream_description), run)
        decisions = of.definition.reference(of.settings, FIVE_ARMS, generator)
        arms, lengths, sums = map(np.array, zip(*decisions, strict=True))
        counts = np.cumsum(np.eye(5)[np.repeat(arms, lengths)], axis=0)
        times = np.array(of.grid)
        close(values["pseudo_regret"][run], counts[times - 1] @ FIVE_ARMS.gaps)
        # Known at the end of a segment only.
        rewards = np.full(of.horizon, np.nan)
        rewards[np.cumsum(lengths) - 1] = np.cumsum(sums)
        realised = FIVE_ARMS.means.max() * times - rewards[times - 1]
        # A kernel may join more rounds to a segment than its reference, and knows less inside.
        known = np.isfinite(values["realised_regret"][run])
        assert known[-1]
        close(values["realised_regret"][run][known], realised[known])
        assert values["pulls"][run].tolist() == counts[-1].tolist()
        inverse = (counts[:-1] > 0) / (counts[:-1] + 1)
        close(values["inverse_counts"][run], inverse.sum(axis=0))


def test_a_failure_is_not_cached(monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> None:
    play, works = Work.play, [work(0, 10), work(0, 30, horizon=70), work(0, 10, horizon=80)]

    def failing(self: Work, root_seed: int, threads: int) -> dict[str, Any]:
        if self.runs.start == 10:
            raise ArithmeticError("planted")
        return play(self, root_seed, threads)

    with monkeypatch.context() as patched:
        patched.setattr(Work, "play", failing)
        with pytest.raises(ArithmeticError, match="planted"):
            compute(works, root_seed=ROOT_SEED)
    assert [path.stem for path in entries(cache_folder)] == [f"{works[0].key(ROOT_SEED)}-0-10"]
    after = compute(works, root_seed=ROOT_SEED)
    assert runs_of(after[1], range(30)) == runs_of(works[1].play(ROOT_SEED), range(30))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_was_computed_before_a_kill_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    works = [work(0, 10, horizon=60 + i) for i in range(6)]
    compile_kernels([works[0].cell])
    expected = [each.play(3) for each in works]
    play, played = Work.play, []
    last = 5

    def counted(self: Work, root_seed: int, threads: int) -> dict[str, Any]:
        played.append(self)
        if len(played) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return play(self, root_seed, threads)

    monkeypatch.setattr(Work, "play", counted)
    child = os.fork()
    if not child:
        try:
            compute(works, root_seed=3)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    resumed = compute(works, root_seed=3)
    assert played == works[4:]
    assert [*map(bytes_of, resumed)] == [*map(bytes_of, expected)]


# Nash curves, each played by one process.


def curve(runs: int = 6, **changes: Any) -> Work:
    """Return a Nash curve of an algorithm that plays in episodes."""
    base: dict[str, Any] = {"algorithm": "dp-ts-ucb", "parameters": {"alpha": 1.0}}
    base |= {"bandit": bernoulli([0.75, 0.5, 0.25]), "horizon": 400, "grid": [1, 170, 400]}
    return work(0, runs, **(base | {"metrics": NASH_PARTS} | changes))


def test_windows_and_threads_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in [curve(), *nash_curves(), curve(algorithm="dp-se", parameters={"epsilon": 1.0})]:
        expected = bytes_of(each.play(ROOT_SEED))
        for segments in (6, 150 * 6):
            monkeypatch.setattr("dpbandits.engine.play.SEGMENTS_OF_A_CURVE", segments)
            assert bytes_of(each.play(ROOT_SEED)) == expected
            assert bytes_of(each.play(ROOT_SEED, 3)) == expected


def test_times_and_other_metrics_change_no_byte() -> None:
    """Runs are the same, however they are played: streams know nothing of what is recorded."""
    alone = curve(grid=[170], metrics=["nash_regret"]).play(1)["nash_regret"]
    whole = curve(grid=range(1, 401), metrics=["pulls", "nash_regret"]).play(1)["nash_regret"]
    assert alone[0, :, 0].tobytes() == whole[0, :, 169].tobytes()


@BY_FAMILY
def test_a_curve_beside_other_metrics_changes_no_byte(name: str) -> None:
    others = ["pseudo_regret", "realised_regret", "pulls", "inverse_counts"]
    changes: dict[str, Any] = {"algorithm": name, "parameters": dict(REGRET[name].example)}
    plain = curve(**changes, metrics=others).play(1)
    beside = curve(**changes, metrics=["nash_regret", *others]).play(1)
    for metric in others:
        np.testing.assert_array_equal(beside[metric], plain[metric])


def test_a_curve_is_one_entry_of_all_its_runs(played: list[tuple[int, int]]) -> None:
    for metrics in (["nash_regret"], ["nash_bins"], ["nash_influence", "nash_regret"]):
        for block in compute([curve(metrics=metrics)] * 2, root_seed=ROOT_SEED):
            assert set(block) == set(metrics)
    assert played == [(0, 6)]
    compute([curve(7)], root_seed=ROOT_SEED)
    assert played == [(0, 6), (0, 7)], "another number of runs is another curve"
    compute([curve(metrics=["nominal_nash_regret"])], root_seed=ROOT_SEED)
    assert len(played) == 3
    pair = [curve(grid=[9], metrics=[name]) for name in ("nash_bins", "nash_regret")]
    assert [list(runs) for runs in compute(pair, root_seed=1)] == [["nash_bins"], ["nash_regret"]]
    assert len(played) == 4


def test_keys_hold_what_arms_are_scored_by() -> None:
    arms = bernoulli([0.7, 0.0]).arms
    scored = [
        dpbandits.Bandit(arms),
        dpbandits.Bandit(arms, nominal=(0.7, 0.1)),
        dpbandits.Bandit(arms, logarithms=(math.log(0.7), -800.0)),
    ]
    for metrics, keys in ((["nash_regret", "nominal_nash_regret"], 3), (["pulls"], 1)):
        curves = [curve(bandit=each, metrics=metrics) for each in scored]
        assert len({each.key(1) for each in curves}) == keys
        assert len({str(each.cell.stream_description) for each in curves}) == 1


def test_runs_together(played: list[tuple[int, int]]) -> None:
    series = Series("a", {}, curve().cell, range(5, 17), runs_per_curve=4)
    [found] = compute_series([series], root_seed=ROOT_SEED)
    assert played == [(5, 9), (9, 13), (13, 17)]
    assert found["nash_regret"].shape == (3, len(NASH_QUANTITIES), 3)
    assert found["nash_influence"].shape == (12, 3)
    [second] = compute([Work(curve().cell, range(9, 13))], root_seed=ROOT_SEED)
    assert len(played) == 3
    assert second["nash_regret"].tobytes() == found["nash_regret"][1:2].tobytes()


def test_gaps_are_found_without_a_list_of_runs_and_one_stream_is_played_once() -> None:
    """A hundred million trials are known but for two, which are of one stream of 1,000."""
    bandit = linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    trials = make_cell(algorithm="sequential-halving", bandit=bandit, horizon=400)
    known = [range(5000), range(5001, 5003), range(5004, 10**8)]
    pieces = _pieces(Work(trials, range(10**8)), known)
    assert [runs for runs, _ in pieces if runs not in known] == [range(5000, 6000)]
    assert [(runs.start + rows.start, runs.start + rows.stop) for runs, rows in pieces] == [
        (0, 5000),
        (5000, 6000),
        (6000, 10**8),
    ]


def test_other_metrics_refuse_segments_of_uniform_arms() -> None:
    for name in ["gdp-ncb", "ldp-ncb"]:
        blocks = {"algorithm": name, "parameters": {"epsilon": 0.1}}
        blocks["interpretations"] = {"exploration": "blocks"}
        for metric in ["pulls", "pseudo_regret", "realised_regret", "inverse_counts"]:
            for metrics in ([metric], [metric, "nash_regret"]):
                wrong = curve(**blocks, metrics=metrics, horizon=10**6, grid=[10**6])
                refused(lambda: wrong.play(1), f"{name}: blocks of uniformly random arms")


def test_uniform_play_has_one_curve_whatever_plays_it() -> None:
    # As written both explore to the end, the last block to the horizon.
    found = [
        curve(
            algorithm=name,
            parameters={"epsilon": 0.2},
            interpretations={"exploration": "blocks"},
            metrics=["nash_regret"],
            horizon=10**6,
            grid=[1, 1000, 10**6],
        ).play(1)["nash_regret"]
        for name in ("gdp-ncb", "ldp-ncb")
    ]
    assert np.array_equal(*found)


def test_a_log_has_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    # Below bars of simulations that other tests did not end it would begin further down.
    monkeypatch.setattr(tqdm, "_instances", WeakSet())
    assert list(progress.progress(range(3), "simulating ucb1")) == [0, 1, 2]
    printed = capsys.readouterr().err
    assert "\r" not in printed
    _, first, *_, last = printed.splitlines()
    assert first.startswith("simulating ucb1: 1 of 3 batches, 00:00 gone, about ")
    assert last.startswith("simulating ucb1: 3 of 3 batches, 00:00 gone")


def test_rounds_of_one_curve_are_shown_while_it_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    # Below bars of simulations that other tests did not end it would begin further down.
    monkeypatch.setattr(tqdm, "_instances", WeakSet())
    monkeypatch.setattr("dpbandits.engine.play.SEGMENTS_OF_A_CURVE", 100)
    curve = work(0, 4, metrics=["nash_regret"], horizon=1000)
    [found] = compute([curve], root_seed=1, cache=Cache(tmp_path), title="simulating it")
    np.testing.assert_array_equal(found["nash_regret"], curve.play(1)["nash_regret"])
    shown = re.findall(r"simulating it: (\d+) of 100 ", capsys.readouterr().err)
    assert len(shown) > 10
    assert shown[-1] == "100"


def test_a_worker_with_other_sources_plays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unwritable, "is_silent", False)
    sent = pickle.dumps(cell())
    message = message_of(lambda: _play_sent(0, sent, range(1), ROOT_SEED, 1, "other sources"))
    assert message.endswith("was edited after it was imported; start Python again")


# Result tables.

FINGERPRINT = "0123456789abcdef"
every = np.ndenumerate
SERIES = [
    Series("one", {"eta": 2}, cell(metrics=["pseudo_regret", "pulls"], grid=[17, 60]), range(5, 9)),
    Series("two", {}, cell(algorithm="ucb1", parameters={}, metrics=["pulls"]), range(2)),
]


@pytest.fixture
def frame() -> pd.DataFrame:
    return results_frame(SERIES, [series.works[0].play(1) for series in SERIES])


@pytest.fixture
def path(tmp_path: Path, frame: pd.DataFrame) -> Path:
    written = tmp_path / "results" / "fig1.parquet"
    write_results(written, frame, FINGERPRINT)
    return written


def test_tables_hold_every_value_and_come_back(path: Path, frame: pd.DataFrame) -> None:
    """4 runs at 2 times, 4 and 2 runs of 5 arms."""
    one, two = (series.works[0].play(1) for series in SERIES)
    expected = [
        *(
            (5 + i, "pseudo_regret", (17, 60)[j], -1, x)
            for (i, j), x in every(one["pseudo_regret"])
        ),
        *((5 + i, "pulls", 60, j, x) for (i, j), x in every(one["pulls"])),
        *((i, "pulls", 60, j, x) for (i, j), x in every(two["pulls"])),
    ]
    rows = frame[["run", "metric", "t", "arm", "value"]]
    assert [*rows.itertuples(index=False, name=None)] == expected
    assert frame.series.tolist() == ["one"] * 28 + ["two"] * 10
    tags = frame.loc[frame.series == "one", ["b", "c", "eta"]]
    assert tags.drop_duplicates().values.tolist() == [[2, 1.5, 2]]
    pd.testing.assert_frame_equal(read_results(path), frame)
    assert [each.name for each in path.parent.iterdir()] == ["fig1.parquet"]


def test_results_that_are_damaged_or_unwritable_are_one_line(
    path: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    target = tmp_path / "file" / "fig1.parquet"
    (tmp_path / "file").write_text("in the way")
    refused(lambda: write_results(target, frame, FINGERPRINT), f"{target}: cannot be written")
    for share in [0.999, 0.5, 0.0]:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        refused(lambda: read_results(path), f"{path}: is damaged; ")

    # What depends on other results.
    output = tmp_path / "fig1.csv"
    output.write_text("x")
    write_provenance(output, tmp_path, {"depends_on": {"figure": "1"}}, 0.0)
    assert is_current(output, {"figure": "1"})
    assert not is_current(output, {"figure": "2"})


def test_a_parameter_with_the_name_of_a_column_is_refused() -> None:
    plain = REGRET["ucb1"]
    takes_run = replace(
        plain,
        id="mine",
        parameters={"run": whole()},
        settings=lambda horizon, arms, run, **others: plain.settings(horizon, arms, **others),
    )
    line = cell(algorithm=takes_run, parameters={"run": 3}, metrics=["pulls"])
    series = [Series("mine", {}, line, range(1))]
    refused(lambda: made_up_results(series), "mine: parameter run is a column of all results; allo")


def committed(folder: Path) -> Path:
    """Make a repository with one commit of what is in a folder."""
    name = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "all of it"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


def test_the_commit_is_that_of_the_folder_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of a repository that encloses it, nor of the one that GIT_DIR names."""
    for name in ("outer/inner/src", "outer/inner/config", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "other/a").touch()
    other = commit_of(committed(tmp_path / "other"))
    inner = tmp_path / "outer/inner"
    (inner / "src/a.py").write_text("a = 1")
    committed(tmp_path / "outer")
    assert commit_of(inner) == "unknown"
    digest = hashlib.sha256(b"a = 1").hexdigest()
    (inner / "SHA256SUMS").write_text(f"{digest}  src/a.py\n{digest}  README.md\n")
    (inner / "COMMIT").write_text("abc\n")
    assert commit_of(inner) == "abc"
    (inner / "src/b.py").touch()
    assert commit_of(inner) == "abc+changes"
    (inner / "src/b.py").unlink()
    commit = commit_of(committed(inner))
    assert re.fullmatch("[0-9a-f]{40}", commit)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    assert commit_of(inner) == commit != other
    # Notes that lie about are no source.
    (inner / "notes.txt").touch()
    assert commit_of(inner) == commit
    (inner / "config/draft.yaml").touch()
    assert commit_of(inner) == f"{commit}+changes"
    (inner / "config/draft.yaml").unlink()
    (inner / "src/a.py").write_text("a = 2")
    assert commit_of(inner) == f"{commit}+changes"


def test_provenance_has_the_commit_of_the_package_and_that_of_another_project(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").touch()
    write_provenance(tmp_path / "a.csv", committed(tmp_path), {}, 0.0)
    record = read_provenance(tmp_path / "a.provenance.json")
    assert record["commit"] == commit_of(ROOT)
    assert record["project_commit"] == commit_of(tmp_path) != record["commit"]
    write_provenance(tmp_path / "a.csv", ROOT, {}, 0.0)
    assert "project_commit" not in read_provenance(tmp_path / "a.provenance.json")


def test_no_flipped_bit_passes_for_a_result(path: Path, frame: pd.DataFrame) -> None:
    """Every fortieth byte, one bit each: refused in one line, or (in padding) without effect."""
    content, lines = path.read_bytes(), []
    for position in range(0, len(content), 40):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(bytes(damaged))
        try:
            found = read_results(path)
        except dpbandits.InputError as error:
            lines.append(str(error))
        else:
            pd.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert len(lines) > 0.5 * len(content) / 40
    assert all(re.search(r": is (damaged|stale)", line) for line in lines)


def test_made_up_results_have_the_rows_of_real_ones() -> None:
    """All but the values, of every metric."""
    regret = {"algorithm": "ucb1", "bandit": bernoulli([0.7, 0.5]), "horizon": 40}
    identified = linear([[0, 1], [0, 0.9], [10, 0]], [0.045, 0.5])
    cells = [
        make_cell(**regret, metrics=(*CURVES, *PER_ARM), grid=[10, 40]),
        make_cell(**regret, metrics=NASH, grid=[10, 40]),
        make_cell(algorithm="sequential-halving", bandit=identified, horizon=400),
    ]
    for cell in cells:
        series = [Series("one", {"tag": 1}, cell, range(1 if cell.in_lockstep else 2))]
        real = results_frame(series, compute_series(series, root_seed=1)).drop(columns="value")
        blank = made_up_results(series).drop(columns="value")
        pd.testing.assert_frame_equal(blank, real, check_dtype=False)


NOMINAL = dpbandits.Bandit(bernoulli([0.75, 0.5, 0.25]).arms, nominal=(0.5, 0.5, 1.0))
RECORDED = ["nash_regret", "nash_influence", "pulls", "nominal_nash_regret"]


def test_rows_of_a_curve() -> None:
    """Quantities at 3 times, true and nominal; influences of 6 runs at 3 times; pulls of 3 arms."""
    curves = [Series("one", {}, curve(bandit=NOMINAL, metrics=RECORDED).cell, range(10, 16))]
    one = results_frame(curves, compute_series(curves, root_seed=7))
    found, times = curves[0].works[0].play(7), (1, 170, 400)
    expected = [
        *((10 + i, "pulls", 400, j, 1, x) for (i, j), x in every(found["pulls"])),
        *(
            (10 + i, "nash_influence", times[j], -1, 1, x)
            for (i, j), x in every(found["nash_influence"])
        ),
        *(
            (10, prefix + NASH_QUANTITIES[i], times[j], -1, 6, x)
            for prefix in ("", PREFIX)
            for (i, j), x in every(found[f"{prefix}nash_regret"][0])
        ),
    ]
    rows = one[["run", "metric", "t", "arm", "trials", "value"]]
    assert sorted(rows.itertuples(index=False, name=None)) == sorted(expected)
    for metric, best in (("best_mean", 0.75), ("nominal_best_mean", 1.0)):
        assert (one[one.metric == metric].value == best).all()


def test_interpretations_are_told_off_those_of_the_variant() -> None:
    base = {"algorithm": "gdp-ncb", "parameters": {"epsilon": 1.0}, "bandit": NOMINAL}
    told: list[tuple[str, dict[str, str], str]] = [
        ("as-written", {}, ""),
        ("repaired", {}, ""),
        ("as-written", {"release_log": "base2"}, "release_log=base2"),
        ("repaired", {"release_log": "natural", "cap": "none"}, "cap=none,release_log=natural"),
    ]
    for variant, interpretations, text in told:
        each = make_cell(**base, horizon=40, variant=variant, interpretations=interpretations)
        series = [Series("one", {}, each, range(6))]
        rows = results_frame(series, compute_series(series, root_seed=1))
        assert {*zip(rows["variant"], rows["interpretation"], strict=True)} == {(variant, text)}
