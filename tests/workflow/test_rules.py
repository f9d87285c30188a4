"""The rules state literally what they read and write, and it is what the config says."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from dpbandits.project.config import Project
from dpbandits.project.target import CLAIMS, DIGITISED, FIGURE, REPORT, RESULTS, TABLE, Target
from dpbandits.project.targets import targets
from support import mostly_slow, run_python

ROOT = Path(__file__).resolve().parents[2]

RULES = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    config = ConfigSettings(config=json.loads(sys.argv[1]))
    workflow = api.workflow(ResourceSettings(), config, snakefile=Path("Snakefile"))._workflow
    print(json.dumps({
        rule.name: [
            [str(path) for path in files if not callable(path)]
            for files in (rule.input, rule.output, rule.log)
        ]
        for rule in workflow.rules
    }))
"""
"""Prints what every rule reads, writes and logs, as far as it is stated literally."""


class Rule(NamedTuple):
    """What a rule states."""

    inputs: list[str]
    outputs: list[str]
    log: list[str]


def rules_of(folder: Path, **config: object) -> dict[str, Rule]:
    """Return the rules of a checkout by name, with values of the config in place of the file's."""
    run = run_python("-c", RULES, json.dumps(config), folder=folder)
    assert run.returncode == 0, run.stderr
    return {name: Rule(*stated) for name, stated in json.loads(run.stdout).items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of the checkout that Snakemake reads, nothing built."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in ("config", "workflow", "profiles"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "Snakefile", folder)
    return folder


def differences(rules: dict[str, Rule], built: list[Target]) -> list[str]:
    """Return the rules whose literal inputs, outputs or log are not those of their targets."""
    wrong = []
    for target in built:
        rule = rules.get(target.rule, Rule([], [], []))
        # Snakemake writes the constraint of a wildcard behind its name.
        patterns = [re.sub(r"\{(\w+),[^}]*\}", r"{\1}", path) for path in rule.outputs]
        outputs = sorted(path.format(paper=target.paper, name=target.name) for path in patterns)
        # Those of other kinds are functions of the wildcards, or all that is built.
        is_literal = target.kind not in (RESULTS, CLAIMS, DIGITISED, REPORT)
        inputs = list(map(str, target.inputs)) if is_literal else rule.inputs
        logs = {
            FIGURE: f"{target.paper}/{target.name}",
            TABLE: f"{target.paper}/table-{target.name}",
        }
        log = [f"logs/{logs[target.kind]}.log"] if target.kind in logs else rule.log
        stated = (rule.inputs, outputs, rule.log)
        if stated != (inputs, sorted(map(str, target.files)), log):
            wrong.append(target.rule)
    return wrong


@pytest.mark.parametrize("scale", mostly_slow(["paper", "quick"], "paper"))
def test_rules_state_what_the_config_says(
    folder: Path, scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    rules, built = rules_of(folder, scale=scale), targets(Project.load().at(scale=scale))
    assert differences(rules, built) == []
    inherited = {"draw", "tabulate", "kernels", "shard", "all", "extras"}
    assert set(rules) == {target.rule for target in built} | inherited


FAULTS = {
    "ts_is_dp_fig2": ('figure("ts-is-dp", "fig2a", "fig2b", ', 'figure("ts-is-dp", "fig2a", '),
    "ts_is_dp_fig4": ("logs/ts-is-dp/fig4.log", "logs/ts-is-dp/fig40.log"),
    "ts_is_dp_fig8": ('results("ts-is-dp", "comparison-curves")', 'results("ts-is-dp", "tuning")'),
    "ts_is_dp_table_privacy": ('table("ts-is-dp", "privacy")', 'table("ts-is-dp", "private")'),
}
"""Rule -> a text of its file, and what replaces it: an output, a log, an input, a name."""


def test_rules_that_differ_are_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "workflow/rules/ts-is-dp.smk"
    text = broken = path.read_text()
    for old, new in FAULTS.values():
        assert text.count(old) == 1
        broken = broken.replace(old, new)
    path.write_text(broken)
    monkeypatch.chdir(folder)
    one: dict[str, list[str]] = {"papers": ["ts-is-dp"], "comparisons": []}
    try:
        rules = rules_of(folder, **one)
    finally:
        path.write_text(text)
    assert set(differences(rules, targets(Project.load().at(**one)))) == set(FAULTS)
