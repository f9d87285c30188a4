"""Print what a run costs, by recorded timings: core-minutes and memory of each figure."""

import argparse

from dpbandits.commands.options import add_project_options, project_of
from dpbandits.engine.simulation import require_workers
from dpbandits.pages.cost import forecast_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the number of cores to the project's options."""
    add_project_options(parser)
    parser.add_argument("--cores", type=int, default=2, help="default: 2")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    print(forecast_text(project_of(arguments), require_workers(arguments.cores)))
