"""Tables of verdicts with made-up numbers, so that pages can be made before anything is judged."""

from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from dpbandits.claims.estimates import Estimate, RandomEstimate
from dpbandits.claims.judge import judge
from dpbandits.claims.measure import Measurement
from dpbandits.claims.series import Evidence
from dpbandits.claims.tables import evidence_table, to_csv, verdict_table
from dpbandits.pipeline.project import PUBLISHED_FIGURES, Project
from dpbandits.pipeline.targets import VERDICT_FILES
from invented import copy_parts


@dataclass(frozen=True, eq=False)
class MadeUp(RandomEstimate):
    """A number with an interval of one width at any level."""

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends."""
        return self.value - 0.01, self.value + 0.01


def made_project(folder: Path) -> Project:
    """Return a copy of the project whose papers have made-up verdicts, in an empty folder."""
    copy_parts(folder, "config", "workflow", "docs", "README.md", "CITATION.cff")
    project = Project.load(folder)
    for paper in project.published:
        publish_made_up(project, paper)
    return project


def publish_made_up(project: Project, paper: str) -> None:
    """Write every table of verdicts of a paper, with every comparison that a text of it names."""
    study = project.study(paper)
    errata = study.errata.errata.values()
    texts = [each.numbers for each in (*study.stated, *errata, study.summary())]
    named = {source.comparison for numbers in texts for source in numbers.values()}

    def numbers(measurement: Measurement) -> dict[str, Estimate]:
        comparison, label = measurement.case.comparison, measurement.case.label
        begin = f"{label} ["
        points = [each[len(begin) : -1] for each in named if each.startswith(begin)]
        points = [""] * (label in named or not points) + sorted(points)
        middle = 0.5 if comparison.kind in ("less", "at_most") else 1.5
        make = Estimate if comparison.quantity else MadeUp
        return {point: make(middle + index / 64, 50) for index, point in enumerate(points)}

    folder, evidence = project.folder / PUBLISHED_FIGURES / paper, Evidence.of_frames({})
    with (
        patch.object(Measurement, "numbers", numbers),
        patch.object(Evidence, "runs", lambda *names: 10**6),
    ):
        judged = judge(study.claims, evidence, in_family=True), judge(study.findings, evidence)
    for names, outcomes in zip(VERDICT_FILES.values(), judged, strict=True):
        for name, table in zip(names, (verdict_table, evidence_table), strict=True):
            (folder / f"{name}.csv").write_text(to_csv(table(outcomes)))
