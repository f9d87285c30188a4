"""`make slurm-test`: through Slurm a build gives what it gives locally, byte for byte.

The invented paper is built on a cluster of two nodes, both this machine, of Debian's packages, all
files of which are in one temporary folder; nothing is written to /etc. One job is killed and has to
come through at its second attempt; drawing one figure fails at every attempt, whose log has to be
shown while the rest is built. The run is then taken up again without the fault.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from invented import PAPER, command, edited, forget, make_project, outputs, run

PACKAGES = ("slurm-wlm", "munge")
DAEMONS = ("munged", "slurmctld", "slurmd")
NODES = ("node1", "node2")
"""Each has its share of the processors and of the memory, and a slurmd of its own."""
FAULT = "    target = figure_target(project, paper, figure)\n"
"""What drawing the figure begins with; a fault is planted behind it."""
PLANTED = '    if figure == "fig1":\n        raise MemoryError("planted by the test")\n'
SEARCHED = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
"""Where programs are looked for: daemons are in folders of the system's."""


def install() -> None:
    """Install Debian's packages where a daemon is missing; one clear line where that cannot be."""
    missing = [name for name in DAEMONS if shutil.which(name, path=SEARCHED) is None]
    if os.geteuid() != 0 or (missing and shutil.which("apt-get") is None):
        wanted = f"as root (sudo), {' '.join(PACKAGES)} installed"
        sys.exit(f"slurm-test: starts daemons of Slurm ({' '.join(DAEMONS)}); allowed: {wanted}")
    installing = f"install -qy --no-install-recommends {' '.join(PACKAGES)}"
    for words in ("update -q", installing) if missing else ():
        done = run(Path("/"), ["apt-get", *words.split()], DEBIAN_FRONTEND="noninteractive")
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-500:]}\nslurm-test: apt-get {words} failed")


def configuration(folder: Path) -> str:
    """Return slurm.conf: no accounting, no control groups, and ``folder`` for all files."""
    host = socket.gethostname().partition(".")[0]
    memory = 0.9 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    share = f"CPUs={max(1, (os.cpu_count() or 1) // len(NODES))} "
    share += f"RealMemory={int(memory / len(NODES))}"
    with ExitStack() as stack:
        # Ports that nothing listens on.
        bound = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in "123"]
        port, *ports = [each.getsockname()[1] for each in bound]
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {share}"
        for name, port in zip(NODES, ports, strict=True)
    )
    return f"""ClusterName=dpbandits
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthInfo=socket={folder}/munge/socket
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
KillWait=5
MinJobAge=3600
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=test Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def local_cluster() -> Iterator[dict[str, str]]:
    """Run the cluster; yield the variables with which Slurm's commands speak to it."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="dpbandits-slurm-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        for name in ("bin", "state", "munge", *(f"spool-{name}" for name in NODES)):
            (folder / name).mkdir(mode=0o755)
        path, key, srun = folder / "slurm.conf", folder / "munge/key", folder / "bin/srun"
        path.write_text(configuration(folder))
        # Inside a job Snakemake drops SLURM_CONF before it calls srun, which then looks in /etc.
        found = shutil.which("srun", path=SEARCHED)
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={path} exec {found} "$@"\n')
        srun.chmod(0o755)
        variables = {"SLURM_CONF": str(path), "PATH": f"{srun.parent}{os.pathsep}{SEARCHED}"}
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        for owned in (key.parent, key):
            shutil.chown(owned, "munge", "munge")
        options = [f"--{name}-file={key.with_name(name)}" for name in ("key", "pid", "seed", "log")]
        options.append(f"--socket={key.with_name('socket')}")
        stack.enter_context(daemon(["munged", "--foreground", *options], folder, "munge"))
        wait_for("munged", key.with_name("socket").exists, folder)
        for words in (["slurmctld"], *(["slurmd", "-N", name] for name in NODES)):
            stack.enter_context(daemon([*words, "-D", "-f", str(path)], folder))
        idle = ["sinfo", "--noheader", "--Node", "--format=%T"]
        wait_for("nodes", lambda: slurm(variables, *idle).split() == ["idle"] * 2, folder)
        try:
            yield variables
        finally:
            # No step is to outlive the daemons.
            for words in (["--signal=KILL", "--full"], []):
                slurm(variables, "scancel", *words, "--partition=test")
            deadline = time.monotonic() + 20
            while slurm(variables, "squeue", "--noheader") and time.monotonic() < deadline:
                time.sleep(0.2)


