"""Draw one figure of a paper, with all its panels."""

import argparse
import time
from pathlib import Path

import pandas as pd

from dpbandits.commands.options import add_paper_arguments, add_project_options, project_of
from dpbandits.project.config import Project
from dpbandits.project.target import record
from dpbandits.project.targets import figure_target
from dpbandits.reporting.diagrams import draw_diagram
from dpbandits.reporting.figures import draw_figure
from dpbandits.reporting.specs import DIAGRAM


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the figure to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser, "a figure")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    draw_paper_figure(project_of(arguments), arguments.paper, arguments.name)


def draw_paper_figure(project: Project, paper: str, figure: str) -> list[Path]:
    """Draw a figure and its panels into ``figures/PAPER``; return the files."""
    begun = time.monotonic()
    spec = project.figure_spec(paper, figure)
    folder = project.figures_folder(paper)

    def frames(name: str) -> pd.DataFrame:
        return project.frame(paper, name)

    if spec.get("kind") == DIAGRAM:
        diagrams = project.experiments(paper).paper.diagrams
        written = draw_diagram(spec, figure, frames, folder, diagrams, paper)
    else:
        derived = project.experiments(paper).paper.derived
        written = draw_figure(spec, figure, frames, folder, derived, paper)
    record(project, figure_target(project, paper, figure), begun)
    return written
