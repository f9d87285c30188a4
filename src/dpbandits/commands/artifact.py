"""Pack sources, results, figures, tables, ledger, report and site into one archive."""

import argparse
from pathlib import Path

from dpbandits.artifact.archive import pack
from dpbandits.commands.options import add_project_options, path, project_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the archive to the project's options."""
    add_project_options(parser)
    parser.add_argument(
        "--out",
        type=path,
        metavar="FOLDER",
        default="artifact",
        help="of the archive (default: artifact)",
    )


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    print(pack(project_of(arguments), Path(arguments.out)))
