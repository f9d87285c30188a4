"""Options that several commands share, what their words mean, and tables as they are printed."""

import contextlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbandits.errors import InputError, require_count

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.bandits import Bandit, LinearBandit
    from dpbandits.pipeline.project import Project

Function = Callable[..., Any]


class Text(click.ParamType[Any]):
    """A type of the command line: the value that ``read`` makes of a text.

    Attributes:
        name: of the text, in the help.
        read: (option, text) -> the value; raises InputError.
        has_words: whether all words up to the next option are the text.
    """

    def __init__(self, name: str, read: Callable[[str, str], Any], *, has_words: bool = False):
        self.name, self.read, self.has_words = name, read, has_words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Return the value of a text; a default that is no text stays as it is."""
        if param is None or not isinstance(value, str):
            return value
        place = (
            param.opts[0]
            if isinstance(param, click.Option)
            else param.human_readable_name.strip("[]")
        )
        return self.read(place, value)


class OneOf(click.Choice[str]):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word; InputError with the nearest one where it is none of them."""
        if value not in self.choices:
            place = "word" if param is None else param.opts[0]
            raise InputError.unknown(place, value, self.choices)
        return str(value)


class Command(click.Command):
    """A command with options that take all words up to the next option, as ``--params b=2 c=1``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the words of each such option into one, then parse."""
        options = {
            name
            for param in self.params
            for name in param.opts
            if isinstance(param.type, Text) and param.type.has_words
        }
        joined: list[str] = []
        is_open = False
        for word in args:
            # A dash before a digit is the sign of a number.
            if is_open and not re.match("-[-A-Za-z]", word):
                joined[-1] = f"{joined[-1]} {word}".lstrip()
            else:
                is_open = word in options
                joined += [word, ""] if is_open else [word]
        return super().parse_args(ctx, joined)


def whole_number(place: str, text: str) -> int:
    """Return a whole number, which may be written as 1e5."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        value = float(text)
        if math.isfinite(value) and value.is_integer():
            return int(value)
    raise InputError(f"{place} is {text!r}; allowed: a whole number, as 100000 or 1e5")


def number(place: str, text: str) -> int | float:
    """Return the number that a word is; InputError where it is none."""
    for kind in (int, float):
        with contextlib.suppress(ValueError, OverflowError):
            value = kind(text)
            float(value)  # Not every integer is one.
            return value
    raise InputError(f"{place} is {text!r}; allowed: a number")


def words(place: str, text: str) -> list[str]:
    """Return the words of a text, separated by commas or spaces."""
    return [word for word in re.split(r"[,\s]+", text) if word]


def numbers(place: str, text: str) -> list[int | float]:
    """Return the numbers of a text, separated by commas or spaces."""
    return [number(place, word) for word in words(place, text) or [text]]


def rows(place: str, text: str) -> list[list[int | float]]:
    """Return the numbers of each row of a text; rows are separated by semicolons."""
    return [numbers(place, row) for row in text.split(";")]


def pairs(place: str, text: str) -> dict[str, str]:
    """Return the words ``NAME=VALUE`` of a text as a dictionary; values may have commas."""
    # A comma separates where another NAME= follows.
    found = re.split(r"[,\s]+(?=[^\s,=]*=)|\s+", text.strip(", ")) if text.strip(", ") else []
    split = [word.partition("=") for word in found]
    if any(not (name and separator) for name, separator, _ in split):
        allowed = "NAME=VALUE, separated by spaces or commas"
        raise InputError(f"{place} is {text!r}; allowed: {allowed}")
    if len({name for name, _, _ in split}) < len(split):
        raise InputError(f"{place} is {text!r}; allowed: every NAME once")
    return {name: value for name, _, value in split}


def values(place: str, text: str) -> dict[str, int | float | str]:
    """Return words ``NAME=VALUE`` whose values are numbers, or else names of columns."""
    given: dict[str, int | float | str] = dict(pairs(place, text))
    for name, value in given.items():
        with contextlib.suppress(InputError):
            given[name] = number(place, str(value))
    return given


def path(place: str, text: str) -> Path:
    """Return a path; InputError for an empty one, which would be the current folder."""
    if not text:
        raise InputError(f"{place} is ''; allowed: a path")
    return Path(text)


def algorithm(place: str, text: str) -> Any:
    """Return the algorithm of a Python file or of a published paper's own, or a registered id."""
    if text.endswith(".py"):
        from dpbandits.own.loading import load_algorithm

        return load_algorithm(text)
    from dpbandits.engine.identity import registered

    if text in registered():
        return text
    from dpbandits.pipeline.project import published_algorithms

    own = published_algorithms(Path())
    if text not in own:
        raise InputError.unknown("algorithm", text, [*registered(), *own])
    return own[text]


