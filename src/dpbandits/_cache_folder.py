"""The folder of all caches, and the warning where it cannot be written."""

import os
import sys
from pathlib import Path

VARIABLE = "DPBANDITS_CACHE"
CONFIG = Path("config/config.yaml")
PROJECT_KEYS = frozenset({"papers", "scale", "seed", "cache"})
"""Keys that the config of a project has; a folder with some other ``config.yaml`` is none."""


def given_folder() -> Path | None:
    """Return the folder that ``DPBANDITS_CACHE`` names, or None where it is empty or not set."""
    given = os.environ.get(VARIABLE)
    return Path(given).absolute() if given else None


def cache_folder() -> Path:
    """Return the folder of all caches; nothing is created.

    That of ``DPBANDITS_CACHE``; without it the project's, where the current folder is a project;
    the user's cache folder elsewhere.
    """
    from platformdirs import user_cache_path

    return given_folder() or _project_folder() or user_cache_path("dpbandits", appauthor=False)


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
    return Path(str(config["cache"])).absolute()


class _Warner:
    """Warns of each folder once in a process; never in worker processes, whose parent does."""

    def __init__(self) -> None:
        self.warned: set[Path] = set()
        self.is_silent = False

    def __call__(self, folder: Path, reason: str) -> None:
        if self.is_silent or folder in self.warned:
            return
        self.warned.add(folder)
        print(
            f"warning: {folder}: the cache cannot be written ({reason}); results are complete, but "
            f"not kept there",
            file=sys.stderr,
        )


warn_unwritable = _Warner()
"""Print one line on a cache folder and the reason why it cannot be written."""


def reason_of(error: OSError) -> str:
    """Return what the operating system says of an error, such as ``No space left on device``."""
    return error.strerror or str(error)
