"""`docs/choosing.md`: which private bandit to take, every number from the published comparison."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpbandits.comparisons.choosing import BINARY, RATE, WINNER
from dpbandits.comparisons.field import (
    APPROXIMATE,
    AS_PRINTED,
    AXES,
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
from dpbandits.comparisons.ranking import by
from dpbandits.errors import InputError
from dpbandits.pages.published import render, with_region
from dpbandits.pages.verdicts import Values
from dpbandits.pipeline.choose import choose, read_table
from dpbandits.pipeline.project import Project
from dpbandits.privacy.gaussian import epsilon
from dpbandits.privacy.thompson import dp_ts_ucb_gdp

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
"""Settings that the page answers in its table, for each trust."""

TRUST = {PURE: "central", LOCAL: "local"}
"""What is asked for -> whom one trusts."""

BEST_ARM = {"arms": 20, "horizon": 1_000, "epsilon": 1.0}
"""Where the page compares the algorithms that name a best arm."""

WHY = {
    "lazy-dp-ts": "The bonus raises private means. Numbers of pulls alone decide when and with how "
    "much noise these are released.",
    "dp-ts": "The bonus raises private means. The counters release at given numbers of pulls.",
    "adap-ucb": "The bonus is added to private means. An episode's length follows from earlier "
    "pulls.",
    "anytime-lazy-ucb": "The bonus is added to private means, which are released at given numbers "
    "of pulls.",
    "dp-se": "Longer or shorter epochs have their own noise, and thresholds compare private means.",
    "gdp-ncb": "The widths are added to private means; the stop test of Phase I keeps its own.",
    "anytime-gdp-ncb": "As GDP-NCB: no window's length depends on it.",
    "ldp-ucb-l": "Every reward is private before it is seen.",
    "ldp-ncb": "Every reward is private before it is seen.",
    "anytime-ldp-ncb": "Every reward is private before it is seen.",
}
"""Private algorithm -> why its privacy does not depend on its constant."""

Published = Mapping[str, pd.DataFrame]
"""The published tables of the comparison, by name."""


def published(project: Project) -> Published | None:
    """Return the published tables; None where this comparison is not published yet."""
    paths = [PUBLISHED / f"{name}.csv" for name in NAMES_OF_TABLES]
    try:
        return {path.stem: read_table(project.folder / path) for path in paths}
    except InputError:
        return None


def choosing_page(project: Project) -> str:
    """Return the page as the published tables have it."""
    tables = published(project)
    values = {} if tables is None else page_values(tables)
    return render("choosing.md", is_published=tables is not None, rate=RATE, **values)


def which_one(project: Project, text: str) -> str:
    """Return the text of ``README.md`` with its region ``which one`` filled."""
    tables = published(project)
    values: Values = {}
    if tables is not None:
        answer = choose(arms=20, horizon=1e6, epsilon=1.0, project=project.folder)
        values = {**page_values(tables), "said": "\n".join(answer.attrs["answers"])}
    content = render("which-one.md", is_published=tables is not None, **values).strip()
    return with_region(text, "which one", content)


def page_values(tables: Published) -> Values:
    """Return every number of the page."""
    regret, winners = tables["extra-regret"], tables["extra-winners"]
    constants, trials = tables["extra-constants"], tables["extra-best-arm-winners"]
    ranked = regret[regret["ranked"] & (regret["family"] == BINARY)]
    private = ranked[ranked["privacy"] != NONE]
    seeds = pd.concat([private["seeds"], winners["seeds"]]).dropna()
    found = trials[trials["privacy"] == PURE]
    return {
        "answers": [*_answers(winners)],
        "classes": [_class(winners, kind) for kind in TRUST],
        "others": [*_others(winners)],
        "approximate": _same(winners),
        "constants": [*_constants(private, constants)],
        "check": _check(constants),
        "at_end": sorted(set(constants["name"][constants["at_end"]])),
        "longest": private.groupby("arms")["horizon"].max().to_dict(),
        "floors": _names(ranked[ranked["privacy"] == NONE]),
        "most_seeds": int((seeds > 1.0).sum()),
        "rows": len(seeds),
        # At alpha = 1, its most private, whatever T is.
        "least_budget": epsilon(DELTA, dp_ts_ucb_gdp(1.0, 10**6)),
        "best_arms": [*_best_arms(tables["extra-best-arm"])],
        "at_best_arms": BEST_ARM,
        "unmissed": int((_shares(tables["extra-best-arm"]).min(axis=1) == 1.0).sum()),
        "best_arm_won": found["first"][found["verdict"] == WINNER].map(NAMES).value_counts(),
        "best_arm_settings": len(found),
        **{"unit": UNIT, "warning": WARNING, "local_field": LOCAL_FIELD, "axes": AXES},
    }


def _shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of successes, a column for each algorithm of pure DP."""
    own = table[table["privacy"] == PURE]
    return own.pivot_table(index=SETTING, columns="algorithm", values="success")


