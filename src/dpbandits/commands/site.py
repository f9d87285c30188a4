"""Build a static site from the csv files that exist: every figure, claim and verdict."""

import argparse
from pathlib import Path

from dpbandits.commands.options import add_project_options, path, project_of
from dpbandits.pages.site.build import write_site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder to the project's options."""
    add_project_options(parser)
    parser.add_argument("--out", type=path, default="site", help="folder (default: site)")


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    folder = Path(arguments.out)
    files = write_site(project_of(arguments), folder)
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"{folder / 'index.html'} ({len(files)} files, {size:.1f} MB)")
