"""Compile what the chosen papers need, best arms beside all others."""

import argparse
import sys

from joblib import Parallel, delayed

from dpbandits.algorithms import find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.commands.options import (
    add_choice_options,
    add_project_options,
    add_workers_option,
    project_of,
)
from dpbandits.engine.arguments import require_workers
from dpbandits.engine.fan_out import compile_kernels, compile_nash_kernels
from dpbandits.metrics.nash import NASH
from dpbandits.project.config import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the project's options, those that choose papers, and the number of processes."""
    add_project_options(parser)
    add_choice_options(parser)
    add_workers_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    workers = require_workers(arguments.workers)
    compiled = compile_paper_kernels(project_of(arguments), workers)
    print(f"compiled: {', '.join(compiled)}", file=sys.stderr)


def compile_paper_kernels(project: Project, workers: int = 1) -> list[str]:
    """Compile the kernels of every algorithm that what is built simulates; return their ids.

    Args:
        project: whose papers and comparisons are built.
        workers: processes to compile in; two at most have work that they do not share.
    """
    plans = [
        plan for paper in project.built() for plan in project.experiments(paper).plans.values()
    ]
    # Those of a paper's own are compiled where they are played.
    algorithms = sorted({name for plan in plans for name in {*plan.spec.algorithms} - {*plan.own}})
    best_arms = [name for name in algorithms if _is_of_best_arms(name)]
    work = [
        delayed(compile_kernels)([name for name in algorithms if name not in best_arms]),
        delayed(compile_kernels)(best_arms),
    ]
    if any(not set(NASH).isdisjoint(plan.spec.metrics) for plan in plans):
        work.append(delayed(compile_nash_kernels)())
    Parallel(n_jobs=min(workers, 2))(work)
    return algorithms


def _is_of_best_arms(algorithm: str) -> bool:
    return isinstance(find_definition(algorithm), IdentificationAlgorithm)
