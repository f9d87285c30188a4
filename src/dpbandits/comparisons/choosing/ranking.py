"""Which private bandit to take for a question: a ranking at the nearest measured setting."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpbandits.algorithms import IDENTIFICATION, REGRET, Definition
from dpbandits.algorithms.guarantees import guarantee
from dpbandits.comparisons.choosing.scores import (
    CLASSES,
    DELTA,
    DESCRIPTIONS,
    INTERPRETATIONS,
    NONE,
    OTHERS,
    PLAYERS,
    SETTING,
    WINNER,
)
from dpbandits.comparisons.equal_privacy.formulas import least_alpha, level
from dpbandits.config import Context
from dpbandits.engine.cells import whole_number
from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError
from dpbandits.privacy import Guarantee
from dpbandits.privacy.thompson import required_c

if TYPE_CHECKING:
    import pandas as pd

BEST, TIED, BEHIND, NOT_PRIVATE = "best", "tied", "behind", "not private"
"""What a ranking says of an algorithm."""

DEPENDS = "best by the default logarithms"
"""What it says of the first where another base may change the winner."""

TEXTS = ("variant", "interpretation", "tied", *INTERPRETATIONS)
"""Columns of the tables that may be empty texts."""


COLUMNS = {"extra-regret": "tail", "extra-best-arm": "plane", "extra-winners": "margin_lo"}
"""A column of each table that those of earlier comparisons do not have."""


def read_table(path: Path) -> pd.DataFrame:
    """Return a table of scores or of winners, as it was written.

    Raises:
        InputError: it does not exist, or is that of an earlier comparison.
    """
    if not path.is_file():
        raise InputError(
            f"{path}: does not exist; allowed: a project with the comparison, built by snakemake "
            f"extras (--scale) or published"
        )
    frame = pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str))
    if path.stem in COLUMNS and COLUMNS[path.stem] not in frame:
        raise InputError(f"{path}: has no column {COLUMNS[path.stem]}; allowed: a current table")
    return frame.fillna({name: "" for name in TEXTS if name in frame})


@dataclass(frozen=True)
class Question:
    """What someone asks.

    Attributes:
        arms: number of arms K, at least 2.
        horizon: number of rounds, or of pulls for best arms, at least 1.
        epsilon: budget, above 0.
        privacy: class of privacy, a key of ``players.CLASSES``.
    """

    arms: int
    horizon: int
    epsilon: float
    privacy: str = "pure"

    def __post_init__(self) -> None:
        """Raise InputError for what is no question."""
        if self.privacy not in CLASSES:
            raise InputError.unknown("class", self.privacy, CLASSES)
        for key, least in (("arms", 2), ("horizon", 1)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{key} is {value!r}; allowed: a whole number of at least {least}")
        is_number = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool)
        if not is_number or not 0.0 < self.epsilon < math.inf:
            raise InputError(f"epsilon is {self.epsilon!r}; allowed: a number above 0")


def nearest(rows: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the rows of the setting that is nearest to a question, by ratios.

    The number of arms comes first, then the horizon, then the budget, where they have one.

    Args:
        rows: one row for each setting and algorithm, at least one.
        question: what is asked.
    """
    for key in SETTING:
        if rows[key].notna().any():
            asked = float(getattr(question, key))
            distance = (rows[key] / asked).map(math.log).abs()
            rows = rows[distance == distance.min()]
            # Between two that are equally near the smaller one, which promises less.
            rows = rows[rows[key] == rows[key].min()]
    return rows


def outside(table: pd.DataFrame, question: Question) -> list[str]:
    """Return what of a question lies outside of what was measured, in words."""
    words = []
    for key in SETTING:
        asked, values = getattr(question, key), table[key].dropna()
        if not values.min() <= asked <= values.max():
            ends = f"{values.min():,g} to {values.max():,g}"
            words.append(f"{key} {asked:,g} (measured: {ends})")
    return words


