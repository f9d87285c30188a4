"""The jobs of a run: how a simulation is split, what each job asks for, and its options."""

import shlex
from dataclasses import dataclass
from functools import cached_property

from dpbandits.project.config import Project
from dpbandits.project.costs import (
    COSTS,
    RESULTS,
    Cost,
    Costs,
    memory_to_ask_for,
    minutes_to_ask_for,
)
from dpbandits.project.target import Target


@dataclass(frozen=True)
class Jobs:
    """The jobs that build one project's results."""

    project: Project

    def options(self) -> str:
        """Return the options with which every command sees the config of the workflow."""
        return f"--scale {self.project.scale} --seed {self.project.seed}"

    def choice(self) -> str:
        """Return the options of commands on all that is chosen: a run may choose otherwise."""
        config, project = self.project.config, self.project
        # A draft is built where it alone is named.
        papers = dict.fromkeys([*project.chosen, *project.selected()[0]])
        words = ["--papers", *papers, "--comparisons", *project.comparisons]
        words += ["--only", str(config["only"])] if config.get("only") else []
        return f"{self.options()} {shlex.join(words)}"

    def kernels_choice(self) -> str:
        """Return the options that choose what is built, whichever figure of it is asked for."""
        built = self.project.built()
        papers = [name for name in built if name in self.project.papers]
        others = [name for name in built if name not in papers]
        return shlex.join(["--papers", *papers, "--comparisons", *others])

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

    def threads(self, target: Target) -> int:
        """Return how many threads a set of results is worth; worker processes cost seconds."""
        return 1 if target.is_brief or self.project.scale == "quick" else self.project.threads

    def shards(self, target: Target) -> int:
        """Return into how many jobs a set of results is split, 1 for none."""
        return min(target.shards, self.project.max_jobs_per_simulation)

    def shard_pattern(self) -> str:
        """Path of the file that says that a shard is done, with the wildcards shard and shards."""
        folder = self.project.results_folder() / "shards"
        return str(folder / "{paper}" / "{name}" / "{shard}-of-{shards}.done")

    def shard_markers(self, target: Target) -> list[str]:
        """Return the files that say that the shards of a set of results are done."""
        shards = self.shards(target)
        return [
            self.shard_pattern().format(
                paper=target.paper, name=target.name, shard=shard, shards=shards
            )
            for shard in range(1, shards + 1)
            if shards > 1
        ]

    def _cost(self, target: Target) -> Cost | None:
        """Return what a job's simulations cost, else what the job itself does."""
        kinds = (RESULTS, target.kind)
        found = (self.costs.find(self.project.scale, target.paper, k, target.name) for k in kinds)
        return next(filter(None, found), None)

    def memory(self, target: Target, threads: int, attempt: int) -> int:
        """Return the MiB that a job which simulates asks for."""
        return memory_to_ask_for(self._cost(target), threads, attempt)

    def minutes(self, target: Target, threads: int, attempt: int, shards: int = 1) -> int:
        """Return the minutes that a job which simulates asks for.

        A job that gathers shards asks as much as if there were none: the cache may be gone.
        """
        return minutes_to_ask_for(self._cost(target), threads, shards, attempt)
