"""Compile what the chosen papers need, in one process."""

import argparse
import sys

from dpbandits.commands.options import add_choice_options, add_project_options, project_of
from dpbandits.engine.fan_out import compile_kernels, compile_nash_kernels
from dpbandits.metrics.nash import NASH
from dpbandits.project.config import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the project's options, and those that choose papers."""
    add_project_options(parser)
    add_choice_options(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    print(f"compiled: {', '.join(compile_paper_kernels(project_of(arguments)))}", file=sys.stderr)


def compile_paper_kernels(project: Project) -> list[str]:
    """Compile the kernels of every algorithm that what is built simulates; return their ids."""
    plans = [
        plan for paper in project.built() for plan in project.experiments(paper).plans.values()
    ]
    # Those of a paper's own are compiled where they are played.
    algorithms = sorted({name for plan in plans for name in {*plan.spec.algorithms} - {*plan.own}})
    compile_kernels(algorithms)
    if any(not set(NASH).isdisjoint(plan.spec.metrics) for plan in plans):
        compile_nash_kernels()
    return algorithms
