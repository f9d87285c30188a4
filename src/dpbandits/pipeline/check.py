"""Checks across the files of the config, and of filters before anything is simulated.

Filters are tried on results as a simulation would write them, with made-up values.
"""

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.claims.measure import PICKS, Measurement
from dpbandits.claims.series import Evidence, Loader, Quantity
from dpbandits.claims.verdict import Verdict
from dpbandits.config.claims import ComparisonSpec, StatedEntry
from dpbandits.config.documents import naming
from dpbandits.config.figures import panel_stem
from dpbandits.config.project import PaperFile
from dpbandits.engine.cells import Series
from dpbandits.engine.identity import digest_of
from dpbandits.engine.play import MetricArrays
from dpbandits.engine.progress import progress
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.metrics import NASH_QUANTITIES, NOMINAL
from dpbandits.metrics.nash import bin_edges
from dpbandits.pipeline.project import PUBLISHED_FIGURES, Project
from dpbandits.pipeline.published import verdicts_in
from dpbandits.pipeline.study import Study
from dpbandits.reporting.lines import check_panel_filters, check_table_filters, read_rows

RUNS = 2
"""Runs that are made up; no filter names a run."""


def made_up_results(series: Sequence[Series]) -> pd.DataFrame:
    """Return the table of a simulation's results with made-up values.

    Columns, series, metrics, times and arms are those that a simulation would write. There are at
    most ``RUNS`` runs, and one where they make Nash curves. Values could have been recorded: regret
    grows, and means are below the largest.
    """
    # One run makes a Nash curve.
    short = [
        replace(line, runs=line.runs[: 1 if line.cell.in_lockstep else RUNS], runs_per_curve=0)
        for line in series
    ]
    made_up: list[MetricArrays] = [
        {metric: _made_up(line, metric, number) for metric in line.cell.metrics}
        for number, line in enumerate(short)
    ]
    frame = results_frame(short, made_up)
    # Rows are selected ten times as fast from plain objects as from concatenated text columns,
    # which are many pieces.
    return frame.astype(dict.fromkeys(frame.select_dtypes("str").columns, object))


def _made_up(series: Series, metric: str, number: int) -> NDArray[np.float64]:
    """Return values of a metric of a series, which is the ``number``-th."""
    cell, name = series.cell, metric.removeprefix(NOMINAL)
    times, arms = np.array(cell.grid, float), len(cell.bandit.arms)
    runs = 1.0 + 0.1 * np.arange(len(series.runs))[:, None]
    best, share = 1.0 if cell.identifies else float(np.max(cell.bandit.means)), 0.9 - 0.2 / times
    if name == "nash_regret":
        log_mean = np.log(best * share) - 0.001 * (number % 10)
        known = {"nash_standard_error": 0.01, "nash_bias": 0.001, "best_mean": best}
        known |= {"average_mean": 0.9 * best, "trajectory_mean": 0.9 * best}
        return np.array(
            [[np.broadcast_to(known.get(q, log_mean), times.shape) for q in NASH_QUANTITIES]]
        )
    made_up: dict[str, Any] = {
        "pseudo_regret": np.sqrt(times) * (1.0 + 0.1 * (number % 10)),
        "realised_regret": np.sqrt(times) * (1.0 + 0.1 * (number % 10)),
        "pulls": np.full(arms, cell.horizon / arms),
        "inverse_counts": np.full(arms, arms / cell.horizon),
        "nash_influence": 0.01 * np.cos(times),
        "nash_bins": np.full(bin_edges(cell.horizon).size, 0.9 * best)
        if name == "nash_bins"
        else 0,
        "success": runs < 1.1,
        "total_pulls": cell.horizon,
        "recommended": 0,
    }
    values = np.atleast_1d(made_up[name])
    is_random = name not in ("success", "recommended", "total_pulls")
    return np.array(values * (runs if is_random else np.ones_like(runs)), float)


def check_files(project: Project) -> None:
    check_ids(project)
    for study in map(project.study, project.built()):
        for plan in study.simulations.values():
            plan.check()
        _check_run_numbers(project, study)
        _check_code(study)
        if study.about is not None:
            _check_about(study, study.about)
        _check_claims(project, study)


