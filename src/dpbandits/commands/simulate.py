"""Simulate and print final regrets with their 95 % intervals, and the mean pulls."""

import argparse

import pandas as pd

import dpbandits
from dpbandits.commands.options import (
    add_algorithm_argument,
    add_algorithm_options,
    add_arms_options,
    add_play_options,
    algorithm_of,
    arms_of,
    played,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.text_tables import aligned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm, the instance, the horizon and the runs."""
    add_algorithm_argument(parser)
    add_algorithm_options(parser)
    add_arms_options(parser, required=True)
    add_play_options(parser, required=True)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    simulation = dpbandits.simulate(
        algorithm=algorithm_of(arguments.algorithm),
        bandit=arms_of(arguments),
        horizon=arguments.horizon,
        **variant_of(arguments),
        **played(arguments),
    )
    bias = "subtracted" if arguments.runs > 1 else "kept"
    nash_regret = _nash_regret(simulation, bias)
    table = pd.concat([simulation.summary(), nash_regret], ignore_index=True)
    lines = [
        aligned(table),
        f"bias of nash_regret: {bias}",
        f"guarantee: {simulation.guarantee.describe()}",
    ]
    print_table(table, arguments.format, "\n".join(lines))


def _nash_regret(simulation: dpbandits.Simulation, bias: str) -> pd.DataFrame:
    """Return the row of the Nash regret at the horizon."""
    found = simulation.nash_regret(at=[simulation.cell.horizon], bias=bias).frame()
    return found.rename(columns={"value": "mean"})[["metric", "mean", "low", "high"]]
