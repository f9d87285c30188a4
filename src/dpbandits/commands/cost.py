"""Print what a run costs, by recorded timings: core-minutes and memory of each figure."""

import argparse

from dpbandits.commands.options import add_project_options, count, project_of
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.arguments import require_workers
from dpbandits.pages.cost import forecast_table, forecast_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the number of cores to the project's options."""
    add_project_options(parser)
    parser.add_argument("--cores", type=count, default=2, help="that share the work (default: 2)")
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    project, cores = project_of(arguments), require_workers(arguments.cores)
    if arguments.format == "table":
        print(forecast_text(project, cores))
    else:
        print_table(forecast_table(project, cores), arguments.format)
