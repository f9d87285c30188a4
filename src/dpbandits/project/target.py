"""One thing that a project builds, and which of them a run is to build."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpbandits.engine.provenance import provenance_path, write_provenance
from dpbandits.engine.spent import peak_memory
from dpbandits.project.config import Project

RESULTS, FIGURE, TABLE = "results", "figure", "table"
CLAIMS, DIGITISED, LEDGER, REPORT = "claims", "digitised", "ledger", "report"

THREADS = 8
"""Number of threads of a job that simulates much."""

EXTRA = "extra-"
"""Beginning of the names of supplementary figures and tables."""


@dataclass(frozen=True)
class Target:
    """One thing that the workflow builds.

    Attributes:
        kind: ``results``, ``figure``, ``table``, ``claims`` (the verdicts on a paper's claims),
            ``digitised`` (digitised values compared with ours), ``ledger`` (the verdicts of all
            papers) or ``report`` (all of it as PDF).
        paper: short name of the paper or comparison; ``all`` for the ledger and the report.
        name: its name in the experiments file, else its kind.
        rule: the rule that builds it.
        inputs: files that it is built from.
        files: files that are built, the whole figure first; its provenance is beside the first.
        caption: its caption in the report.
        depends_on: name -> fingerprint of all that it depends on: its entry and the sources, under
            its kind or, for results, its name, and the results that it reads.
        threads: number of threads that it is worth; what is built does not depend on it.
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

    @property
    def provenance(self) -> Path:
        """The provenance file."""
        return provenance_path(self.files[0])

    @property
    def is_extra(self) -> bool:
        """Whether it is supplementary, built by ``make extras``."""
        return self.name.startswith(EXTRA)


def rule_name(*words: str) -> str:
    """Return the name of a rule: of a paper, ``ts_is_dp``, or of what is built of it."""
    return "_".join(words).replace("-", "_")


def wanted(built: Iterable[Target], *, extra: bool) -> list[Target]:
    """Return what ``rule all`` builds of all targets, the papers' own, or ``rule extras``."""
    kinds = (FIGURE, TABLE) if extra else (FIGURE, TABLE, CLAIMS, DIGITISED, LEDGER)
    return [target for target in built if target.kind in kinds and target.is_extra == extra]


def record(project: Project, target: Target, begun: float) -> None:
    """Write the provenance of a figure, table or ledger that was just built.

    Args:
        project: the project.
        target: what was built.
        begun: when its making began, by ``time.monotonic``.
    """
    details = {
        "scale": project.scale,
        "seed": project.seed,
        "depends_on": dict(target.depends_on),
        "core_seconds": round(time.process_time(), 3),
        "memory": peak_memory(),
    }
    write_provenance(target.files[0], project.folder, details, time.monotonic() - begun)
