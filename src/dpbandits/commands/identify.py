"""Name the best arm of a linear bandit by trials; print the share of successes."""

import argparse

import dpbandits
from dpbandits.commands.options import add_run_options, numbers, played, rows
from dpbandits.metrics import rate_interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the instance and the budget to the options of a run."""
    add_run_options(parser)
    parser.add_argument("--law", default="uniform", help="uniform (default) or bernoulli")
    parser.add_argument("--features", required=True, help='one row an arm: "0,1; 0,0.9; 10,0"')
    parser.add_argument("--theta", required=True, help='the parameter: "0.045,0.5"')
    parser.add_argument("--budget", type=int, required=True)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    bandit = dpbandits.linear(
        rows("features", arguments.features),
        numbers("theta", arguments.theta),
        arguments.law,
    )
    trials = dpbandits.identify(bandit=bandit, budget=arguments.budget, **played(arguments))
    rate, low, high = rate_interval(trials.success.sum(), arguments.runs)
    print(f"success: {rate:.6g} (95 % interval {low:.6g} to {high:.6g})")
    pulls = trials.total_pulls
    print(f"pulls: {pulls.mean():.6g} on average, {pulls.max()} at most, of {arguments.budget}")
    print("pulls of each arm: " + " ".join(f"{count:.6g}" for count in trials.pulls.mean(axis=0)))
    searches = "exhaustive" if trials.exact.all() else "by exchange where sets are large"
    print(f"searches for arms to pull: {searches}")
    print(f"guarantee: {trials.guarantee.describe()}")
