"""Print what an algorithm guarantees for all instances, and what is known of that."""

import argparse

import dpbandits
from dpbandits.commands.options import add_algorithm_options, algorithm_of, number, pairs
from dpbandits.engine.guarantees import at_delta


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm, the horizon and the delta at which epsilon is wanted."""
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")
    add_algorithm_options(parser)
    parser.add_argument("--horizon", type=int, required=True, help="rounds, or budget of pulls")
    parser.add_argument("--delta", type=float, help="at which epsilon is wanted")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    guarantee = dpbandits.guarantee(
        algorithm_of(arguments.algorithm),
        params={k: number(k, v) for k, v in pairs("params", arguments.params).items()},
        variant=arguments.variant,
        interpretations=pairs("interpretations", arguments.interpretations),
        horizon=arguments.horizon,
    )
    delta = arguments.delta
    print(guarantee.describe() if delta is None else at_delta(guarantee, delta))
