"""A Slurm cluster of two nodes, both this machine, of Debian's packages; in a folder of its own.

munged, slurmctld and slurmd are started by hand, without systemd, accounting or control groups,
and stopped again. Nothing is written to /etc: the cluster is known to those who have SLURM_CONF.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

PACKAGES = ("slurm-wlm", "munge")
DAEMONS = ("munged", "slurmctld", "slurmd")
SECONDS_TO_START = 60.0
PARTITION = "test"
NODES = ("node1", "node2")
"""Each has its share of the processors and of the memory, and a slurmd of its own."""


def install() -> None:
    """Install Debian's packages where a daemon is missing; one clear line where that cannot be."""
    wanted = " ".join(PACKAGES)
    missing = [name for name in DAEMONS if shutil.which(name, path=search_path()) is None]
    if os.geteuid() != 0:
        sys.exit(f"slurm-test: starts daemons of Slurm; allowed: as root (sudo), with {wanted}")
    if not missing:
        return
    if shutil.which("apt-get") is None:
        sys.exit(
            f"slurm-test: {', '.join(missing)} not found; allowed: Debian's {wanted} installed"
        )
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            ["apt-get", *words], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            [*_, line] = ["no message", *done.stderr.splitlines()]
            sys.exit(f"slurm-test: apt-get {words[0]} failed ({line}); allowed: {wanted} installed")


def search_path() -> str:
    """Return where programs are looked for: daemons stand in folders of the system's."""
    return os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])


def configuration(folder: Path, ports: Sequence[int]) -> str:
    """Return slurm.conf of the cluster whose files all lie in ``folder``."""
    host = socket.gethostname().partition(".")[0]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    memory = int(0.9 * pages / 2**20 / len(NODES))
    processors = max(1, (os.cpu_count() or 1) // len(NODES))
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
        f"CPUs={processors} RealMemory={memory}"
        for name, port in zip(NODES, ports[1:], strict=True)
    )
    return f"""ClusterName=dpbandits
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
MinJobAge=300
KillWait=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName={PARTITION} Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def local_cluster() -> Iterator[dict[str, str]]:
    """Run the cluster; yield the variables with which Slurm's commands speak to it."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="dpbandits-slurm-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        for name in ("state", "munge", *(f"spool-{name}" for name in NODES)):
            (folder / name).mkdir(mode=0o755)
        path = folder / "slurm.conf"
        path.write_text(configuration(folder, free_ports(1 + len(NODES))))
        programs = os.pathsep.join([str(_own_srun(folder, path)), search_path()])
        variables = {"SLURM_CONF": str(path), "PATH": programs}
        environment = os.environ | variables
        stack.enter_context(_munged(folder / "munge"))
        for name, *words in (("slurmctld", "slurmctld"), *((n, "slurmd", "-N", n) for n in NODES)):
            words += ["-D", "-f", str(path)]
            stack.enter_context(_daemon(words, folder / f"{name}.out", environment))
        idle = ["sinfo", "--noheader", "--Node", "--format=%T"]
        all_idle = "\n".join(["idle"] * len(NODES))
        _wait_for("idle nodes", lambda: _asked(idle, environment) == all_idle, folder)
        try:
            yield variables
        finally:
            _cancel(environment)


def _cancel(environment: dict[str, str]) -> None:
    """Cancel what there is, so that no step outlives the daemons."""
    _asked(["scancel", "--signal=KILL", "--full", f"--partition={PARTITION}"], environment)
    _asked(["scancel", f"--partition={PARTITION}"], environment)
    deadline = time.monotonic() + 20
    while _asked(["squeue", "--noheader"], environment) and time.monotonic() < deadline:
        time.sleep(0.2)


def _asked(words: list[str], environment: dict[str, str]) -> str:
    """Run a command of Slurm's; return what it printed, nothing where no controller answers."""
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=False, timeout=20
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip()


def _own_srun(folder: Path, path: Path) -> Path:
    """Return a folder with an srun that knows the cluster.

    Inside a job Snakemake drops SLURM_CONF before it calls srun, which then looks in /etc.
    """
    srun = folder / "bin" / "srun"
    srun.parent.mkdir()
    found = shutil.which("srun", path=search_path())
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={path} exec {found} "$@"\n')
    srun.chmod(0o755)
    return srun.parent


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on."""
    with ExitStack() as stack:
        bound = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in bound]


@contextmanager
def _munged(folder: Path) -> Iterator[None]:
    key = folder / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    for path in (folder, key):
        shutil.chown(path, "munge", "munge")
    files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    words = ["munged", "--foreground", f"--log-file={folder}/log", *options]
    with _daemon(words, folder / "out", os.environ | {"PATH": search_path()}, user="munge"):
        _wait_for("munged", (folder / "socket").exists, folder)
        yield


@contextmanager
def _daemon(
    words: list[str], output: Path, environment: dict[str, str], user: str | None = None
) -> Iterator[None]:
    """Run a daemon in the foreground; stop it at the end."""
    with (
        output.open("wb") as stream,
        subprocess.Popen(
            words,
            env=environment,
            stdout=stream,
            stderr=stream,
            user=user,
            group=user,
            # What ends the test must not end the daemons before their jobs are cancelled.
            start_new_session=True,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(what: str, ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not ready():
        if time.monotonic() > deadline:
            logs = sorted([*folder.glob("*.log"), *folder.glob("*log"), *folder.glob("*out")])
            told = "\n".join(log.read_text(errors="replace")[-2000:] for log in logs)
            sys.exit(f"{told}\nslurm-test: {what} did not come up in {SECONDS_TO_START:.0f} s")
        time.sleep(0.2)