def _names(rows: pd.DataFrame) -> list[str]:
    """Return the names of the algorithms of some rows, in the order of the comparison."""
    return [PLAYERS[name][0] for name in PLAYERS if name in set(rows["algorithm"])]


def _at(table: pd.DataFrame, setting: Mapping[str, Any]) -> pd.DataFrame:
    return table[(table[[*setting]] == [*setting.values()]).all(axis="columns")]


def _answers(winners: pd.DataFrame) -> Iterator[Values]:
    """Yield both answers at each setting of the page's table."""
    for kind, trust in TRUST.items():
        own = winners[winners["privacy"] == kind]
        for setting in ANSWERED:
            rows = {row["answer"]: row for row in _at(own, setting).to_dict("records")}
            if len(rows) == 2:
                yield {"trust": trust, **setting, **{_key(k): _told(r) for k, r in rows.items()}}


def _key(answer: str) -> str:
    return answer.removeprefix("as ")


def _told(row: Mapping[Any, Any]) -> Values:
    """Return what an answer says at one setting."""
    return {
        "first": NAMES[row["first"]],
        "is_won": row["verdict"] == WINNER,
        "as_ranked": row["verdict"] != WINNER and row["as_ranked"] != "",
        "constant": f"{row['constant']:.3g}" if row["constant"] == row["constant"] else "",
        "second": NAMES[row["second"]],
        "by": by(row),
        "price": f"{row['price']:.2g}" if row["price"] == row["price"] else "",
    }


def _class(winners: pd.DataFrame, kind: str) -> Values:
    """Return how often each algorithm of a class is first and wins, by each answer."""
    own = winners[(winners["privacy"] == kind) & (winners["family"] == BINARY)]
    counts: Values = {"trust": TRUST[kind], "settings": 0, "unplayed": ""}
    for answer in (AS_PRINTED, TUNED):
        table = own[own["answer"] == answer]
        is_won = table["verdict"] == WINNER
        first, won = table["first"].value_counts(), table["first"][is_won].value_counts()
        counts[_key(answer)] = {
            "first": [
                {"name": NAMES[str(name)], "first": int(count), "won": int(won.get(name, 0))}
                for name, count in first.items()
            ],
            "won": int(is_won.sum()),
            "turned": int((table["otherwise"] != "").sum()),
            "local": int(table["first"].map(lambda name: PLAYERS[name][1] == LOCAL).sum()),
        }
        counts["settings"] = len(table)
    absent = {name for names in own["unplayed"] for name in names.split()}
    counts["unplayed"] = ", ".join(name for key, name in NAMES.items() if key in absent)
    return counts


def _others(winners: pd.DataFrame) -> Iterator[Values]:
    """Yield who is first on rewards that are not 0 or 1, by trust and answer."""
    others = winners[winners["family"] != BINARY]
    for kind, trust in TRUST.items():
        for answer in (AS_PRINTED, TUNED):
            own = others[(others["privacy"] == kind) & (others["answer"] == answer)]
            for first, count in own["first"].value_counts().items():
                named = {"trust": trust, "answer": answer, "name": NAMES[str(first)]}
                yield {**named, "first": int(count), "settings": len(own)}


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
    for algorithm, why in WHY.items():
        own = constants[(constants["algorithm"] == algorithm) & (constants["horizon"] < 10**6)]
        tuned = private[(private["algorithm"] == algorithm) & (private["answer"] == TUNED)]
        if len(own) and len(tuned):
            yield {
                "name": NAMES[algorithm],
                "why": why,
                "printed": f"{CONSTANTS[algorithm]:g}",
                "tuned": [f"{each:.3g}" for each in (own["constant"].min(), own["constant"].max())],
                "gain": [float(own["gain"].min()), float(own["gain"].max())],
                "missed": [float(own["missed"].median()), float(own["missed"].max())],
            }


def _check(constants: pd.DataFrame) -> list[Values]:
    """Return, for each algorithm of the check, what the carried constant misses there."""
    rows = constants[constants["on"].str.contains("tuning")]
    return [
        {
            **{"name": row["name"], "constant": f"{row['constant']:.3g}"},
            **{"best": f"{row['best']:.3g}", "missed": f"{row['missed']:.2f}"},
        }
        for row in rows.to_dict("records")
    ]


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
