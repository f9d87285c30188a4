"""Which private bandit to take for a question: a ranking at the nearest measured setting."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.algorithms import IDENTIFICATION, REGRET, Definition
from dpbandits.algorithms.base import LARGEST_INTEGER, positive
from dpbandits.algorithms.guarantees import guarantee
from dpbandits.comparisons.choosing import WINNER
from dpbandits.comparisons.field import (
    AXES,
    CLASSES,
    COMPARISON,
    CONSTANTS,
    DELTA,
    DESCRIPTIONS,
    LOCAL,
    LOCAL_FIELD,
    NAMES,
    NONE,
    ONE_RUN,
    PLAYERS,
    PUBLISHED,
    SETTING,
    TWINS,
    UNIT,
    least_alpha,
    level,
)
from dpbandits.config import Context
from dpbandits.errors import InputError, require_count
from dpbandits.privacy import Guarantee
from dpbandits.privacy.thompson import required_c
from dpbandits.text_tables import aligned

BEST, TIED, BEHIND, UNMET = "best", "tied", "behind", "meets no budget that is asked"
"""What a ranking says of an algorithm."""

DEPENDS = "best by these logarithms"
"""What it says of the first where another base may change the winner."""

TEXTS = ("variant", "interpretation", "tied", "as_ranked", "otherwise")
"""Columns of the tables that may be empty texts."""

RULED = {"price": "ranked", "success": "ranked", "margin": "as_ranked"}
"""Column -> the one that a table with it must have: older ones rank by other logarithms."""


def read_table(path: Path) -> pd.DataFrame:
    """Return a table of scores or of winners, as it was written."""
    if not path.is_file():
        raise InputError(
            f"{path}: does not exist; allowed: a project with the comparison, built by snakemake "
            f"extras (--scale) or published"
        )
    frame = pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str))
    for column, needed in RULED.items():
        if column in frame and needed not in frame:
            raise InputError(
                f"{path}: has no column {needed}, being of an older version; allowed: a table that "
                f"snakemake extras builds and dpbandits publish copies"
            )
    return frame.fillna({name: "" for name in TEXTS if name in frame})


@dataclass(frozen=True)
class Question:
    """What someone asks: arms, rounds (or pulls for best arms), a budget, and a class of it."""

    arms: int
    horizon: int
    epsilon: float
    privacy: str = "pure"
    measure: str = "price"

    def __post_init__(self) -> None:
        """Raise InputError for an unknown class."""
        if self.privacy not in CLASSES:
            raise InputError.unknown("class", self.privacy, CLASSES)


def nearest(rows: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the rows of the setting nearest by ratios: arms come first, then horizon, budget."""
    for key in SETTING:
        if rows[key].notna().any():
            asked = float(getattr(question, key))
            distance = (rows[key] / asked).map(math.log).abs()
            rows = rows[distance == distance.min()]
            # Between two that are equally near the smaller one, which promises less.
            rows = rows[rows[key] == rows[key].min()]
    return rows


