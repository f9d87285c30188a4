"""Outputs that depend on other sources or another config, for the workflow to make again.

Snakemake sees a changed parameter only where it kept the records of an earlier run, and records
none that a rule finds from its output. But every output says itself what it depends on. A stale one
is given the oldest time there is, so that it is older than all its inputs; the profiles let times
alone tell. With other triggers a job that has to run again, as compiling the kernels, would hide
what is stale of the results after it, since it counts as an old input of theirs.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from dpbandits.engine.provenance import require_current
from dpbandits.engine.stamps import results_stamp
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.target import REPORT, RESULTS, Target

STALE, EPOCH, CURRENT = 1, 2, 3
"""Seconds since 1970: of a stale output, of the epoch, of results that are current again.

Snakemake takes 0 for no time at all.
"""

SKEW = 60.0
"""Seconds that clocks may differ by: no job dates back what another has just written."""


def epoch_path(project: Project) -> Path:
    """File that is older than all results but stale ones, an input of every one of them."""
    return project.cache_folder / "epoch"


def kernels_path(project: Project) -> Path:
    """File that says that kernels were compiled before the first results."""
    return project.cache_folder / "kernels.done"


def mark_stale(project: Project, targets: Iterable[Target]) -> list[Path]:
    """Give stale outputs the oldest time; return them.

    The file ``epoch_path(project)`` is made where it is missing, and ``kernels_path(project)``
    where there are results: Snakemake would run all of them again after the rule that makes it. An
    output that was marked and is current again, as an edit was undone, gets a time again. So does
    one of the future, as of a machine whose clock is wrong: what is made of it would be older.
    """
    epoch = epoch_path(project)
    if not epoch.exists() or epoch.stat().st_size == 0:
        epoch.parent.mkdir(parents=True, exist_ok=True)
        # Snakemake takes an empty file for one that never changes, whatever its time.
        epoch.write_text("Every result that is current is younger than this file.\n")
        os.utime(epoch, (EPOCH, EPOCH))
    kernels = kernels_path(project)
    latest = time.time() + SKEW
    stale: list[Path] = []
    for target in targets:
        if target.kind == RESULTS and target.files[0].exists() and not kernels.exists():
            kernels.touch()
        paths = [path for path in target.files if target.kind != REPORT and path.exists()]
        is_current = bool(paths) and _is_current(target)
        renewed = (CURRENT, CURRENT) if target.kind == RESULTS else None
        for path in paths:
            if not is_current:
                os.utime(path, (STALE, STALE))
                stale.append(path)
            elif not STALE < path.stat().st_mtime <= latest:
                os.utime(path, renewed)
    return stale


def _is_current(target: Target) -> bool:
    """Return whether results carry the fingerprint, or a provenance file those, of the present."""
    if target.kind == RESULTS:
        return results_stamp(target.files[0]) in target.depends_on.values()
    try:
        require_current(target.files[0], target.depends_on)
    except InputError:
        return False
    return True
