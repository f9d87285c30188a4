"""What a ranking says beside its numbers: guarantees at the question, and notes."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpbandits.algorithms import IDENTIFICATION, REGRET, Definition
from dpbandits.algorithms.guarantees import guarantee
from dpbandits.comparisons.choosing.parameters import parameters_at
from dpbandits.comparisons.choosing.players import CLASSES, DELTA, NONE, PLAYERS
from dpbandits.comparisons.choosing.ranking import Question, described, outside
from dpbandits.comparisons.choosing.scores import SETTING
from dpbandits.errors import InputError
from dpbandits.privacy import Guarantee

KEPT = ("proved", "not contradicted")
"""Statuses of guarantees that stand the audit."""

BROKEN = "not shown to be private"
"""Verdict where a guarantee is refuted, or stated and nothing more; these win nothing."""

Row = dict[str, Any]


def with_guarantees(answer: pd.DataFrame, question: Question, measure: str) -> pd.DataFrame:
    """Return a ranking with parameters and guarantees; those not shown to be private last.

    Args:
        answer: as ``ranking.ranked`` has it.
        question: what is asked.
        measure: ``regret`` or ``success``.
    """
    rows = [_guaranteed(row, question) for row in _records(answer)]
    played = {(row["algorithm"], row["variant"]) for row in rows}
    refuted = _refuted(question, measure)
    rows += [row for row in refuted if (row["algorithm"], row["variant"]) not in played]
    rows = sorted(rows, key=lambda row: bool(row["verdict"] == BROKEN))
    found = pd.DataFrame(rows)
    is_ranked = ~found["verdict"].eq(BROKEN) & found["place"].notna()
    found["place"] = is_ranked.cumsum().where(is_ranked).astype("Int64")
    columns = ["place", "algorithm", "name", "variant", "verdict", "parameters", measure, "lo"]
    columns += ["hi", "price", "worst", "worst_instance", "runs", "guarantee", *SETTING]
    shown: pd.DataFrame = found[[column for column in columns if column in set(found.columns)]]
    return shown


def _records(table: pd.DataFrame) -> list[Row]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _guaranteed(row: Row, question: Question) -> Row:
    """Return a row with parameters and guarantee, its verdict changed where none is shown."""
    try:
        values = parameters_at(row, question)
    except InputError as error:
        return {**row, "verdict": BROKEN, "parameters": "", "guarantee": str(error)}
    pairs = (each.split("=", 1) for each in row["interpretation"].split(",") if each)
    found = guarantee(
        row["algorithm"],
        horizon=question.horizon,
        params=values,
        variant=row["variant"],
        interpretations=dict(pairs),
    )
    text = ", ".join(f"{key}={value:.6g}" for key, value in values.items())
    is_broken = row["class"] != NONE and found.status not in KEPT
    verdict = BROKEN if is_broken else row["verdict"]
    return {**row, "verdict": verdict, "parameters": text, "guarantee": in_brief(found)}


def in_brief(found: Guarantee) -> str:
    """Return a guarantee in a few words, of a Gaussian one also its epsilon at ``DELTA``."""
    if found.kind == "none":
        return found.name
    words = f"{found.name}, {found.model}, {found.status}"
    return f"{words}; ({found.epsilon(DELTA):.3g}, {DELTA:g})-DP" if found.kind == "gdp" else words


def _refuted(question: Question, measure: str) -> Iterator[Row]:
    """Yield algorithms and variants of the class whose guarantee does not stand the audit."""
    known: Mapping[str, Definition] = REGRET if measure == "regret" else IDENTIFICATION
    budget = {"epsilon": float(question.epsilon), "delta": DELTA}
    for algorithm, definition in known.items():
        is_met = PLAYERS.get(algorithm, ("", NONE))[1] in CLASSES[question.privacy]
        if not is_met or not set(definition.example) <= set(budget):
            continue
        values = {key: budget[key] for key in definition.example}
        for variant in definition.variants:
            found = guarantee(algorithm, horizon=question.horizon, params=values, variant=variant)
            if found.status not in KEPT:
                named = {"algorithm": algorithm, "variant": variant, "name": definition.name}
                setting = {key: getattr(question, key) for key in SETTING}
                yield {**named, "verdict": BROKEN, "guarantee": in_brief(found), **setting}


def notes(answer: pd.DataFrame, grid: pd.DataFrame, question: Question) -> list[str]:
    """Return what one should know of a ranking, a sentence each.

    Args:
        answer: the ranking.
        grid: the measured table.
        question: what is asked.
    """
    first = answer.iloc[0]
    at = f"K = {first['arms']:.0f}, T = {first['horizon']:,.0f}, epsilon = {first['epsilon']:g}"
    found = [f"Asked: {described(question)}.", f"Measured at the nearest setting: {at}."]
    if beyond := outside(grid, question):
        found.append(f"Outside of the grid: {', '.join(beyond)}. To play it: dpbandits compare.")
    elif any(getattr(question, key) != first[key] for key in SETTING):
        found.append("Not on the grid. To play exactly this setting: dpbandits compare.")
    eligible = grid[grid["class"].isin(CLASSES[question.privacy])]
    missing = set(eligible["algorithm"]) - set(answer["algorithm"])
    if missing:
        names = [name for each, (name, _) in PLAYERS.items() if each in missing]
        found.append(f"Not measured there: {', '.join(names)}.")
    return found
