"""The command line: assembles the commands, and says what is wrong in one line."""

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from dpbandits import __version__
from dpbandits.commands.options import Parser
from dpbandits.errors import InputError
from dpbandits.suggestions import with_suggestion

COMMANDS = {
    "list": "List the algorithms with all that can be chosen, or the claims with their verdicts.",
    "simulate": "Simulate and print final regrets with their 95 % intervals, and the mean pulls.",
    "identify": "Name the best arm of a linear bandit by trials; print the share of successes.",
    "audit": "Bound the privacy loss of an algorithm from below, by runs on neighbouring inputs.",
    "guarantee": "Print what an algorithm guarantees for all instances, and what is known of that.",
    "convert": "Convert a guarantee to another kind, and name the source of the conversion.",
    "check": "Check config, experiments and claims, or an algorithm of your own in a Python file.",
    "cache": "Show the cache of results and compiled kernels; prune what is outdated, or clear it.",
    "run": "Simulate one named set of cells of a paper, or compute one of its exact results.",
    "draw": "Draw one figure of a paper, with all its panels.",
    "tabulate": "Write one table of a paper as LaTeX and csv.",
    "compare": "Compare algorithms on your arms, or your own with those of a figure of a paper.",
    "choose": "Rank the private algorithms for a number of arms, a horizon and a privacy budget.",
    "digitised": "Compare the digitised values of a paper with ours.",
    "judge": "Judge every claim of a paper and write its ledger.",
    "explain": "Say how the verdict on a claim came about.",
    "ledger": "Gather the verdicts on the claims of all chosen papers in one ledger.",
    "typeset": "Write the report, a page for each paper and all tables, as PDF (needs pdflatex).",
    "verify": "Recompute a random sample of the results' cells; say of each whether it agrees.",
    "artifact": "Pack sources, results, figures, tables, ledger, report and site into one archive.",
    "site": "Build a static site from the csv files that exist: every figure, claim and verdict.",
    "publish": "Copy figures, tables and verdicts at paper scale to docs/, with fingerprints.",
    "new-paper": "Write the folder of a new paper, one figure and one claim, that builds at once.",
    "cost": "Print what a run costs, by recorded timings: core-minutes and memory of each figure.",
}
"""Command -> its summary, the first line of its module in ``dpbandits.commands``.

A module has ``add_arguments(parser)`` and ``main(arguments)``; it is imported when it is called.
"""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

EXTRAS = {
    "griffe": "workflow",
    "jinja2": "workflow",
    "PIL": "workflow",
    "pyarrow": "workflow",
    "rocrate": "artifact",
}
"""Library that commands in a project's folder need -> the extra that installs it."""


def parser_of(words: Sequence[str]) -> Parser:
    """Return the parser of a command line, with the options of the command that it begins with.

    Args:
        words: the command and its arguments.
    """
    parser = Parser(prog="dpbandits", description="Private bandits: simulate, judge, draw.")
    parser.add_argument("--version", action="version", version=f"dpbandits {__version__}")
    parser.set_defaults(main=lambda arguments: parser.print_help())
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, summary in COMMANDS.items():
        # argparse expands percent signs in the help, not in the description.
        listed = summary.replace("%", "%%")
        command = commands.add_parser(name, help=listed, description=summary)
        if name in words[:1]:
            module = import_module(f"dpbandits.commands.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(main=module.main)
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command line; ``main`` is what they are for.

    Args:
        words: the command and its arguments.

    Raises:
        InputError: there is no such command, or an argument is unknown, missing or not allowed.
    """
    return parser_of(words).parse_args(words)


def _complete() -> None:
    """Answer the shell that asks how a word goes on, and exit (extra ``completion``)."""
    # Here: only a shell asks for it.
    import argcomplete

    # The program's own name comes first.
    argcomplete.autocomplete(parser_of(os.environ["COMP_LINE"].split()[1:]))


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """Raise an InputError where a library of an extra is missing, or the disk is full."""
    try:
        yield
        # What is still in the buffer would be lost after the last line of this program.
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _drop_output()
        raise InputError(
            f"the output cannot be written ({error.strerror}); allowed: a disk with space"
        ) from None
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        if name not in EXTRAS:
            raise
        raise InputError(
            f"{name} is not installed; allowed: this command in the project's folder, or with "
            f"--project FOLDER, after pip install 'dpbandits[{EXTRAS[name]}]'"
        ) from error


def _drop_output() -> None:
    """Let what is still to be printed go nowhere: Python tries once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one line on standard error and status 2.

    Ctrl-C ends in one line and status 130; without a command the help is printed.
    """
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    try:
        with _in_one_line():
            arguments = parse(sys.argv[1:] if words is None else words)
            arguments.main(arguments)
    except InputError as error:
        print(f"dpbandits: {with_suggestion(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dpbandits: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
