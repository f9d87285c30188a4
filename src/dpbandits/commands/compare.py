"""Compare algorithms on your arms, or your own with those of a figure of a paper."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import dpbandits
from dpbandits.commands.options import (
    add_algorithm_options,
    add_arms_options,
    add_features_options,
    add_play_options,
    add_project_options,
    algorithm_of,
    arms_of,
    linear_arms_of,
    pairs,
    params_of,
    path,
    played,
    project_of,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.arguments import require_workers
from dpbandits.engine.files import write_atomically, write_text
from dpbandits.engine.own_algorithm import load_algorithm
from dpbandits.errors import InputError

OF_THE_FIGURE = (
    "law",
    "horizon",
    "theta",
    "budget",
    "runs",
    "no_cache",
    "memory_limit",
    "time_limit",
)
"""Options that mean nothing where a figure has the instance, the horizon and the runs."""

USES = "algorithms with --arms, or with --features and --theta; or --with FILE.py and a figure"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is compared, the instance, and the project's options."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="ALGORITHM | FIGURE",
        help="ids or Python files, to be compared on arms; or one figure, as dp-ts-ucb/fig5",
    )
    parser.add_argument(
        "--with", dest="file", type=path, metavar="FILE.py", help="an algorithm of your own"
    )
    add_algorithm_options(parser)
    add_arms_options(parser, required=False)
    add_features_options(parser, required=False)
    add_play_options(parser, required=False)
    add_format_option(parser)
    wanted = "for files; default: figures/compare/PAPER for a figure, none are written for arms"
    parser.add_argument("--out", type=path, metavar="FOLDER", help=wanted)
    add_project_options(parser, seed=False)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.arms or arguments.features:
        _compare_on_arms(arguments)
    elif arguments.file is not None and len(arguments.what) == 1:
        _compare_in_figure(arguments)
    else:
        raise InputError(f"compare: nothing can be compared; allowed: {USES}")


def _require_absent(arguments: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Raise InputError where an option is given that would mean nothing."""
    for name in names:
        if getattr(arguments, name) not in (None, False):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"compare: {option} is given; allowed: without it, {why}")


def _compare_on_arms(arguments: argparse.Namespace) -> None:
    """Print the table of the algorithms on the instance of the command line."""
    others = ("features", "theta", "budget") if arguments.arms else ("horizon",)
    _require_absent(arguments, ("scale", *others), "for the arms that are given")
    for name in ("runs", "theta"):
        if getattr(arguments, name) is None and name not in others:
            raise InputError(f"compare: --{name} is missing; allowed: {USES}")
    chosen = variant_of(arguments)
    names = [name for text in arguments.what for name in text.split(",") if name]
    algorithms = [algorithm_of(name) for name in names]
    algorithms += [] if arguments.file is None else [load_algorithm(arguments.file)]
    comparison = dpbandits.compare(
        [{"algorithm": each, **chosen} for each in algorithms],
        bandit=arms_of(arguments) if arguments.arms else linear_arms_of(arguments),
        horizon=arguments.horizon,
        budget=arguments.budget,
        **played(arguments),
    )
    print_table(comparison.summary(), arguments.format)
    if arguments.out is not None:
        _write(comparison, Path(arguments.out))


def _write(comparison: dpbandits.Comparison, folder: Path) -> None:
    """Write the plot as pdf and png, and the numbers of every run as csv."""
    figure: Any = comparison.plot().figure
    for suffix in ("pdf", "png"):
        write_atomically(folder / f"comparison.{suffix}", figure.savefig)
    text = comparison.frame().to_csv(index=False, lineterminator="\n")
    write_text(folder / "comparison.csv", str(text))


def _compare_in_figure(arguments: argparse.Namespace) -> None:
    """Draw the user's algorithm into a figure, and print the files."""
    # Comparing on arms does without a project.
    from dpbandits.commands.compare_figure import compare_figure
    from dpbandits.commands.custom_lines import Own

    _require_absent(arguments, OF_THE_FIGURE, "as the figure has it")
    chosen = pairs("interpretations", arguments.interpretations)
    algorithm = load_algorithm(arguments.file)
    own = Own(algorithm, params_of(arguments), arguments.variant, chosen)
    out = None if arguments.out is None else Path(arguments.out)
    workers = require_workers(arguments.workers)
    drawn = compare_figure(project_of(arguments), arguments.what[0], own, out, workers)
    files = [str(each) for each in drawn]
    print_table(pd.DataFrame({"file": files}), arguments.format, "\n".join(files))
