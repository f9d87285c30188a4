"""Name the best arm of a linear bandit by trials; print the share of successes."""

import argparse

import pandas as pd

import dpbandits
from dpbandits.commands.options import (
    add_algorithm_argument,
    add_algorithm_options,
    add_features_options,
    add_play_options,
    algorithm_of,
    linear_arms_of,
    played,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.metrics import mean_interval
from dpbandits.text_tables import aligned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm, the instance, the budget and the runs."""
    add_algorithm_argument(parser)
    add_algorithm_options(parser)
    parser.add_argument("--law", help="of the rewards: uniform (default) or bernoulli")
    add_features_options(parser, required=True)
    add_play_options(parser, required=True)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    trials = dpbandits.identify(
        algorithm=algorithm_of(arguments.algorithm),
        bandit=linear_arms_of(arguments),
        budget=arguments.budget,
        **variant_of(arguments),
        **played(arguments),
    )
    pulls = [
        (f"pulls of arm {arm}", *map(float, mean_interval(each)))
        for arm, each in enumerate(trials.pulls.T)
    ]
    summary = trials.summary()
    table = pd.concat([summary, pd.DataFrame(pulls, columns=summary.columns)], ignore_index=True)
    searches = "exhaustive" if trials.exact.all() else "by exchange where sets are large"
    lines = [
        aligned(table),
        f"most pulls of a trial: {trials.total_pulls.max()}, of a budget of {arguments.budget}",
        f"searches for arms to pull: {searches}",
        f"guarantee: {trials.guarantee.describe()}",
    ]
    print_table(table, arguments.format, "\n".join(lines))
