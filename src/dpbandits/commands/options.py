"""Options that several commands share, and what their words mean."""

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.project.config import Project


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise InputError in place of printing the usage."""
        raise InputError(f"{self.prog}: {message} (see {self.prog} --help)")


def path(text: str) -> str:
    """Return a path of the command line; an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is ''; allowed: a path")
    return text


def add_project_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that work on a project folder."""
    parser.add_argument(
        "--project", type=path, default=".", help="folder of the project (default: here)"
    )
    parser.add_argument("--scale", choices=["paper", "quick"], help="instead of the config's")
    parser.add_argument("--seed", type=int, help="instead of the config's")
    parser.add_argument(
        "--log", type=path, help="file that receives what went wrong, or the word done"
    )


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose which papers a command on all of them gathers."""
    for key, what in (("papers", "papers"), ("comparisons", "comparisons across papers")):
        parser.add_argument(f"--{key}", nargs="*", help=f"{what}, instead of the config's")
    parser.add_argument("--only", help="one of them, instead of the config's")


def add_workers_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that simulate in several processes."""
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")


def add_algorithm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how an algorithm is played."""
    parser.add_argument("--params", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--interpretations", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--variant", default="as-written")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that play one algorithm on an instance of the command line."""
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")
    add_algorithm_options(parser)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--no-cache", action="store_true", help="compute anew, and keep nothing")
    parser.add_argument("--memory-limit", type=int, metavar="BYTES", help="default: 8 gigabytes")
    parser.add_argument("--time-limit", type=float, metavar="HOURS", help="default: 24")


def project_of(arguments: argparse.Namespace) -> "Project":
    """Return the project folder, at the scale, seed and choice of the command line."""
    # Commands without a project do without its libraries.
    from dpbandits.project.config import Project

    keys = ("scale", "seed", "papers", "comparisons", "only")
    return Project.load(Path(arguments.project)).at(
        **{key: getattr(arguments, key, None) for key in keys}
    )


def played(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of ``simulate`` and ``identify`` that the shared options give."""
    limits = {key: getattr(arguments, key) for key in ("seed", "memory_limit", "time_limit")}
    return {
        "algorithm": algorithm_of(arguments.algorithm),
        "params": params_of(arguments),
        "variant": arguments.variant,
        "interpretations": pairs("interpretations", arguments.interpretations),
        "runs": arguments.runs,
        "workers": arguments.workers,
        "cache": not arguments.no_cache,
        **{key: value for key, value in limits.items() if value is not None},
    }


def algorithm_of(text: str) -> Any:
    """Return the algorithm of a Python file, or the text, which is then an id."""
    from dpbandits.engine.own_algorithm import load_algorithm

    return load_algorithm(text) if text.endswith(".py") else text


def params_of(arguments: argparse.Namespace) -> dict[str, int | float | str]:
    """Return the parameters: numbers, or names of columns."""
    given = pairs("params", arguments.params)
    return {key: number_or_name(value) for key, value in given.items()}


def pairs(key: str, words: Sequence[str]) -> dict[str, str]:
    """Return the words ``NAME=VALUE`` of an option as a dictionary."""
    split = [word.partition("=") for word in words]
    if any(not (name and separator) for name, separator, _ in split):
        raise InputError(f"{key} is {' '.join(words)!r}; allowed: NAME=VALUE, separated by spaces")
    names = [name for name, _, _ in split]
    if len(set(names)) < len(names):
        raise InputError(f"{key} is {' '.join(words)!r}; allowed: every NAME once")
    return {name: value for name, _, value in split}


def number(key: str, text: str) -> int | float:
    """Return the number that a word is; InputError where it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"{key} is {text!r}; allowed: a number")


def number_or_name(text: str) -> int | float | str:
    """Return the number that a word is, or else the word: a value, or the name of a column."""
    with contextlib.suppress(InputError):
        return number("params", text)
    return text


def numbers(key: str, text: str) -> list[int | float]:
    """Return the numbers of a word, separated by commas."""
    return [number(key, part) for part in text.split(",")]


def rows(key: str, text: str) -> list[list[int | float]]:
    """Return the numbers of each row of a word; rows are separated by semicolons."""
    return [numbers(key, row) for row in text.split(";")]
