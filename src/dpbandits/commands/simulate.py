"""Simulate and print final regrets with their 95 % intervals, and the mean pulls."""

import argparse
import math

import dpbandits
from dpbandits.bandits import INSTANCES
from dpbandits.commands.options import add_run_options, number, played
from dpbandits.errors import InputError
from dpbandits.metrics import mean_interval


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the instance and the horizon to the options of a run."""
    add_run_options(parser)
    parser.add_argument("--law", default="bernoulli")
    parser.add_argument("--arms", nargs="+", required=True, help="mean or rate of each arm")
    parser.add_argument("--horizon", type=int, required=True)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.law not in INSTANCES:
        raise InputError(f"law is {arguments.law!r}; allowed: {', '.join(INSTANCES)}")
    bandit = INSTANCES[arguments.law][1]([number("arms", word) for word in arguments.arms])
    simulation = dpbandits.simulate(bandit=bandit, horizon=arguments.horizon, **played(arguments))
    for metric in ("pseudo_regret", "realised_regret"):
        mean, low, high = mean_interval(getattr(simulation, metric))
        print(f"{metric}: {mean:.6g} (95 % interval {low:.6g} to {high:.6g})")
    print("pulls: " + " ".join(f"{count:.6g}" for count in simulation.pulls.mean(axis=0)))
    bias = "subtracted" if arguments.runs > 1 else "kept"
    curve = simulation.nash_regret(at=[arguments.horizon], bias=bias)
    ends = [float(end[0]) for end in curve.interval()] if curve.runs > 1 else [-math.inf, math.inf]
    interval = f"95 % interval {ends[0]:.6g} to {ends[1]:.6g}"
    print(f"nash_regret: {curve.nash_regret[0]:.6g} ({interval}, bias {bias})")
    print(f"guarantee: {simulation.guarantee.describe()}")
