"""What is built by default and what as an extra, what jobs cost, what `verify` says of a cell."""

import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms import REGISTRY
from dpbandits.bandits import Bandit
from dpbandits.engine import identity
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.compute import compute_series
from dpbandits.engine.provenance import (
    provenance_path,
    read_provenance,
    write_provenance,
    write_text,
)
from dpbandits.engine.results import results_frame
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import cluster_page
from dpbandits.papers import SHARED
from dpbandits.pipeline import study
from dpbandits.pipeline import verify as verification
from dpbandits.pipeline.costs import KEY, read_costs, write_costs
from dpbandits.pipeline.jobs import distinct_runs
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.publish import claim_figures
from dpbandits.pipeline.targets import (
    CLAIMS,
    COSTS,
    FIGURE,
    GOAL_EXTRAS,
    GOAL_FIGURES,
    GOAL_VERDICTS,
    LEDGER,
    RESULTS,
    SHORT,
    TABLE,
    VERDICT_FILES,
    published_seconds,
    shared_jobs,
    targets,
    targets_of,
)
from dpbandits.pipeline.verify import Plan, compare, draw_sample, verify
from found_papers import PROJECT, every_target
from support import ROOT, refused


def project_with(**changes: Any) -> Project:
    """Return the project with some keys of its config changed."""
    return Project.load(ROOT, config=dict(PROJECT.config) | changes)


def built(*goals: str, **changes: Any) -> list[Path]:
    """Return the files that the rules of the goals build, but for the ledger of all."""
    chosen = targets_of(targets(project_with(**changes)), *goals)
    return [path for target in chosen if target.paper != "all" for path in target.files]


def names(paths: list[Path], suffix: str) -> list[str]:
    """Return the file names of this suffix, in order."""
    return [path.stem for path in paths if path.suffix == suffix]


def test_what_papers_have_is_built_by_default_and_ours_and_comparisons_as_extras() -> None:
    files = built(GOAL_FIGURES, papers=["dp-bai"])
    panels = ["fig1", "fig1a", "fig1b", "fig2", "fig2a", "fig2b", "fig2c", "fig2d"]
    assert names(files, ".png") == panels
    assert names(files, ".tex") == ["table1", "appendix-b"]
    judged = built(GOAL_VERDICTS, papers=["dp-bai"])
    assert names(judged, ".tex") == ["claims"]
    assert {"claims", "evidence"} <= set(names(judged, ".csv"))
    extras = built(GOAL_EXTRAS, papers=["dp-bai"], comparisons=[])
    assert {path.stem.split("-")[0] for path in extras} == {"extra", "findings"}
    both = {"papers": ["ts-is-dp"], "comparisons": ["equal-privacy"]}
    alone = both | {"comparisons": []}
    assert built(GOAL_FIGURES, GOAL_VERDICTS, **both) == built(GOAL_FIGURES, GOAL_VERDICTS, **alone)
    added = {*built(GOAL_EXTRAS, **both)} - {*built(GOAL_EXTRAS, **alone)}
    assert {path.parent.name for path in added} == {"equal-privacy"}
    of_claims = {t.paper for t in targets(project_with(**both)) if t.kind == CLAIMS}
    assert of_claims == {"ts-is-dp"}, "comparisons have no claims"


def test_simulations_of_claims_alone_play_the_runs_that_are_asked() -> None:
    shown = [each for each in every_target() if each.kind not in VERDICT_FILES]
    for paper in PROJECT.papers:
        drawn = {path.stem for each in shown if each.paper == paper for path in each.inputs}
        stated = [each for each in PROJECT.study(paper).stated if each.runs]
        for name, plan in PROJECT.study(paper).simulations.items():
            reading = [each for each in stated if name in each.reads]
            asked = [max(*each.runs, each.runs_paper) for each in reading]
            assert name in drawn or not asked or plan.runs >= max(asked), f"{paper}: {name}"


def test_the_ledger_is_built_where_papers_are_and_links_what_is_built() -> None:
    def ledger(**changes: object) -> list[str]:
        every = targets_of(targets(project_with(**changes)), GOAL_VERDICTS)
        return [path.name for target in every if target.kind == LEDGER for path in target.files]

    assert ledger() == ledger(papers=["ts-is-dp"]) == ["ledger.csv"]
    assert ledger(papers=[], comparisons=["equal-privacy"]) == []
    [inputs] = [target.inputs for target in every_target() if target.kind == LEDGER]
    assert {path.parent.name for path in inputs} == set(PROJECT.chosen)
    files = {p for t in every_target() if t.kind in (FIGURE, TABLE) for p in t.files}
    for paper in PROJECT.published:
        claims = PROJECT.study(paper).claims
        linked = [ROOT / path for each in claims for path in claim_figures(PROJECT, paper, each)]
        assert set(linked) <= files
        assert len(linked) >= len(claims) // 2


