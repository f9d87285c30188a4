"""What a paper will cost before it is simulated, by what its algorithms cost in other papers."""

from collections import defaultdict
from statistics import median

from dpbandits.pipeline.costs import COSTS, RESULTS, Costs
from dpbandits.pipeline.project import Project

SCALE = "paper"


def forecast(project: Project, paper: str) -> float:
    """Return the core-minutes that the simulations of a paper will take from an empty cache.

    What was recorded counts as it is. Of the rest a round of an algorithm, or a pull of a trial,
    costs what it cost in the recorded simulations that play it, the median of them; of an algorithm
    that nobody played, the median of all. Exact results that nobody computed are left out.

    Args:
        project: the project, at its paper scale.
        paper: short name of a paper or comparison.
    """
    costs = Costs(project.folder / COSTS)
    by_algorithm: dict[str, list[float]] = defaultdict(list)
    for other in project.published:
        study = project.study(other)
        for name, plan in study.simulations.items():
            cost = costs.find(SCALE, other, RESULTS, name)
            if cost is not None and plan.tuned_by is None:
                each = cost.core_seconds / sum(_rounds(project, other, name).values())
                for algorithm in plan.spec.algorithms:
                    by_algorithm[algorithm].append(each)
    usual = median(value for values in by_algorithm.values() for value in values)
    seconds = 0.0
    for name, plan in project.study(paper).simulations.items():
        cost = costs.find(SCALE, paper, RESULTS, name)
        if cost is not None:
            seconds += cost.core_seconds
        elif plan.tuned_by is None:
            for algorithm, rounds in _rounds(project, paper, name).items():
                seconds += rounds * median(by_algorithm.get(algorithm) or [usual])
    return seconds / 60


def _rounds(project: Project, paper: str, name: str) -> dict[str, int]:
    """Return how many rounds of each algorithm a simulation plays, over all its runs."""
    rounds: dict[str, int] = defaultdict(int)
    for series in project.series(paper, name):
        rounds[series.cell.definition.id] += series.cell.runs * series.cell.horizon
    return rounds
