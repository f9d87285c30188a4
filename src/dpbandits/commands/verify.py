"""Recompute a random sample of the results' cells; say of each whether it agrees."""

import argparse

from dpbandits.commands.options import add_project_options, add_workers_option, count, project_of
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.arguments import require_workers
from dpbandits.verification.sample import Plan
from dpbandits.verification.verify import require_agreement, verify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the size of the sample to the project's options."""
    add_project_options(parser)
    add_workers_option(parser)
    parser.add_argument(
        "--cells", type=count, default=5, help="of each set of results (default: 5)"
    )
    parser.add_argument(
        "--rounds", type=count, default=5 * 10**7, help="most rounds of a cell (default: 50000000)"
    )
    parser.add_argument("--sample-seed", type=count, default=1, help="of the draw (default: 1)")
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    plan = Plan(arguments.cells, arguments.rounds, arguments.sample_seed)
    outcome = verify(project_of(arguments), plan, require_workers(arguments.workers))
    print_table(outcome.table, arguments.format, "\n".join(outcome.lines()))
    require_agreement(outcome)
