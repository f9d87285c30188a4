"""The papers that the tests run over: those published; drafts are their authors' own."""

from pathlib import Path

from dpbandits.project.config import Project

PAPERS = tuple(Project.load(Path(__file__).parents[1]).published)
"""Their short names, in order."""