@contextmanager
def daemon(words: list[str], folder: Path, user: str | None = None) -> Iterator[None]:
    """Run a daemon in the foreground; stop it at the end, which is not that of a Ctrl-C."""
    options = {"user": user, "group": user, "start_new_session": True}
    options |= {"env": os.environ | {"PATH": SEARCHED}, "stderr": subprocess.STDOUT}
    with (
        (folder / f"{words[0]}.out").open("ab") as stream,
        subprocess.Popen(words, stdout=stream, **options) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(name: str, is_up: Callable[[], bool], folder: Path) -> None:
    """Wait until something is up; end with what the daemons say where it does not come up."""
    deadline = time.monotonic() + 60
    while not is_up():
        if time.monotonic() > deadline:
            for path in [*folder.glob("*.log"), *folder.glob("*.out"), folder / "munge/log"]:
                print(path.read_text(errors="replace")[-2000:] if path.exists() else path)
            sys.exit(f"slurm-test: {name} did not come up in a minute")
        time.sleep(0.2)


def slurm(cluster: dict[str, str], *words: str) -> str:
    """Run one of Slurm's commands, for 20 seconds at most; return what it printed."""
    return run(Path("/"), ["timeout", "20", *words], **cluster).stdout.strip()


def kill_one_job(cluster: dict[str, str], killed: list[str]) -> None:
    """Kill the first job that is seen to simulate; the list then has its comment."""
    while not killed:
        time.sleep(0.2)
        for line in slurm(cluster, "squeue", "-h", "-t", "R", "-o", "%i %k").splitlines():
            number, _, comment = line.partition(" ")
            if comment.startswith("rule_results") and not killed:
                slurm(cluster, "scancel", number)
                killed.append(comment)


def build(folder: Path, cluster: dict[str, str] | None = None) -> tuple[int, str]:
    """Build locally or on the cluster; return the status and what was printed."""
    profile = ["--workflow-profile", "profiles/slurm-test"] if cluster else []
    words = [word for word in command(*profile) if cluster is None or word not in ("--cores", "2")]
    done = run(folder, words, **(cluster or {"SLURM_CONF": "/dev/null"}))
    return done.returncode, done.stdout


def compare_runs(folder: Path) -> None:
    """Build locally, build on the cluster with a fault and without, compare."""
    make_project(folder, sources=True)
    status, output = build(folder)
    assert status == 0, f"{output[-4000:]}\nthe local run failed"
    local, drawn = outputs(folder), folder / f"figures/{PAPER}"
    forget(folder, "results", "figures", "logs", ".snakemake", ".cache/dpbandits/cells")
    with local_cluster() as cluster:
        killed: list[str] = []
        threading.Thread(target=kill_one_job, args=(cluster, killed), daemon=True).start()
        with edited(folder / "src/dpbandits/pipeline/jobs.py", FAULT, FAULT + PLANTED):
            status, output = build(folder, cluster)
        restarts = output.count("Trying to restart job")
        for holds, message in (
            (status != 0, "a run with a job that fails at every attempt ended well"),
            (killed, "no job was killed"),
            ("planted by the test" in output, "the failed job's log is not shown"),
            (restarts >= 3, f"jobs were tried again {restarts} times, not thrice"),
            ((drawn / "fig2.csv").exists(), "the rest was not built"),
            (not (drawn / "fig1.csv").exists(), "a figure whose drawing fails was drawn"),
        ):
            assert holds, f"{output[-4000:]}\n{message}"
        print(f"  killed {killed[0]}: tried again; a fault: told after 3 attempts", flush=True)
        status, output = build(folder, cluster)
        assert status == 0, f"{output[-4000:]}\nthe run through Slurm failed"
        ran = slurm(cluster, "squeue", "-h", "--states=all", "-o", "%N").split()
    on_nodes = {name: ran.count(name) for name in NODES}
    assert min(on_nodes.values()) >= 3, f"jobs that Slurm has run on its nodes: {on_nodes}"
    found = outputs(folder)
    wrong = [name for name in {*local, *found} if local.get(name) != found.get(name)]
    assert not wrong, f"not the same as locally: {', '.join(sorted(wrong))}"
    print(f"slurm-test: passed, {len(local)} files the same; jobs: {on_nodes}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    install()
    with tempfile.TemporaryDirectory(prefix="dpbandits-slurm-test-") as temporary:
        compare_runs(Path(temporary))
