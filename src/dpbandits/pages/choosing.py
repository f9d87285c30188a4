"""`docs/choosing.md`: which private bandit to take, every number from the published comparison."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from dpbandits.comparisons.choose import choose, ranking, read_table
from dpbandits.comparisons.choosing import RATE, TUNED, WINNER
from dpbandits.comparisons.field import (
    APPROXIMATE,
    CONSTANTS,
    DELTA,
    DESCRIPTIONS,
    LOCAL,
    LOCAL_FIELD,
    NONE,
    ONE_RUN,
    PLAYERS,
    PUBLISHED,
    PURE,
    SETTING,
    SHOWN,
    TWINS,
    UNIT,
)
from dpbandits.errors import InputError
from dpbandits.pages.published import render, with_region
from dpbandits.pages.verdicts import Values
from dpbandits.pipeline.project import Project
from dpbandits.privacy.gaussian import epsilon
from dpbandits.privacy.thompson import dp_ts_ucb_gdp

NAMES = (
    *("extra-regret", "extra-winners", "extra-tuning"),
    *("extra-best-arm", "extra-best-arm-winners"),
)
"""Published tables that the page is filled from."""

ANSWERED = [
    {"arms": arms, "horizon": horizon, "epsilon": budget}
    for arms, horizon in ((5, 100_000), (20, 1_000_000))
    for budget in (0.2, 1.0, 5.0)
]
"""Settings that the page answers in its table, for each model."""

PLANE = {"arms": 20, "horizon": 1_000, "epsilon": 1.0}
"""Where the page shows what algorithms for few dimensions are made for."""

AUDIT = Path("docs/tables/privacy-audit/extra-audit.csv")
"""Published audit, in a folder with config."""


Published = Mapping[str, pd.DataFrame]
"""The published tables of the comparison, by name, and that of the audit."""


def _scores(tables: Published) -> pd.DataFrame:
    """Return regret by the logarithms that the ranking is by."""
    table = tables["extra-regret"]
    return table[table["ranked"]]


def _winners(tables: Published, kind: str, name: str = "extra-winners") -> pd.DataFrame:
    """Return the settings of a class of privacy in ``extra-winners`` or its like."""
    return tables[name][tables[name]["class"] == kind]


def published(project: Project) -> Published | None:
    """Return the published tables; None where this comparison is not published yet."""
    paths = [*(PUBLISHED / f"{name}.csv" for name in NAMES), AUDIT]
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
        head, *rows = ranking(answer).rpartition("\n\n")[2].splitlines()
        shown = ["...", head, *rows[:3], "..."]
        values = {**page_values(tables), "ranking": "\n".join(shown)}
    content = render("which-one.md", is_published=tables is not None, **values).strip()
    return with_region(text, "which one", content)


def page_values(tables: Published) -> Values:
    """Return every number of the page."""
    regret, trials = tables["extra-regret"], tables["extra-best-arm"]
    pure, approximate = (_winners(tables, kind).set_index(SETTING) for kind in (PURE, APPROXIMATE))
    same = pure.index.intersection(approximate.index)
    is_free = regret["class"] == NONE
    is_local = pure["first"].map(lambda name: PLAYERS[name][1] == LOCAL)
    private = trials[trials["class"] == PURE]
    here = _at(private, PLANE)
    return {
        "answers": [*_answers(tables)],
        "classes": [_class(tables, kind) for kind in SHOWN],
        "same": int((pure.loc[same, "best"] == approximate.loc[same, "best"]).sum()),
        "asked": len(same),
        "local_best": int(is_local.sum()),
        "local_won": int((is_local & (pure["verdict"] == WINNER)).sum()),
        "instances": sorted(regret["instances"].unique(), reverse=True),
        "trials": int(trials["runs"].max()),
        "repaired": _names(regret[(regret["variant"] == "repaired") & ~is_free]),
        "free": _names(regret[is_free]),
        "longest": regret.groupby("arms")["horizon"].max().to_dict(),
        "tuning": _tuning(tables["extra-tuning"]),
        # At alpha = 1, its most private, whatever T is.
        "least_budget": epsilon(DELTA, dp_ts_ucb_gdp(1.0, int(regret["horizon"].max()))),
        "best_arm": _class(tables, PURE, "extra-best-arm-winners"),
        "unmissed": int((private.groupby(SETTING)["success"].min() == 1.0).sum()),
        # The success of each epsilon-DP algorithm with a dimension for each arm, where one is
        # another's twin, and with two dimensions, the best first.
        "axes": _shares(here[~here["algorithm"].isin(TWINS)], "success", "lo", "hi"),
        "plane": _shares(here, "plane", "plane_lo", "plane_hi"),
        "at_plane": PLANE,
        **{"constants": CONSTANTS, "unit": UNIT, "one_run": ONE_RUN},
    }


def _names(rows: pd.DataFrame) -> list[str]:
    """Return the names of the algorithms of some rows, in the order of the comparison."""
    return [PLAYERS[name][0] for name in PLAYERS if name in set(rows["algorithm"])]


def _shares(rows: pd.DataFrame, key: str, lo: str, hi: str) -> list[dict[str, str]]:
    """Return the name of each algorithm and its share with its interval, the largest first."""
    rows = rows.sort_values(key, ascending=False)
    form = "{:.1f} % [{:.1f}, {:.1f}]"
    ends = (100.0 * rows[[key, lo, hi]]).to_numpy()
    return [
        {"name": name, "share": form.format(*each)}
        for name, each in zip(rows["name"], ends, strict=True)
    ]


def _at(table: pd.DataFrame, question: Mapping[str, float]) -> pd.DataFrame:
    return table[(table[SETTING] == [question[key] for key in SETTING]).all(axis="columns")]


def _answers(tables: Published) -> Iterator[Values]:
    """Yield the answer at each setting of the page's table, with its price of privacy."""
    scores = _scores(tables)
    for kind in SHOWN:
        for setting in ANSWERED:
            for row in _at(_winners(tables, kind), setting)[:1].to_dict("records"):
                scored = _at(scores, setting)
                yield {
                    "model": "local" if kind == LOCAL else "central",
                    **setting,
                    "is_won": row["verdict"] == WINNER,
                    "as_ranked": row["verdict"] != WINNER and row["as_ranked"] != "",
                    "first": row["first_name"],
                    "second": row["second_name"],
                    "margin": [row[end] for end in ("margin", "margin_lo", "margin_hi")],
                    "price": scored["price"][scored["algorithm"] == row["first"]].iloc[0],
                }


