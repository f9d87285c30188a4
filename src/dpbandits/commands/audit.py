"""Bound the privacy loss of an algorithm from below, by runs on neighbouring inputs."""

import argparse
from dataclasses import asdict

import pandas as pd

import dpbandits
from dpbandits.audit.tables import Pair, make_pair
from dpbandits.commands.options import (
    add_algorithm_argument,
    add_algorithm_options,
    algorithm_of,
    count,
    params_of,
    rows,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.errors import InputError

GIVEN = ("runs", "search_runs", "level", "seed")
"""Options that have their defaults in ``dpbandits.audit``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm, the neighbouring inputs and the runs."""
    add_algorithm_argument(parser)
    add_algorithm_options(parser)
    parser.add_argument("--horizon", type=count, required=True, help="rounds, or budget of pulls")
    parser.add_argument("--arms", type=count, default=2, help="number of arms (default: 2)")
    notions = "neighbours differ in one cell of a 'pull table' (default) or in one 'round'"
    parser.add_argument("--notion", default="pull table", help=notions)
    table = 'rewards of each arm: "0,0;1,1"; the last of a row goes on for ever'
    parser.add_argument("--x", metavar="TABLE", help=f"{table}; without, a pair is searched for")
    parser.add_argument("--x-prime", metavar="TABLE", help="its neighbour")
    parser.add_argument("--features", help="of a best-arm algorithm, one row an arm")
    parser.add_argument("--runs", type=count, help="per table (default: 1000000)")
    parser.add_argument("--search-runs", type=count, help="per table and pair (default: 20000)")
    parser.add_argument("--level", type=float, help="of the bound (default: 0.05)")
    parser.add_argument("--seed", type=count, help="root of all random streams")
    parser.add_argument("--workers", type=count, default=1, help="threads (default: 1)")
    parser.add_argument("--no-cache", action="store_true", help="compute anew, and keep nothing")
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    given = {name: getattr(arguments, name) for name in GIVEN}
    features = arguments.features
    found = dpbandits.audit(
        algorithm_of(arguments.algorithm),
        params=params_of(arguments),
        **variant_of(arguments),
        horizon=arguments.horizon,
        arms=arguments.arms,
        notion=arguments.notion,
        pair=_pair(arguments),
        features=None if features is None else rows("features", features),
        workers=arguments.workers,
        cache=not arguments.no_cache,
        **{name: value for name, value in given.items() if value is not None},
    )
    row = asdict(found.row) | {"verdict": found.verdict, "p_value": found.p_value}
    print_table(pd.DataFrame([row]), arguments.format, found.describe())


def _pair(arguments: argparse.Namespace) -> Pair | None:
    """Return the pair of tables of the command line, or None where a pair is to be searched for."""
    if (arguments.x is None) != (arguments.x_prime is None):
        raise InputError("--x and --x-prime: one is missing; allowed: both tables, or none")
    if arguments.x is None:
        return None
    return make_pair(rows("x", arguments.x), rows("x'", arguments.x_prime), notion=arguments.notion)
