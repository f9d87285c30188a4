"""What a project builds: every set of results, figure, table and ledger, and what each depends on.

This is the one account of the DAG: workflow, commands, published copies and archive take it from
here.
"""

import csv
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpbandits.config import figures as entries
from dpbandits.config.figures import FigureSpec, files_of
from dpbandits.engine.identity import digest_of, fingerprint
from dpbandits.engine.provenance import (
    is_current,
    provenance_path,
    read_provenance,
    write_provenance,
    write_text,
)
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project, owner
from dpbandits.pipeline.stale import MADE_OF, lines_on, made_of, not_current
from dpbandits.pipeline.study import Study

RESULTS, FIGURE, TABLE = "results", "figure", "table"
CLAIMS, FINDINGS, DIGITISED = "claims", "findings", "digitised"
LEDGER = "ledger"
SHOWN = (FIGURE, TABLE, CLAIMS, FINDINGS, DIGITISED, LEDGER)
"""Kinds that the goals build; results are what these read."""

GOAL_FIGURES, GOAL_VERDICTS, GOAL_EXTRAS = "figures", "verdicts", "extras"
"""Goals, each a rule of its name: the papers' own figures and tables; the verdicts on their claims
(both are ``rule all``); supplementary figures and tables."""

COSTS = Path("docs/cost.csv")
"""Costs of each job of the published build."""

THREADS = 8
"""Number of threads of a job that simulates much."""

EXTRA = "extra-"
"""Beginning of the names of supplementary figures and tables."""


@dataclass(frozen=True)
class Target:
    """One thing that the workflow builds.

    Attributes:
        paper: short name of the paper or comparison; ``all`` for the ledger.
        name: its name in the experiments file, else its kind.
        rule: the rule that makes it, unless it is one of the short results that a job shares.
        files: files that are built, the whole figure first; its provenance is beside the first.
        depends_on: fingerprints: of its entry and its sources together, under ``own_key``, and of
            each of the results that it reads, under the name of these.
        threads: number of threads that it is worth; what is built does not depend on it.
        entry: returns what the config says of it, by the names of the keys.
        sources: modules that make it.
        advice: returns the command that an error message names for it.
    """

    kind: str
    paper: str
    name: str
    rule: str
    inputs: tuple[Path, ...]
    files: tuple[Path, ...]
    caption: str = ""
    depends_on: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    entry: Callable[[], Mapping[str, Any]] = field(default=dict, compare=False, repr=False)
    sources: tuple[str, ...] = ()
    advice: Callable[[], str] = field(default=str, compare=False, repr=False)

    @property
    def own_key(self) -> str:
        """The key of its own fingerprint in ``depends_on``."""
        return self.name if self.kind == RESULTS else self.kind

    @property
    def provenance(self) -> Path:
        return provenance_path(self.files[0])

    @property
    def goal(self) -> str:
        """The goal that it belongs to; meaningless for results, which several goals may need."""
        if self.kind == FINDINGS or self.name.startswith(EXTRA):
            return GOAL_EXTRAS
        return GOAL_VERDICTS if self.kind == LEDGER or CLAIMS in self.depends_on else GOAL_FIGURES

    def current_files(self) -> tuple[Path, ...]:
        """Return the files; InputError where they are missing or stale, with what builds them."""
        if not is_current(self.files[0], self.depends_on):
            exists = self.files[0].is_file() and self.provenance.is_file()
            raise not_current(self, self.files[0], exists=exists)
        return self.files


def rule_name(*words: str) -> str:
    """Return the name of a rule: of a paper, ``ts_is_dp``, or of what is built of it."""
    return "_".join(words).replace("-", "_")


def published_seconds(project: Project) -> dict[str, float]:
    """Return the CPU time of each set of results in the published build: PAPER/NAME -> seconds."""
    path = project.folder / COSTS
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()
    return {
        f"{row['paper']}/{row['name']}": float(row["cpu_seconds"])
        for row in rows
        if row["kind"] == RESULTS
    }


def targets_of(built: Iterable[Target], *goals: str) -> list[Target]:
    """Return the targets that the rules of these goals build."""
    return [target for target in built if target.kind in SHOWN and target.goal in goals]


SHORT = 6.0
"""Results that take fewer seconds of CPU time are made together: starting a job takes two."""


