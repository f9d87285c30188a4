"""`docs/cost.csv`, condensed from timings, and what a run costs before it is begun."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from dpbandits.engine.files import write_text
from dpbandits.pages.regions import table, with_region
from dpbandits.pipeline.costs import COLUMNS, COSTS, Cost, Costs, Key, recorded_cost
from dpbandits.pipeline.project import SCALES, Project
from dpbandits.pipeline.targets import CLAIMS, FIGURE, RESULTS, TABLE, Target, targets
from dpbandits.text_tables import aligned

PAGE = Path("docs/cluster.md")
KEPT_WITHIN = 1.5
"""A published cost is replaced where the new one differs by more than this factor: clocks vary."""


@dataclass(frozen=True)
class Item:
    """A figure, a table or a paper's verdicts, and all results that it needs."""

    target: Target
    results: tuple[tuple[str, str], ...]

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.target.paper

    @property
    def kind(self) -> str:
        """Kind of its row in ``docs/cost.csv``."""
        return self.target.kind

    @property
    def name(self) -> str:
        """Name of its row in ``docs/cost.csv``."""
        return self.target.name

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return self.name if self.kind in (FIGURE, self.name) else f"{self.kind} {self.name}"


def items(project: Project) -> list[Item]:
    """Return what is built of results, paper by paper: figures, tables, verdicts."""
    built = targets(project)
    by_file = {target.files[0]: target for target in built if target.kind == RESULTS}

    def needed(target: Target) -> tuple[tuple[str, str], ...]:
        """Paper and name of the results among the inputs, after those that tune them."""
        read = [by_file[path] for path in target.inputs if path in by_file]
        tuned = [by_file[path] for each in read for path in each.inputs if path in by_file]
        return tuple(dict.fromkeys((each.paper, each.name) for each in [*tuned, *read]))

    return [
        Item(target, needed(target))
        for paper in project.built()
        for kind in (FIGURE, TABLE, CLAIMS)
        for target in built
        if (target.paper, target.kind) == (paper, kind)
    ]


def condense(project: Project) -> Path:
    """Write ``docs/cost.csv``: what was recorded at either scale, else what stood there before.

    A cost of which more blocks are timed replaces one of fewer.
    """
    old = Costs(project.folder / COSTS).rows
    rows: dict[Key, Cost | None] = {}
    for scale in SCALES:
        rows |= _recorded(project.at(scale=scale))
    others = {key: cost for key, cost in old.items() if key[1] not in project.built()}
    kept = {key: _chosen(old.get(key), cost) for key, cost in rows.items()} | others
    found = {key: cost for key, cost in kept.items() if cost is not None}
    records = [dict(zip(COLUMNS, key, strict=False)) | asdict(found[key]) for key in sorted(found)]
    text = pd.DataFrame(records, columns=list(COLUMNS)).to_csv(index=False, lineterminator="\n")
    write_text(project.folder / COSTS, text)
    return project.folder / COSTS


def _recorded(project: Project) -> dict[Key, Cost | None]:
    """Return what is recorded of each result, figure, table and ledger; None where nothing is."""
    rows: dict[Key, Cost | None] = {}
    for target in targets(project):
        key = project.scale, target.paper, target.kind, target.name
        if target.kind == RESULTS:
            fingerprint = target.depends_on[target.name]
            rows[key] = recorded_cost(project, target.paper, target.name, fingerprint)
        elif target.kind in (FIGURE, TABLE, CLAIMS):
            rows[key] = _of_provenance(target.provenance)
    return rows


def _of_provenance(path: Path) -> Cost | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        seconds = round(float(record["core_seconds"]), 1)
        return Cost(seconds, seconds, int(record["memory"]), 1, 1)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _chosen(old: Cost | None, new: Cost | None) -> Cost | None:
    if old is None or new is None:
        return old or new
    if new.blocks == old.blocks and new.computed <= old.computed:
        ratio = (new.core_seconds + 1) / (old.core_seconds + 1)
        if new.computed < old.computed or 1 / KEPT_WITHIN < ratio < KEPT_WITHIN:
            return old
    return new


