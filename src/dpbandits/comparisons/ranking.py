"""Both rankings of private bandits at the nearest measured setting, with guarantees, in words."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpbandits.algorithms import IDENTIFICATION, REGRET, Definition
from dpbandits.algorithms.guarantees import guarantee
from dpbandits.comparisons.choosing import BINARY, WINNER
from dpbandits.comparisons.field import (
    AS_PRINTED,
    AXES,
    CLASSES,
    CONSTANTS,
    DELTA,
    LOCAL,
    LOCAL_FIELD,
    NAMES,
    NONE,
    PLAYERS,
    PURE,
    SETTING,
    TUNED,
    UNIT,
    WARNING,
    share_b,
    share_c,
)
from dpbandits.config import Context
from dpbandits.errors import InputError
from dpbandits.privacy import Guarantee
from dpbandits.text_tables import aligned

BEST, TIED, BEHIND, UNMET = "best", "tied", "behind", NONE
"""What a ranking says of an algorithm."""

DEPENDS = "best by these logarithms"
"""What it says of the first where another base may change the winner."""

Row = dict[Any, Any]


@dataclass(frozen=True)
class AskedSetting:
    """What someone asks: arms, rounds (or pulls for best arms), a budget, and whom one trusts."""

    arms: int
    horizon: int
    epsilon: float
    privacy: str = PURE
    dimensions: int | None = None  # of best arms

    @property
    def setting(self) -> dict[str, float]:
        """Key of a setting -> its value, the most important key first."""
        dimensions = {} if self.dimensions is None else {"dimensions": self.dimensions}
        return {
            **{"arms": self.arms, **dimensions},
            **{"horizon": self.horizon, "epsilon": self.epsilon},
        }


def with_dimensions(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of regret on arms that pay 0 or 1, or one of best arms with its dimensions."""
    if "dimensions" not in table["family"].iloc[0]:
        return table[table["family"] == BINARY]
    return table.assign(dimensions=table["family"].str.partition(" ")[0].astype(int))


def nearest(rows: pd.DataFrame, asked: AskedSetting) -> pd.DataFrame:
    """Return the rows of the setting nearest by ratios: arms come first, then the others."""
    for key, value in asked.setting.items():
        if rows[key].notna().any():
            distance = (rows[key] / value).map(math.log).abs()
            rows = rows[distance == distance.min()]
            # Between two that are equally near the smaller one, which promises less.
            rows = rows[rows[key] == rows[key].min()]
    return rows


def rankings(
    table: pd.DataFrame, winners: pd.DataFrame, asked: AskedSetting
) -> tuple[pd.DataFrame, dict[str, Row]]:
    """Return both rankings at the nearest setting, and the row of the winners of each answer.

    The verdicts: best for each base of the logarithms that papers leave open, ``DEPENDS`` on the
    base, tied with the best, ``BEHIND`` or ``UNMET``.
    """
    table = with_dimensions(table[table["ranked"]])
    members = table[table["privacy"].isin(CLASSES[asked.privacy])]
    if members.empty:
        allowed = "; ".join(sorted(set(table["privacy"]) - {NONE}))
        raise InputError(f"no algorithm was measured that is {asked.privacy}; allowed: {allowed}")
    field = nearest(members, asked)
    setting = field[SETTING].iloc[0]
    is_asked = (winners["privacy"] == asked.privacy) & (winners[SETTING] == setting).all(axis=1)
    answers: dict[str, Row] = {row["answer"]: row for row in winners[is_asked].to_dict("records")}
    parts = []
    for answer in (AS_PRINTED, TUNED):
        own = field[field["answer"] == answer]
        key = "score" if "score" in own else "success"
        own = own.sort_values([key, "algorithm"], ascending=[key == "score", True])
        own = own.assign(place=range(1, len(own) + 1), verdict=BEHIND)
        if row := answers.get(answer):
            # With a dimension for each arm DP-BAI is the same as Baseline, which stands for both.
            is_twin = (
                asked.dimensions is not None
                and setting["family"] == f"{setting['arms']} dimensions"
            )
            names = own["algorithm"].replace({"dp-bai": "baseline"} if is_twin else {})
            own.loc[names.isin(row["tied"].split()), "verdict"] = TIED
            own.loc[names == row["as_ranked"], "verdict"] = DEPENDS
            if row["verdict"] == WINNER:
                own.loc[names == row["first"], "verdict"] = BEST
        size = SETTING[:3]
        is_free = (table["privacy"] == NONE) & (table[size] == setting[size]).all(axis=1)
        parts += [own, table[is_free & (table["answer"] == answer)].assign(verdict=UNMET)]
    return pd.concat(parts, ignore_index=True), answers