def shared_jobs(project: Project, built: Iterable[Target]) -> dict[str, list[Target]]:
    """Return, by name, the results that one job makes: short ones of one paper and goal.

    At the quick scale all results are short, and those of ``rule all`` count as one goal.
    """
    is_quick, seconds, every = project.scale == "quick", published_seconds(project), list(built)
    own = [(GOAL_FIGURES, GOAL_VERDICTS)] if is_quick else [(GOAL_FIGURES,), (GOAL_VERDICTS,)]
    goals = [*own, (GOAL_EXTRAS,)]
    left = [target for target in every if target.kind == RESULTS]
    found: dict[str, list[Target]] = {}
    for group in goals:
        needed = left if group == (GOAL_EXTRAS,) else results_for(every, targets_of(every, *group))
        for target in [each for each in left if each in needed]:
            left.remove(target)
            if is_quick or seconds.get(f"{target.paper}/{target.name}", SHORT) < SHORT:
                found.setdefault(rule_name(target.paper, group[0], RESULTS), []).append(target)
    return found


def results_for(every: Iterable[Target], made: Iterable[Target]) -> list[Target]:
    """Return the results that some targets need, those that tune others among them."""
    results = [target for target in every if target.kind == RESULTS]
    read = {path for target in made for path in target.inputs}
    # Results that tune others come first in the list.
    for target in reversed(results):
        if target.files[0] in read:
            read |= set(target.inputs)
    return [target for target in results if target.files[0] in read]


@contextmanager
def write_with_provenance(project: Project, target: Target) -> Iterator[tuple[Path, ...]]:
    """Yield the files of a figure, table or ledger to be written; then write their provenance."""
    begun = time.monotonic()
    yield target.files
    details = {
        "scale": project.scale,
        "seed": project.seed,
        "depends_on": dict(target.depends_on),
        MADE_OF: made_of(target),
    }
    write_provenance(target.files[0], project.folder, details, time.monotonic() - begun)


LEDGER_CAPTION = "The claims of all papers, each with its verdict and the number behind it."

VERDICT_FILES = {
    CLAIMS: ("claims", "evidence"),
    FINDINGS: ("findings", "findings-evidence"),
}
"""Kind -> its files of verdicts and of comparisons."""

ON_PAGES = ("message", "numbers")
"""Keys of a figure that only pages show."""


def targets(project: Project) -> list[Target]:
    """Return what is built of the chosen papers, each after what it is built from."""
    built = [
        target for paper in project.built() for target in _of_study(project, project.study(paper))
    ]
    ledger = [ledger_target(project)] if project.chosen else []
    return [*_of_others(project), *built, *ledger]


def _of_study(project: Project, study: Study) -> Iterator[Target]:
    """Yield the targets of a paper; results that choose parameters of others come first."""
    names = [*study.simulations, *study.file.analytic]
    results = [results_target(project, study.name, name) for name in names]
    yield from sorted(results, key=lambda target: bool(target.inputs))
    if not study.is_comparison:
        yield verdicts_target(project, study.name, CLAIMS)
        if study.findings_path.exists():
            yield verdicts_target(project, study.name, FINDINGS)
    if digitised_figures(study):
        yield digitised_target(project, study.name)
    for name in study.figures:
        yield figure_target(project, study.name, name)
    for name in study.tables:
        yield table_target(project, study.name, name)


def _of_others(project: Project) -> Iterator[Target]:
    """Yield the results of comparisons that are not built, which claims or findings read."""
    papers = project.built()
    kinds = itertools.product(papers, VERDICT_FILES)
    named = [
        (paper, name) for paper, kind in kinds for name in project.study(paper).read_to_judge[kind]
    ]
    for paper, name in dict.fromkeys(owner(*each) for each in named):
        if paper not in papers:
            yield results_target(project, paper, name)


def results_target(project: Project, paper: str, name: str) -> Target:
    """Return one simulation, or one exact result."""
    study = project.study(paper)
    plan = None if name in study.file.analytic else study.simulation(name)
    tuned_by = [plan.tuned_by] if plan is not None and plan.tuned_by else []
    is_brief = project.scale == "quick" or plan is None or plan.is_brief
    path = project.results_path(paper, name)
    return Target(
        kind=RESULTS,
        paper=paper,
        name=name,
        rule=RESULTS,
        inputs=_paths(project, paper, tuned_by),
        files=(path,),
        depends_on=_read(project, paper, [name]),
        threads=1 if is_brief else THREADS,
        entry=partial(study.config_of, name, project.seed),
        sources=tuple(study.modules_of(name)),
        advice=partial(project.command_for, paper, path.relative_to(project.folder).as_posix()),
    )


def _read(project: Project, paper: str, names: Iterable[str]) -> dict[str, str]:
    return {name: project.results_fingerprint(paper, name) for name in names}


