"""Outputs that were made from other sources or another config, for the workflow to make again.

Snakemake sees a changed parameter only where it kept the records of an earlier run. Results that
were copied or unpacked have none; every output says itself what it was made from.
"""

from collections.abc import Collection
from pathlib import Path

from dpbandits.engine.provenance import require_current
from dpbandits.engine.results import results_stamp
from dpbandits.errors import InputError
from dpbandits.outputs import Outputs
from dpbandits.steps import Step, made_steps, needed_results


def stale_files(outputs: Outputs, targets: Collection[str]) -> set[str]:
    """Return the existing files that the targets need and that are not of the present sources.

    Args:
        outputs: of the project.
        targets: files, or the names of the rules ``all``, ``extras`` and ``pdf``; none for ``all``.
            Other names are left alone.
    """
    wanted = _wanted(outputs, targets)
    made: list[Step] = []
    # From the last step to the first, so that what a step reads is wanted before it is looked at.
    for step in reversed(list(made_steps(outputs))):
        if not wanted.isdisjoint(step.outputs):
            made.append(step)
            wanted |= set(step.inputs)
    stale = [step for step in made if _exists(step) and not _is_current(step)]
    stale += [
        step
        for step in needed_results(outputs, wanted)
        if _exists(step) and results_stamp(step.outputs[0]) not in step.made_from.values()
    ]
    return {str(path) for step in stale for path in step.outputs if path.exists()}


def _wanted(outputs: Outputs, targets: Collection[str]) -> set[Path]:
    """Return the files behind the names of the targets."""
    of_rules = {
        "all": [*outputs.targets(), *outputs.whole_ledger_targets()],
        "extras": outputs.extra_targets(),
        "pdf": outputs.report_inputs(),
    }
    names = [name for target in targets or ["all"] for name in of_rules.get(target, [target])]
    return {Path(name) for name in names}


def _exists(step: Step) -> bool:
    return any(path.exists() for path in step.outputs)


def _is_current(step: Step) -> bool:
    try:
        require_current(step.outputs[0], step.made_from)
    except InputError:
        return False
    return True