@pytest.mark.slow
def test_a_line_in_the_registry_makes_nothing_stale_but_what_plays_or_lists_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def depends_on() -> dict[tuple[str, str, str], dict[str, str]]:
        of_sources = (identity.registered, identity.sources_of, identity.imports_of)
        for cached in (*of_sources, identity.fingerprint, study.apart_from_registry):
            cached.cache_clear()
        found = targets(Project.load(ROOT))
        return {(each.kind, each.paper, each.name): dict(each.depends_on) for each in found}

    def stale() -> set[tuple[str, str, str]]:
        after = depends_on()
        # Diagrams may take names from the registry: they are drawn again in seconds.
        return {key for key in before if before[key] != after[key] and key[0] != FIGURE}

    before = depends_on()
    registry, own = Path("algorithms/__init__.py"), Path("algorithms/my_se.py")
    text = identity.SOURCES[registry].decode().replace("    dp_se,\n", "    dp_se,\n    my_se,\n")
    text = text.replace('    "dp-se": dp_se', '    "my-se": my_se.ALGORITHM,\n    "dp-se": dp_se')
    monkeypatch.setitem(identity.SOURCES, registry, text.encode())
    monkeypatch.setitem(identity.SOURCES, own, b"ALGORITHM = ...")
    ledger = ("table", "privacy-audit", "extra-audit")
    assert stale() == {ledger}
    monkeypatch.setitem(identity.SOURCES, own, b"ALGORITHM = ... # AuditCase(")
    assert stale() == {ledger, ("results", "privacy-audit", "black-box")}
    monkeypatch.undo()
    assert depends_on() == before


def test_exact_results_name_the_algorithms_that_they_are_about() -> None:
    """What is reached through the registry alone is in the fingerprint of no exact result."""
    assert study.audited_algorithms() == [name for name, each in REGISTRY.items() if each.audit]
    papers = [each.stem for each in (ROOT / "src/dpbandits/papers").iterdir()]
    for name in ("auditing.statements", "auditing.rows", *(f"papers.{p}.analytic" for p in papers)):
        if identity.path_of(module := f"dpbandits.{name}"):
            assert Path("algorithms/__init__.py") not in identity.sources_of(module), module


def test_no_verdict_depends_on_how_figures_are_drawn() -> None:
    """Else a line width would make every verdict stale."""
    drawing = ("play", "reporting")
    for paper in PROJECT.papers:
        quantities = PROJECT.study(paper).code.modules("quantities")
        modules = (*quantities, SHARED, "dpbandits.claims.tables")
        sources = [path for path in identity.sources_of(*modules) if path.parts[0] in drawing]
        assert sources == [], paper


def test_measured_jobs_replace_known_ones(tmp_path: Path) -> None:
    costs = read_costs(PROJECT)
    named = {*costs[KEY].itertuples(index=False, name=None)}
    assert named <= {(target.paper, target.kind, target.name) for target in every_target()}
    of_results = costs.loc[costs["kind"] == RESULTS, "cpu_seconds"]
    assert sorted(published_seconds(PROJECT).values()) == sorted(of_results)
    (tmp_path / "config").symlink_to(ROOT / "config")
    project = Project.load(tmp_path)
    [figure] = [each for each in targets(project) if each.rule == "ts_is_dp_fig2"]
    write_provenance(
        figure.files[0], project.folder, {"cpu_seconds": 0.64, "memory_mib": 9.06}, 0.7
    )
    # Nothing was measured at the quick scale.
    assert write_costs(project.at(scale="quick")).read_text().count("\n") == 1
    head = "paper,kind,name,seconds,cpu_seconds,memory_mib,cached_runs"
    draft, fig3 = "draft,figure,fig1,9.0,9.0,300.0,0", "ts-is-dp,figure,fig3,60.0,120.0,300.0,0"
    old, gone = (f"ts-is-dp,figure,{name},9.0,9.0,300.0,0" for name in ("fig2", "no-more"))
    write_text(project.folder / COSTS, "\n".join([head, old, fig3, gone, draft]))
    new = "ts-is-dp,figure,fig2,0.7,0.6,9.1,0"
    assert write_costs(project).read_text().splitlines() == [head, draft, new, fig3]
    page = cluster_page(Contents.of(project), "<!-- begin cost -->\n<!-- end cost -->\n")
    assert "|ts-is-dp|fig3|2.0|2|2.0|300|" in page
    # Runs from the cache make a job shorter than it is.
    write_text(project.folder / COSTS, "\n".join([head, draft, new, fig3[:-1] + "5"]))
    page = cluster_page(Contents.of(project), page)
    assert "|ts-is-dp|fig3|at least 2.0|2|at least 2.0|300|" in page
    write_provenance(
        figure.files[0],
        project.folder,
        {"cpu_seconds": 0.1, "memory_mib": 9.06, "cached_runs": 3},
        0.2,
    )
    assert new in write_costs(project).read_text()


