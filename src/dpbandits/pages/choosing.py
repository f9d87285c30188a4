"""`docs/choosing.md`: which private bandit to take, every number from the published comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.comparisons.choosing.ranking import choose, read_table
from dpbandits.comparisons.choosing.scores import (
    APPROXIMATE,
    CLASSES,
    DELTA,
    DESCRIPTIONS,
    LOCAL,
    LOGARITHMS,
    NONE,
    OTHERS,
    PLAYERS,
    PURE,
    RATE,
    SHOWN,
    TABLES,
    WINNER,
    full_field,
)
from dpbandits.comparisons.choosing.tables import TUNED
from dpbandits.pages.render import render, with_region
from dpbandits.pipeline.project import Project
from dpbandits.privacy.gaussian import epsilon
from dpbandits.privacy.thompson import dp_ts_ucb_gdp
from dpbandits.text_tables import aligned

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

BUDGETS = (0.2, 1.0, 5.0)
"""Budgets that the page gives the price of privacy at."""

AUDIT = Path("docs/tables/privacy-audit/extra-audit.csv")
"""Published audit, in a folder with config."""

BY_RUNS = "D"
"""Engine of the audit that has runs alone."""

CLOSE = 1.05
"""A winner leads closely where the second score is at most so many times its own."""

Values = dict[str, Any]


@dataclass(frozen=True)
class Published:
    """The published tables of the comparison, by name, and that of the audit."""

    tables: Mapping[str, pd.DataFrame]
    audit: pd.DataFrame

    @property
    def scores(self) -> pd.DataFrame:
        """Regret by default logarithms, at horizons that nearly all algorithms were played at."""
        table = self.tables["extra-regret"]
        return full_field(table[~table["interpretation"].isin(OTHERS)])

    def winners(self, name: str, kind: str) -> pd.DataFrame:
        """Return the questions of a class that all algorithms were played at.

        Args:
            name: ``extra-winners`` or ``extra-best-arm-winners``.
            kind: class of privacy.
        """
        table = self.tables[name]
        return table[(table["class"] == kind) & (table["left_out"] == "")]


def published(project: Project) -> Published | None:
    """Return the published tables; None where the comparison is not published yet."""
    paths = {name: project.folder / TABLES / f"{name}.csv" for name in NAMES}
    audit = project.folder / AUDIT
    if not all(path.is_file() for path in (audit, *paths.values())):
        return None
    return Published({name: read_table(path) for name, path in paths.items()}, read_table(audit))


def choosing_page(project: Project) -> str:
    """Return the page as the published tables have it."""
    found = published(project)
    values = {} if found is None else page_values(found)
    return render("choosing.md", is_published=found is not None, rate=RATE, **values)


def which_one(project: Project, text: str) -> str:
    """Return the text of ``README.md`` with its region ``which one`` filled."""
    found = published(project)
    values: Values = {}
    if found is not None:
        answer = choose(arms=20, horizon=1e6, epsilon=1.0, project=project.folder)
        first = answer[answer["place"].notna()].head(5)
        shown = pd.DataFrame(
            {
                "place": first["place"].astype(int).astype(str),
                "algorithm": first["name"],
                "verdict": first["verdict"],
                "regret": [f"{regret:,.0f}" for regret in first["regret"]],
                "guarantee": first["guarantee"],
            }
        )
        values = {**page_values(found), "ranking": aligned(shown)}
    content = render("which-one.md", is_published=found is not None, **values).strip()
    return with_region(text, "which one", content)


def page_values(found: Published) -> Values:
    """Return every number of the page.

    Args:
        found: the published tables.
    """
    prices = [*_prices(found)]
    regret, trials = found.tables["extra-regret"], found.tables["extra-best-arm"]
    return {
        "classes": [_class(found, kind) for kind in SHOWN],
        "counts": sorted(regret["arms"].unique()),
        "runs": int(regret["runs"].max()),
        "trials": int(trials["runs"].max()),
        "logarithms": _logarithms(regret),
        "by_runs": _by_runs(found),
        "prices": prices,
        "free": _names(regret["algorithm"][regret["class"] == NONE]),
        "below_one": sorted({name for row in prices for price, name in row["best"] if price < 1.0}),
        "worst": [*_worst(found)],
        "tuning": _tuning(found.tables["extra-tuning"]),
        "local_best": _share_with(found.winners("extra-winners", PURE), LOCAL),
        "approximate_best": _share_with(found.winners("extra-winners", APPROXIMATE), APPROXIMATE),
        "approximate_best_arm": _share_with(
            found.winners("extra-best-arm-winners", APPROXIMATE), APPROXIMATE
        ),
        "longest": [*_longest(regret)],
        # At alpha = 1, its most private, whatever T is.
        "least_budget": epsilon(DELTA, dp_ts_ucb_gdp(1.0, int(regret["horizon"].max()))),
        "best_arm": _class(found, PURE, "extra-best-arm-winners"),
    }


def _names(algorithms: pd.Series) -> list[str]:
    """Return the names of those algorithms, in the order of the comparison."""
    return [PLAYERS[name][0] for name in PLAYERS if name in set(algorithms)]


def _class(found: Published, kind: str, name: str = "extra-winners") -> Values:
    """Return how often each algorithm of a class wins or is tied, and its table of winners."""
    table = found.winners(name, kind)
    is_won = table["verdict"] == WINNER
    won = table[is_won]["first"].value_counts()
    tied = table[~is_won]["tied"].str.split().explode().value_counts()
    scores = found.tables[SCORED[name]]
    scores = scores[scores["class"].isin(CLASSES[kind])]
    played = dict(zip(scores["algorithm"], scores["variant"], strict=True))
    names = sorted(played, key=lambda each: (-won.get(each, 0), -tied.get(each, 0), each))
    wins = [
        {"name": PLAYERS[each][0], "won": int(won[each]), "tied": int(tied.get(each, 0))}
        for each in names
        if each in won.index
    ]
    budgets = sorted(table["epsilon"].unique())
    rows = [
        {"arms": arms, "horizon": horizon, "cells": [_cell(own, budget) for budget in budgets]}
        for (arms, horizon), own in table.groupby(["arms", "horizon"])
    ]
    by_default = table[table["default"] != ""]
    return {
        "kind": kind,
        "description": DESCRIPTIONS[kind],
        "questions": len(table),
        "ties": int((~is_won).sum()),
        "wins": wins,
        "rivals": [PLAYERS[each][0] for each in names[1:]],
        "never": [PLAYERS[each][0] for each in names if each not in won.index],
        "repaired": [PLAYERS[each][0] for each in PLAYERS if played.get(each) == "repaired"],
        "has_logarithms": bool(scores["interpretation"].isin(OTHERS).any()),
        "by_default": len(by_default),
        "remain": [int((by_default[base] == by_default["default"]).sum()) for base in LOGARITHMS],
        "winners": int(is_won.sum()),
        "close": int((table["margin"][is_won] < CLOSE).sum()),
        "budgets": budgets,
        "rows": rows,
    }


def _logarithms(regret: pd.DataFrame) -> dict[str, list[str]]:
    """Return the algorithms with an open logarithm, by their default base in words."""
    defaults = dict(zip(OTHERS, ("natural", "base 2"), strict=True))
    bases = regret["interpretation"].map(defaults)
    played = {base: set(regret["algorithm"][bases == base]) for base in defaults.values()}
    return {
        base: [PLAYERS[each][0] for each in PLAYERS if each in algorithms]
        for base, algorithms in played.items()
        if algorithms
    }


def _by_runs(found: Published) -> Values:
    """Return the algorithms whose budget the audit tried by runs alone, and the longest T of it."""
    scores = found.scores[["algorithm", "variant", "class"]].drop_duplicates()
    audit = found.audit.merge(scores[scores["class"].isin(SHOWN)], on=["algorithm", "variant"])
    is_by_runs = audit.groupby("algorithm")["engine"].transform(lambda own: (own == BY_RUNS).all())
    own = audit[is_by_runs & (audit["interpretation"] == "")]
    names = [PLAYERS[each][0] for each in PLAYERS if each in set(own["algorithm"])]
    return {"names": names, "horizon": own["horizon"].max() if len(own) else 0}


def _cell(own: pd.DataFrame, budget: float) -> Values:
    """Return the winner of a question and its margin, or the first two that are tied."""
    row = own[own["epsilon"] == budget].iloc[0]
    names = [PLAYERS[each][0] for each in row["tied"].split()]
    is_won = bool(row["verdict"] == WINNER)
    margin = f"{row['margin']:.2g}" if is_won and row["margin"] < 100.0 else ""
    more = len(names) - 2 if len(names) > 2 else 0
    by_default = "" if is_won or not row["default"] else PLAYERS[row["default"]][0]
    shown = {"names": ", ".join(names[:2]), "margin": margin, "more": more}
    return {"is_won": is_won, "by_default": by_default, **shown}


def _prices(found: Published) -> Iterator[Values]:
    """Yield the price of privacy of the best algorithm of each class, longest full horizon."""
    scores = found.scores
    for arms, own in scores.groupby("arms"):
        longest = own[own["horizon"] == own["horizon"].max()]
        for kind in SHOWN:
            field = longest[longest["class"].isin(CLASSES[kind])]
            best = field.loc[field.groupby("epsilon")["regret"].idxmin()].set_index("epsilon")
            shown = [budget for budget in BUDGETS if budget in best.index]
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
    is_won = table["verdict"] == WINNER
    is_tied = (
        table["tied"].str.split().map(lambda names: any(PLAYERS[each][1] == kind for each in names))
    )
    won, tied = (is_won & is_first).sum(), (~is_won & is_tied).sum()
    return {"won": int(won), "tied": int(tied), "questions": len(table)}


def _longest(regret: pd.DataFrame) -> Iterator[Values]:
    """Yield the longest horizon that each algorithm was played at, for each number of arms."""
    for algorithm, own in regret.groupby("algorithm"):
        longest = own.groupby("arms")["horizon"].max()
        yield {"name": PLAYERS[str(algorithm)][0], "horizons": longest.tolist()}
