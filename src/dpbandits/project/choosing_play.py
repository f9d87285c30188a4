"""Exactly the setting of a question, played on the families of instances of the comparison."""

from dataclasses import replace

import pandas as pd

from dpbandits.comparisons.choosing.parameters import parameters_at
from dpbandits.comparisons.choosing.players import CLASSES, COMPARISON, NONE, PLAYERS
from dpbandits.comparisons.choosing.ranking import Question, nearest
from dpbandits.comparisons.choosing.scores import family_scores, mean_scores
from dpbandits.comparisons.choosing.tables import best_arm, regret
from dpbandits.comparisons.choosing.winners import winners
from dpbandits.engine.arguments import require_cache, require_workers
from dpbandits.engine.experiments import SimulationPlan
from dpbandits.engine.fan_out import compute
from dpbandits.engine.results import results_frame
from dpbandits.engine.simulation_specs import CellsSpec, Runs
from dpbandits.errors import InputError
from dpbandits.project.config import Project

SIMULATIONS = {
    "regret": (("regret", "logarithms"), regret),
    "success": (("best-arm",), best_arm),
}
"""Measure -> the simulations that are played elsewhere, and what makes their table."""


def played(
    project: Project,
    question: Question,
    table: pd.DataFrame,
    measure: str,
    runs: int,
    workers: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table of scores and the winners at exactly this setting.

    Args:
        project: the project, whose config names the families and the variants.
        question: what is asked.
        table: what was measured, for the tuned parameters.
        measure: ``regret`` or ``success``.
        runs: runs on each family; best arms take as many as the comparison does.
        workers: processes.

    Raises:
        InputError: runs or workers are not allowed, or a budget of pulls is too small.
    """
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 2:
        raise InputError(f"runs is {runs!r}; allowed: a whole number of at least 2")
    names, tabulated = SIMULATIONS[measure]
    plans = [project.experiments(COMPARISON).plan(name) for name in names]
    asked = [at_question(plan, question, table, runs) for plan in plans]
    series = [each for plan in asked for each in plan.series()]
    blocks = compute(
        [each.cell for each in series],
        root_seed=project.seed,
        workers=require_workers(workers),
        cache=require_cache(True),
        title="choose",
    )
    rows = results_frame(series, blocks)
    for key in ("b", "c", "alpha", "epsilon"):
        rows[key] = rows[key] if key in rows else float("nan")
    return tabulated({measure: rows}), winners(mean_scores(family_scores(rows)))


def at_question(
    plan: SimulationPlan, question: Question, table: pd.DataFrame, runs: int
) -> SimulationPlan:
    """Return the plan of a comparison at one setting, with the algorithms of one class.

    Args:
        plan: the comparison.
        question: what is asked.
        table: what was measured, for tuned parameters, taken from the nearest setting.
        runs: runs on each family where regret counts.
    """
    entries: dict[str, CellsSpec] = {}
    families = [str(each) for each in max((each.instances for each in plan.spec.cells), key=len)]
    fewest = [str(each) for each in min((each.instances for each in plan.spec.cells), key=len)]
    for entry in plan.spec.cells:
        kind = PLAYERS[entry.algorithm][1]
        if entry.algorithm not in entries and kind in (*CLASSES[question.privacy], NONE):
            parameters = _parameters(entry.algorithm, table, question)
            if parameters is None:
                continue
            over = {
                "arms": (question.arms,),
                "instance": tuple(fewest if question.arms == 2 else families),
                "horizon": (question.horizon,),
                **({} if kind == NONE else {"epsilon": (question.epsilon,)}),
            }
            entries[entry.algorithm] = entry.model_copy(
                update={"over": over, "parameters": parameters}
            )
    is_counted = plan.spec.metrics == ("success",)
    changes = {"cells": tuple(entries.values()), "horizon": question.horizon, "tuned_by": None}
    if not is_counted:
        changes["runs"] = Runs(first=0, count=runs)
    return replace(plan, spec=plan.spec.model_copy(update=changes), caps=type(plan.caps)())


def _parameters(algorithm: str, table: pd.DataFrame, question: Question) -> dict[str, float] | None:
    """Return the parameters of an algorithm at a question; None where none is known to do."""
    own = table[table["algorithm"] == algorithm]
    if own.empty:
        return None
    row = nearest(own, question).iloc[0]
    try:
        return parameters_at({str(key): value for key, value in row.items()}, question)
    except InputError:
        return None
