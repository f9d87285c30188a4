"""`make slurm-test`: through Slurm the quick workflow gives what it gives locally, byte for byte.

One job of the run on the cluster is killed and has to come through at its second attempt; drawing
one figure fails at every attempt, whose log has to be shown while the rest is built. The run is
then taken up again without the fault.
"""

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cluster.local_cluster import NODES, install, local_cluster
from found_papers import COMPARISONS, PAPERS
from invented import ROOT, SNAKEMAKE, choose, edited, environment, forget, outputs

PROFILE = ["--workflow-profile", "profiles/slurm-test"]
OUTPUTS = ("results", "figures", "logs", ".snakemake", ".cache")
PLANTED = "planted by the test"
LINE = "    target = figure_target(project, paper, figure)\n"
FIGURE = "fig1"
"""Every paper has one of this name, and others."""


class WrongError(Exception):
    """What the test found wrong."""


def require(condition: bool, message: str) -> None:
    """Raise WrongError with the message unless the condition holds."""
    if not condition:
        raise WrongError(message)


def build(clone: Path, words: Sequence[str], changed: dict[str, str]) -> tuple[int, str]:
    """Run snakemake in a clone of the checkout; return its status and what it printed."""
    # The same kernels for both runs: they lie apart from the results' cache.
    kernels = {"NUMBA_CACHE_DIR": str(clone.parent / "kernels")}
    command = [*SNAKEMAKE, "all", "extras", *words, "--config", "scale=quick"]
    with (
        (clone.parent / "output").open("w+b") as output,
        subprocess.Popen(
            command,
            cwd=clone,
            env=environment(clone) | kernels | changed,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process,
    ):
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read().decode(errors="replace")


@contextmanager
def one_job_killed(cluster: dict[str, str]) -> Iterator[list[str]]:
    """Kill one job that simulates as soon as one runs; the list then has its comment."""
    killed: list[str] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5) and not killed:
            for line in slurm(cluster, "squeue", "-h", "-t", "R", "-o", "%i %k").splitlines():
                number, _, comment = line.partition(" ")
                if comment.startswith("rule_results") and not killed:
                    slurm(cluster, "scancel", number)
                    killed.append(comment)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        over.set()
        watcher.join()


def slurm(cluster: dict[str, str], *words: str) -> str:
    """Run one of Slurm's commands; return what it printed."""
    variables = os.environ | cluster
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    return done.stdout


def failed_with_a_fault(clone: Path, paper: str, cluster: dict[str, str]) -> None:
    """Run with a fault in drawing one figure and one job killed; hold what is told and built."""
    fault = (
        f'    if (paper, figure) == {(paper, FIGURE)}:\n        raise MemoryError("{PLANTED}")\n'
    )
    source = clone / "src/dpbandits/pipeline/jobs.py"
    with edited(source, LINE, LINE + fault), one_job_killed(cluster) as killed:
        status, output = build(clone, PROFILE, cluster)
    require(status != 0, "a run with a job that fails at every attempt ended well")
    require(bool(killed), f"no job was killed:\n{output[-4000:]}")
    require(PLANTED in output, f"the log of the failed job is not shown:\n{output[-4000:]}")
    restarts = output.count("Trying to restart job")
    require(restarts >= 3, f"jobs were tried again {restarts} times, not thrice")
    done = {path.stem for path in (clone / f"figures/quick/{paper}").glob("*.csv")}
    require(FIGURE not in done, "a figure whose drawing fails was drawn")
    require(bool(done), "the rest of the run did not go on")
    print(f"  killed {killed[0]}: tried again; a fault: told after 3 attempts, the rest was built")


def differences(one: dict[str, bytes], two: dict[str, bytes]) -> list[str]:
    """Return what is not the same: results by values, all else by bytes."""
    found = [f"{name}: built in one run only" for name in sorted(set(one) ^ set(two))]
    for name in sorted(set(one) & set(two)):
        pair = one[name], two[name]
        if name.endswith(".parquet"):
            frames = [pd.read_parquet(io.BytesIO(each)) for each in pair]
            same = frames[0].equals(frames[1])
        else:
            same = pair[0] == pair[1]
        found += [] if same else [f"{name}: differs"]
    return found


def timed(what: str, begun: float) -> None:
    """Say how long something took."""
    print(f"  {what}: {time.monotonic() - begun:.0f} s", flush=True)


def compare_runs(papers: Sequence[str], folder: Path) -> None:
    """Run locally, run on a cluster of two nodes, compare."""
    clone = folder / "clone"
    clone.mkdir()
    for name in ("Snakefile", "config", "workflow", "profiles", "src"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, clone / name)
    choose(clone, *papers, comparisons=COMPARISONS if {*papers} == {*PAPERS} else ())
    print(f"slurm-test of {', '.join(papers)}, quick scale", flush=True)
    begun = time.monotonic()
    status, output = build(clone, ["--cores", str(os.cpu_count())], {"SLURM_CONF": "/dev/null"})
    require(status == 0, f"the local run failed:\n{output[-4000:]}")
    timed("local run", begun)
    local = outputs(clone)
    require(len(local) > 10, "the local run built nothing")
    forget(clone, *OUTPUTS)
    with local_cluster() as cluster:
        begun = time.monotonic()
        failed_with_a_fault(clone, papers[0], cluster)
        timed("run through Slurm with a fault", begun)
        begun = time.monotonic()
        status, output = build(clone, PROFILE, cluster)
        require(status == 0, f"the run through Slurm failed:\n{output[-4000:]}")
        timed("the rest of it without the fault", begun)
        ran = slurm(cluster, "squeue", "-h", "--states=all", "-o", "%N").splitlines()
    on_nodes = {name: ran.count(name) for name in NODES}
    require(min(on_nodes.values()) > 5, f"jobs that Slurm has run on its nodes: {on_nodes}")
    wrong = differences(local, outputs(clone))
    require(not wrong, "\n".join(wrong))
    results = sum(name.endswith(".parquet") for name in local)
    shares = ", ".join(f"{count} on {name}" for name, count in on_nodes.items())
    print(f"  jobs of Slurm: {shares}")
    print(f"  {results} results by values and {len(local) - results} files by bytes: the same")


def main() -> int:
    """Run the test; stop what was started, whatever happens."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", help=f"some of {', '.join(PAPERS)} (default: all)")
    papers = parser.parse_args().papers or list(PAPERS)
    if unknown := sorted({*papers} - {*PAPERS}):
        parser.error(f"papers: {', '.join(unknown)}; allowed: {', '.join(PAPERS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    install()
    with tempfile.TemporaryDirectory(prefix="dpbandits-slurm-test-") as folder:
        try:
            compare_runs(papers, Path(folder))
        except WrongError as failure:
            print(f"slurm-test: {failure}", file=sys.stderr)
            return 1
    print("slurm-test: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
