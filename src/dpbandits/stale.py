"""Outputs that were made from other sources or another config, for the workflow to make again.

Snakemake sees a changed parameter only where it kept the records of an earlier run. Results that
were copied or unpacked have none, but every output says itself what it was made from. A stale one
is given the oldest time there is, so that it is older than all that it is made from.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpbandits.engine.provenance import require_current
from dpbandits.engine.results import results_stamp
from dpbandits.errors import InputError
from dpbandits.outputs import Outputs
from dpbandits.steps import Step, made_steps, results_steps

OLDEST, OLD = 1, 2
"""Seconds since the epoch: of a stale output, and of what all results count as made from.

Snakemake takes 0 for no time at all.
"""


def mark_stale(outputs: Outputs) -> list[Path]:
    """Give stale outputs of what is built the oldest time; return them.

    The file ``outputs.epoch()``, which every rule that makes results has as an input, is made where
    it is missing.
    """
    epoch = Path(outputs.epoch())
    if not epoch.exists():
        epoch.parent.mkdir(parents=True, exist_ok=True)
        epoch.touch()
        os.utime(epoch, (OLD, OLD))
    stale = [path for step in _stale(outputs) for path in step.outputs if path.exists()]
    for path in stale:
        os.utime(path, (OLDEST, OLDEST))
    return stale


def _stale(outputs: Outputs) -> Iterator[Step]:
    for step in _existing(results_steps(outputs)):
        if results_stamp(step.outputs[0]) not in step.made_from.values():
            yield step
    for step in _existing(made_steps(outputs)):
        try:
            require_current(step.outputs[0], step.made_from)
        except InputError:
            yield step


def _existing(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if any(path.exists() for path in step.outputs))
