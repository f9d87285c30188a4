"""Cost of the comparison `choosing`: a few series of each algorithm, number of arms and horizon.

The grid of ``config/comparisons/choosing.yaml`` was cut by it. Run it
as ``python benchmarks/choosing.py`` in the project folder; a busy machine adds up to a half.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from dpbandits.comparisons.field import CONSTANTS
from dpbandits.engine.cells import Series, Work
from dpbandits.pipeline.project import Project

OVERHEAD = 0.006
"""Seconds that a series takes beside its kernel: streams, cache, results."""

SAMPLE = 3
"""Series that are played of those that differ in instance and budget alone."""


def tuning_rows(tuning: Iterable[Series]) -> pd.DataFrame:
    """Return made-up results of tuning: a share of 0.01 and 1/8 of each constant are the best.

    Args:
        tuning: the series that tune.
    """
    rows = []
    for series in tuning:
        tags, algorithm = series.tags, series.cell.definition.id
        tried = tags["share"] / 0.01 if "share" in tags else 8.0 * tags["constant"]
        distance = abs(math.log(max(tried, 1e-9) / CONSTANTS.get(algorithm, 1.0)))
        rows.append({**tags, "algorithm": algorithm, "value": 2.0 + distance})
    return pd.DataFrame(rows)


def seconds(series: Iterable[Series]) -> dict[tuple[str, int, int], float]:
    """Return core seconds by algorithm, number of arms and horizon.

    Args:
        series: those of one simulation; of alike ones a few are played, one run each.
    """
    alike: dict[tuple[str, int, int], list[Series]] = defaultdict(list)
    for member in series:
        key = (member.cell.definition.id, member.tags["arms"], member.tags["horizon"])
        alike[key].append(member)
    costs, compiled = {}, set()
    for key, group in alike.items():
        if key[0] not in compiled:
            Work(replace(group[0].cell, horizon=1_000, grid=(1_000,)), range(1)).play(1)
            compiled.add(key[0])
        sample = group[len(group) // (2 * SAMPLE) :: -(-len(group) // SAMPLE)]
        begun = time.process_time()
        for member in sample:
            Work(member.cell, member.runs[:1]).play(1)
        spent = (time.process_time() - begun) / len(sample)
        costs[key] = sum(spent * len(member.runs) + OVERHEAD for member in group)
    return costs


def main() -> None:
    """Print core seconds by algorithm and number of arms, and the sum."""
    experiments = Project.load(Path()).study("choosing")
    tuning = experiments.simulation("tuning").series()
    tuned = tuning_rows(tuning)
    total = 0.0
    for name in ("tuning", "check", "grid", "printed", "tuned"):
        members = tuning if name == "tuning" else experiments.simulation(name).series(tuned)
        costs = seconds(members)
        table = pd.Series(costs).rename_axis(["algorithm", "arms", "T"]).unstack("arms")
        print(f"{name}, core seconds\n{table.round(1).to_string()}\n{sum(costs.values()):.0f}\n")
        total += sum(costs.values())
    print(f"in all {total:.0f} core seconds, beside best arms (about one minute)")


if __name__ == "__main__":
    main()
