"""What a command prints: a table to read, csv, or JSON."""

import argparse
import json
import math
from typing import Any

import pandas as pd

from dpbandits.text_tables import aligned

FORMATS = ("table", "csv", "json")


def add_format_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that print a table."""
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="of what is printed (default: table)"
    )


def print_table(table: pd.DataFrame, form: str, text: str | None = None) -> None:
    """Print rows in a format.

    Args:
        table: the rows.
        form: one of ``FORMATS``; numbers have all their digits in csv and JSON, and JSON has null
            for what is missing or infinite.
        text: what stands for the table where someone reads it; by default its aligned lines.
    """
    if form == "csv":
        print(table.to_csv(index=False, lineterminator="\n"), end="")
    elif form == "json":
        rows = [
            {str(key): _plain(value) for key, value in row.items()}
            for row in table.to_dict("records")
        ]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print(aligned(table) if text is None else text)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
