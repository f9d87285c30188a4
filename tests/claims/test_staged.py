"""Verdicts in stages: the runs that are simulated are those that verdicts need, no others."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.commands.explain import explain_claim
from dpbandits.commands.judge import judge_paper
from dpbandits.commands.run import build_results
from dpbandits.engine import fan_out
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Cell
from dpbandits.project import judged_runs
from dpbandits.project.config import Project
from dpbandits.project.staged import kept_path, staged
from dpbandits.project.targets import CLAIMS_FILES, claims_target
from dpbandits.verification.sample import Plan, draw_sample
from dpbandits.verification.verify import verify
from support import message_of

ROOT = Path(__file__).resolve().parents[2]
PAPER, NAME = "made-up-world", "verdicts"
RUNS, FIRST, SECOND = 80, 20, 40
PRIVATE, PLAIN, THIRD = "anytime-lazy-ucb", "ucb1", "ts-gaussian"

PAPER_FILE = {
    "title": "A made-up world",
    "authors": [{"family": "Nobody"}],
    "year": 2026,
    "venue": "NOWHERE",
    "arxiv": "2600.00001",
    "state": "draft",
    "summary": {"statement": "Nothing is claimed."},
}
EXPERIMENTS: dict[str, Any] = {
    "paper": PAPER,
    "quick": {"runs": 5, "horizon": 50},
    "instances": {"two-arms": {"law": "bernoulli", "means": [0.7, 0.5]}},
    "simulations": {
        NAME: {
            "instance": "two-arms",
            "horizon": 300,
            "runs": {"first": 1000, "count": RUNS},
            "metrics": ["pseudo_regret"],
            "grid": {"points": 1},
            "cells": [
                {"algorithm": PRIVATE, "parameters": {"epsilon": 0.1}},
                {"algorithm": PLAIN},
                {"algorithm": THIRD},
            ],
        }
    },
}


def claim(of: str, minus: str, threshold: float) -> dict[str, Any]:
    """A claim that the regret of one algorithm is larger than that of another by a threshold."""
    arguments = {"of": {"algorithm": of}, "minus": {"algorithm": minus}}
    return {
        "kind": "experiment",
        "statement": "One regret is larger.",
        "place": "Figure 1",
        "scope": "two arms",
        "verdicts": ["holds", "fails"],
        "rule": "The difference is above the threshold.",
        "metric": "final pseudo_regret",
        "parameters": {"results": NAME},
        "reads": [NAME],
        "runs": [FIRST, SECOND, RUNS],
        "runs_paper": 10,
        "comparisons": {
            "difference": {
                "statistic": "difference",
                "arguments": arguments,
                "kind": "greater",
                "threshold": threshold,
            }
        },
    }


def make_world(folder: Path, claims: dict[str, Any]) -> Project:
    """Make a project of one paper with these claims, nothing simulated, the cache its own."""
    shutil.copytree(ROOT / "config", folder / "config")
    shutil.copytree(ROOT / "workflow", folder / "workflow")
    paper = folder / "config/papers" / PAPER
    paper.mkdir()
    files = {
        "paper": PAPER_FILE,
        "experiments": EXPERIMENTS,
        "claims": {"paper": PAPER, "claims": claims},
    }
    for name, document in files.items():
        (paper / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    config = dict(Project.load(folder).config)
    return Project.load(folder, config | {"papers": [PAPER], "comparisons": [], "cache": "cache"})


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path / "cache"))


def regrets(project: Project) -> dict[str, float]:
    """Simulate all runs and return the mean regret of each series; leave nothing behind."""
    build_results(project, PAPER, NAME, workers=1)
    means = project.frame(PAPER, NAME).groupby("algorithm")["value"].mean().to_dict()
    shutil.rmtree(project.results_folder())
    shutil.rmtree(project.cache_folder / "cells")
    return {str(name): float(mean) for name, mean in means.items()}


@pytest.fixture
def world(tmp_path: Path) -> Project:
    """Claim C1 is decided at the first analysis, C2 at none: its threshold is the difference."""
    found = regrets(make_world(tmp_path / "first", {"MW-C1": claim(PRIVATE, PLAIN, 0.0)}))
    far = 0.2 * (found[PRIVATE] - found[PLAIN])
    claims = {
        "MW-C1": claim(PRIVATE, PLAIN, far),
        "MW-C2": claim(PLAIN, THIRD, found[PLAIN] - found[THIRD]),
    }
    return make_world(tmp_path / "second", claims)


def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Note algorithm and first run of every block that is played."""
    noted: list[tuple[str, int]] = []
    play = Cell.play

    def noting(self: Cell, *arguments: Any) -> Any:
        noted.append((self.definition.id, self.first_run))
        return play(self, *arguments)

    monkeypatch.setattr(Cell, "play", noting)
    return noted


