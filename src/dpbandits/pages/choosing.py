"""`docs/choosing.md`: which private bandit to take, every number from the published comparison."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpbandits.comparisons.choosing import BINARY, RATE, WINNER
from dpbandits.comparisons.field import (
    APPROXIMATE,
    AS_PRINTED,
    CONSTANTS,
    DELTA,
    LOCAL,
    LOCAL_FIELD,
    NAMES,
    NONE,
    PLAYERS,
    PUBLISHED,
    PURE,
    SETTING,
    TUNED,
    UNIT,
    WARNING,
)
from dpbandits.errors import InputError
from dpbandits.pages.markdown import render, with_region
from dpbandits.pages.verdicts import Row, Values
from dpbandits.pipeline.choose import choose, read_scores
from dpbandits.pipeline.project import Project
from dpbandits.privacy.gaussian import epsilon
from dpbandits.privacy.thompson import dp_ts_ucb_gdp
from dpbandits.reporting.text import readable

NAMES_OF_TABLES = (
    *("extra-regret", "extra-winners", "extra-constants"),
    *("extra-best-arm", "extra-best-arm-winners"),
)
"""Published tables that the page is filled from."""

ANSWERED = [
    {"family": BINARY, "arms": arms, "horizon": horizon, "epsilon": budget}
    for arms, horizon in ((5, 100_000), (20, 1_000_000))
    for budget in (0.2, 1.0, 5.0)
]
"""Settings in the page's table of answers, for each trust."""

TRUST = {PURE: "central", LOCAL: "local"}
"""Class of privacy -> trust."""

BEST_ARM = {"arms": 20, "horizon": 1_000, "epsilon": 1.0}
"""Where the page compares the algorithms that name a best arm."""


def published_tables(project: Project) -> Mapping[str, pd.DataFrame] | None:
    """Return the published tables; None where this comparison is not published yet."""
    paths = [PUBLISHED / f"{name}.csv" for name in NAMES_OF_TABLES]
    try:
        return {path.stem: read_scores(project.folder / path) for path in paths}
    except InputError:
        return None


def choosing_page(project: Project, text: str) -> str:
    """Return the page by the published tables; without these its ``text`` unchanged."""
    tables = published_tables(project)
    return text if tables is None else render("choosing.md", **page_values(tables))


def which_one(project: Project, text: str) -> str:
    """Return the text of ``README.md`` with its region ``which one``, if that is published."""
    tables = published_tables(project)
    if tables is None:
        return text
    answer = choose(arms=20, horizon=1e6, epsilon=1.0, project=project.folder)
    # Without the commands that play them.
    said = "\n".join(answer.attrs["answers"][::2])
    content = render("which-one.md", **page_values(tables), said=said)
    return with_region(text, "which one", content.strip())


def page_values(tables: Mapping[str, pd.DataFrame]) -> Values:
    """Return every number of the page."""
    regret, winners = tables["extra-regret"], tables["extra-winners"]
    constants, trials = tables["extra-constants"], tables["extra-best-arm-winners"]
    ranked = regret[regret["ranked"] & (regret["family"] == BINARY)]
    private, free = ranked[ranked["privacy"] != NONE], ranked[ranked["privacy"] == NONE]
    seeds = pd.concat([private["seeds"], winners["seeds"]]).dropna()
    found = trials[trials["privacy"] == PURE]
    return {
        "answers": [*_answers(winners)],
        "classes": [_class(winners[winners["family"] == BINARY], kind) for kind in TRUST],
        "others": [_class(winners[winners["family"] != BINARY], kind) for kind in TRUST],
        "approximate": _same(winners),
        "constants": [*_constants(private, constants)],
        "check": constants[constants["on"].str.contains("tuning")].to_dict("records"),
        "at_end": sorted(set(constants["name"][constants["at_end"]])),
        "longest": private.groupby("arms")["horizon"].max().to_dict(),
        "floors": [PLAYERS[name][0] for name in PLAYERS if name in set(free["algorithm"])],
        "most_seeds": int((seeds > 1.0).sum()),
        "rows": len(seeds),
        # At alpha = 1, its most private, whatever T is.
        "least_budget": epsilon(DELTA, dp_ts_ucb_gdp(1.0, 10**6)),
        "best_arms": [*_best_arms(tables["extra-best-arm"])],
        "at_best_arms": BEST_ARM,
        "best_arm_won": found["first"][found["verdict"] == WINNER].map(NAMES).value_counts(),
        "best_arm_settings": len(found),
        "rate": RATE,
        **{"unit": UNIT, "warning": WARNING, "local_field": LOCAL_FIELD},
    }


