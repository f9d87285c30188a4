"""The stated properties of the Dockerfile; no container engine is needed."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions(text: str) -> list[tuple[str, str]]:
    """Return (instruction, argument) of a Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(name.upper(), " ".join(argument.split())) for name, argument in pairs]


def problems(text: str) -> list[str]:
    """Return which of the stated properties a Dockerfile lacks."""
    found = instructions(text)
    names = [name for name, _ in found]
    arguments = {name: [argument for own, argument in found if own == name] for name in names}
    users = arguments.get("USER", ["root"])
    commands = arguments.get("CMD", [])
    installs = [line for line in arguments.get("RUN", []) if "apt-get install" in line]
    last_user = max((i for i, name in enumerate(names) if name == "USER"), default=-1)
    stated = {
        "known instructions": set(names) <= {"FROM", "RUN", "USER", "WORKDIR", "COPY", "CMD"},
        "one base": len(arguments.get("FROM", [])) == 1,
        "pinned base": bool(re.search(r":\d+\.\d+\.\d+-[a-z]+-[a-z]+$", arguments["FROM"][0])),
        "not root": users[-1] not in ("root", "0"),
        "not root where the sources are": names.index("COPY") > last_user,
        "no packages beside those named": all("--no-install-recommends" in i for i in installs),
        "lists removed": all("rm -rf /var/lib/apt/lists" in line for line in installs),
        "lists fetched in the same layer": all("apt-get update" in line for line in installs),
        "absolute folder": all(each.startswith("/") for each in arguments.get("WORKDIR", ["."])),
        "one command, without a shell": commands == ['["make", "figures"]'],
        "nothing unhashed": "pip install" not in text,
    }
    return [name for name, holds in stated.items() if not holds]


def test_the_dockerfile_has_its_stated_properties() -> None:
    assert problems(TEXT) == []


@pytest.mark.parametrize(
    ("old", "new", "lacks"),
    [
        ("python:3.11.7-slim-bookworm", "python:3.11", "pinned base"),
        ("USER 1000\n", "", "not root"),
        ("--no-install-recommends ", "", "no packages beside those named"),
        ('["make", "figures"]', "make figures", "one command, without a shell"),
        ("RUN make .venv/installed", "RUN pip install -e .", "nothing unhashed"),
        ("RUN useradd", "RUNN useradd", "known instructions"),
    ],
)
def test_a_dockerfile_without_a_property_is_found(old: str, new: str, lacks: str) -> None:
    assert old in TEXT
    assert lacks in problems(TEXT.replace(old, new))


def test_the_base_is_a_python_that_the_lock_is_for() -> None:
    [version] = re.findall(r"^FROM python:(\d+\.\d+)\.", TEXT, re.MULTILINE)
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][0]
    assert conda == "python >=3.11,<3.14"
    assert (3, 11) <= tuple(map(int, version.split("."))) < (3, 14)


def test_what_it_runs_are_targets_of_the_makefile() -> None:
    words = [shlex.split(line) for line in re.findall(r"^RUN (make .*)$", TEXT, re.MULTILINE)]
    for word in [*words, ["make", "figures"]]:
        dry = [word[0], "--dry-run", *word[1:]]
        subprocess.run(dry, cwd=ROOT, check=True, capture_output=True)


def test_the_container_gets_results_and_no_environment_of_this_machine() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv*", ".cache", ".snakemake"} <= set(ignored)
    assert not {"results", "figures"} & set(ignored)