def files(project: Project) -> dict[str, bytes]:
    folder = project.results_folder() / PAPER
    return {name: (folder / f"{name}.csv").read_bytes() for name in CLAIMS_FILES}


def firsts(runs: int) -> list[int]:
    """First runs of the blocks that hold so many runs."""
    return list(range(1000, 1000 + runs, 10))


def test_each_run_is_played_once_and_only_where_a_verdict_needs_it(
    world: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = played(monkeypatch)
    judge_paper(world, PAPER)
    verdicts = pd.read_csv(world.results_folder() / PAPER / "claims.csv").set_index("claim")
    assert verdicts["verdict"].to_dict() == {"MW-C1": "holds", "MW-C2": "undecided"}
    assert verdicts["runs"].to_dict() == {"MW-C1": FIRST, "MW-C2": RUNS}
    needed = {PRIVATE: FIRST, PLAIN: RUNS, THIRD: RUNS}
    within = pd.read_csv(world.results_folder() / PAPER / "simultaneous.csv").set_index("claim")
    # The family-wise level may ask for more than the claim's own one does.
    needed[PRIVATE] = max(FIRST, int(within.loc["MW-C1", "runs_in_family"]))
    assert sorted(noted) == sorted((name, run) for name in needed for run in firsts(needed[name]))
    assert needed[PRIVATE] < RUNS, "nothing is saved"


def test_verdicts_are_those_of_all_runs(world: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_paper(world, PAPER)
    in_stages = files(world)
    shutil.rmtree(world.results_folder())
    monkeypatch.setattr(judged_runs, "staged", lambda *_: [])
    build_results(world, PAPER, NAME, workers=1)
    judge_paper(world, PAPER)
    assert files(world) == in_stages


def test_judging_and_explaining_again_simulate_nothing(
    world: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_paper(world, PAPER)
    before, kept = files(world), kept_path(world, PAPER, NAME).read_bytes()
    shutil.rmtree(world.cache_folder / "cells")
    noted = played(monkeypatch)
    judge_paper(world, PAPER)
    assert "holds" in explain_claim(world, "MW-C1")
    assert (files(world), kept_path(world, PAPER, NAME).read_bytes()) == (before, kept)
    assert noted == []


def test_runs_are_kept_for_the_sources_that_played_them(
    world: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge_paper(world, PAPER)
    before, path = files(world), kept_path(world, PAPER, NAME)
    other = world.at(seed=world.seed + 1)
    judge_paper(other, PAPER)
    assert files(other) != before, "runs of another seed were judged"
    path.write_bytes(path.read_bytes()[:-40])
    judge_paper(world, PAPER)
    assert files(world) == before
    path.write_bytes(b"PAR1" + bytes(100))
    judge_paper(world, PAPER)
    assert files(world) == before
    assert "is damaged, computed again" in capsys.readouterr().err


def test_an_explanation_does_not_simulate(world: Project) -> None:
    line = message_of(lambda: explain_claim(world, "MW-C1"))
    path = kept_path(world, PAPER, NAME)
    assert line == f"{path}: lacks runs of the verdicts; run snakemake to build it"


class KilledError(Exception):
    """What ends a stage."""


def test_a_killed_stage_goes_on_where_it_was(
    world: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_paper(world, PAPER)
    whole = files(world)
    shutil.rmtree(world.results_folder())
    shutil.rmtree(world.cache_folder / "cells")
    noted = played(monkeypatch)
    compute_block, left = fan_out._compute_block, [8]

    def dying(*arguments: Any) -> Any:
        if not left[0]:
            raise KilledError
        left[0] -= 1
        return compute_block(*arguments)

    monkeypatch.setattr(fan_out, "_compute_block", dying)
    with pytest.raises(KilledError):
        judge_paper(world, PAPER)
    assert len(noted) == 8
    monkeypatch.setattr(fan_out, "_compute_block", compute_block)
    judge_paper(world, PAPER)
    assert files(world) == whole
    assert len(noted) == len(set(noted)), "a run was played twice"


def test_runs_of_the_whole_simulation_are_those_of_the_stages(
    world: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_paper(world, PAPER)
    noted = played(monkeypatch)
    build_results(world, PAPER, NAME, workers=1)
    # The private algorithm alone lacked runs.
    assert {name for name, _ in noted} == {PRIVATE}
    keys = ["series", "run", "metric", "t", "arm", "value"]
    kept = pd.read_parquet(kept_path(world, PAPER, NAME))[keys]
    whole = world.frame(PAPER, NAME)[keys]
    assert len(kept.merge(whole)) == len(kept) < len(whole)


def test_kept_runs_are_verified(world: Project) -> None:
    judge_paper(world, PAPER)
    plan = Plan(cells=1000)
    sample = draw_sample(world, plan)
    assert len(sample.cells) == len(pd.read_parquet(kept_path(world, PAPER, NAME))) / 10
    assert set(verify(world, plan, workers=1).table["outcome"]) == {"exact"}


def changed_world(folder: Path, **changes: Any) -> Project:
    """A world whose one simulation is another."""
    project = make_world(folder, {"MW-C1": claim(PRIVATE, PLAIN, 0.0)})
    path = project.config_path(PAPER, "experiments")
    document = yaml.safe_load(path.read_text())
    document["simulations"][NAME] |= changes.pop("simulation", {})
    path.write_text(yaml.safe_dump(document | changes, sort_keys=False))
    return project


def drawn(name: str) -> dict[str, Any]:
    figure = {
        "caption": "Regret.",
        "kind": "final",
        "reads": NAME,
        "metric": "pseudo_regret",
        "x": {"label": "x", "tag": "algorithm"},
        "y": {"label": "y"},
        "series": [{"name": "all"}],
    }
    return {name: figure}


CASES = {
    "claims alone": ({}, [NAME]),
    "supplementary figure": ({"figures": drawn("extra-a")}, [NAME]),
    "figure of the paper": ({"figures": drawn("fig1")}, []),
    "Nash curves": ({"simulation": {"metrics": ["nash_regret"]}}, []),
    "runs of the first analysis": ({"simulation": {"runs": {"first": 0, "count": FIRST}}}, []),
}
"""What is changed -> the simulations that are staged."""


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_staged_is_what_claims_alone_may_read_in_part(
    tmp_path: Path, changes: dict[str, Any], expected: list[str]
) -> None:
    project = changed_world(tmp_path, **changes)
    assert staged(project, PAPER) == expected
    assert staged(project.at(scale="quick"), PAPER) == []
    target = claims_target(project, PAPER)
    is_input = project.results_path(PAPER, NAME) in target.inputs
    assert is_input != bool(expected)
    assert target.kept == tuple(kept_path(project, PAPER, name) for name in expected)
    assert target.depends_on[NAME] == project.results_fingerprint(PAPER, NAME)


def test_an_unwritable_cache_changes_no_verdict(
    world: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_paper(world, PAPER)
    whole = files(world)
    shutil.rmtree(world.results_folder())
    shutil.rmtree(world.cache_folder / "cells")
    monkeypatch.setattr(Cache, "store", lambda *_: "No space left on device")
    noted = played(monkeypatch)
    judge_paper(world, PAPER)
    assert files(world) == whole
    assert len(noted) == len(set(noted)), "a run was played twice"
