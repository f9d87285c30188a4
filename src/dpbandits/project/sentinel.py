"""The targets as the workflow plans them: what is stale reads a file that is newer than it.

Snakemake sees by its records that a fingerprint has changed. Outputs that come without records, as
from an archive, say themselves what they depend on.
"""

import time
from dataclasses import replace
from pathlib import Path

from dpbandits.engine.files import write_text
from dpbandits.engine.provenance import require_current
from dpbandits.engine.stamps import results_stamp
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.target import RESULTS, Target
from dpbandits.project.targets import targets


def sentinel_path(project: Project) -> Path:
    """File that is newer than what depends on other sources or another config."""
    return project.cache_folder / "now"


def planned_targets(project: Project, *, is_job: bool = False) -> list[Target]:
    """Return all targets; those that are built but stale have the sentinel among their inputs.

    Args:
        project: the project.
        is_job: whether this is a job of a workflow that runs elsewhere, which wrote the sentinel.

    Raises:
        InputError: a file of the config is not as it must be.
    """
    path = sentinel_path(project)
    every = targets(project)
    stale = [target for target in every if target.files[0].exists() and not _is_current(target)]
    if stale and not is_job:
        # Each time another text: Snakemake takes a small file with the same one for unchanged.
        write_text(path, f"newer than what is stale, {time.time_ns()}\n")
    return [replace(each, inputs=(*each.inputs, path)) if each in stale else each for each in every]


def _is_current(target: Target) -> bool:
    """Return whether results carry the fingerprint, or a provenance file those, of the present."""
    if target.kind == RESULTS:
        return results_stamp(target.files[0]) in target.depends_on.values()
    try:
        require_current(target.files[0], target.depends_on)
    except InputError:
        return False
    return True