def ranked(table: pd.DataFrame, winners: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the ranking at the nearest setting, then what meets no budget there.

    Verdicts: ``best`` whatever the open logarithms, ``DEPENDS``, ``tied`` with the best, ``behind``
    or ``UNMET``. Logarithms are those that the comparison ranks by; ``otherwise`` names the
    algorithms that others put before the first.
    """
    table = table[table["ranked"]]
    order = [question.measure, "algorithm"]
    table = table.sort_values(order, ascending=[question.measure == "price", True])
    members = table[table["class"].isin(CLASSES[question.privacy])]
    if members.empty:
        allowed = ", ".join(sorted(set(table["class"]) - {NONE}))
        raise InputError(
            f"class is {question.privacy!r}, of which no algorithm was measured; allowed: {allowed}"
        )
    field = nearest(members, question)
    setting = field[SETTING].iloc[0]
    is_asked = (winners["class"] == question.privacy) & (winners[SETTING] == setting).all(axis=1)
    verdicts: dict[str, str] = {}
    otherwise = ""
    for answer in winners[is_asked].to_dict("records"):
        verdicts = dict.fromkeys(answer["tied"].split(), TIED)
        verdicts[answer["as_ranked"]] = BEST if answer["verdict"] == WINNER else DEPENDS
        otherwise = answer["otherwise"]
    verdict = field["algorithm"].replace(TWINS).map(verdicts).fillna(BEHIND)
    field = field.assign(verdict=verdict, otherwise=otherwise)
    field.insert(0, "place", range(1, len(field) + 1))
    size = SETTING[:2]
    is_free = (table["class"] == NONE) & (table[size] == setting[size]).all(axis=1)
    return pd.concat([field, table[is_free].assign(verdict=UNMET)], ignore_index=True)


def parameters_at(row: Mapping[str, Any], question: Question) -> dict[str, float]:
    """Return the parameters of an algorithm at a question.

    Modified TS has the share b K/T of pre-pulls that was tuned, with the c that the budget asks
    for; DP-TS-UCB the alpha that was tuned, or the least that meets the budget if that is more.
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

Row = dict[Any, Any]


def with_guarantees(answer: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return a ranking with parameters and guarantees; those not shown to be private last."""
    rows: list[Row] = [_guaranteed(row, question) for row in answer.to_dict("records")]
    played = {(row["algorithm"], row["variant"]) for row in rows}
    for variant in _variants(question):
        known = _guaranteed(variant, question)
        if known["verdict"] == BROKEN and (known["algorithm"], known["variant"]) not in played:
            rows.append({**known, "parameters": None})
    rows.sort(key=lambda row: bool(row["verdict"] == BROKEN))
    table = pd.DataFrame(rows)
    is_ranked = ~table["verdict"].eq(BROKEN) & table["place"].notna()
    table["place"] = is_ranked.cumsum().where(is_ranked).astype("Int64")
    columns = ["place", "algorithm", "name", "variant", "interpretation", "verdict", "parameters"]
    columns += [question.measure, "lo", "hi", "least", "most", "plane", "plane_lo", "plane_hi"]
    columns += ["tail", "regret", "guarantee", *SETTING]
    return table[[column for column in columns if column in table]]


def _variants(question: Question) -> Iterator[Row]:
    """Yield rows of all variants of the class that have no parameter but the budget."""
    registry: Mapping[str, Definition] = REGRET if question.measure == "price" else IDENTIFICATION
    setting = {key: getattr(question, key) for key in SETTING}
    for algorithm, definition in registry.items():
        kind = PLAYERS.get(algorithm, ("", NONE))[1]
        if kind in CLASSES[question.privacy] and set(definition.example) <= {"epsilon", "delta"}:
            names = {"algorithm": algorithm, "name": definition.name, "class": kind}
            for variant in definition.variants:
                yield {**names, "variant": variant, "interpretation": "", "verdict": "", **setting}


def _guaranteed(row: Row, question: Question) -> Row:
    """Return a row with parameters and guarantee, its verdict changed where none is shown."""
    try:
        values = parameters_at(row, question)
    except InputError as error:
        return {**row, "verdict": BROKEN, "parameters": "", "guarantee": str(error)}
    pairs = filter(None, row["interpretation"].split(","))
    known = guarantee(
        row["algorithm"],
        horizon=question.horizon,
        params=values,
        variant=row["variant"],
        interpretations=dict(pair.split("=", 1) for pair in pairs),
    )
    text = ", ".join(f"{key}={value:.6g}" for key, value in values.items())
    is_broken = row["class"] != NONE and known.status not in KEPT
    verdict = BROKEN if is_broken else row["verdict"]
    return {**row, "verdict": verdict, "parameters": text, "guarantee": in_brief(known)}


def in_brief(known: Guarantee) -> str:
    """Return a guarantee in a few words, of a Gaussian one also its epsilon at ``DELTA``."""
    if known.kind == "none":
        return known.name
    words = f"{known.name}, {known.model}, {known.status}"
    return f"{words}; ({known.epsilon(DELTA):.3g}, {DELTA:g})-DP" if known.kind == "gdp" else words


def notes(
    answer: pd.DataFrame, table: pd.DataFrame, question: Question, otherwise: str
) -> list[str]:
    """Return what one should know of a ranking, a sentence each."""
    first = answer.iloc[0]
    asked = f"K = {question.arms}, T = {question.horizon:,}, epsilon = {question.epsilon:g}"
    nearby = f"K = {first['arms']:.0f}, T = {first['horizon']:,.0f}, epsilon = {first['epsilon']:g}"
    sentences = [
        f"Asked: {asked}, {DESCRIPTIONS[question.privacy]}.",
        f"Measured at the nearest setting: {nearby}.",
    ]
    beyond = []
    for key in SETTING:
        value, least, most = getattr(question, key), table[key].min(), table[key].max()
        if not least <= value <= most:
            beyond.append(f"{key} {value:,g} (measured: {least:,g} to {most:,g})")
    if beyond:
        sentences.append(
            f"Outside of the grid: {', '.join(beyond)}. To play it: dpbandits compare."
        )
    elif any(getattr(question, key) != first[key] for key in SETTING):
        sentences.append("Not on the grid. To play exactly this setting: dpbandits compare.")
    eligible = set(table["algorithm"][table["class"].isin(CLASSES[question.privacy])])
    if missing := eligible - set(answer["algorithm"]):
        sentences.append(f"Not measured there: {_listed(missing)}.")
    if otherwise:
        names = _listed(otherwise.split())
        sentences.append(f"With other bases of the logarithm the first would be behind {names}.")
    if question.measure == "success":
        sentences.append(AXES)
    else:
        sentences += [LOCAL_FIELD if question.privacy == LOCAL else CONSTANTS, ONE_RUN]
    return [*sentences, UNIT]


def _listed(algorithms: Iterable[str]) -> str:
    found = set(algorithms)
    return ", ".join(name for algorithm, name in NAMES.items() if algorithm in found)


MEASURES = {
    "price": ("extra-regret", "extra-winners"),
    "success": ("extra-best-arm", "extra-best-arm-winners"),
}
"""Measure -> the tables of the scores and of the winners."""


def choose(
    *,
    arms: int,
    epsilon: float,
    horizon: float | None = None,
    budget: float | None = None,
    privacy: str = "pure",
    scale: str | None = None,
    project: str | Path = ".",
) -> pd.DataFrame:
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
        (``best``, whatever base logarithms have that are not settled, ``best by these logarithms``,
        ``tied`` with the best, ``behind`` or ``meets no budget that is asked``), parameters, price
        (regret over that of the best without a budget, geometric mean over the instances) with its
        95 % interval over instances as lo and hi, tail (the ratio that one instance in ten exceeds)
        and regret (mean); or success (share of trials, mean over families of instances) with its
        interval over trials, least and most of a family, and plane (success in two dimensions) with
        its interval. Then guarantee at the question, and the setting, and what is not shown to be
        private.

    Raises:
        InputError: an argument is not allowed, or no comparison is published there.

    Example:
        >>> import dpbandits
        >>> dpbandits.choose(arms=1, horizon=1000, epsilon=1.0)
        Traceback (most recent call last):
        dpbandits.errors.InputError: arms is 1; allowed: a whole number from 2 to 9007199254740992
    """
    if (horizon is None) == (budget is None):
        raise InputError(f"choose: horizon is {horizon}, budget {budget}; allowed: one of them")
    length, measure = ("horizon", "price") if budget is None else ("budget", "success")
    question = Question(
        require_count("arms", arms, 2, LARGEST_INTEGER),
        require_count(length, horizon if budget is None else budget, 1, LARGEST_INTEGER),
        positive.require("choose", "epsilon", epsilon),
        privacy,
        measure,
    )
    names = MEASURES[measure]
    table, winners = (read_table(_table_path(Path(project), name, scale)) for name in names)
    order = ranked(table, winners, question)
    answer = with_guarantees(order, question)
    answer.attrs["notes"] = notes(answer, table, question, order["otherwise"].iloc[0])
    return answer


def _table_path(folder: Path, name: str, scale: str | None) -> Path:
    """Return the file of a table of the comparison, as published or as built at a scale."""
    from dpbandits.pipeline.project import CONFIG, Project, published_folder
    from dpbandits.pipeline.targets import table_target

    is_project = (folder / CONFIG).is_file()
    if folder != Path() and not is_project:
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: a project's folder, or none for the "
            f"published tables"
        )
    if scale is None:
        return (folder if is_project else published_folder()) / PUBLISHED / f"{name}.csv"
    target = table_target(Project.load(folder).at(scale=scale), COMPARISON, name)
    return next(path for path in target.current_files() if path.suffix == ".csv")


def ranking(answer: pd.DataFrame) -> str:
    """Return a ranking to read, its notes first."""
    measure = "price" if "price" in answer else "success"
    form = "{:.3g} [{:.3g}, {:.3g}]" if measure == "price" else "{:.1%} [{:.1%}, {:.1%}]"
    ends = answer[[measure, "lo", "hi"]].to_numpy()
    variant = (", " + answer["variant"]).mask(answer["variant"] == "as-written", "")
    interpretation = (", " + answer["interpretation"]).mask(answer["interpretation"] == "", "")
    columns = {
        "place": answer["place"].astype(str).where(answer["place"].notna(), ""),
        "algorithm": answer["name"] + variant + interpretation,
        "verdict": answer["verdict"],
        measure: [form.format(*each) if pd.notna(each[0]) else "" for each in ends],
    }
    if measure == "price":
        regret = answer["regret"].map("{:,.0f}".format, na_action="ignore")
        columns["mean regret"] = regret.fillna("")
    table = pd.DataFrame({**columns, "guarantee": answer["guarantee"]})
    return "\n".join([*answer.attrs["notes"], "", aligned(table)])
