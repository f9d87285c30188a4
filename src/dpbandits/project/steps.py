"""The steps of a build: every set of results, figure, table and ledger, its rule and its inputs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs

SIMULATE, REPORT = "workflow/rules/simulate.smk", "workflow/rules/report.smk"


@dataclass(frozen=True)
class Step:
    """One job of the workflow, done.

    Attributes:
        rule: name of its rule.
        source: file in which the rule stands.
        command: what the rule runs, the word after ``dpbandits``.
        name: what was made, in words.
        inputs: files read.
        outputs: files made; the provenance of all stands beside the first.
        entry: file of the config, with the key, that says what is made.
        made_from: name -> fingerprint of what it depends on.
    """

    rule: str
    source: str
    command: str
    name: str
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    entry: str
    made_from: Mapping[str, str]

    @property
    def sidecar(self) -> Path:
        """Where its provenance stands."""
        return self.outputs[0].with_suffix(".provenance.json")

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What was recorded when it was done; InputError where that is missing or damaged."""
        try:
            record = json.loads(self.sidecar.read_text(encoding="utf-8"))
            return {**record, "versions": {**record["versions"]}, "seconds": +record["seconds"]}
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f"{self.sidecar}: is missing or damaged; run snakemake to build it"
            ) from None


def steps_of(project: Project) -> list[Step]:
    """Return every step behind what the project builds, what is read before who reads it.

    Raises:
        InputError: results, a figure, a table or a ledger is missing, damaged or stale.
    """
    outputs = Outputs(project)
    names = [*outputs.targets(), *outputs.extra_targets(), *outputs.whole_ledger_targets()]
    wanted = set(_paths(names))
    made = [step for step in made_steps(outputs) if not wanted.isdisjoint(step.outputs)]
    for step in made:
        require_current(step.outputs[0], step.made_from)
    needed = _needed(outputs, {path for step in made for path in step.inputs})
    for step in needed:
        project.frame(step.outputs[0].parent.name, step.outputs[0].stem)
    return [*needed, *made]


def _needed(outputs: Outputs, read: set[Path]) -> list[Step]:
    """Return the results that are read, and those that choose parameters of them, in order."""
    wanted, results = set(read), list(results_steps(outputs))
    for step in reversed(results):
        if step.outputs[0] in wanted:
            wanted |= set(step.inputs)
    return [step for step in results if step.outputs[0] in wanted]


def results_steps(outputs: Outputs) -> Iterator[Step]:
    """Yield every set of results, those that choose parameters of others first."""
    project = outputs.project
    for paper in project.built():
        experiments = project.experiments(paper)
        names = [*experiments.plans, *experiments.analytic]
        for name in sorted(names, key=lambda each: bool(outputs.tuned_by(paper, each))):
            yield Step(
                rule="results",
                source=SIMULATE,
                command="run",
                name=f"{paper}: results {name}",
                inputs=_paths(outputs.tuned_by(paper, name)),
                outputs=(project.results_path(paper, name),),
                entry=_entries(outputs, paper, "experiments") + f"#{name}",
                made_from={name: project.results_fingerprint(paper, name)},
            )


def made_steps(outputs: Outputs) -> Iterator[Step]:
    """Yield what is judged, drawn, written and gathered, what is read before who reads it."""
    for paper in outputs.project.built():
        yield from _judged(outputs, paper)
        yield from _drawn(outputs, paper)
    yield Step(
        rule="ledger",
        source=REPORT,
        command="ledger",
        name="the ledger of all papers",
        inputs=_paths(outputs.whole_ledger_inputs()),
        outputs=_paths(outputs.whole_ledger()),
        entry="config/config.yaml#papers",
        made_from=outputs.whole_ledger_made_from(),
    )


def _judged(outputs: Outputs, paper: str) -> Iterator[Step]:
    if outputs.ledger(paper):
        yield Step(
            rule="claims",
            source=REPORT,
            command="judge",
            name=f"{paper}: verdicts on every claim",
            inputs=_paths(outputs.ledger_inputs(paper)),
            outputs=_paths(outputs.ledger(paper)),
            entry=_entries(outputs, paper, "claims") + "#claims",
            made_from=outputs.ledger_made_from(paper),
        )
    if outputs.digitised_figures(paper):
        yield Step(
            rule="digitised",
            source=REPORT,
            command="digitised",
            name=f"{paper}: digitised values beside ours",
            inputs=_paths(outputs.digitised_inputs(paper)),
            outputs=_paths([outputs.digitised(paper)]),
            entry=_entries(outputs, paper, "experiments") + "#figures",
            made_from=outputs.digitised_made_from(paper),
        )


def _drawn(outputs: Outputs, paper: str) -> Iterator[Step]:
    experiments = outputs.project.experiments(paper)
    for figure in experiments.figures:
        files = [path for _, path in outputs.figure_files(paper, figure)]
        yield Step(
            rule=f"{paper}_{figure}".replace("-", "_"),
            source=f"workflow/rules/{paper}.smk",
            command="draw",
            name=f"{paper}: {figure}",
            inputs=_paths(outputs.figure_inputs(paper, figure)),
            outputs=tuple(sorted(_paths(files), key=lambda each: each.stem != figure)),
            entry=_entries(outputs, paper, "experiments") + f"#{figure}",
            made_from=outputs.figure_made_from(paper, figure),
        )
    for table in experiments.tables:
        yield Step(
            rule=f"{paper}_table_{table}".replace("-", "_"),
            source=f"workflow/rules/{paper}.smk",
            command="tabulate",
            name=f"{paper}: table {table}",
            inputs=_paths(outputs.table_inputs(paper, table)),
            outputs=_paths(outputs.table_files(paper, table)),
            entry=_entries(outputs, paper, "experiments") + f"#{table}",
            made_from=outputs.table_made_from(paper, table),
        )


def _paths(names: list[str]) -> tuple[Path, ...]:
    return tuple(map(Path, names))


def _entries(outputs: Outputs, paper: str, kind: str) -> str:
    project = outputs.project
    return project.config_path(paper, kind).relative_to(project.folder).as_posix()
