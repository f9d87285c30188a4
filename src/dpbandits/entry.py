"""The command ``dpbandits``: run by the job server of a workflow where there is one, else here.

This module imports nothing of the package but its sources: importing the rest is what the server
saves a job.
"""

import contextlib
import hashlib
import json
import os
import signal
import socket
import sys
from types import FrameType

from dpbandits._sources import SOURCES

VARIABLE = "DPBANDITS_JOB_SERVER"
"""Names the socket of the server, which the workflow starts."""

REFUSED, KILLED = b"refused", 137

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def kind_of_process() -> list[str]:
    """Return what two processes have in common that run a command alike.

    The sources that were read, the environment's folder (a job may have its own) and the threads
    of linear algebra, which its libraries take at their import.
    """
    digest = hashlib.sha256()
    for path, source in SOURCES.items():
        digest.update(f"{path.as_posix()} {len(source)}\n".encode() + source)
    return [digest.hexdigest(), sys.prefix, os.environ.get("OMP_NUM_THREADS", "")]


def main() -> int:
    """Run the command line; return its exit status."""
    status = _status_of_server() if os.environ.get(VARIABLE) else None
    if status is not None:
        return status
    from dpbandits.cli import main as run

    return run()


def _status_of_server() -> int | None:
    """Return the status with which a server ended the command; None where none runs it.

    None also where the server is of another kind: what has been edited since it started, for one,
    is run as it stands now.
    """
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[VARIABLE])
        job = json.dumps(
            {
                "words": sys.argv,
                "folder": os.getcwd(),
                "environment": dict(os.environ),
                "kind": kind_of_process(),
            }
        ).encode()
        socket.send_fds(server, [len(job).to_bytes(8)], [0, 1, 2])
        server.sendall(job)
        _forward_signals(server)
        answer = server.recv(len(REFUSED))
        return None if answer == REFUSED else int(answer or KILLED)
    return None


def _forward_signals(server: socket.socket) -> None:
    def forward(number: int, frame: FrameType | None) -> None:
        server.sendall(bytes([number]))

    for each in FORWARDED:
        signal.signal(each, forward)