def _paths(project: Project, paper: str, names: Iterable[str]) -> tuple[Path, ...]:
    return tuple(project.results_path(paper, name) for name in names)


def _digest(*parts: Any) -> str:
    return digest_of(list(parts))[:16]


def figure_target(project: Project, paper: str, name: str) -> Target:
    """Return one figure, with its panels.

    Its fingerprint covers its entry and the sources that draw it.
    """
    study = project.study(paper)
    figure = study.figure(name)
    sources = ["dpbandits.reporting.draw", *_derived_by(study, [figure])]
    if figure.is_diagram:
        sources += study.code.modules("diagrams")
    stems = sorted(figure.stems, key=lambda stem: stem != name)
    folder, entry = project.figures_folder(paper), _entry_of(figure)
    files = [path for stem in stems for path in files_of(folder / stem)]
    return Target(
        kind=FIGURE,
        paper=paper,
        name=name,
        rule=rule_name(paper, name),
        inputs=_paths(project, paper, figure.reads),
        files=tuple(files),
        caption=f"{study.caption(name)} {figure.chosen or ''}".rstrip(),
        depends_on={FIGURE: _digest(entry, fingerprint(*sources))}
        | _read(project, paper, figure.reads),
        entry=lambda: {f"figures.{name}": entry},
        sources=tuple(sources),
        advice=partial(project.command_for, paper, rule_name(paper, name)),
    )


def _derived_by(study: Study, figures: Iterable[FigureSpec]) -> list[str]:
    """Return the module ``derived`` where a panel has values that it computes."""
    panels = [panel for figure in figures for panel in figure.panels.values()]
    return study.code.modules("derived") if any(panel.compute for panel in panels) else []


def _entry_of(figure: FigureSpec) -> dict[str, Any]:
    """Return a figure's entry, without keys that only pages show."""
    panels = {letter: panel.model_dump(mode="json") for letter, panel in figure.panels.items()}
    drawn = {key: value for key, value in vars(figure).items() if key not in ON_PAGES}
    return {**drawn, "panels": panels}


def table_target(project: Project, paper: str, name: str) -> Target:
    """Return one table: of results, of verdicts, or of digitised values."""
    study = project.study(paper)
    table = study.table(name)
    sources = ["dpbandits.reporting.tables"]
    if table.compute is not None:
        sources += study.code.modules("tables")
    if table.reads == entries.READS_CLAIMS:
        read = verdicts_target(project, paper, CLAIMS)
        inputs, depends_on = read.files[:1], dict(read.depends_on)
    elif table.reads == entries.READS_DIGITISED:
        read = digitised_target(project, paper)
        inputs, depends_on = read.files, dict(read.depends_on)
    else:
        inputs = _paths(project, paper, table.reads)
        depends_on = _read(project, paper, table.reads)
    folder, entry = project.tables_folder(paper), table.model_dump(mode="json")
    return Target(
        kind=TABLE,
        paper=paper,
        name=name,
        rule=rule_name(paper, "table", name),
        inputs=inputs,
        files=tuple(folder / f"{name}.{suffix}" for suffix in ("tex", "csv")),
        caption=table.caption,
        depends_on={
            TABLE: _digest(entry, fingerprint(*sources)),
            **depends_on,
        },
        entry=lambda: {f"tables.{name}": entry},
        sources=tuple(sources),
        advice=partial(project.command_for, paper, rule_name(paper, "table", name)),
    )


def verdicts_target(project: Project, paper: str, kind: str) -> Target:
    """Return the verdicts on the ``claims`` of a paper, or on the ``findings``."""
    study = project.study(paper)
    if study.is_comparison:
        raise InputError(
            f"paper is {paper!r}, which has no claims; allowed: {', '.join(project.papers)}"
        )
    folder = project.results_folder() / paper
    return Target(
        kind=kind,
        paper=paper,
        name=kind,
        rule=rule_name(paper, kind),
        inputs=_paths(project, paper, study.read_to_judge[kind]),
        files=tuple(folder / f"{name}.csv" for name in VERDICT_FILES[kind]),
        depends_on={kind: study.judged_fingerprint(kind)}
        | _read(project, paper, study.read_to_judge[kind]),
        entry=partial(study.judged_entry, kind),
        sources=tuple(study.judging_modules),
        advice=partial(project.command_for, paper, rule_name(paper, kind)),
    )


def digitised_figures(study: Study) -> list[FigureSpec]:
    """Return the figures that are compared with digitised values."""
    return [figure for figure in study.figures.values() if figure.residuals]


