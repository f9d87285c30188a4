"""The targets of a checked project, kept in the cache for the same config and the same sources.

Reading and checking every experiments and claims file takes seconds, and a workflow is started
often: each job of a cluster starts it twice.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpbandits._sources import ROOT, SOURCES
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.files import write_text
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.target import Target

KEPT = 8
"""Number of states of config and sources whose targets are kept."""


def checked_targets(project: Project) -> list[Target]:
    """Return the targets of a project whose files have been checked, in this state or before.

    Raises:
        InputError: a file of the config is not as it must be.
    """
    path = project.cache_folder / "targets" / f"{_state(project)}.json"
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return [_restored(record) for record in json.loads(path.read_text(encoding="utf-8"))]
    # Both import the kernels and the claims.
    from dpbandits.project.check import check_files
    from dpbandits.project.targets import targets

    check_files(project)
    found = targets(project)
    # A cache that cannot be written costs time alone.
    with contextlib.suppress(InputError):
        write_text(path, json.dumps([asdict(target) for target in found], default=str))
        _forget_old(path.parent)
    return found


def _state(project: Project) -> str:
    """Return the hash of all that the check and the targets depend on."""
    digest = hashlib.sha256(digest_of([str(project.folder), dict(project.config)]).encode())
    for path, source in SOURCES.items():
        digest.update(f"{path}\0{len(source)}\0".encode() + source)
    folders = [project.folder / "config", ROOT / "reporting/templates"]
    walked = (each for folder in folders for each in os.walk(folder, followlinks=True))
    for path in sorted(Path(folder, name) for folder, _, names in walked for name in names):
        content = path.read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


def _restored(record: dict[str, Any]) -> Target:
    paths = {key: tuple(map(Path, record[key])) for key in ("inputs", "files")}
    return Target(**{**record, **paths})


def _forget_old(folder: Path) -> None:
    """Delete all but the newest entries."""
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[KEPT:]:
        path.unlink(missing_ok=True)
