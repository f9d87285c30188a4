"""Bad config files end in one line that names the file, the key and what is allowed."""

import shutil
from pathlib import Path

import pytest
import yaml

from dpbandits.cli import main
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from support import message_of

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = "config/papers/ts-is-dp/experiments.yaml"
CLAIMS = "config/papers/ts-is-dp/claims.yaml"
CONFIG = "config/config.yaml"

# (file, text in it, what replaces it, what the message must name)
BROKEN = [
    (CONFIG, "scale: paper", "scale: huge", "scale is 'huge'; allowed: paper, quick"),
    (CONFIG, "seed: 20260719", "seed: 1.5", "seed is 1.5; allowed: a whole number from 0"),
    (
        CONFIG,
        "seed: 20260719",
        "seeds: 1",
        "unknown key seeds; allowed: papers, comparisons, scale, seed",
    ),
    (
        CONFIG,
        "comparisons: [equal-privacy, privacy-audit, choosing]",
        "comparisons: [ts-is-dp]",
        "'ts-is-dp'; allowed: choosing, equal-privacy",
    ),
    (EXPERIMENTS, "law: bernoulli", "law: cauchy", "law is 'cauchy'; allowed: bernoulli"),
    (EXPERIMENTS, "[0.75, 0.625", "[1.75, 0.625", "mean is 1.75; allowed: 0 to 1"),
    (EXPERIMENTS, "algorithm: dp-se", "algorithm: dp-sea", "algorithm is 'dp-sea'; allowed: "),
    (EXPERIMENTS, "b: [0, 500, 1000", "b: [-1, 500, 1000", "b=-1 is not allowed: it must be"),
    (EXPERIMENTS, "c: lemma5_c", "c: lemma6_c", "parameter c is 'lemma6_c'; allowed: "),
    (EXPERIMENTS, "c: [1, 2]", "c: [0, 2]", "c is 0; allowed: a finite number above 0"),
    (EXPERIMENTS, "eta: [1, 2, 5], b: [0, 500", "eta: [0, 2, 5], b: [0, 500", "eta"),
    (
        EXPERIMENTS,
        "horizon: 100000",
        "horizon: 0",
        "horizon is 0; allowed: a whole number of at least 1",
    ),
    (EXPERIMENTS, "count: 10}", "count: 0}", "count is 0; allowed: a whole number of at least 1"),
    (EXPERIMENTS, "metrics: [pseudo_regret]", "metrics: [regret]", "'regret'; allowed: pseudo"),
    (EXPERIMENTS, "instance: bernoulli", "instance: cauchy", "instance is 'cauchy'; allowed"),
    (EXPERIMENTS, "tuned_by: tuning", "tuned_by: turning", "tuned_by is 'turning'; allowed"),
    (EXPERIMENTS, "grid: {points: 200}", "gird: {points: 200}", "unknown key gird; allowed: "),
    (EXPERIMENTS, "kind: curve", "kind: pie", "kind"),
    (EXPERIMENTS, "paper: ts-is-dp", "- ts-is-dp", "is not valid YAML"),
    (CLAIMS, "statistic: claimed_epsilon", "statistic: guess", "statistic is 'guess'; allowed"),
    (CLAIMS, "reads: [constants]", "reads: [constant]", "constant"),
    (CLAIMS, "figure: fig8", "figure: fig9", "figure has fig9; allowed: "),
    (CLAIMS, "figure: [fig4, fig5]", "figure: [fig4, fig5d]", "figure has fig5d; allowed: "),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project folder with the config of this one."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    return tmp_path


def replace_text(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_files_as_they_are_pass(folder: Path) -> None:
    Project.load(folder).check()


@pytest.mark.parametrize(("file", "old", "new", "expected"), BROKEN)
def test_one_line_names_file_and_key(
    folder: Path, file: str, old: str, new: str, expected: str
) -> None:
    replace_text(folder / file, old, new)
    message = message_of(lambda: Project.load(folder).check())
    assert str(folder / file) in message
    assert expected in message


@pytest.mark.parametrize("text", ["- ts-is-dp\n", "", "just words\n", "a: [\n", "\x00\x01"])
def test_a_config_that_is_no_mapping(folder: Path, text: str) -> None:
    (folder / CONFIG).write_text(text)
    assert message_of(lambda: Project.load(folder)).startswith(f"{folder / CONFIG}: is ")


def test_one_cell_in_two_simulations_is_refused(folder: Path) -> None:
    path = folder / EXPERIMENTS
    text = path.read_text()
    begin = text.index("  small-steps:")
    block = text[begin : text.index("  # TSDP-C21")].replace("small-steps", "small-steps-again")
    path.write_text(text[:begin] + block + text[begin:])
    message = message_of(lambda: Project.load(folder).check())
    assert "stands in small-steps-again too; allowed: each cell in one simulation" in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--seed", "-1"], "seed is -1; allowed: a whole number from 0"),
        (["--scale", "tiny"], "--scale is 'tiny'; allowed: paper, quick"),
        (["--project", "nowhere"], "nowhere/config/config.yaml: does not exist; allowed: "),
    ],
)
def test_the_command_line_says_it_in_one_line(
    folder: Path, words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--project", str(folder), *words]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert expected in line


def test_an_unwritable_results_folder_ends_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "results").write_text("a file where a folder should be")
    assert main(["run", "ts-is-dp", "constants", "--project", str(folder)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "constants.parquet: cannot be written" in line
    assert list(folder.glob("**/.constants*")) == []


@pytest.mark.parametrize("horizon", ["-1", "0", f"-{10**153}"])
def test_a_horizon_of_a_series_is_checked_before_its_grid(folder: Path, horizon: str) -> None:
    """The last one is too large for numpy as well."""
    path = folder / "config/papers/dp-bai/experiments.yaml"
    replace_text(path, "budgets [100, ", f"budgets [{horizon}, ")
    with pytest.raises(InputError, match=rf"dp-bai/.*horizon is {horizon}; allowed: at least 1"):
        Project.load(folder).check()


def test_what_makes_an_instance_has_a_name(folder: Path) -> None:
    path = folder / "config/papers/dp-bai/experiments.yaml"
    document = yaml.safe_load(path.read_text())
    document["instances"]["section5"]["make"] = {"a": 1}
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InputError, match=r"make is {'a': 1}; allowed: "):
        Project.load(folder).check()