def _class(tables: Published, kind: str, name: str = "extra-winners") -> Values:
    """Return how often each algorithm of a class is first and wins, and what is open."""
    table = _winners(tables, kind, name)
    is_won = table["verdict"] == WINNER
    first, won = table["first"].value_counts(), table["first"][is_won].value_counts()
    found: Values = {
        "kind": kind,
        "description": DESCRIPTIONS[kind],
        "settings": len(table),
        "first": [
            {"name": PLAYERS[name][0], "first": int(first[name]), "won": int(won.get(name, 0))}
            for name in sorted(PLAYERS, key=lambda name: -first.get(name, 0))
            if name in first.index
        ],
        "won": int(is_won.sum()),
        "least": float(table["margin"][is_won].min()),
        "as_ranked": int((table["as_ranked"] != "").sum()),
        "turned": int((table["otherwise"] != "").sum()),
        "audited": _audited(tables, str(first.index[0])),
    }
    return {**found, "record": _record(**found)}


def _record(*, kind: str, settings: int, first: list[Values], turned: int, **_: object) -> str:
    """Return how often the algorithm that is first the most is first and wins."""
    said = f"has the least regret in {first[0]['first']} of {settings} settings"
    if kind == LOCAL:
        return f"{said}, in {first[0]['won']} beyond chance. {LOCAL_FIELD}"
    return (
        f"{said}, each algorithm by the base of logarithms that its paper prints, or its least "
        f"favourable. In {first[0]['won']} it wins beyond chance whichever bases are meant. In "
        f"{turned} of {settings} another base puts another algorithm first."
    )


def _audited(tables: Published, algorithm: str) -> float:
    """Return the largest share of its claim that the audit shows an algorithm to lose."""
    scores = _scores(tables)
    variants = set(scores["variant"][scores["algorithm"] == algorithm])
    audit = tables[AUDIT.stem]
    is_own = (audit["algorithm"] == algorithm) & audit["variant"].isin(variants)
    ratios = audit["ratio"][is_own].dropna()
    return float(ratios.max()) if len(ratios) else 0.0


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
