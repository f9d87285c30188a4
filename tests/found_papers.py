"""The papers that the tests run over: those published; drafts are their authors' own."""

from pathlib import Path

from dpbandits.engine.identity import registered
from dpbandits.pipeline.project import Project

_PROJECT = Project.load(Path(__file__).parents[1])

PAPERS = tuple(_PROJECT.published)
"""Their short names, in order."""

COMPARISONS = tuple(_PROJECT.known_comparisons)
"""The comparisons across papers."""

PLAYED = frozenset(
    name
    for paper in (*PAPERS, *COMPARISONS)
    for plan in _PROJECT.study(paper).simulations.values()
    for name in {entry.algorithm for entry in plan.spec.cells} & registered().keys()
)
"""Registered algorithms that they and the comparisons play: what tests have written down by hand
has to be there of these."""
