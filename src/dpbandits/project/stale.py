"""Outputs that were made from other sources or another config, for the workflow to make again.

Snakemake sees a changed parameter only where it kept the records of an earlier run. Results that
were copied or unpacked have none, but every output says itself what it was made from. A stale one
is given the oldest time there is, so that it is older than all that it is made from.
"""

import os
from pathlib import Path

from dpbandits.engine.provenance import require_current
from dpbandits.engine.results import results_stamp
from dpbandits.errors import InputError
from dpbandits.project.outputs import Outputs
from dpbandits.project.steps import Step, made_steps, results_steps

STALE, EPOCH, CURRENT = 1, 2, 3
"""Seconds since 1970: of a stale output, of the epoch, of results that are current again.

Snakemake takes 0 for no time at all.
"""


def mark_stale(outputs: Outputs) -> list[Path]:
    """Give stale outputs of what is built the oldest time; return them.

    The file ``outputs.epoch()``, which every rule that makes results has as an input, is made where
    it is missing. What was marked and is current again, as an edit was undone, gets a time again.
    """
    epoch = Path(outputs.epoch())
    if not epoch.exists():
        epoch.parent.mkdir(parents=True, exist_ok=True)
        epoch.touch()
        os.utime(epoch, (EPOCH, EPOCH))
    results = [(step, _are_current(step), CURRENT) for step in results_steps(outputs)]
    made = [(step, _is_current(step), None) for step in made_steps(outputs)]
    stale: list[Path] = []
    for step, is_current, time in [*results, *made]:
        for path in filter(Path.exists, step.outputs):
            if not is_current:
                os.utime(path, (STALE, STALE))
                stale.append(path)
            elif path.stat().st_mtime <= STALE:
                os.utime(path, None if time is None else (time, time))
    return stale


def _are_current(step: Step) -> bool:
    """Return whether results carry the fingerprint that is wanted."""
    return results_stamp(step.outputs[0]) in step.made_from.values()


def _is_current(step: Step) -> bool:
    """Return whether the provenance of a figure, table or ledger says what is wanted."""
    try:
        require_current(step.outputs[0], step.made_from)
    except InputError:
        return False
    return True
