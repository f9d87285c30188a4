"""Compare the digitised values of a paper with ours."""

import argparse
import time
from pathlib import Path

from dpbandits.commands.options import add_paper_arguments, add_project_options, project_of
from dpbandits.engine.files import write_text
from dpbandits.project.config import Project
from dpbandits.project.target import record
from dpbandits.project.targets import digitised_figures, digitised_target
from dpbandits.reporting.agreement import compare_digitised, digitised_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper to the project's options."""
    add_project_options(parser)
    add_paper_arguments(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    write_digitised_comparison(project_of(arguments), arguments.paper)


def write_digitised_comparison(project: Project, paper: str) -> Path:
    """Compare digitised values of a paper with ours, in ``results/PAPER/digitised.csv``."""
    begun = time.monotonic()
    specs = {name: project.figure_spec(paper, name) for name in digitised_figures(project, paper)}
    compared = compare_digitised(specs, lambda name: project.frame(paper, name))
    target = digitised_target(project, paper)
    write_text(target.files[0], digitised_csv(compared))
    record(project, target, begun)
    return target.files[0]
