"""What is published of the papers: config and verdicts, in a checkout or in an installed package.

A wheel has a copy of both, which its build makes (``setup.py``), laid out as in the repository.
"""

from pathlib import Path

import pandas as pd

import dpbandits
from dpbandits.errors import InputError
from dpbandits.project.config import CONFIG, Project

FIGURES = Path("docs/figures")
"""Folder of the published copies of figures and verdicts, in a folder with config."""

TABLES = Path("docs/tables")
"""Folder of the published copies of tables."""

NUMBERS = ("estimate", "lo", "hi", "level")
"""Columns of numbers, which may be empty."""

KEYS = ["claim", "variant", "interpretation"]
"""What the rows of the tables of a paper are told apart by."""


def published_folder() -> Path:
    """Return the folder with the config and the verdicts that belong to this package."""
    package = Path(dpbandits.__file__).parent
    packed = package / "published"
    return packed if packed.is_dir() else package.parents[1]


def published_project(folder: Path) -> Project:
    """Return the project of a folder, or, where it is none, the one that the package has with it.

    Raises:
        InputError: the package was installed without it.
    """
    found = folder if (folder / CONFIG).is_file() else published_folder()
    if not (found / CONFIG).is_file():
        raise InputError(
            "the published verdicts were not installed; allowed: this command in the project's "
            "folder, or with --project FOLDER"
        )
    return Project.load(found)


def published_table(project: Project, paper: str, name: str) -> pd.DataFrame:
    """Return a published table of verdicts: text, and numbers with NaN where there is none.

    Args:
        project: the project.
        paper: short name of the paper.
        name: ``claims``, ``simultaneous``, ``evidence`` or ``findings``.

    Raises:
        InputError: it is not published.
    """
    path = project.folder / FIGURES / paper / f"{name}.csv"
    if not path.is_file():
        raise InputError(f"{path}: does not exist; allowed: a paper whose verdicts are published")
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in set(NUMBERS) & set(frame.columns):
        frame[column] = pd.to_numeric(frame[column])
    return frame
