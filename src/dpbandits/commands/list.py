"""List the algorithms with parameters, interpretations, variants, source and guarantee."""

import argparse
from dataclasses import fields

from dpbandits.algorithms import REGISTRY
from dpbandits.engine.guarantees import listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: every algorithm is listed."""


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for algorithm in REGISTRY.values():
        parameters = ", ".join(field.name for field in fields(algorithm.parameters))
        print(f"{algorithm.id} ({parameters}): {algorithm.name}, {algorithm.paper}")
        for interpretation, values in algorithm.interpretations.items():
            print(f"    interpretation {interpretation}: {', '.join(values)} (default {values[0]})")
        print(f"    variants: {', '.join(algorithm.variants)}")
        for line in listed(algorithm):
            print(f"    {line}")