def ranked(
    table: pd.DataFrame, winners: pd.DataFrame, question: Question, measure: str
) -> pd.DataFrame:
    """Return the ranking at the nearest setting, then what is not private there.

    Columns: place, algorithm, name, variant, verdict (``best`` whatever the open logarithms,
    ``DEPENDS``, ``tied`` with the best, ``behind`` or ``not private``), and those of the table.
    Algorithms have their default logarithms.

    Args:
        table: one row for each setting and algorithm, as ``tables.regret`` has them.
        winners: as ``winners.winners`` has them.
        question: what is asked.
        measure: ``price``, which is to be small, or ``success``, which is to be large.

    Raises:
        InputError: no algorithm of the class was measured.
    """
    table = table[~table["interpretation"].isin(OTHERS)]
    met = table[table["class"].isin(CLASSES[question.privacy]) & table["epsilon"].notna()]
    if met.empty:
        allowed = ", ".join(sorted(set(table["class"]) - {NONE}))
        raise InputError(
            f"class is {question.privacy!r}, of which no algorithm was measured; allowed: {allowed}"
        )
    own = nearest(met, question)
    setting = {key: own[key].iloc[0] for key in SETTING}
    is_here = (table["arms"] == setting["arms"]) & (table["horizon"] == setting["horizon"])
    best_first = [measure == "price", True]
    own = own.sort_values([measure, "algorithm"], ascending=best_first).assign(verdict=BEHIND)
    row = _row(winners, {**setting, "class": question.privacy})
    tied = str(row["tied"]).split() if row else own["algorithm"].tolist()
    own.loc[own["algorithm"].isin(tied), "verdict"] = TIED
    if row and row["default"]:
        verdict = BEST if row["verdict"] == WINNER else DEPENDS
        own.loc[own["algorithm"] == row["default"], "verdict"] = verdict
    own.insert(0, "place", range(1, len(own) + 1))
    free = table[is_here & (table["class"] == NONE)]
    free = free.sort_values([measure, "algorithm"], ascending=best_first)
    answer: pd.DataFrame = pd.concat([own, free.assign(verdict=NOT_PRIVATE)], ignore_index=True)
    return answer


def _row(winners: pd.DataFrame, where: Mapping[str, object]) -> dict[str, object]:
    """Return the one row of the winners with these values; empty where there is none."""
    if winners.empty:
        return {}
    for key, value in where.items():
        winners = winners[winners[key] == value]
    return {str(key): value for key, value in winners.iloc[0].items()} if len(winners) else {}


def described(question: Question) -> str:
    """Return a question in words."""
    asked = f"K = {question.arms}, T = {question.horizon:,}, epsilon = {question.epsilon:g}"
    return f"{asked}, {DESCRIPTIONS[question.privacy]}"


