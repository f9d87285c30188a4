"""Progress is shown of what takes longer than two seconds, in the way that suits who watches."""

import io
import sys
import time
from pathlib import Path

import pytest

from dpbandits.cli import main
from dpbandits.engine import progress

ROOT = Path(__file__).resolve().parents[2]


class Terminal(io.StringIO):
    """Standard error of someone who watches."""

    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Let standard error be a terminal; in a test, since a fixture's would be replaced again."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_a_bar_counts_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    seen = []
    for item in progress.progress(range(3), 3, "simulating ucb1"):
        progress.tell("ucb1", "half of it")
        # tqdm draws at most ten times a second.
        time.sleep(0.11)
        seen.append(item)
    assert seen == [0, 1, 2]
    shown = terminal.getvalue()
    assert "simulating ucb1:" in shown
    assert "2/3" in shown
    assert "half of it" in shown
    assert progress.seconds_between() == progress.SECONDS_BETWEEN_LINES, "no bar is left"


def test_something_without_a_share_shows_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    with progress.waiting("auditing ucb1"):
        pass
    assert "auditing ucb1: 00:00" in terminal.getvalue()


def test_a_check_of_the_config_shows_which_paper_it_is_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = watch(monkeypatch)
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    assert main(["check", "--papers", "dp-ts-ucb", "--project", str(ROOT)]) == 0
    assert "checking config and experiments: 00:0" in terminal.getvalue()
    assert "checking dp-ts-ucb: 00:0" in terminal.getvalue()
    assert capsys.readouterr().out == "config, experiments and claims are in order\n"


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    with progress.waiting("auditing ucb1"):
        pass
    assert terminal.getvalue() == ""


def test_a_log_has_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    progress.tell("ucb1", "half of it")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("simulating ucb1: 1 of 3 batches, about ")
    assert lines[-1] == "ucb1: half of it"
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 60.0)
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_a_bar_is_gone_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    watch(monkeypatch)
    with pytest.raises(RuntimeError, match="broken"), progress.waiting("auditing"):
        raise RuntimeError("broken")
    assert progress.seconds_between() == progress.SECONDS_BETWEEN_LINES
