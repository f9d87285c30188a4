"""How long a build takes on 2, 8 and 64 cores, computed from what its jobs took.

Jobs of ``docs/cost.csv`` start in the order of their priority on the first free core, results
before what reads them. A set of results is one job here. Its cells are spread over cores, so that
on many cores it is the longest jobs that this overstates.
"""

import csv
import heapq
from collections.abc import Sequence
from pathlib import Path

from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import (
    COSTS,
    EXTRAS,
    FIGURES,
    JUDGED,
    Target,
    results_for,
    targets,
    targets_of,
)

CORES = (2, 8, 64)


Costs = dict[tuple[str, str, str], float]


def seconds_of(job: Target, costs: Costs) -> float:
    """Return the CPU time of a job; 0 where it was not measured."""
    return costs.get((job.paper, job.kind, job.name), 0.0)


def makespan(jobs: Sequence[Target], costs: Costs, cores: int) -> float:
    """Return the seconds until the last job ends; inputs come before what reads them."""
    made: dict[Path, float] = {}
    free = [0.0] * cores
    for job in jobs:
        ready = max((made.get(path, 0.0) for path in job.inputs), default=0.0)
        end = max(heapq.heappop(free), ready) + seconds_of(job, costs)
        heapq.heappush(free, end)
        made |= dict.fromkeys(job.files, end)
    return max(made.values())


def main() -> None:
    """Print core-seconds and makespans of each goal."""
    project = Project.load()
    with (project.folder / COSTS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    costs = {(r["paper"], r["kind"], r["name"]): float(r["cpu_seconds"]) for r in rows}
    every = targets(project)
    print(f"{'goals':<28}{'core-s':>8}" + "".join(f"{cores:>4} cores" for cores in CORES))
    for goals in ((FIGURES,), (FIGURES, JUDGED), (FIGURES, JUDGED, EXTRAS)):
        shown = targets_of(every, *goals)
        results = sorted(
            results_for(every, shown), key=lambda job: (bool(job.inputs), -seconds_of(job, costs))
        )
        jobs = [*results, *shown]
        total = sum(seconds_of(job, costs) for job in jobs)
        times = "".join(f"{makespan(jobs, costs, cores):8.0f} s" for cores in CORES)
        print(f"{' + '.join(goals):<28}{total:8.0f}{times}")


if __name__ == "__main__":
    main()
