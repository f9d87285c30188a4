"""Print what an algorithm guarantees for all instances, and what is known of that."""

import argparse
from dataclasses import asdict

import pandas as pd

import dpbandits
from dpbandits.commands.options import (
    add_algorithm_argument,
    add_algorithm_options,
    algorithm_of,
    count,
    number,
    pairs,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.guarantees import at_delta


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm, the horizon and the delta at which epsilon is wanted."""
    add_algorithm_argument(parser)
    add_algorithm_options(parser)
    wanted = "rounds, or the budget of pulls of an algorithm that names the best arm"
    parser.add_argument(
        "--horizon", "--budget", dest="horizon", type=count, required=True, help=wanted
    )
    parser.add_argument("--delta", type=float, help="at which epsilon is wanted")
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    guarantee = dpbandits.guarantee(
        algorithm_of(arguments.algorithm),
        params={k: number(k, v) for k, v in pairs("params", arguments.params).items()},
        **variant_of(arguments),
        horizon=arguments.horizon,
    )
    delta = arguments.delta
    row = asdict(guarantee)
    text = guarantee.describe()
    if delta is not None:
        row |= {"delta": delta, "epsilon": guarantee.epsilon(delta)}
        text = at_delta(guarantee, delta)
    print_table(pd.DataFrame([row]), arguments.format, text)
