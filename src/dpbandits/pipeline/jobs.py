"""What the jobs of a build do: results, figures, tables, verdicts, digitised values, the ledger."""

import sys
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.engine.provenance import write_provenance, write_text
from dpbandits.errors import InputError
from dpbandits.papers import over_settings, settings_of
from dpbandits.pipeline.project import Project, read_verdicts
from dpbandits.pipeline.stale import MADE_OF, made_of
from dpbandits.pipeline.targets import (
    CLAIMS,
    DIGITISED,
    FINDINGS,
    digitised_figures,
    digitised_target,
    figure_target,
    ledger_target,
    results_target,
    table_target,
    verdicts_target,
    write_with_provenance,
)

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.claims.judge import Judgement
    from dpbandits.claims.series import Evidence
    from dpbandits.engine.cells import Series

# Each job imports only what it needs: all imports together take seconds.

_NO_NUMBER = {column: [""] for column in ("estimate", "lo", "hi")}
_MISSING = {column: [""] for column in ("rebuilt", "lo", "hi", "difference")}


def build_results(project: Project, paper: str, name: str, workers: int) -> Path:
    """Simulate a set of cells, or compute an exact result, into ``results/PAPER/NAME.parquet``."""
    from joblib.externals.loky import get_reusable_executor

    from dpbandits.engine.results import write_results

    begun = time.monotonic()
    make = compute_exact if name in project.study(paper).file.analytic else _simulate
    frame, details = make(project, paper, name, workers)
    if workers > 1:
        # The CPU time of worker processes counts once they have ended.
        get_reusable_executor().shutdown()
    path = project.results_path(paper, name)
    fingerprint = project.results_fingerprint(paper, name)
    write_results(path, frame, fingerprint)
    details |= {"fingerprint": fingerprint, "scale": project.scale}
    details[MADE_OF] = made_of(results_target(project, paper, name))
    write_provenance(path, project.folder, details, time.monotonic() - begun)
    return path


Made = tuple["pd.DataFrame", dict[str, Any]]
"""Results, and the details for their provenance."""


def _simulate(project: Project, paper: str, name: str, workers: int) -> Made:
    """Simulate the runs that are not in the cache."""
    from dpbandits.engine.cache import Cache
    from dpbandits.engine.compute import compute_series
    from dpbandits.engine.results import results_frame

    begun = time.monotonic()
    computed: list[int] = []
    series = project.series(paper, name)
    runs = compute_series(
        series,
        root_seed=project.seed,
        workers=workers,
        cache=Cache(project.cache_folder),
        title=f"{paper}: {name}",
        before=computed.append,
    )
    if computed:
        seconds = time.monotonic() - begun
        print(f"{paper}: {name}: {computed[0]} runs computed in {seconds:.1f} s", file=sys.stderr)
    played = {line.label: line.cell.description for line in series}
    details = {"seed": project.seed, "workers": workers, "series": played}
    details["cached_runs"] = max(0, distinct_runs(series, project.seed) - sum(computed))
    return results_frame(series, runs), details


def distinct_runs(series: "Iterable[Series]", seed: int) -> int:
    """Return the number of runs; those that equal cells of two series share count once."""
    works = {(work.key(seed), work.runs) for line in series for work in line.works}
    return sum(len(runs) for _, runs in works)


def compute_exact(project: Project, paper: str, name: str, workers: int) -> Made:
    """Return an exact result, and what its provenance says of it."""
    study = project.study(paper)
    exact = study.code.functions("analytic")
    if name not in exact:
        raise InputError.unknown(f"{paper}: analytic result", name, exact)
    given: dict[str, Any] = {}
    if name in study.file.scaled:
        given = {"scale": project.scale, "seed": project.seed, "workers": workers}
    place = f"{paper}: analytic result {name}"
    if of := study.file.settings_of.get(name):
        frame = over_settings(exact[name], settings_of(project.series(paper, of)), place)
    else:
        frame = exact[name](**given)
    # Exact results of comparisons are in no panel, and may have several rows for a series and x.
    if not study.is_comparison:
        _require_exact(frame, place)
    given.pop("scale", None)
    return frame, given


def _require_exact(frame: Any, place: str) -> None:
    """Raise InputError unless a function returned a table with one row for each series and x."""
    import pandas as pd

    columns = ["series", "x", "y"]
    if not isinstance(frame, pd.DataFrame) or {*columns} - {*frame}:
        found = ", ".join(map(str, frame)) if isinstance(frame, pd.DataFrame) else repr(frame)
        raise InputError(
            f"{place} is {found[:200]}; allowed: a data frame with the columns {', '.join(columns)}"
        )
    if not pd.api.types.is_numeric_dtype(frame["x"]) or not pd.api.types.is_numeric_dtype(
        frame["y"]
    ):
        raise InputError(f"{place}: x or y is no number; allowed: numbers")
    twice = frame[frame.duplicated(columns[:2])]
    if len(twice):
        series, x = twice[columns[:2]].iloc[0]
        raise InputError(f"{place} has several rows of {series!r} at x = {x:g}; allowed: one")


