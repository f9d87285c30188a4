"""Check config, experiments and claims, or an algorithm of your own in a Python file."""

import argparse

from dpbandits.commands.options import (
    add_algorithm_options,
    add_project_options,
    pairs,
    params_of,
    path,
    project_of,
)
from dpbandits.project.filters import check_filters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the project's options, and those of an algorithm."""
    add_project_options(parser)
    parser.add_argument(
        "file", type=path, nargs="?", metavar="FILE.py", help="an algorithm of your own"
    )
    add_algorithm_options(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.file is not None:
        _check_algorithm(arguments)
        return
    project = project_of(arguments)
    project.check()
    check_filters(project)
    print("config, experiments and claims are in order")


def _check_algorithm(arguments: argparse.Namespace) -> None:
    """Print what the checks of a user-defined algorithm say; InputError where one failed."""
    from dpbandits.engine.check_algorithm import check_algorithm, require_passed
    from dpbandits.engine.own_algorithm import load_algorithm

    checks = check_algorithm(
        load_algorithm(arguments.file),
        params=params_of(arguments) or None,
        interpretations=pairs("interpretations", arguments.interpretations),
        variant=arguments.variant,
        on_fail=None,
    )
    for line in checks:
        print(line)
    require_passed(checks)