def check_ids(project: Project) -> None:
    """Raise InputError unless the ids of each paper begin with letters that are its own.

    Pages show claims of all papers by their ids; drafts that are not chosen are on no page.
    """
    owners: dict[str, str] = {}
    for name in dict.fromkeys([*project.published, *project.built()]):
        study = project.study(name)
        for path, file in study.files:
            if file.paper != name:
                raise InputError(f"{path}: paper is {file.paper!r}; allowed: {name}, its folder")
        if study.is_comparison:
            continue
        letters, (ids, withdrawn, findings) = study.letters, study.ids
        if owners.setdefault(letters, name) != name:
            raise InputError(
                f"{study.claims_path}: ids of claims begin with {letters}, as those of "
                f"{owners[letters]}; allowed: letters that no other paper has"
            )
        if twice := ids & withdrawn:
            raise InputError(
                f"{study.claims_path}: withdrawn has {', '.join(sorted(twice))}; allowed: ids that "
                f"no claim has"
            )
        errata = study.config_path("errata")
        if twice := (ids | withdrawn | findings) & study.errata.errata.keys():
            raise InputError(f"{errata}: errata has {', '.join(sorted(twice))}, a claim or finding")
        for path, given in (
            (study.claims_path, ids | withdrawn),
            (study.findings_path, findings),
            (errata, study.errata.errata.keys() | study.errata.withdrawn.keys()),
        ):
            if others := sorted(each for each in given if each.partition("-")[0] != letters):
                raise InputError(
                    f"{path}: {', '.join(others)} beside {letters}-..., the first claim; allowed: "
                    f"ids that begin with {letters}-"
                )


def _check_code(study: Study) -> None:
    """Raise InputError where the config names a function that the paper's modules do not have."""
    figures, tables = study.figures, study.tables
    for name in figures:
        study.caption(name)
    panels = [panel for figure in figures.values() for panel in figure.panels.values()]
    named = {
        "analytic": list(study.file.analytic),
        "diagrams": [name for name, figure in figures.items() if figure.is_diagram],
        "derived": [panel.compute for panel in panels if panel.compute],
        "tables": [table.compute for table in tables.values() if table.compute],
    }
    for module, names in named.items():
        known: Sequence[str] = ()
        # Modules that draw are slow to import: it is enough that they are there.
        if names and module in ("diagrams", "tables"):
            known = names if study.code.modules(module) else ()
        elif names:
            known = list(study.code.functions(module))
        unknown = [name for name in names if name not in known]
        if unknown:
            allowed = ", ".join(known) or f"none, without a module {study.code.package}.{module}"
            raise InputError(
                f"{study.path}: {module} has no {', '.join(unknown)}; allowed: {allowed}"
            )
    for name in named["analytic"]:
        keys = ["scale", "seed", "workers"] * (name in study.file.scaled)
        given = ["setting"] * (name in study.file.settings_of)
        check_taken(
            f"{study.path}: analytic.{name}",
            study.code.functions("analytic")[name],
            *given,
            keys=keys,
        )
    for name in named["derived"]:
        check_taken(
            f"{study.path}: derived.{name}", study.code.functions("derived")[name], "frames"
        )


def check_taken(
    place: str, function: Callable[..., Any], *given: str, keys: Sequence[str] = ()
) -> None:
    """Raise InputError unless a function of a paper takes the arguments that it is called with."""
    try:
        inspect.signature(function).bind(*given, **dict.fromkeys(keys))
    except TypeError as error:
        allowed = ", ".join((*given, *keys))
        raise InputError(f"{place}: {error}; allowed: a function of ({allowed})") from None


def _check_about(study: Study, about: PaperFile) -> None:
    """Raise InputError where paper.yaml names an algorithm or a figure that the paper lacks."""
    path = study.config_path("paper")
    for name in about.looks:
        if name not in study.algorithms:
            raise InputError.unknown(f"{path}: looks", name, study.algorithms)
    stems = [stem for figure in study.figures.values() for stem in figure.stems]
    if about.picture and about.picture not in stems:
        raise InputError.unknown(f"{path}: picture", about.picture, stems)


def _check_claims(project: Project, study: Study) -> None:
    """Raise InputError where a claim names results, a figure or a table that do not exist."""
    of_comparisons = {
        f"{name}/{result}"
        for name in project.known_comparisons
        for result in project.study(name).file.analytic
    }
    allowed = {
        "reads": {*study.simulations, *study.file.analytic, *of_comparisons},
        "figure": {stem for figure in study.figures.values() for stem in figure.stems}
        | set(study.tables),
    }
    claims = f"{study.claims_path}: claims"
    findings = f"{study.findings_path}: findings"
    asked = [
        (f"{place}.{entry.id}.{key}", getattr(entry, key), allowed[key])
        for place, entries in ((claims, study.claims), (findings, study.findings))
        for entry in entries
        for key in allowed
    ]
    known = {claim.id for claim in study.claims} | set(study.notes.withdrawn)
    for path, entries in ((study.claims_path, study.claims), (study.findings_path, study.findings)):
        with naming(path):
            check_names(entries, study.code.quantities)
            for entry in entries:
                _check_texts(entry)
    asked += [(f"{findings}.{each.id}.claims", each.claims, known) for each in study.findings]
    for place, given, names in asked:
        if unknown := sorted(set(given) - names):
            raise InputError(
                f"{place} has {', '.join(unknown)}; allowed: {', '.join(sorted(names))}"
            )


