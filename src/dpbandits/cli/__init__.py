"""The command line: assembles the commands, and ends bad input with one line."""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence

import click
from click.shell_completion import shell_complete

from dpbandits import __version__
from dpbandits.cli import answers, build, play
from dpbandits.errors import InputError

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

EXTRAS = {
    "jinja2": "workflow",
    "pyarrow": "workflow",
    "rocrate": "artifact",
}
"""Library that commands in a project's folder need -> the extra that installs it."""


GROUPS = {
    "Play": play,
    "Ask": answers,
    "Build": build,
}
"""Heading of the help -> the module of its commands."""


class Commands(click.Group):
    """The commands, in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the whole summary of each command, except those that the workflow calls."""
        for heading, module in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name, str(each.help).splitlines()[0])
                        for name, each in self.commands.items()
                        if each in vars(module).values() and not each.hidden
                    ]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands:
            raise InputError.unknown("command", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(__version__, message="dpbandits %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Private bandits: simulate, judge, draw."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


for module in GROUPS.values():
    for each in vars(module).values():
        if isinstance(each, click.Command):
            cli.add_command(each)


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends with a line on standard error and status 2.

    Ctrl-C ends with a line and status 130; without a command the help is printed.
    """
    _open_output()
    if asked := os.environ.get("_DPBANDITS_COMPLETE"):
        return shell_complete(cli, {}, "dpbandits", "_DPBANDITS_COMPLETE", asked)
    try:
        with _in_one_line(), contextlib.suppress(click.exceptions.Exit):
            arguments = list(sys.argv[1:] if words is None else words)
            with cli.make_context("dpbandits", arguments) as ctx:
                cli.invoke(ctx)
    except InputError as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dpbandits: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return 1
    return 0


def _open_output() -> None:
    """Open closed streams on the null device, and escape what a terminal cannot print."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Takes the lowest free number, this stream's, which the next file would take otherwise.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _in_one_line() -> Iterator[None]:
    """Raise InputError for wrong usage, where a library is missing, or where the disk is full."""
    try:
        yield
        # Not left to the exit of Python, where a full disk would end in a traceback.
        sys.stdout.flush()
    except click.UsageError as error:
        place = error.ctx.command_path if error.ctx else "dpbandits"
        raise InputError(f"{error.format_message().rstrip('.')} (see {place} --help)") from None
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
    """Discard what is still to be printed: Python would try once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
