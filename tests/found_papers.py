"""The papers that the tests run over: those published; drafts are their authors' own."""

from pathlib import Path

from dpbandits.papers import COMPARISONS
from dpbandits.pipeline.project import Project

_PROJECT = Project.load(Path(__file__).parents[1])

PAPERS = tuple(_PROJECT.published)
"""Their short names, in order."""

PLAYED = frozenset(
    name
    for paper in (*PAPERS, *COMPARISONS)
    for spec in _PROJECT.experiments(paper).simulations.values()
    for name in spec.algorithms
)
"""Ids of the algorithms that they and the comparisons play: what tests have written down by hand
has to be there of these."""
