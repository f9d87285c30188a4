"""Runs the commands of a workflow, each in a fork of one process that has imported everything.

Most jobs of a workflow take less time than their imports. The workflow starts the server with its
first job; it ends with the workflow, whose end closes its standard input. What a job reads of the
outside (arguments, folder, environment, open files, signals) is that of the command which asks, so
that it cannot tell the difference; where the server cannot run a job, the command runs itself.
"""

import atexit
import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpbandits.entry import REFUSED, VARIABLE, kind_of_process

PRELOADED = (
    "pipeline.jobs",
    "pipeline.targets",
    "claims.summary",
    "claims.judge",
    "claims.simultaneous",
    "reporting.agreement",
    "reporting.diagrams",
    "reporting.figures",
    "reporting.tables",
)
"""What most jobs of a workflow import."""


@dataclass
class JobServer:
    """The server of one workflow, which is not started before it is asked to.

    Attributes:
        path: of its socket, under a name that nobody else can know before.
    """

    path: str = field(
        default_factory=lambda: f"{tempfile.gettempdir()}/dpbandits-{secrets.token_hex(8)}"
    )

    def environment(self) -> dict[str, str]:
        """Return the variable that leads the commands of the workflow to the server."""
        return {VARIABLE: self.path}

    def start(self) -> None:
        """Start it, to end with this process."""
        # As Snakemake has it for jobs of one thread; others run themselves.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", __name__, self.path]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)

    def end(self) -> None:
        """End it, as the end of this process would."""
        self._process.communicate()


def serve(path: str) -> None:
    """Answer on a socket until standard input ends.

    Args:
        path: of the socket, which is made here and removed at the end.
    """
    with socket.socket(socket.AF_UNIX) as listening, contextlib.suppress(OSError):
        listening.bind(path)
        try:
            listening.listen(os.cpu_count() or 1)
            _preload()
            _answer_all(listening)
        finally:
            os.unlink(path)


def _preload() -> None:
    # Ctrl-C reaches jobs by the commands that asked for them; how a job ends is told by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for each in PRELOADED:
        import_module(f"dpbandits.{each}")


def _answer_all(listening: socket.socket) -> None:
    known = kind_of_process()
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _answer(asking, known)
        asking.close()


def _answer(asking: socket.socket, known: list[str]) -> None:
    """Run the job that a command asks for, in this fork, and end it."""
    status = 1
    try:
        os.setpgid(0, 0)
        length, files, _, _ = socket.recv_fds(asking, 8, 3)
        job = json.loads(asking.recv(int.from_bytes(length), socket.MSG_WAITALL))
        if job["kind"] != known:
            asking.sendall(REFUSED)
            os._exit(0)
        _take_over(job, files)
        threading.Thread(target=_pass_signals_on, args=[asking], daemon=True).start()
        from dpbandits.cli import main

        status = main(job["words"][1:])
        atexit._run_exitfuncs()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        asking.sendall(str(status).encode())
        os._exit(status)


def _take_over(job: dict[str, Any], files: list[int]) -> None:
    """Become the process that the command would have been."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.argv = job["words"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _pass_signals_on(asking: socket.socket) -> None:
    """Give this process the signals of the command; with it, end this and all that it began."""
    while number := asking.recv(1):
        os.kill(os.getpid(), number[0])
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    serve(sys.argv[1])
