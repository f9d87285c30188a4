"""The targets behind what was built, after a check that they are there and current."""

from dpbandits.engine.provenance import read_provenance, require_current
from dpbandits.project.config import Project
from dpbandits.project.target import REPORT, RESULTS, Target, wanted
from dpbandits.project.targets import targets


def built_targets(project: Project) -> list[Target]:
    """Return all that the project builds and the results that it needs, inputs first.

    Raises:
        InputError: results, a figure, a table or a ledger is missing, damaged or stale.
    """
    every = targets(project)
    chosen = [*wanted(every, extra=False), *wanted(every, extra=True)]
    made = [target for target in every if target in chosen and target.kind != REPORT]
    for target in made:
        require_current(target.files[0], target.depends_on)
    results = [target for target in every if target.kind == RESULTS]
    read = {path for target in made for path in target.inputs}
    # Results that tune others come first in the list.
    for target in reversed(results):
        if target.files[0] in read:
            read |= set(target.inputs)
    needed = [target for target in results if target.files[0] in read]
    for target in needed:
        project.frame(target.paper, target.name)
        read_provenance(target.provenance)
    return [*needed, *made]