_NAME = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"(?<![\w.^{-])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w}])")


def _check_texts(entry: StatedEntry) -> None:
    """Raise InputError where a text types a measured number, or names one that is not defined.

    A number may be typed if it is a setting: then another key of the entry has it too.
    """
    names = {name for text in entry.texts for name in _NAME.findall(text)}
    if wrong := sorted(names ^ set(entry.numbers)):
        raise InputError(
            f"{entry.id}: numbers and texts differ in {', '.join(wrong)}; allowed: each name of a "
            f"text under numbers, and no others"
        )
    known = set(map(_value, _NUMBER.findall(entry.settings)))
    typed = [each for text in entry.texts for each in _NUMBER.findall(text)]
    if unknown := [each for each in typed if _value(each) not in known]:
        raise InputError(
            f"{entry.id}: a text types {', '.join(unknown)}; allowed: numbers of place, scope or "
            f"says, and {{names}} of measured ones"
        )


def _value(text: str) -> float:
    return abs(float(text.replace(",", "")))


def check_pages(project: Project) -> None:
    """Check what pages say of the figures of the chosen papers, and that each paper has a summary.

    Messages are compared with the verdicts of the last build, or else with the published ones.
    """
    for study in map(project.study, project.chosen):
        _check_sentences(study)
        study.summary()
        paper = study.name
        built = verdicts_in(project.results_folder() / paper) if project.scale == "paper" else {}
        _check_messages(study, built or verdicts_in(project.folder / PUBLISHED_FIGURES / paper))


def _check_sentences(study: Study) -> None:
    """Raise InputError unless each panel of a paper's figures has one sentence in paper.yaml.

    All variants of a figure share its sentences.
    """
    figures = [each for name, each in study.figures.items() if re.fullmatch(r"fig\d+", name)]
    # The panels of a figure, or the figure itself where it has none.
    stems = {stem for figure in figures for stem in figure.stems[:-1] or figure.stems}
    shown = set(study.about.panels) if study.about else set()
    if stems != shown:
        wrong = ", ".join(sorted(stems ^ shown))
        raise InputError(
            f"{study.config_path('paper')}: panels lacks, or has without a panel, {wrong}; "
            f"allowed: one sentence for each panel of the paper's figures"
        )


OTHERWISE: tuple[Verdict, ...] = (
    *("in part", "not as stated", "undecided", "depends on the reading", "counterexample"),
)
"""Verdicts that the message of a figure about the claim has to name."""


def _check_messages(study: Study, verdicts: Mapping[str, str]) -> None:
    """Raise InputError where a claim is not as stated and the message of its figure is silent.

    No program can tell which sentences state an outcome: a message that names the verdict cannot
    say by itself that the claim holds.
    """
    for name, figure in study.figures.items():
        for claim in study.claims:
            word = verdicts.get(claim.id, "")
            is_about = not {*figure.stems}.isdisjoint(claim.figure)
            if is_about and word in OTHERWISE and f"{{{claim.id}}}" not in figure.message:
                raise InputError(
                    f"{study.path}: figures.{name}.message does not name {claim.id}, which is "
                    f"about it and came out {word!r}; allowed: a message with {{{claim.id}}}"
                )


def check_filters(project: Project) -> None:
    """Check that each filter of figures, tables and claims selects some series.

    It takes seconds, and so is no part of ``check_files``. Exact results, and simulations that
    others tune, are unknown before they are computed, and left out.
    """
    names = project.built()
    for name in progress(names, "checking"):
        _check_study(project, project.study(name))


def _check_study(project: Project, study: Study) -> None:
    known = {name for name, plan in study.simulations.items() if plan.tuned_by is None}
    blank = cache(lambda name: made_up_results(project.series(study.name, name)))
    with naming(study.path):
        _check_shown(study, known, blank)
    # At a small scale some points of a claim are left out.
    if study.scale == "paper":
        for path, entries in (
            (study.claims_path, study.claims),
            (study.findings_path, study.findings),
        ):
            with naming(path):
                check_series(entries, blank, known, study.code.quantities)


