"""The files of a new paper."""

import re
from datetime import date
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from dpbandits.config.project import PAPERS
from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project


def write_skeleton(project: Project, name: str) -> list[Path]:
    """Write the folder of a draft; return its files."""
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError(f"name is {name!r}; allowed: small letters, digits and -")
    folder = project.folder / PAPERS / name
    if folder.exists() or name in project.known_comparisons:
        raise InputError(f"name is {name!r}, which is taken; allowed: another")
    named = {
        "paper": name,
        "prefix": re.sub("[^A-Z]", "", name.upper()),
        "package": name.replace("-", "_"),
        "year": date.today().year,
    }
    templates = Environment(loader=FileSystemLoader(Path(__file__).with_name("templates")))
    paths = []
    for kind in ("paper", "experiments", "claims"):
        paths.append(folder / f"{kind}.yaml")
        write_text(paths[-1], templates.get_template(f"new-paper.{kind}.yaml").render(named) + "\n")
    return paths
