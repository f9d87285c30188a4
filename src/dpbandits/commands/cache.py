"""Show the cache of results and compiled kernels; prune what is outdated, or clear it."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dpbandits.commands.tables import add_format_option, print_table
from dpbandits.errors import InputError

ACTIONS = ("show", "prune", "clear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action."""
    wanted = "prune: remove what the sources here do not make; clear: remove all (default: show)"
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="show", help=wanted)
    parser.add_argument("--yes", action="store_true", help="clear without asking")
    add_format_option(parser)


def main(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from dpbandits.engine.cache import Cache
    from dpbandits.engine.cache_contents import contents_of, remove

    folder = Cache()
    if arguments.action == "show":
        # At once: entries are read one by one, which takes a while where they are many.
        if arguments.format == "table":
            print(f"folder: {folder.root}", flush=True)
        shown = contents_of(folder)
        print_table(_table(shown), arguments.format, "\n".join(_lines(shown)))
        return
    contents = contents_of(folder)
    every = [*contents.results, *contents.kernels]
    entries = contents.outdated if arguments.action == "prune" else every
    amount = _amount(entries)
    if arguments.action == "clear" and entries and not arguments.yes:
        _require_yes(f"remove {amount} from {folder.root}? [y/N] ")
    remove(entries)
    print(f"removed {amount} from {folder.root}")


def _lines(contents: Any) -> list[str]:
    """Return the lines on what there is: sums by state, and by algorithm."""
    lines = [f"results: {_amount(contents.results)}{_states(contents.results)}"]
    by_algorithm = defaultdict(list)
    for entry in contents.results:
        by_algorithm[entry.algorithm or "of unknown origin"].append(entry)
    for name, entries in sorted(by_algorithm.items()):
        lines.append(f"    {name}: {_amount(entries)}{_states(entries)}")
    return [*lines, f"compiled kernels: {_amount(contents.kernels)}{_states(contents.kernels)}"]


def _table(contents: Any) -> Any:
    """Return a row for each entry."""
    import pandas as pd

    kinds = (("result", contents.results), ("kernel", contents.kernels))
    rows = [
        {"kind": kind, "algorithm": entry.algorithm or "", "bytes": entry.size}
        | {"state": entry.state, "path": str(entry.path)}
        for kind, entries in kinds
        for entry in entries
    ]
    return pd.DataFrame(rows, columns=["kind", "algorithm", "bytes", "state", "path"])


def _states(entries: Sequence[Any]) -> str:
    """Return how many entries are not current, in brackets; nothing where all are."""
    from dpbandits.engine.cache_contents import OUTDATED, UNKNOWN, USER_DEFINED

    counts = {
        state: sum(entry.state == state for entry in entries)
        for state in (OUTDATED, USER_DEFINED, UNKNOWN)
    }
    said = [f"{count} {state}" for state, count in counts.items() if count]
    return f" ({', '.join(said)})" if said else ""


def _amount(entries: Sequence[Any]) -> str:
    """Return number and size of entries, such as ``12 entries, 3.4 MB``."""
    size = sum(entry.size for entry in entries)
    noun = "entry" if len(entries) == 1 else "entries"
    return f"{len(entries)} {noun}, {size / 1e6:.1f} MB"


def _require_yes(question: str) -> None:
    """Ask; InputError where the answer is not yes, or where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InputError("cache clear: nobody can be asked here; allowed: cache clear --yes")
    print(question, end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("cache clear: nothing was removed; allowed: the answer y, or --yes")