def _check_run_numbers(project: Project, study: Study) -> None:
    """Raise InputError where a simulation of claims plays runs of a curve that a figure shows.

    A claim that was read off the figure would then be judged by the same numbers.
    """
    figures = [each for name, each in study.figures.items() if re.fullmatch(r"fig\d+", name)]
    plans = {name: plan for name, plan in study.simulations.items() if plan.tuned_by is None}
    shown = {name for figure in figures for name in figure.reads} & set(plans)
    judged = set(study.read_to_judge["claims"]) & set(plans)
    for one, other in itertools.product(sorted(judged - shown), sorted(shown - judged)):
        runs, others = plans[one].spec.runs, plans[other].spec.runs
        if max(runs.first, others.first) >= min(
            runs.first + runs.count, others.first + others.count
        ):
            continue
        streams = (
            {digest_of(each.cell.stream_description) for each in project.series(study.name, name)}
            for name in (one, other)
        )
        if set.intersection(*streams):
            raise InputError(
                f"{study.path}: simulations.{one}.runs: {other}, which a figure shows, plays some "
                f"of these runs of the same curve; allowed: other run numbers, such as first: "
                f"{max(1000, others.first + others.count)}"
            )


def _check_shown(study: Study, known: set[str], blank: Callable[[str], pd.DataFrame]) -> None:
    """Check the panels of figures, and the tables, that show known simulations."""
    for figure in study.figures.values():
        for letter, panel in figure.panels.items():
            if panel.compute is None and known.issuperset(panel.reads):
                place = f"figures.{panel_stem(figure.name, letter)}"
                rows = read_rows(panel.reads, blank, place)
                check_panel_filters(panel, rows, place, is_whole=study.scale == "paper")
    for name, table in study.tables.items():
        if table.compute is None and known.issuperset(table.reads):
            place = f"tables.{name}"
            check_table_filters(table, read_rows(table.reads, blank, place), place)


def check_names(entries: Iterable[StatedEntry], functions: Mapping[str, Quantity]) -> None:
    """Raise InputError where entries name an unknown function, pick, series or argument."""
    for entry in entries:
        for name, comparison in entry.compare.items():
            with naming(f"{entry.id}: {name}"):
                _check_comparison(comparison, entry, functions)
        labels: list[str] = []
        for reading in (*entry.readings, *entry.beside):
            for case in entry.cases(reading):
                with naming(f"{entry.id}: {case.name}"):
                    labels.append(case.label)
        witness = (("chance", name) for name in getattr(entry, "chance", ()))
        for key, named in (*witness, ("seen_from", getattr(entry, "seen_from", ""))):
            if named and not any(f"{named} [".startswith(f"{label} [") for label in labels):
                raise InputError.unknown(f"{entry.id}: {key}", named, labels)


def _check_comparison(
    comparison: ComparisonSpec, entry: StatedEntry, functions: Mapping[str, Quantity]
) -> None:
    quantity = comparison.quantity
    if quantity:
        if quantity not in functions:
            raise InputError.unknown("quantity", quantity, functions)
        _check_call(quantity, functions[quantity], *comparison.of, **comparison.arguments)
    for pick, options in comparison.pick:
        if pick not in PICKS:
            raise InputError.unknown("pick", pick, PICKS)
        _check_call(pick, PICKS[pick], [], **options)
    for name, _ in comparison.operands:
        if name and "{" not in name and name not in entry.series:
            raise InputError.unknown("series", name, entry.series)


def _check_call(name: str, function: Quantity, *given: Any, **arguments: Any) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **arguments)
    except TypeError as error:
        raise InputError(f"{name}: {error}; allowed: {signature}") from None


class _UnknownError(Exception):
    """Results are not known before they are computed."""


def check_series(
    entries: Iterable[StatedEntry],
    load: Loader,
    known: Collection[str],
    functions: Mapping[str, Quantity],
) -> None:
    """Raise InputError where a comparison asks for a series, tag, metric or time that is missing.

    ``load`` returns a table with the columns and series of the real one, for the names ``known``.
    """

    def load_known(name: str) -> pd.DataFrame:
        if name not in known:
            raise _UnknownError
        return load(name)

    evidence = Evidence(load_known, functions)
    for entry in entries:
        for reading in (*entry.readings, *entry.beside):
            for case in entry.cases(reading):
                with naming(f"{entry.id}: {case.name}"), suppress(_UnknownError):
                    Measurement(case, replace(evidence, reads=entry.reads)).check()