def parameters_at(row: Mapping[Any, Any], asked: AskedSetting) -> dict[str, float]:
    """Return the parameters of an algorithm at the setting that is asked for.

    A tuned constant is that of the setting. Modified TS has the share b K/T of pre-pulls that was
    tuned, with the c that the budget asks for.
    """
    algorithm, epsilon = row["algorithm"], float(asked.epsilon)
    if algorithm == "m-ts-gaussian":
        share = row["b"] / (row["horizon"] // row["arms"])
        context = Context({"share": share, "epsilon": epsilon}, asked.horizon, asked.arms)
        return {"b": share_b(context), "c": share_c(context)}
    values = {} if row["privacy"] == NONE else {"epsilon": epsilon}
    if algorithm == "dp-bai-gauss":
        values["delta"] = DELTA
    constant = row.get("constant", math.nan)
    if not pd.isna(constant) and constant != CONSTANTS[algorithm]:
        values["constant"] = float(constant)
    return values


KEPT = ("proved", "not contradicted")
"""Statuses of a guarantee with which an algorithm may be ranked first."""

BROKEN = "not shown to be private"
"""Verdict where a guarantee is refuted, or only stated; such an algorithm is ranked last."""


def _with_guarantees(order: pd.DataFrame, asked: AskedSetting) -> pd.DataFrame:
    """Return a ranking with parameters and guarantees; those not shown to be private last."""
    rows: list[Row] = [_guaranteed(row, asked) for row in order.to_dict("records")]
    played = {(row["algorithm"], row["variant"]) for row in rows}
    for variant in _variants(asked):
        known = _guaranteed(variant, asked)
        if known["verdict"] == BROKEN and (known["algorithm"], known["variant"]) not in played:
            rows.append({**known, "parameters": None})
    rows.sort(key=lambda row: bool(row["verdict"] == BROKEN))
    table = pd.DataFrame(rows)
    table["place"] = table["place"].where(table["verdict"] != BROKEN).astype("Int64")
    columns = ["answer", "place", "algorithm", "name", "variant", "interpretation", "verdict"]
    columns += ["parameters", "constant", "price", "success", "lo", "hi", "least", "most", "tail"]
    columns += ["worst", "regret", "guarantee", *SETTING]
    return table[[column for column in columns if column in table]]


def _variants(asked: AskedSetting) -> Iterator[Row]:
    """Yield rows of all variants of the class that have no parameter but the budget."""
    registry: Mapping[str, Definition] = REGRET if asked.dimensions is None else IDENTIFICATION
    setting = {"arms": asked.arms, "horizon": asked.horizon, "epsilon": asked.epsilon}
    for algorithm, definition in registry.items():
        kind = PLAYERS.get(algorithm, ("", NONE))[1]
        if kind in CLASSES[asked.privacy] and set(definition.example) <= {"epsilon", "delta"}:
            names = {"algorithm": algorithm, "name": definition.name, "privacy": kind, "answer": ""}
            for variant in definition.variants:
                yield {**names, "variant": variant, "interpretation": "", "verdict": "", **setting}


def _guaranteed(row: Row, asked: AskedSetting) -> Row:
    """Return a row with parameters and guarantee, its verdict changed where none is shown."""
    values = parameters_at(row, asked)
    pairs = filter(None, row["interpretation"].split(","))
    known = guarantee(
        row["algorithm"],
        horizon=asked.horizon,
        params=values,
        variant=row["variant"],
        interpretations=dict(pair.split("=", 1) for pair in pairs),
    )
    text = " ".join(f"{key}={value:.6g}" for key, value in values.items())
    is_broken = row["privacy"] != NONE and known.status not in KEPT
    verdict = BROKEN if is_broken else row["verdict"]
    return {**row, "verdict": verdict, "parameters": text, "guarantee": in_brief(known)}


def in_brief(known: Guarantee) -> str:
    """Return a guarantee in a few words, of a Gaussian one also its epsilon at ``DELTA``."""
    if known.kind == "none":
        return known.name
    words = f"{known.name}, {known.model}, {known.status}"
    return f"{words}; ({known.epsilon(DELTA):.3g}, {DELTA:g})-DP" if known.kind == "gdp" else words


def by(row: Mapping[Any, Any]) -> str:
    """Return by how much the first is ahead: a ratio of regrets, or a difference of shares."""
    if "gain" in row and not pd.isna(row["gain"]):
        ends = [100.0 * row[key] for key in ("gain", "gain_lo", "gain_hi")]
        return "{:.1f} points [{:.1f}, {:.1f}]".format(*ends)
    return f"{row['margin']:.2g} [{row['margin_lo']:.2g}, {row['margin_hi']:.2g}]"


def take(row: Mapping[Any, Any]) -> str:
    """Return the first with what chance, or the base of a logarithm, leaves open."""
    name = NAMES[row["first"]]
    if row["verdict"] == WINNER:
        return name
    if row["as_ranked"]:
        return f"{name} (another base of a logarithm may change this)"
    tied = [NAMES[other] for other in row["tied"].split()[1:]]
    return f"{name} (tied with {', '.join(tied)})" if tied else name


def command_of(row: Mapping[Any, Any], asked: AskedSetting) -> str:
    """Return the command that plays an algorithm at this setting, on arms that stand for others."""
    parts = [f"--params {row['parameters']}"]
    if row["variant"] != "as-written":
        parts.append(f"--variant {row['variant']}")
    if row["interpretation"]:
        parts.append(f"--interpretations {row['interpretation'].replace(',', ' ')}")
    if asked.dimensions is None:
        parts.append(f"--arms 0.7 0.5 --horizon {asked.horizon} --runs 20")
        return f"dpbandits simulate {row['algorithm']} {' '.join(parts)}"
    parts.append(f'--features "1,0; 0,1" --theta 0.5 0.4 --budget {asked.horizon} --runs 1000')
    return f"dpbandits identify {row['algorithm']} {' '.join(parts)}"


def _notes(
    answer: pd.DataFrame, table: pd.DataFrame, asked: AskedSetting, rows: Collection[Row]
) -> list[str]:
    """Return what one should know of an answer, a sentence each."""
    first, setting = answer.iloc[0], asked.setting
    words = ", ".join(f"{key} {value:,g}" for key, value in setting.items())
    table = with_dimensions(table)
    measured = with_dimensions(answer.iloc[:1]).iloc[0]
    nearby = ", ".join(f"{key} {measured[key]:,g}" for key in setting)
    sentences = [f"Asked: {words}; {asked.privacy}.", f"Measured: {nearby}."]
    beyond = []
    for key, value in setting.items():
        least, most = table[key].min(), table[key].max()
        if not least <= value <= most:
            beyond.append(f"{key} {value:,g} (measured: {least:,g} to {most:,g})")
    if beyond:
        sentences.append(f"Outside of the grid: {', '.join(beyond)}.")
    absent = {name for row in rows for name in row["unplayed"].split()}
    absent -= set(answer["algorithm"])
    if absent:
        listed = ", ".join(name for key, name in NAMES.items() if key in absent)
        sentences.append(f"Not played at this setting: {listed}.")
    for row in rows:
        if row["answer"] == AS_PRINTED and row["otherwise"]:
            names = ", ".join(NAMES[name] for name in row["otherwise"].split())
            sentences.append(f"With another base of the logarithm {names} would be ahead.")
    if asked.dimensions is not None:
        return [*sentences, AXES, UNIT]
    if first["constant"] == first["constant"]:
        sentences.append(WARNING)
    local = [LOCAL_FIELD] if asked.privacy == LOCAL else []
    return [*sentences, *local, UNIT, "In the commands 0.7 0.5 stand for the means of your arms."]


def answer_to(table: pd.DataFrame, winners: pd.DataFrame, asked: AskedSetting) -> pd.DataFrame:
    """Return both rankings with guarantees, the notes and the lines of the answer in ``attrs``."""
    order, rows = rankings(table, winners, asked)
    answer = _with_guarantees(order, asked)
    answer.attrs["notes"] = _notes(answer, table, asked, rows.values())
    answer.attrs["answers"] = [*_answer_lines(answer, rows, asked)]
    return answer


def _answer_lines(
    answer: pd.DataFrame, rows: Mapping[str, Row], asked: AskedSetting
) -> Iterator[str]:
    """Yield what to take by each answer, and the command that plays it."""
    for name, row in rows.items():
        own = answer[(answer["answer"] == name) & (answer["algorithm"] == row["first"])].iloc[0]
        constant = f" with constant {own['constant']:g}" if "constant=" in own["parameters"] else ""
        price = f"; price {own['price']:.2g}" if "price" in own and own["price"] > 0.0 else ""
        label = "" if asked.dimensions is not None else f"{name.capitalize()}: "
        ahead = f"ahead of {NAMES[row['second']]} by {by(row)}"
        yield f"{label}take {take(row)}{constant}, {ahead}{price}."
        yield f"  {command_of(own, asked)}"


def answer_text(answer: pd.DataFrame) -> str:
    """Return an answer to read: what to take and how to play it, what to know, the ranking."""
    measure = "price" if "price" in answer else "success"
    form = "{:.3g} [{:.3g}, {:.3g}]" if measure == "price" else "{:.1%} [{:.1%}, {:.1%}]"
    last = TUNED if measure == "price" else AS_PRINTED
    shown = answer[answer["answer"].isin([last, ""])]
    variant = (", " + shown["variant"]).mask(shown["variant"] == "as-written", "")
    log = (", " + shown["interpretation"]).mask(shown["interpretation"] == "", "")
    ends = shown[[measure, "lo", "hi"]].to_numpy()
    columns = {
        "place": shown["place"].astype(str).where(shown["place"].notna(), ""),
        "algorithm": shown["name"] + variant + log,
        "verdict": shown["verdict"],
    }
    if measure == "price":
        printed = answer[answer["answer"] == AS_PRINTED].drop_duplicates("algorithm")
        before = shown["algorithm"].map(printed.set_index("algorithm")["price"])
        columns["constant"] = shown["constant"].map("{:g}".format, na_action="ignore").fillna("")
        before = before.where(shown["verdict"] != BROKEN)
        columns["price as printed"] = before.map("{:.3g}".format, na_action="ignore").fillna("")
    columns[measure if measure == "success" else "tuned"] = pd.Series(
        [form.format(*each) if pd.notna(each[0]) else "" for each in ends], shown.index
    )
    table = pd.DataFrame({**columns, "guarantee": shown["guarantee"]})
    lines = [*answer.attrs["answers"], "", *answer.attrs["notes"], "", aligned(table)]
    return "\n".join(lines)
