"""What is gathered is what the run chose, on the command line of Snakemake too."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from dpbandits.cli import parse
from dpbandits.commands.options import project_of
from dpbandits.project.config import Project
from dpbandits.project.resources import Jobs
from support import message_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["ledger", "typeset"])
@pytest.mark.parametrize(
    "chosen",
    [
        {"papers": ["ts-is-dp"], "comparisons": [], "only": None},
        {"papers": ["dp-bai", "ts-is-dp"], "comparisons": ["equal-privacy"], "only": None},
        {"papers": ["dp-bai", "ts-is-dp"], "comparisons": [], "only": "dp-bai"},
        {"papers": ["dp-ncb"], "comparisons": ["equal-privacy"], "only": "equal-privacy"},
    ],
)
def test_commands_on_all_see_what_the_run_chose(command: str, chosen: dict[str, Any]) -> None:
    run = Project.load(ROOT, {**Project.load(ROOT).config, **chosen, "scale": "quick", "seed": 7})
    words = [command, *shlex.split(Jobs(run).choice()), "--project", str(ROOT)]
    seen = project_of(parse(words))
    assert (seen.built(), seen.selected()) == (run.built(), run.selected())
    assert (seen.scale, seen.seed) == ("quick", 7)


def test_a_wrong_choice_ends_in_one_line() -> None:
    message = message_of(lambda: Project.load(ROOT).at(papers=["no-paper"]))
    assert message.startswith(f"{ROOT / 'config/config.yaml'}: papers")
    assert "ts-is-dp" in message