WHOLE = Text("NUMBER", whole_number)
REAL = Text("NUMBER", lambda place, text: float(number(place, text)))
NUMBERS = Text("NUMBER...", numbers, has_words=True)
ROWS = Text("ROW; ...", rows, has_words=True)
NAMES = Text("NAME...", words, has_words=True)
PAIRS = Text("NAME=VALUE...", pairs, has_words=True)
VALUES = Text("NAME=VALUE...", values, has_words=True)
FOLDER, FILE = Text("FOLDER", path), Text("FILE", path)
ALGORITHM = Text("ALGORITHM", algorithm)


def stacked(*decorators: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return the decorator that applies several, the first one outermost."""

    def apply(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _workers(ctx: click.Context, param: click.Parameter, value: int) -> int:
    return require_count("workers", value, 1)


option = click.option
whole_option = partial(option, type=WHOLE)
command = partial(click.command, cls=Command)

algorithm_options = stacked(
    option("--params", type=VALUES, default="", help="parameters, as epsilon=1"),
    option(
        "--interpretations",
        type=PAIRS,
        default="",
        help="interpretations that depart from their defaults",
    ),
    option("--variant", default="as-written", help="as-written (default), as-coded or repaired"),
)
"""The options that say how an algorithm is played."""

an_algorithm = stacked(click.argument("algorithm", type=ALGORITHM), algorithm_options)
"""An algorithm, and how it is played."""

workers_option = whole_option(
    "--workers", default=1, callback=_workers, help="processes (default: 1)"
)
cache_option = option(
    "--no-cache",
    "cache",
    is_flag=True,
    flag_value=False,
    default=True,
    help="compute anew, and keep nothing",
)
seed_option = whole_option("--seed", help="root of all random streams")
play_options = stacked(
    whole_option("--runs", required=True, help="independent runs or trials"),
    seed_option,
    workers_option,
    cache_option,
)
"""The options of commands that play on an instance; named as the arguments in Python."""


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were typed; the others have their defaults in Python."""
    return {key: value for key, value in options.items() if value is not None}


def arms_of(arms: list[int | float], law: str | None) -> "Bandit":
    from dpbandits.bandits import INSTANCES

    if (law := law or "bernoulli") not in INSTANCES:
        raise InputError.unknown("law", law, INSTANCES)
    return INSTANCES[law][1](arms)


def linear_arms_of(features: Any, theta: Any, law: str | None) -> "LinearBandit":
    from dpbandits.bandits import linear

    return linear(features, theta, law or "uniform")


project_option = option(
    "--project",
    type=FOLDER,
    default=".",
    help="folder of the project (default: here)",
)
scale_option = option("--scale", type=OneOf(["paper", "quick"]), help="instead of the config's")
project_options = stacked(
    project_option,
    scale_option,
    whole_option("--seed", help="instead of the config's"),
)
"""The options of commands that work on a project folder."""

choice_options = stacked(
    option("--papers", type=NAMES, help="papers, instead of the config's"),
    option("--comparisons", type=NAMES, help="comparisons across papers, instead of the config's"),
)
"""The options that choose which papers a command on all of them gathers."""


def open_project(folder: Path, **choice: Any) -> "Project":
    """Return the project of a folder, at the scale, seed and choice of the command line."""
    # Commands without a project need none of its libraries.
    from dpbandits.config.project import CONFIG
    from dpbandits.pipeline.project import Project

    if not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: this command in the project's folder, or "
            f"with --project FOLDER"
        )
    project = Project.load(folder).at(**choice)
    project.warn_of_other_sources()
    return project


def in_project(function: Function) -> Function:
    """Give a command the options of a project folder, and hand it the project."""

    @wraps(function)
    def opened(project: Path, **options: Any) -> None:
        keys = {"scale", "seed", "papers", "comparisons"} & set(options)
        choice = {key: options.pop(key) for key in keys}
        function(project=open_project(project, **choice), **options)

    return project_options(opened)


format_option = option(
    "--format",
    "form",
    type=OneOf(["table", "csv", "json"]),
    default="table",
    help="of what is printed (default: table)",
)


def show(
    rows: "pd.DataFrame | Sequence[Mapping[str, Any]]", form: str, text: str | None = None
) -> None:
    """Print rows in a format, as a table by ``text`` where there is one; JSON has null for NaN."""
    if form == "table" and text is not None:
        print(text)
        return
    import pandas as pd

    from dpbandits.text_tables import aligned

    table = pd.DataFrame(rows)
    if form == "csv":
        print(table.to_csv(index=False, lineterminator="\n"), end="")
    elif form == "json":
        records = [
            {str(key): _plain(value) for key, value in row.items()}
            for row in table.to_dict("records")
        ]
        print(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        print(aligned(table))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
