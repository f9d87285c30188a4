"""Progress is shown of what takes longer than two seconds, in the way that suits who watches."""

import io
import sys
import time

import pytest

from dpbandits.engine import progress


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
        # tqdm draws at most ten times a second.
        time.sleep(0.11)
        seen.append(item)
    assert seen == [0, 1, 2]
    shown = terminal.getvalue()
    assert "simulating ucb1:" in shown
    assert "2/3" in shown


def test_what_has_no_shares_is_named_to_who_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.announce("auditing ucb1")
    assert capsys.readouterr().err == "", "nobody watches a log"
    terminal = watch(monkeypatch)
    progress.announce("auditing ucb1")
    assert terminal.getvalue() == "auditing ucb1 ...\n"


def test_what_is_quick_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    terminal = watch(monkeypatch)
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    assert terminal.getvalue() == ""


def test_a_log_has_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_UNTIL_SHOWN", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    assert list(progress.progress(range(3), 3, "simulating ucb1")) == [0, 1, 2]
    printed = capsys.readouterr().err
    lines = printed.splitlines()
    assert lines[1].startswith("simulating ucb1: 1 of 3 batches, 00:00 gone, about ")
    assert lines[-1].startswith("simulating ucb1: 3 of 3 batches, 00:00 gone")
    assert "\r" not in printed
    assert len(set(lines)) == len(lines)