def _at(table: pd.DataFrame, setting: Mapping[str, Any]) -> pd.DataFrame:
    return table[(table[[*setting]] == [*setting.values()]).all(axis="columns")]


def _answers(winners: pd.DataFrame) -> Iterator[Values]:
    """Yield both answers at each setting of the page's table."""
    for kind, trust in TRUST.items():
        own = winners[winners["privacy"] == kind]
        for setting in ANSWERED:
            rows = {row["answer"]: row for row in _at(own, setting).to_dict("records")}
            if len(rows) == 2:
                horizon = readable(f"{setting['horizon']:.0e}")
                printed, tuned = _answer_values(rows[AS_PRINTED]), _answer_values(rows[TUNED])
                yield {**setting, "trust": trust, "T": horizon, "printed": printed, "tuned": tuned}


def _answer_values(row: Row) -> Values:
    """Return the values of an answer at one setting; a first that wins beyond chance is bold."""
    first, is_won = NAMES[row["first"]], row["verdict"] == WINNER
    return {
        "take": f"**{first}**" if is_won else first + " (log)" * bool(row["as_ranked"]),
        "constant": row["constant"],
        "second": NAMES[row["second"]],
        "by": row["margin"],
        "price": row["price"],
    }


def _class(winners: pd.DataFrame, kind: str) -> Values:
    """Return by answer how often each algorithm of a class is first, and that beyond chance."""
    own = winners[winners["privacy"] == kind]
    absent = {name for names in own["unplayed"] for name in names.split()}
    unplayed = ", ".join(name for key, name in NAMES.items() if key in absent)
    counts: Values = {"trust": TRUST[kind], "unplayed": unplayed}
    for key, answer in (("printed", AS_PRINTED), ("tuned", TUNED)):
        table = own[own["answer"] == answer]
        is_won = table["verdict"] == WINNER
        first, won = table["first"].value_counts(), table["first"][is_won].value_counts()
        counts[key] = {
            "first": [(NAMES[str(name)], count, won.get(name, 0)) for name, count in first.items()],
            "won": int(is_won.sum()),
            "turned": int((table["otherwise"] != "").sum()),
        }
        counts["settings"] = len(table)
    return counts


def _same(winners: pd.DataFrame) -> Values:
    """Return in how many settings (epsilon, delta)-DP has the same answer as epsilon-DP."""
    keys = ["answer", *SETTING]
    pure, other = (
        winners[winners["privacy"] == kind].set_index(keys)["best"] for kind in (PURE, APPROXIMATE)
    )
    both = pd.concat([pure, other], axis=1, join="inner")
    return {"same": int((both.iloc[:, 0] == both.iloc[:, 1]).sum()), "settings": len(both)}


def _constants(private: pd.DataFrame, constants: pd.DataFrame) -> Iterator[Values]:
    """Yield what is known of the constant of each private algorithm, where all were played."""
    for algorithm in CONSTANTS:
        own = constants[(constants["algorithm"] == algorithm) & (constants["horizon"] < 10**6)]
        tuned = private[(private["algorithm"] == algorithm) & (private["answer"] == TUNED)]
        if len(own) and len(tuned):
            yield {
                "id": algorithm,
                "name": NAMES[algorithm],
                "printed": f"{CONSTANTS[algorithm]:g}",
                "tuned": [f"{each:.3g}" for each in (own["constant"].min(), own["constant"].max())],
                "gain": [float(own["gain"].min()), float(own["gain"].max())],
                "missed": [float(own["missed"].median()), float(own["missed"].max())],
            }


def _best_arms(table: pd.DataFrame) -> Iterator[Values]:
    """Yield the shares of each epsilon-DP algorithm for each number of dimensions."""
    own = _at(table[table["privacy"] == PURE], BEST_ARM)
    for family, rows in sorted(
        own.groupby("family"), key=lambda item: int(str(item[0]).split()[0])
    ):
        form = "{:.1f} [{:.1f}, {:.1f}]"
        shares = {
            row["algorithm"]: form.format(*(100.0 * row[key] for key in ("success", "lo", "hi")))
            for row in rows.to_dict("records")
        }
        yield {"family": family, **{name.replace("-", "_"): text for name, text in shares.items()}}
