"""List the algorithms with all that can be chosen, or the claims with their verdicts."""

import argparse
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pandas as pd

from dpbandits.commands.tables import add_format_option, print_table

WHAT = ("algorithms", "claims")
SHORTENED = 72
"""Longest statement in a table that is read; csv and JSON have all of it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is listed."""
    wanted = "algorithms (default), or the claims of the papers with their published verdicts"
    parser.add_argument("what", nargs="?", choices=WHAT, default=WHAT[0], help=wanted)
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.what == "claims":
        claims = listed_claims()
        short = claims["statement"].map(_shortened)
        if arguments.format == "table":
            chosen = ["claim", "variant", "interpretation", "verdict", "statement"]
            claims = claims.assign(statement=short)[chosen]
        print_table(claims, arguments.format)
    else:
        text = "\n".join(_lines()) if arguments.format == "table" else None
        print_table(listed_algorithms(), arguments.format, text)


def _shortened(text: str) -> str:
    return text if len(text) <= SHORTENED else f"{text[: SHORTENED - 3]}..."


def listed_algorithms() -> pd.DataFrame:
    """Return a row for each algorithm and variant, with its guarantee at its example."""
    from dpbandits.algorithms import REGISTRY
    from dpbandits.engine.guarantees import listed

    rows = [
        {
            "algorithm": algorithm.id,
            "name": algorithm.name,
            "source": algorithm.paper,
            "parameters": " ".join(field.name for field in fields(algorithm.parameters)),
            "interpretations": "; ".join(
                f"{key}: {' | '.join(values)}" for key, values in algorithm.interpretations.items()
            ),
            "variant": variant,
            "guarantee": line.partition(": ")[2],
        }
        for algorithm in REGISTRY.values()
        for variant, line in zip(algorithm.variants, listed(algorithm), strict=True)
    ]
    return pd.DataFrame(rows)


def _lines() -> Iterator[str]:
    """Yield a few lines for each algorithm."""
    from dpbandits.algorithms import REGISTRY
    from dpbandits.engine.guarantees import listed

    for algorithm in REGISTRY.values():
        parameters = ", ".join(field.name for field in fields(algorithm.parameters))
        yield f"{algorithm.id} ({parameters}): {algorithm.name}, {algorithm.paper}"
        for interpretation, values in algorithm.interpretations.items():
            yield f"    interpretation {interpretation}: {', '.join(values)} (default {values[0]})"
        yield f"    variants: {', '.join(algorithm.variants)}"
        for line in listed(algorithm):
            yield f"    {line}"


def listed_claims() -> pd.DataFrame:
    """Return a row for each published verdict, with the statement of its claim."""
    # The list of algorithms does without the papers.
    from dpbandits.project.published import published_project, published_table

    project = published_project(Path())
    tables = []
    for paper in project.chosen:
        statements = {each.id: " ".join(each.statement.split()) for each in project.claims(paper)}
        table = published_table(project, paper, "claims")
        table.insert(0, "paper", paper)
        tables.append(table.assign(statement=table["claim"].map(statements)))
    return pd.concat(tables, ignore_index=True)
