"""The project that the tests read, and the papers that they run over, which are those published.

Drafts are their authors' own. The config is read once for all tests of a process.
"""

from functools import cache
from pathlib import Path

from dpbandits.engine.identity import registered
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import Target, targets

PROJECT = Project.load(Path(__file__).parents[1])

PAPERS = tuple(PROJECT.published)
"""Their short names, in order."""

COMPARISONS = tuple(PROJECT.known_comparisons)
"""The comparisons across papers."""

PLAYED = frozenset(
    name
    for paper in (*PAPERS, *COMPARISONS)
    for plan in PROJECT.study(paper).simulations.values()
    for name in {entry.algorithm for entry in plan.spec.cells} & registered().keys()
)
"""Registered algorithms that they and the comparisons play: what tests have written down by hand
has to be there of these."""


@cache
def every_target() -> list[Target]:
    """Return what can be built of the project; it is not to be changed."""
    return targets(PROJECT)
