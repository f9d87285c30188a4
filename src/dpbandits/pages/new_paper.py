"""The folder of a new paper, one figure and one claim, that builds at once."""

import re
from datetime import date
from pathlib import Path

from dpbandits.engine.files import write_text
from dpbandits.errors import InputError
from dpbandits.pages.render import render
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import PAPERS

FILES = ("paper", "experiments", "claims")
"""What a paper states about itself, by file."""

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_skeleton(project: Project, name: str) -> list[Path]:
    """Write the folder of a draft; return its files.

    Raises:
        InputError: the name is not allowed, or taken.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"name is {name!r}; allowed: small letters, digits and -")
    folder = project.folder / PAPERS / name
    if folder.exists() or name in project.known_comparisons:
        raise InputError(f"name is {name!r}, which is taken; allowed: another")
    prefix = re.sub("[^A-Z]", "", name.upper())
    paths = []
    for kind in FILES:
        paths.append(folder / f"{kind}.yaml")
        text = render(f"new-paper.{kind}.yaml", paper=name, prefix=prefix, year=date.today().year)
        write_text(paths[-1], text)
    return paths