def test_runs_of_equal_cells_are_computed_once_and_not_taken_from_the_cache() -> None:
    one, other = series_of("regret"), replace(series_of("regret"), label="b")
    assert distinct_runs([one, other], 0) == 40
    assert distinct_runs([one, replace(one, runs=range(100, 110))], 0) == 50
    assert distinct_runs([one, series_of("regret", other=True)], 0) == 80


def test_a_job_measures_itself_and_its_children(tmp_path: Path) -> None:
    def cost() -> float:
        write_provenance(tmp_path / "a.csv", tmp_path, {}, 0.0)
        return float(read_provenance(provenance_path(tmp_path / "a.csv"))["cpu_seconds"])

    cost()
    least = cost() + 0.5
    burn = "import time\nwhile time.process_time() < {}: pass"
    subprocess.run([sys.executable, "-c", burn.format(least)], check=True)
    assert least <= cost() < 2 * least, "of the child"
    exec(burn.format(time.process_time() + least))
    assert least <= cost() < 2 * least, "its own, and nothing twice"


def test_short_results_of_a_goal_are_one_job_and_the_papers_figures_wait_for_no_verdict() -> None:
    every, seconds = every_target(), published_seconds(PROJECT)
    made = shared_jobs(PROJECT, every)
    assert {"dp_bai_figures_results", "dp_bai_verdicts_results"} <= set(made)
    for name, batch in made.items():
        assert name.startswith(batch[0].paper.replace("-", "_")), name
        assert all(seconds[f"{each.paper}/{each.name}"] < SHORT for each in batch)
    together = [each for batch in made.values() for each in batch]
    assert len(together) == len({each.files for each in together})
    for goal in (GOAL_FIGURES, GOAL_VERDICTS):
        read = {path for target in targets_of(every, goal) for path in target.inputs}
        batch = made[f"dp_bai_{goal}_results"]
        assert all(each.files[0] in read for each in batch), goal
    quick = project_with(scale="quick")
    of_quick = shared_jobs(quick, targets(quick))
    results = [each for each in targets(quick) if each.kind == RESULTS]
    assert sum(map(len, of_quick.values())) == len(results), "at the quick scale all"


# What `make verify` says of a batch, and which batches it draws.

EXACT, WITHIN, OUTSIDE = "exact", "agrees within chance", "outside"
ALPHA = 0.001
"""Chance that a batch of the right law is outside; the seeds below are fixed."""

COINS = [dpbandits.bernoulli(means) for means in ([0.7, 0.4], [0.95, 0.1])]
FEATURES = [[1, 0], [0, 1], [0.7, 0.6]]
ARMS = [dpbandits.linear(FEATURES, theta) for theta in ([0.5, 0.4], [0.9, 0.1])]
KINDS: dict[str, tuple[str, list[str], int, int, list[Bandit]]] = {
    "regret": ("ucb1", ["pseudo_regret", "realised_regret", "pulls"], 300, 40, COINS),
    "nash": ("ucb1", ["nash_regret", "nash_influence"], 300, 40, COINS),
    "identification": ("sequential-halving", ["success", "total_pulls"], 60, 3000, ARMS),
}
"""Kind of cell -> algorithm, metrics, horizon, runs, its instance and one with other numbers."""


def series_of(kind: str, *, other: bool = False) -> Series:
    algorithm, metrics, horizon, runs, bandits = KINDS[kind]
    cell = make_cell(algorithm=algorithm, bandit=bandits[other], horizon=horizon, metrics=metrics)
    return Series("a", {}, cell, range(runs))


