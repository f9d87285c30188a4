"""`docs/choosing.md`: which private bandit to take, every number from the published comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpbandits.comparisons.choosing.players import (
    CLASSES,
    DESCRIPTIONS,
    LOCAL,
    NONE,
    PLAYERS,
    PURE,
    TABLES,
)
from dpbandits.comparisons.choosing.ranking import read_table
from dpbandits.comparisons.choosing.scores import full_field
from dpbandits.comparisons.choosing.tables import TUNED
from dpbandits.comparisons.choosing.winners import RATE, WINNER
from dpbandits.pages.regions import with_region
from dpbandits.pages.render import render
from dpbandits.project.config import Project

NAMES = (
    "extra-regret",
    "extra-winners",
    "extra-tuning",
    "extra-best-arm",
    "extra-best-arm-winners",
)
"""Published tables that the page is filled from."""

SCORED = {"extra-winners": "extra-regret", "extra-best-arm-winners": "extra-best-arm"}
"""Table of winners -> the scores that it is made from."""

SHOWN = (0.2, 1.0, 5.0)
"""Budgets that the page gives the price of privacy at."""

Values = dict[str, Any]


@dataclass(frozen=True)
class Published:
    """The published tables of the comparison, by name."""

    tables: Mapping[str, pd.DataFrame]

    @property
    def scores(self) -> pd.DataFrame:
        """Regret of every algorithm, at horizons that nearly all were played at."""
        return full_field(self.tables["extra-regret"])

    def winners(self, name: str, kind: str) -> pd.DataFrame:
        """Return the questions of a class, at horizons that nearly all algorithms were played at.

        Args:
            name: ``extra-winners`` or ``extra-best-arm-winners``.
            kind: class of privacy.
        """
        kept = full_field(self.tables[SCORED[name]])[["arms", "horizon"]].drop_duplicates()
        table = self.tables[name].merge(kept, on=["arms", "horizon"])
        return table[table["class"] == kind]


def published(project: Project) -> Published | None:
    """Return the published tables; None where the comparison is not published yet."""
    paths = {name: project.folder / TABLES / f"{name}.csv" for name in NAMES}
    if not all(path.is_file() for path in paths.values()):
        return None
    return Published({name: read_table(path) for name, path in paths.items()})


def choosing_page(project: Project) -> str:
    """Return the page as the published tables have it."""
    found = published(project)
    values = {} if found is None else page_values(found)
    return render("choosing.md", is_published=found is not None, rate=RATE, **values)


def which_one(project: Project, text: str) -> str:
    """Return the text of ``README.md`` with its region ``which one`` filled."""
    found = published(project)
    values = {} if found is None else page_values(found)
    content = render("which-one.md", is_published=found is not None, **values).strip()
    return with_region(text, "which one", content)


def page_values(found: Published) -> Values:
    """Return every number of the page.

    Args:
        found: the published tables.
    """
    prices = [*_prices(found)]
    return {
        "classes": [_class(found, kind) for kind in CLASSES],
        "prices": prices,
        "below_one": sorted({name for row in prices for price, name in row["best"] if price < 1.0}),
        "worst": [*_worst(found)],
        "tuning": _tuning(found.tables["extra-tuning"]),
        "local_best": _share_with(found.winners("extra-winners", PURE), LOCAL),
        "approximate_best": _share_with(
            found.winners("extra-winners", "approximate"), "approximate"
        ),
        "slow": _slow(found),
        "best_arm": [
            _class(found, kind, "extra-best-arm-winners") for kind in CLASSES if kind != LOCAL
        ],
    }


def _class(found: Published, kind: str, name: str = "extra-winners") -> Values:
    """Return how often each algorithm of a class wins or is tied, and its table of winners."""
    table = found.winners(name, kind)
    won = table[table["verdict"] == WINNER]["first"].value_counts()
    tied = table[table["verdict"] != WINNER]["tied"].str.split().explode().value_counts()
    scores = found.tables[SCORED[name]]
    played = set(scores["algorithm"][scores["class"].isin(CLASSES[kind])])
    names = sorted(played, key=lambda each: (-won.get(each, 0), -tied.get(each, 0), each))
    wins = [
        {"name": PLAYERS[each][0], "won": int(won[each]), "tied": int(tied.get(each, 0))}
        for each in names
        if each in won.index
    ]
    never = [PLAYERS[each][0] for each in names if each not in won.index]
    budgets = sorted(table["epsilon"].unique())
    rows = [
        {"arms": arms, "horizon": horizon, "cells": [_cell(own, budget) for budget in budgets]}
        for (arms, horizon), own in table.groupby(["arms", "horizon"])
    ]
    return {
        "description": DESCRIPTIONS[kind],
        "questions": len(table),
        "ties": int((table["verdict"] != WINNER).sum()),
        "wins": wins,
        "never": never,
        "budgets": budgets,
        "rows": rows,
    }


def _cell(own: pd.DataFrame, budget: float) -> Values:
    """Return the winner of a question and its margin, or the first two that are tied."""
    row = own[own["epsilon"] == budget].iloc[0]
    names = [PLAYERS[each][0] for each in row["tied"].split()]
    is_won = bool(row["verdict"] == WINNER)
    margin = f"{row['margin']:.2g}" if is_won and row["margin"] < 100.0 else ""
    more = len(names) - 2 if len(names) > 2 else 0
    return {"is_won": is_won, "names": ", ".join(names[:2]), "margin": margin, "more": more}


def _prices(found: Published) -> Iterator[Values]:
    """Yield the price of privacy of the best algorithm of each class, longest full horizon."""
    scores = found.scores
    for arms, own in scores.groupby("arms"):
        longest = own[own["horizon"] == own["horizon"].max()]
        for kind, kinds in CLASSES.items():
            field = longest[longest["class"].isin(kinds)]
            best = field.loc[field.groupby("epsilon")["regret"].idxmin()].set_index("epsilon")
            shown = [budget for budget in SHOWN if budget in best.index]
            yield {
                "arms": arms,
                "horizon": longest["horizon"].iloc[0],
                "description": DESCRIPTIONS[kind],
                "best": [(best["price"][budget], best["name"][budget]) for budget in shown],
            }


def _worst(found: Published) -> Iterator[Values]:
    """Yield the algorithm with the smallest worst ratio beside that of the smallest mean."""
    scores = found.scores
    for arms, own in scores.groupby("arms"):
        longest = own[(own["horizon"] == own["horizon"].max()) & (own["epsilon"] == 1.0)]
        field = longest[longest["class"].isin(CLASSES[PURE])]
        if field.empty:
            continue
        by_mean, by_worst = (field.loc[field[key].idxmin()] for key in ("regret", "worst"))
        yield {
            "arms": arms,
            "horizon": by_mean["horizon"],
            "best": by_mean["name"],
            "price": by_mean["price"],
            "worst": by_mean["worst"],
            "family": by_mean["worst_instance"],
            "safest": by_worst["name"],
            "safest_worst": by_worst["worst"],
        }


def _tuning(table: pd.DataFrame) -> Values:
    """Return how often tuning gains or harms by its interval, and the median and largest gain."""
    return {
        "name": PLAYERS[TUNED][0],
        "settings": len(table),
        "gains": int((table["lo"] > 1.0).sum()),
        "harms": int((table["hi"] < 1.0).sum()),
        "median": float(table["gain"].median()),
        "largest": float(table["gain"].max()),
    }


def _share_with(table: pd.DataFrame, kind: str) -> Values:
    """Return at how many questions an algorithm of this model of privacy is best or tied."""
    is_first = table["first"].map(lambda name: PLAYERS[name][1] == kind)
    won = int(((table["verdict"] == WINNER) & is_first).sum())
    tied = table[table["verdict"] != WINNER]["tied"].str.split()
    is_tied = tied.map(lambda names: any(PLAYERS[each][1] == kind for each in names))
    return {"won": won, "tied": int(is_tied.sum()), "questions": len(table)}


def _slow(found: Published) -> Values:
    """Return at how many settings DP-TS, which is left out at the longest, is behind Lazy-DP-TS."""
    table = found.tables["extra-regret"]
    table = table[table["class"] != NONE]
    regret = (
        table.pivot_table(
            index=["arms", "horizon", "epsilon"], columns="algorithm", values="regret"
        )
        .reindex(columns=["dp-ts", "lazy-dp-ts"])
        .dropna()
    )
    behind = regret["dp-ts"] > regret["lazy-dp-ts"]
    return {"settings": len(regret), "behind": int(behind.sum())}