def draw_paper_figure(project: Project, paper: str, figure: str) -> list[Path]:
    """Draw a figure and its panels into ``figures/PAPER``; return the files."""
    from dpbandits.reporting.draw import draw_figure

    target = figure_target(project, paper, figure)
    study = project.study(paper)
    spec, folder = study.figure(figure), project.figures_folder(paper)
    frames, code = partial(project.frame, paper), study.code
    with write_with_provenance(project, target):
        return draw_figure(
            spec, frames, folder, code.functions("derived"), code.functions("diagrams"), paper
        )


def write_paper_table(project: Project, paper: str, table: str) -> list[Path]:
    """Write a table of a paper into ``results/tables/PAPER``; return the files."""
    from dpbandits.reporting.tables import write_table

    target = table_target(project, paper, table)
    study, frames = project.study(paper), partial(_frame, project, paper)
    spec, folder = study.table(table), project.tables_folder(paper)
    with write_with_provenance(project, target):
        return write_table(spec, table, frames, folder, study.code.functions("tables"))


def _frame(project: Project, paper: str, name: str) -> "pd.DataFrame":
    """Return results by name; ``claims`` are the verdicts with the papers' sentences."""
    import pandas as pd

    from dpbandits.reporting.tables import with_sentences

    if name == DIGITISED:
        [path] = digitised_target(project, paper).current_files()
        return pd.read_csv(path, keep_default_na=False, na_values=_MISSING)
    if name != CLAIMS:
        return project.frame(paper, name)
    path, *_ = verdicts_target(project, paper, CLAIMS).current_files()
    says = {claim.id: claim.says for claim in project.study(paper).claims}
    verdicts = pd.read_csv(path, keep_default_na=False, na_values=_NO_NUMBER)
    return with_sentences(verdicts, says)


def write_digitised_comparison(project: Project, paper: str) -> Path:
    """Write ``results/PAPER/digitised.csv``: digitised values beside those that we computed."""
    from dpbandits.reporting.digitised import compare_digitised, digitised_csv

    study, frames = project.study(paper), partial(project.frame, paper)
    figures, derived = digitised_figures(study), study.code.functions("derived")
    with write_with_provenance(project, digitised_target(project, paper)) as [path]:
        is_whole = project.scale == "paper"
        compared = compare_digitised(figures, frames, derived, is_whole=is_whole)
        write_text(path, digitised_csv(compared))
    return path


def judge_paper(project: Project, paper: str, kind: str = CLAIMS) -> None:
    """Judge every claim of a paper, or the findings on it; write the verdicts and comparisons."""
    from dpbandits.claims.judge import judge

    study, evidence = project.study(paper), evidence_of(project, paper)
    entries = study.findings if kind == FINDINGS else study.claims
    judged = judge(entries, evidence, project.scale, in_family=kind == CLAIMS)
    write_verdicts(project, paper, kind, judged)


def write_verdicts(
    project: Project, paper: str, kind: str, judged: "Sequence[Judgement]"
) -> tuple[Path, ...]:
    """Write the verdicts and comparisons of claims or findings; return the files."""
    from dpbandits.claims.tables import evidence_table, to_csv, verdict_table

    with write_with_provenance(project, verdicts_target(project, paper, kind)) as paths:
        for path, table in zip(paths, (verdict_table, evidence_table), strict=True):
            write_text(path, to_csv(table(judged)))
    return paths


def evidence_of(project: Project, paper: str) -> "Evidence":
    """Return what the claims of a paper read; results are loaded when they are first asked for."""
    from dpbandits.claims.series import Evidence

    return Evidence(partial(project.frame, paper), project.study(paper).code.quantities)


def write_whole_ledger(project: Project) -> None:
    """Write the verdicts on the claims of all chosen papers."""
    import pandas as pd

    from dpbandits.claims.tables import join, to_csv
    from dpbandits.pipeline.publish import claim_figures

    target, ledgers = ledger_target(project), []
    with write_with_provenance(project, target) as [ledger_csv]:
        for paper in project.chosen:
            path, *_ = verdicts_target(project, paper, CLAIMS).current_files()
            claims = project.study(paper).claims
            figures = {claim.id: claim_figures(project, paper, claim) for claim in claims}
            ledgers.append(join(paper, claims, read_verdicts(path), figures))
        write_text(ledger_csv, to_csv(pd.concat(ledgers, ignore_index=True)))