def parameters_at(row: Mapping[str, Any], question: Question) -> dict[str, float]:
    """Return the parameters of an algorithm at a question.

    Modified TS has the share b K/T of pre-pulls that was tuned, with the c that the budget asks
    for; DP-TS-UCB the alpha that was tuned, or the least that meets the budget if that is more.

    Args:
        row: a row of the table of scores.
        question: what is asked.

    Raises:
        InputError: the algorithm cannot meet the budget.
    """
    algorithm, epsilon = row["algorithm"], float(question.epsilon)
    if algorithm == "m-ts-gaussian":
        share = row["b"] / (row["horizon"] // row["arms"])
        b = int(share * (question.horizon // question.arms))
        return {"b": b, "c": float(required_c(b, level(epsilon), question.horizon))}
    if algorithm == "dp-ts-ucb":
        least = least_alpha(Context({"epsilon": epsilon}, question.horizon, question.arms))
        return {"alpha": max(float(row["alpha"]), least)}
    if algorithm == "dp-bai-gauss":
        return {"epsilon": epsilon, "delta": DELTA}
    return {} if row["class"] == NONE else {"epsilon": epsilon}


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
        measure: ``price`` or ``success``.
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
    columns += ["hi", "tail", "regret", "plane", "guarantee", *SETTING]
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
    known: Mapping[str, Definition] = REGRET if measure == "price" else IDENTIFICATION
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


MEASURES = {
    "price": ("extra-regret", "extra-winners"),
    "success": ("extra-best-arm", "extra-best-arm-winners"),
}
"""Measure -> the tables of the scores and of the winners."""

REQUIRED = {"price": "horizon", "success": "budget"}


def choose(
    *,
    arms: int,
    epsilon: float,
    horizon: float | None = None,
    budget: float | None = None,
    privacy: str = "pure",
    scale: str | None = None,
    project: str | Path = ".",
) -> "pd.DataFrame":
    """Return which private algorithms are the best for a number of arms, a length and a budget.

    The ranking is that of the published comparison at the nearest setting that was measured, over
    many instances (``docs/choosing.md``). What one should know of it is in
    ``attrs["notes"]`` of the frame: the setting, and whether the question is outside of the grid.

    Args:
        arms: number of arms K, at least 2.
        epsilon: privacy budget, above 0.
        horizon: number of rounds T, where regret counts.
        budget: number of pulls, where the best arm is to be found.
        privacy: ``pure`` (epsilon-DP, central), ``approximate`` ((epsilon, 1e-6)-DP, central) or
            ``local`` (epsilon-DP of every reward); stricter algorithms take part.
        scale: ``paper`` or ``quick`` for the tables built in the project's folder; by default the
            published ones.
        project: folder of the project; outside of one the tables that come with the package.

    Returns:
        One row for each algorithm, the best first: place, algorithm, name, variant, verdict
        (``best``, whatever base logarithms have that are not settled, ``best by the default
        logarithms``, ``tied`` with the best, ``behind`` or ``not private``), parameters, price
        (regret over that of the best without privacy, geometric mean over the instances) with its
        95 % interval as lo and hi, tail (the ratio that one instance in ten exceeds) and regret
        (mean), or success with its interval and plane (success in two dimensions), guarantee at the
        question, and the setting. Then what is not shown to be private.

    Raises:
        InputError: an argument is not allowed, or no comparison is published there.

    Example:
        >>> import dpbandits
        >>> dpbandits.choose(arms=1, horizon=1000, epsilon=1.0)
        Traceback (most recent call last):
        dpbandits.errors.InputError: arms is 1; allowed: a whole number of at least 2
    """
    given = {"horizon": horizon, "budget": budget}
    if (horizon is None) == (budget is None):
        raise InputError(f"choose: horizon is {horizon}, budget {budget}; allowed: one of them")
    measure = "price" if budget is None else "success"
    length = whole_number(given[REQUIRED[measure]])
    question = Question(whole_number(arms), length, epsilon, privacy)
    paths = [_table_path(Path(project), name, scale) for name in MEASURES[measure]]
    table, winners = map(read_table, paths)
    answer = ranked(table, winners, question, measure)
    answer = with_guarantees(answer, question, measure)
    answer.attrs["notes"] = notes(answer, table, question)
    return answer


def _table_path(folder: Path, name: str, scale: str | None) -> Path:
    """Return the file of a table of the comparison, as published or as built at a scale.

    Raises:
        InputError: the folder is no project, whose tables others have, or the table is stale.
    """
    from dpbandits.comparisons.choosing.scores import COMPARISON, TABLES
    from dpbandits.pipeline.project import CONFIG, Project, published_folder
    from dpbandits.pipeline.targets import table_target

    if folder != Path() and not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: a project's folder, or none for the "
            f"published tables"
        )
    if scale is None:
        found = folder if (folder / CONFIG).is_file() else published_folder()
        return found / TABLES / f"{name}.csv"
    target = table_target(Project.load(folder).at(scale=scale), COMPARISON, name)
    require_current(target.files[0], target.depends_on)
    return next(path for path in target.files if path.suffix == ".csv")