def digitised_target(project: Project, paper: str) -> Target:
    """Return the comparison of a paper's digitised values with those that we computed."""
    study = project.study(paper)
    compared = digitised_figures(study)
    reads = list(dict.fromkeys(name for figure in compared for name in figure.reads))
    shown = [_entry_of(figure) for figure in compared]
    sources = ("dpbandits.reporting.digitised", *_derived_by(study, compared))
    return Target(
        kind=DIGITISED,
        paper=paper,
        name=DIGITISED,
        rule=rule_name(paper, DIGITISED),
        inputs=_paths(project, paper, reads),
        files=(project.results_folder() / paper / "digitised.csv",),
        depends_on={DIGITISED: _digest(shown, fingerprint(*sources))}
        | _read(project, paper, reads),
        entry=lambda: {f"figures.{each['name']}": each for each in shown},
        sources=sources,
        advice=partial(project.command_for, paper, rule_name(paper, DIGITISED)),
    )


def ledger_target(project: Project) -> Target:
    """Return the verdicts on the claims of all chosen papers."""
    papers = project.chosen
    folder = project.results_folder()
    judged = {each: dict(verdicts_target(project, each, CLAIMS).depends_on) for each in papers}
    sources = ("dpbandits.claims.tables",)
    return Target(
        kind=LEDGER,
        paper="all",
        name=LEDGER,
        rule=LEDGER,
        inputs=tuple(folder / paper / f"{CLAIMS}.csv" for paper in papers),
        files=(folder / f"{LEDGER}.csv",),
        caption=LEDGER_CAPTION,
        depends_on={LEDGER: fingerprint(*sources)}
        | {each: _digest(depends_on) for each, depends_on in judged.items()},
        sources=sources,
        advice=partial(project.command_for, "", LEDGER),
    )


def built_targets(project: Project) -> list[Target]:
    """Return all that the project builds and the results that it needs, inputs first."""
    every = targets(project)
    made = [target for target in every if target.kind in SHOWN]
    for target in made:
        target.current_files()
    needed = results_for(every, made)
    for target in needed:
        project.frame(target.paper, target.name)
        read_provenance(target.provenance)
    return [*needed, *made]


def sentinel_path(project: Project) -> Path:
    """Return the sentinel: a file newer than all stale outputs while the workflow chooses its jobs.

    It is beside Snakemake's own records, because a cache may not be writable.
    """
    return project.folder / ".snakemake/now"


def planned_targets(project: Project, *, is_job: bool = False) -> list[Target]:
    """Return all targets; those that are built but stale have the sentinel among their inputs.

    A job does not write the sentinel: the workflow that started it did.
    """
    path = sentinel_path(project)
    every = targets(project)
    _warn_of_times({path for target in every for path in target.inputs})
    stale = stale_among(every)
    if stale and not is_job:
        # Snakemake takes a small file with the same text for unchanged.
        write_text(path, f"newer than what is stale, {time.time_ns()}\n")
        files = (file for target in stale for file in target.files if file.exists())
        newest = max(file.stat().st_mtime for file in files)
        # Outputs may be dated ahead of the clock.
        os.utime(path, times=(newest + 1, max(newest + 1, path.stat().st_mtime)))
        for line in lines_on(stale):
            print(line, file=sys.stderr)
    return [replace(each, inputs=(*each.inputs, path)) if each in stale else each for each in every]


def stale_among(every: Iterable[Target]) -> list[Target]:
    """Return the targets that are built but stale."""
    return [each for each in every if each.files[0].exists() and not _is_current(each)]


def _warn_of_times(paths: Iterable[Path]) -> None:
    """Warn of files that are dated ahead of the clock: Snakemake fails on what is made of them."""
    latest = time.time() + 60
    ahead = [path for path in paths if path.exists() and path.stat().st_mtime > latest]
    if ahead:
        print(
            f"warning: {min(ahead)} is dated ahead of the clock, one of {len(ahead)}; Snakemake "
            "fails where something is made of it; run find results figures -newermt now -exec "
            "touch {} +",
            file=sys.stderr,
        )


def _is_current(target: Target) -> bool:
    """Return whether the fingerprints in results, or in a provenance file, are those of now."""
    if target.kind == RESULTS:
        # Where there are no results, the library that reads them may be missing.
        from dpbandits.engine.provenance import results_stamp

        return results_stamp(target.files[0]) in target.depends_on.values()
    return is_current(target.files[0], target.depends_on)