def frame(series: Series, seed: int) -> pd.DataFrame:
    cache = Cache(is_used=False)
    return results_frame([series], compute_series([series], root_seed=seed, cache=cache))


def recomputed(kind: str, seed: int, *, other: bool = False) -> pd.DataFrame:
    """Return the first batch of a cell, on its own instance or another."""
    runs = verification.batches_of(series_of(kind))[0].runs
    return frame(replace(series_of(kind, other=other), runs=runs), seed)


def compared(kind: str, again: pd.DataFrame) -> tuple[str, str]:
    return compare(frame(series_of(kind), seed=1), again, ALPHA)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_and_laws_are_told_apart(kind: str) -> None:
    """The same bits; no decision the same, under the same law; another law."""
    assert compared(kind, recomputed(kind, seed=1))[0] == EXACT
    outcome, detail = compared(kind, recomputed(kind, seed=2))
    assert outcome == WITHIN, detail
    assert "differ" in detail
    assert compared(kind, recomputed(kind, seed=1, other=True))[0] == OUTSIDE


def test_one_flipped_bit_a_lost_number_and_rows_that_are_not_packed() -> None:
    again = recomputed("regret", seed=1)
    again.loc[0, "value"] = np.nextafter(again.loc[0, "value"], np.inf)
    outcome, detail = compared("regret", again)
    assert outcome == WITHIN
    assert detail.startswith(f"1 of {len(again)} numbers differ")
    again.loc[0, "value"] = np.nan
    assert compared("regret", again)[0] != EXACT
    again["run"] += 1000
    assert compared("regret", again) == (OUTSIDE, "the packed results lack rows of it")


def test_a_failure_where_all_packed_trials_succeed_is_chance() -> None:
    """A t interval has no width there."""
    packed = recomputed("identification", seed=1)
    is_rate = packed["metric"] == "success"
    packed.loc[is_rate, "value"] = packed["trials"]
    for failures, outcome in ((0, EXACT), (1, WITHIN), (100, OUTSIDE)):
        again = packed.assign(value=packed["value"] - failures * is_rate)
        assert compare(packed, again, ALPHA)[0] == outcome


def test_the_batches_of_a_series_are_its_runs() -> None:
    for kind, size in (("regret", 10), ("nash", 40), ("identification", 1000)):
        whole = series_of(kind)
        runs = [batch.runs for batch in verification.batches_of(whole)]
        assert runs == [whole.runs[at : at + size] for at in range(0, len(whole.runs), size)]
    unaligned = verification.batches_of(replace(series_of("regret"), runs=range(13, 37)))
    assert [batch.runs for batch in unaligned] == [range(13, 20), range(20, 30), range(30, 37)]


def test_a_draw_depends_on_its_seed_alone_and_tells_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    project = Project.load(tmp_path)
    refused(lambda: verify(project, Plan(), 1), "has no results to verify")

    def drawn(plan: Plan) -> list[tuple[str, str, int]]:
        batches = draw_sample(project, plan).batches
        return [(name, series.label, series.runs.start) for _, name, series in batches]

    # Empty files: a draw reads only results that tune.
    curves, same = (
        project.results_path("ts-is-dp", name) for name in ("bernoulli-curves", "same-algorithm")
    )
    same.parent.mkdir(parents=True)
    same.touch()
    alone = drawn(Plan(batches=3, seed=4))
    curves.touch()
    both = drawn(Plan(batches=3, seed=4))
    assert len(both) == 6
    assert alone == [cell for cell in both if cell[0] == "same-algorithm"]
    assert both != drawn(Plan(batches=3, seed=5))
    sample = draw_sample(project, Plan(rounds=10**5))
    assert sample.batches == []
    assert sample.too_costly == ["ts-is-dp/bernoulli-curves", "ts-is-dp/same-algorithm"]
    assert "dp-ncb/panel-b" in sample.not_built
    assert sample.of == 18 + 10  # 18 series of 10 runs; 2 of 50
    refused(lambda: verify(project, Plan(rounds=10**5), 1), "so few rounds; run dpbandits verify")
    quick = "results/quick: has no results to verify; those of the paper scale: make verify SCALE="
    refused(lambda: verify(project.at(scale="quick"), Plan(), 1), quick)
    for key, value in (("batches", 0), ("rounds", 0), ("seed", -1)):
        refused(partial(Plan, **{key: value}), f"{key} is {value}; allowed: at least")
