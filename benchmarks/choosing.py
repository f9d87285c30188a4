"""What the comparison `choosing` will cost: one run of each algorithm, number of arms and horizon.

The grid of ``config/comparisons/choosing.yaml`` was cut by it. Run it
as ``python benchmarks/choosing.py`` in the project folder; a busy machine adds up to a half.
"""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from dpbandits.engine.cells import Series, Work
from dpbandits.pipeline.project import Project

OVERHEAD = 0.006
"""Seconds that a series takes beside its kernel: streams, cache, results."""


def tuning_rows(tuning: Iterable[Series]) -> pd.DataFrame:
    """Return made-up results of tuning in which a share of 0.01 is the best everywhere.

    Args:
        tuning: the series that tune.
    """
    rows = [
        {
            **series.tags,
            "algorithm": series.cell.definition.id,
            "metric": "pseudo_regret",
            "value": abs(series.tags["share"] - 0.01),
        }
        for series in tuning
    ]
    return pd.DataFrame(rows)


def seconds(series: Iterable[Series]) -> dict[tuple[str, int, int], float]:
    """Return core seconds by algorithm, number of arms and horizon.

    Args:
        series: those of one simulation; of alike ones the middle one is played once.
    """
    alike: dict[tuple[str, int, int], list[Series]] = defaultdict(list)
    for each in series:
        alike[each.cell.definition.id, each.tags["arms"], each.tags["horizon"]].append(each)
    found, compiled = {}, set()
    for key, group in alike.items():
        middle = group[len(group) // 2]
        cell = middle.cell
        size = len(middle.runs) if cell.in_lockstep else cell.batch
        played = range(min(len(middle.runs), size if key[2] <= 10_000 else 1))
        if key[0] not in compiled:
            Work(replace(cell, horizon=1_000, grid=(1_000,)), played).play(1)
            compiled.add(key[0])
        begun = time.process_time()
        Work(cell, played).play(1)
        spent = (time.process_time() - begun) * size / len(played)
        found[key] = (spent + OVERHEAD) * len(group)
    return found


def main() -> None:
    """Print core minutes by algorithm and number of arms, and the sum."""
    experiments = Project.load(Path()).study("choosing")
    tuning = experiments.simulation("tuning").series()
    tuned = tuning_rows(tuning)
    total = 0.0
    for name in ("tuning", "untuned", "regret", "logarithms"):
        own = tuning if name == "tuning" else experiments.simulation(name).series(tuned)
        costs = seconds(own)
        table = pd.Series(costs).rename_axis(["algorithm", "arms", "T"]).unstack("arms") / 60.0
        print(f"{name}, core minutes\n{table.groupby('algorithm').sum().round(2)}\n")
        total += sum(costs.values())
    print(f"in all {total / 60.0:.1f} core minutes, beside best arms (about one)")


if __name__ == "__main__":
    main()
