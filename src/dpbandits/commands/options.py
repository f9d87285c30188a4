"""Options that several commands share, and what their words mean."""

import argparse
import contextlib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.bandits import Bandit, LinearBandit
    from dpbandits.project.config import Project

PROJECT_HELP = "folder of the project (default: here)"


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


def count(text: str) -> int:
    """Return a whole number of the command line, which may be written as 1e5."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        value = float(text)
        if math.isfinite(value) and value.is_integer():
            return int(value)
    raise argparse.ArgumentTypeError(f"is {text!r}; allowed: a whole number, as 100000 or 1e5")


def words(texts: Sequence[str]) -> list[str]:
    """Return the words of an option, separated by commas or spaces."""
    return [word for text in texts for word in re.split(r"[,\s]+", text) if word]


def add_project_options(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """Add the options of commands that work on a project folder.

    Args:
        parser: the command's.
        seed: whether the seed is added, too.
    """
    parser.add_argument("--project", type=path, default=".", metavar="FOLDER", help=PROJECT_HELP)
    parser.add_argument("--scale", choices=["paper", "quick"], help="instead of the config's")
    if seed:
        parser.add_argument("--seed", type=count, help="instead of the config's")


def add_paper_arguments(parser: argparse.ArgumentParser, what: str | None = None) -> None:
    """Add a paper, and the name of something of it.

    Args:
        parser: the command's.
        what: the kind of thing, or None for the paper alone.
    """
    parser.add_argument("paper", help="short name of a paper, as ts-is-dp, or of a comparison")
    if what is not None:
        parser.add_argument("name", help=f"{what} of its experiments file")


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose which papers a command on all of them gathers."""
    for key, what in (("papers", "papers"), ("comparisons", "comparisons across papers")):
        parser.add_argument(
            f"--{key}", nargs="*", metavar="NAME", help=f"{what}, instead of the config's"
        )


def add_workers_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of commands that simulate in several processes."""
    parser.add_argument("--workers", type=count, default=1, help="processes (default: 1)")


def add_algorithm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how an algorithm is played."""
    several: dict[str, Any] = {"nargs": "*", "default": [], "metavar": "NAME=VALUE"}
    parser.add_argument("--params", **several, help="parameters, as epsilon=1")
    parser.add_argument(
        "--interpretations", **several, help="interpretations that depart from their defaults"
    )
    parser.add_argument(
        "--variant", default="as-written", help="as-written (default), as-coded or repaired"
    )


def add_algorithm_argument(parser: argparse.ArgumentParser) -> None:
    """Add the algorithm."""
    parser.add_argument("algorithm", help="an id (dpbandits list), or a Python file of your own")


def add_play_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the options of commands that play on an instance of the command line."""
    parser.add_argument("--runs", type=count, required=required, help="independent runs or trials")
    parser.add_argument("--seed", type=count, help="root of all random streams")
    add_workers_option(parser)
    parser.add_argument("--no-cache", action="store_true", help="compute anew, and keep nothing")
    parser.add_argument(
        "--memory-limit",
        type=count,
        metavar="BYTES",
        help="that results may take (default: 8 gigabytes)",
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="HOURS", help="that it may take (default: 24)"
    )


def add_arms_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the instance of an algorithm that is judged by regret, and the horizon."""
    parser.add_argument("--law", help="of the rewards: bernoulli (default), uniform, ...")
    parser.add_argument(
        "--arms", nargs="+", required=required, metavar="NUMBER", help="mean or rate of each arm"
    )
    parser.add_argument("--horizon", type=count, required=required, help="rounds, as 100000 or 1e5")


def add_features_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the instance of an algorithm that names the best arm, and the budget."""
    parser.add_argument(
        "--features", nargs="+", required=required, help='a row an arm: "0,1; 0,0.9; 10,0"'
    )
    parser.add_argument(
        "--theta", nargs="+", required=required, help='the parameter of the means: "0.045,0.5"'
    )
    parser.add_argument("--budget", type=count, required=required, help="pulls that are allowed")


def arms_of(arguments: argparse.Namespace) -> "Bandit":
    """Return the instance that a law and its arms make."""
    from dpbandits.bandits import INSTANCES

    law = arguments.law or "bernoulli"
    if law not in INSTANCES:
        raise InputError(f"law is {law!r}; allowed: {', '.join(INSTANCES)}")
    return INSTANCES[law][1]([number("arms", word) for word in words(arguments.arms)])


def linear_arms_of(arguments: argparse.Namespace) -> "LinearBandit":
    """Return the instance that features and theta make."""
    from dpbandits.bandits import linear

    features = rows("features", " ".join(arguments.features))
    theta = numbers("theta", " ".join(arguments.theta))
    return linear(features, theta, arguments.law or "uniform")


def project_of(arguments: argparse.Namespace) -> "Project":
    """Return the project folder, at the scale, seed and choice of the command line.

    Raises:
        InputError: the folder is no project.
    """
    # Commands without a project do without its libraries.
    from dpbandits.project.config import CONFIG, Project

    folder = Path(arguments.project)
    if not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: this command in the project's folder, or "
            f"with --project FOLDER"
        )
    given: dict[str, Any] = {}
    for key in ("scale", "seed", "papers", "comparisons"):
        value = getattr(arguments, key, None)
        given[key] = words(value) if isinstance(value, list) else value
    return Project.load(folder).at(**given)


def played(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of ``simulate``, ``identify`` and ``compare`` that options give."""
    limits = {key: getattr(arguments, key) for key in ("seed", "memory_limit", "time_limit")}
    return {
        "params": params_of(arguments),
        "runs": arguments.runs,
        "workers": arguments.workers,
        "cache": not arguments.no_cache,
        **{key: value for key, value in limits.items() if value is not None},
    }


def variant_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the variant and the interpretations."""
    interpretations = pairs("interpretations", arguments.interpretations)
    return {"variant": arguments.variant, "interpretations": interpretations}


def algorithm_of(text: str) -> Any:
    """Return the algorithm of a Python file, or the text, which is then an id."""
    from dpbandits.engine.own_algorithm import load_algorithm

    return load_algorithm(text) if text.endswith(".py") else text


def params_of(arguments: argparse.Namespace) -> dict[str, int | float | str]:
    """Return the parameters: numbers, or names of columns."""
    given = pairs("params", arguments.params)
    return {key: number_or_name(value) for key, value in given.items()}


def pairs(key: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the words ``NAME=VALUE`` of an option as a dictionary; values may have commas."""
    text = " ".join(texts).strip(", ")
    # A comma separates where another NAME= follows.
    given = re.split(r"[,\s]+(?=[^\s,=]*=)|\s+", text) if text else []
    split = [word.partition("=") for word in given]
    if any(not (name and separator) for name, separator, _ in split):
        allowed = "NAME=VALUE, separated by spaces or commas"
        raise InputError(f"{key} is {' '.join(texts)!r}; allowed: {allowed}")
    names = [name for name, _, _ in split]
    if len(set(names)) < len(names):
        raise InputError(f"{key} is {' '.join(texts)!r}; allowed: every NAME once")
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
    """Return the numbers of a text, separated by commas or spaces."""
    return [number(key, word) for word in words([text]) or [text]]


def rows(key: str, text: str) -> list[list[int | float]]:
    """Return the numbers of each row of a text; rows are separated by semicolons."""
    return [numbers(key, row) for row in text.split(";")]
