"""Convert a guarantee to another kind, and name the source of the conversion."""

import argparse
from dataclasses import asdict

import pandas as pd

from dpbandits.commands.options import number, pairs
from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.engine.guarantees import conversion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the guarantee and the kind that is wanted."""
    kinds = "pure, gdp, zcdp, renyi (with order=), approximate (with delta=)"
    parser.add_argument("given", nargs="+", metavar="KIND=VALUE", help=kinds)
    wanted = "a kind; renyi with order=, approximate with delta= or epsilon="
    parser.add_argument("--to", nargs="+", required=True, metavar="KIND", help=wanted)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    kind, *words = arguments.to
    given, wanted = (
        {k: number(k, v) for k, v in pairs(key, group).items()}
        for key, group in (("given", arguments.given), ("to", words))
    )
    level, found = conversion(given, kind, wanted)
    table = pd.DataFrame([asdict(each.level) | {"source": each.source} for each in found])
    text = f"{level.describe()} implies " + "; ".join(each.describe() for each in found)
    print_table(table, arguments.format, text)
