"""The jobs of a run: how a simulation is spread over several, and what each asks for."""

import shlex
from dataclasses import dataclass
from functools import cached_property

from dpbandits.engine.trials import TRIALS
from dpbandits.metrics import IDENTIFIED
from dpbandits.project.config import Project
from dpbandits.project.costs import (
    COSTS,
    RESULTS,
    Cost,
    Costs,
    memory_to_ask_for,
    minutes_to_ask_for,
)


@dataclass(frozen=True)
class Jobs:
    """The jobs that build one project's results."""

    project: Project

    @cached_property
    def costs(self) -> Costs:
        """What results cost before."""
        return Costs(self.project.folder / COSTS)

    def environment(self) -> str:
        """Return the shell commands that every job begins with.

        Kernels and results of one project share one cache folder, wherever it is run. On a cluster
        kernels have a folder of their own on each node, where nobody else may have put any.
        """
        cache = f"export DPBANDITS_CACHE={shlex.quote(str(self.project.cache_folder.absolute()))}; "
        if self.project.numba_cache_dir is None:
            return cache
        return (
            f'{cache}export NUMBA_CACHE_DIR="{self.project.numba_cache_dir}"; '
            'mkdir -p -m 700 "$NUMBA_CACHE_DIR" && [ -O "$NUMBA_CACHE_DIR" ] || '
            '(echo "numba_cache_dir: $NUMBA_CACHE_DIR belongs to another user; '
            'allowed: your own folder" >&2; '
            "exit 2); "
        )

    def threads(self, paper: str, name: str) -> int:
        """Return how many threads a set of results is worth; worker processes cost seconds."""
        experiments = self.project.experiments(paper)
        if name in experiments.analytic or self.project.scale == "quick":
            return 1
        plan = experiments.plan(name)
        brief = plan.runs <= TRIALS and set(plan.spec.metrics) <= set(IDENTIFIED)
        return 1 if brief else self.project.threads

    def parts(self, paper: str, name: str) -> int:
        """Return into how many jobs a set of results is split, 1 for none."""
        experiments = self.project.experiments(paper)
        if name in experiments.analytic:
            return 1
        return min(experiments.plan(name).shards, self.project.max_jobs_per_simulation)

    def part_pattern(self) -> str:
        """Path of the file that says that a part is done, with the wildcards part and parts."""
        folder = self.project.results_folder() / "parts"
        return str(folder / "{paper}" / "{name}" / "{part}-of-{parts}.done")

    def part_markers(self, paper: str, name: str) -> list[str]:
        """Return the files that say that the parts of a set of results are done."""
        parts = self.parts(paper, name)
        return [
            self.part_pattern().format(paper=paper, name=name, part=part, parts=parts)
            for part in range(1, parts + 1)
            if parts > 1
        ]

    def _cost(self, paper: str, name: str) -> Cost | None:
        return self.costs.find(self.project.scale, paper, RESULTS, name)

    def memory(self, paper: str, name: str, threads: int, attempt: int) -> int:
        """Return the MiB that a job which simulates asks for."""
        return memory_to_ask_for(self._cost(paper, name), threads, attempt)

    def minutes(self, paper: str, name: str, threads: int, attempt: int, parts: int = 1) -> int:
        """Return the minutes that a job which simulates asks for.

        A job that gathers parts asks as much as if there were none: the cache may be gone.
        """
        return minutes_to_ask_for(self._cost(paper, name), threads, parts, attempt)
