"""Check config, experiments and claims, or an algorithm of your own in a Python file."""

import argparse
from dataclasses import asdict

from dpbandits.commands.options import (
    add_algorithm_options,
    add_choice_options,
    add_project_options,
    params_of,
    path,
    project_of,
    variant_of,
)
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.progress import waiting
from dpbandits.project.config import Project
from dpbandits.project.filters import check_filters
from dpbandits.project.forecast import forecast
from dpbandits.project.sentences import check_sentences


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the project's options, the choice of papers, and the options of an algorithm."""
    add_project_options(parser)
    add_choice_options(parser)
    parser.add_argument(
        "file", type=path, nargs="?", metavar="FILE.py", help="an algorithm of your own"
    )
    add_algorithm_options(parser)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.file is not None:
        _check_algorithm(arguments)
        return
    project = project_of(arguments)
    with waiting("checking config and experiments"):
        project.check()
    check_filters(project)
    check_pages(project)
    print("config, experiments and claims are in order")
    for paper in project.built():
        is_draft = paper in project.papers and paper not in project.published
        if is_draft and project.scale == "paper":
            minutes = forecast(project, paper)
            print(f"{paper}: its simulations take about {minutes:.2g} core-minutes")


def check_pages(project: Project) -> None:
    """Check the errata of the chosen papers, and that no sentence of theirs is missing.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    # Here: an algorithm in a file is checked without the libraries of pages.
    from dpbandits.pages.errata import load_errata

    for paper in project.built():
        if paper in project.papers:
            load_errata(project, paper)
            check_sentences(project, paper)
            project.summary(paper)


def _check_algorithm(arguments: argparse.Namespace) -> None:
    """Print what the checks of a user-defined algorithm say; InputError where one failed."""
    import pandas as pd

    from dpbandits.engine.check_algorithm import check_algorithm, require_passed
    from dpbandits.engine.own_algorithm import load_algorithm

    checks = check_algorithm(
        load_algorithm(arguments.file),
        params=params_of(arguments) or None,
        **variant_of(arguments),
        on_fail=None,
    )
    table = pd.DataFrame([asdict(each) for each in checks])
    print_table(table, arguments.format, "\n".join(map(str, checks)))
    require_passed(checks)
