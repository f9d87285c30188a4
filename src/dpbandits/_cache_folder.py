"""The folder of all caches, and the warning where it cannot be written."""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from dpbandits.errors import InputError

VARIABLE = "DPBANDITS_CACHE"
CONFIG = Path("config/config.yaml")
PROJECT_KEYS = frozenset({"papers", "scale", "seed", "cache"})
"""Keys that the config of a project has; a folder with some other ``config.yaml`` is none."""


unwritable = SimpleNamespace(folders=set(), is_silent=False)
"""Folders that were warned of; worker processes are silent."""


def given_folder() -> Path | None:
    """Return the folder that ``DPBANDITS_CACHE`` names, or None where it is empty or not set."""
    given = os.environ.get(VARIABLE)
    return expanded(given, VARIABLE).absolute() if given else None


def expanded(text: str, key: str) -> Path:
    """Return a path with ``~`` and variables replaced; InputError where one means nothing."""
    path = os.path.expanduser(os.path.expandvars(text))
    if path.startswith("~") or "$" in path:
        raise InputError(f"{key} is {text!r}; allowed: a path of known users and set variables")
    return Path(path)


def cache_folder() -> Path:
    """Return the folder of all caches; nothing is created.

    That of ``DPBANDITS_CACHE``; without it the project's, where the current folder is a project;
    the user's cache folder elsewhere.
    """
    return given_folder() or _project_folder() or _user_folder()


@cache
def _user_folder() -> Path:
    """Return the user's folder of caches, or a temporary one where there is no home."""
    from platformdirs import user_cache_path

    try:
        return user_cache_path("dpbandits", appauthor=False)
    except (RuntimeError, KeyError):
        folder = Path(tempfile.gettempdir()) / f"dpbandits-{os.getuid()}"
        print(
            f"warning: there is no home folder, caches go to {folder}; allowed: {VARIABLE}=FOLDER",
            file=sys.stderr,
        )
        return folder


def _project_folder() -> Path | None:
    """Return the cache folder of the project in the current folder, None where there is none."""
    if not CONFIG.is_file():
        return None
    import yaml

    try:
        config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None
    if not isinstance(config, dict) or not config.keys() >= PROJECT_KEYS:
        return None
    return expanded(str(config["cache"]), f"{CONFIG}: cache").absolute()


def warn_unwritable(folder: Path, error: BaseException, what: str = "written") -> None:
    """Say once in a process why a folder cannot be written, or read; a worker's parent says it."""
    if unwritable.is_silent or (folder, what) in unwritable.folders:
        return
    unwritable.folders.add((folder, what))
    reason = getattr(error, "strerror", None) or str(error)
    effect = "results are complete, but not kept there"
    if what == "read":
        effect = "what is there is computed again"
    print(f"warning: {folder}: the cache cannot be {what} ({reason}); {effect}", file=sys.stderr)