@dataclass(frozen=True)
class Forecast:
    """What a run costs by the published costs, at one scale."""

    project: Project

    @cached_property
    def _costs(self) -> Costs:
        return Costs(self.project.folder / COSTS)

    def _cost(self, paper: str, kind: str, name: str) -> Cost | None:
        return self._costs.find(self.project.scale, paper, kind, name)

    def items(self) -> list[Item]:
        """Return everything that is built."""
        return items(self.project)

    def parts(self, chosen: Iterable[Item]) -> dict[tuple[str, str, str], Cost | None]:
        """Return the cost of each thing that some items need, their results once, and their own."""
        found: dict[tuple[str, str, str], Cost | None] = {}
        for item in chosen:
            for paper, name in item.results:
                found[paper, RESULTS, name] = self._cost(paper, RESULTS, name)
            found[item.paper, item.kind, item.name] = self._cost(item.paper, item.kind, item.name)
        return found

    def row(self, chosen: Iterable[Item], cores: int) -> list[str]:
        """Return core-minutes, wall minutes on so many cores, and MiB of the largest process."""
        parts = self.parts(chosen)
        known = [cost for cost in parts.values() if cost is not None]
        if not known:
            return ["not recorded"] * 3
        seconds = sum(cost.core_seconds for cost in known)
        wall = max(seconds / cores, max(cost.longest for cost in known))
        missing = len(parts) - len(known)
        more = f" and {missing} not recorded" if missing else ""
        memory = max(cost.memory for cost in known)
        return [f"{seconds / 60:.1f}{more}", f"{wall / 60:.1f}", f"{memory}"]


def forecast_table(project: Project, cores: int) -> pd.DataFrame:
    """Return what a run costs: a row for each item, then the sums."""
    forecast = Forecast(project)
    every = forecast.items()
    heads = ["paper", "built", "core-minutes", f"minutes on {cores} cores", "MiB a process"]
    rows = [[item.paper, item.title, *forecast.row([item], cores)] for item in every]
    sums = {
        "the papers' own (make figures)": [item for item in every if not item.target.is_extra],
        "with what is ours (make everything)": every,
    }
    rows += [["all", title, *forecast.row(chosen, cores)] for title, chosen in sums.items()]
    return pd.DataFrame(rows, columns=heads)


def forecast_text(project: Project, cores: int) -> str:
    """Return what ``dpbandits cost`` prints: the table in lines, and the sum of all."""
    forecast = Forecast(project)
    every = forecast.items()
    lines = aligned(forecast_table(project, cores))
    hours = sum(cost.core_seconds for cost in forecast.parts(every).values() if cost) / 3600
    total = f"{hours:.2f} core-hours at the {project.scale} scale, nothing taken from the cache."
    return "\n".join([lines, "", total, "Results that several figures read count once in sums."])


TIMES, CORES = 1000, 1000
"""So many times today's runs are forecast on the page on clusters, on so many cores."""


def beyond(forecast: Forecast) -> str:
    """Return a table of what everything costs, and of what it would with many times the runs."""
    parts = forecast.parts(forecast.items())
    results = [cost for (_, kind, _), cost in parts.items() if kind == RESULTS and cost]
    hours = sum(cost.core_seconds for cost in results) / 3600
    batches = sum(cost.blocks for cost in results)
    rows = [
        ["core-hours of simulations", f"{hours:.2f}", f"{TIMES * hours:,.0f}"],
        ["batches, each a frame in the cache", f"{batches:,}", f"{TIMES * batches:,}"],
        [
            f"hours on {CORES:,} cores",
            f"{hours / CORES:.3f}",
            f"{TIMES * hours / CORES:.1f}",
        ],
    ]
    heads = ["everything, paper scale", "today", f"{TIMES:,} times the runs"]
    return table(heads, rows, texts=1)


def _groups(every: list[Item]) -> dict[tuple[str, str], list[Item]]:
    """Return what the rows of the table of costs count: paper and title -> items."""
    groups = {(item.paper, item.title): [item] for item in every}
    groups["all", "the papers' own"] = [item for item in every if not item.target.is_extra]
    groups["all", "with supplementary ones"] = every
    return groups


def cluster_page(project: Project, text: str) -> str:
    """Return the page with its tables of costs filled in from ``docs/cost.csv``."""
    forecasts = [Forecast(project.at(scale=scale)) for scale in SCALES]
    heads = ["paper", "figure, table or verdicts"]
    heads += [f"{what}, {scale} scale" for scale in SCALES for what in ("core-minutes", "MiB")]
    rows = []
    for (paper, title), chosen in _groups(forecasts[0].items()).items():
        costs = [forecast.row(chosen, 1) for forecast in forecasts]
        rows.append([paper, title, *(cell for row in costs for cell in (row[0], row[2]))])
    text = with_region(text, "beyond", beyond(forecasts[0]))
    return with_region(text, "cost", table(heads, rows, texts=2))
