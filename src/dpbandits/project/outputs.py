"""Which files a project builds, from which, and the fingerprints they depend on.

The workflow asks here; the paths are relative to the project's folder.
"""

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpbandits.claims.entries import Claim
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.fingerprints import fingerprint
from dpbandits.engine.provenance import write_provenance
from dpbandits.engine.spent import peak_memory
from dpbandits.papers import COMPARISONS
from dpbandits.project.claims_summary import CAPTION
from dpbandits.project.config import Project
from dpbandits.reporting.published import has_published
from dpbandits.reporting.specs import DIAGRAM, figure_reads, figure_stems, parse_figure
from dpbandits.reporting.table_specs import DIGITISED, LEDGER, parse_table
from dpbandits.reporting.templates import template_text

LEDGER_FILES = ("claims", "simultaneous", "evidence", "findings")
SUFFIXES = ("png", "pdf", "csv")
TABLE_SUFFIXES = ("tex", "tabular", "html", "csv")


@dataclass(frozen=True)
class Outputs:
    """The outputs of one project."""

    project: Project

    def options(self) -> str:
        """Return what every command is told, so that it sees the same config as the workflow."""
        return f"--scale {self.project.scale} --seed {self.project.seed}"

    def choice(self) -> str:
        """Return what commands on all that is chosen are told: a run may choose otherwise."""
        config = self.project.config
        words = ["--papers", *config["papers"], "--comparisons", *config.get("comparisons", ())]
        words += ["--only", str(config["only"])] if config.get("only") else []
        return f"{self.options()} {shlex.join(words)}"

    def kernels_marker(self) -> str:
        """File that says that the kernels were compiled once; it goes with the cache."""
        return str(self.project.cache_folder / "kernels.done")

    def epoch(self) -> str:
        """File that is older than all results but stale ones, an input of every one of them."""
        return str(self.project.cache_folder / "epoch")

    def results_pattern(self) -> str:
        """Path of any results, with the wildcards paper and name."""
        return str(self.project.results_path("{paper}", "{name}"))

    def tuned_by(self, paper: str, name: str) -> list[str]:
        """Return the results that set parameters of the results ``name``."""
        experiments = self.project.experiments(paper)
        if name in experiments.analytic or experiments.plan(name).tuned_by is None:
            return []
        return [str(self.project.results_path(paper, str(experiments.plan(name).tuned_by)))]

    def figure_files(self, paper: str, figure: str) -> list[tuple[str, str]]:
        """Return (panel, path) of every file of a figure, panels in reading order."""
        folder = self.project.figures_folder(paper)
        stems = figure_stems(figure, self.project.figure_spec(paper, figure))
        return [(stem, str(folder / f"{stem}.{suffix}")) for stem in stems for suffix in SUFFIXES]

    def figure_inputs(self, paper: str, figure: str) -> list[str]:
        """Return the results that a figure reads."""
        reads = figure_reads(figure, self.project.figure_spec(paper, figure))
        return [str(self.project.results_path(paper, name)) for name in reads]

    def figure_fingerprint(self, paper: str, figure: str) -> str:
        """Return the hash of what a figure is drawn with: its entry and the plotting sources."""
        spec = self.project.figure_spec(paper, figure)
        package = self.project.experiments(paper).paper.package
        sources = ["dpbandits.reporting.figures"]
        if spec.get("kind") == DIAGRAM:
            sources = [f"{package}.diagrams"]
        elif any(panel.compute for panel in parse_figure(figure, spec).panels.values()):
            sources.append(f"{package}.derived")
        return digest_of([dict(spec), fingerprint(*sources)])[:16]

    def figure_made_from(self, paper: str, figure: str) -> dict[str, str]:
        """Return the fingerprints that a figure depends on: its own and those of its results."""
        own = {"figure": self.figure_fingerprint(paper, figure)}
        return own | self._results(paper, self.figure_inputs(paper, figure))

    def ledger_made_from(self, paper: str) -> dict[str, str]:
        """Return the fingerprints that the verdicts depend on."""
        own = {"claims": self.ledger_fingerprint(paper)}
        return own | self._results(paper, self.ledger_inputs(paper))

    def _results(self, paper: str, paths: list[str]) -> dict[str, str]:
        names = [Path(path).stem for path in paths]
        return {name: self.project.results_fingerprint(paper, name) for name in names}

    def caption(self, paper: str, figure: str) -> str:
        """Return the caption of a figure, for the report."""
        return parse_figure(figure, self.project.figure_spec(paper, figure)).caption

    def ledger(self, paper: str) -> list[str]:
        """Return the files that come of judging a paper; what is ours has none.

        The verdicts on its claims, every comparison, both verdicts on each row, the findings.
        """
        if paper in COMPARISONS:
            return []
        folder = self.project.results_folder() / paper
        return [str(folder / f"{name}.csv") for name in LEDGER_FILES]

    def claim_figures(self, paper: str, claim: Claim) -> list[str]:
        """Return a file of each figure, panel and table that a claim is about, in the project."""
        project = self.project
        tables = project.experiments(paper).tables
        paths = [
            project.tables_folder(paper) / f"{name}.csv"
            if name in tables
            else project.figures_folder(paper) / f"{name}.png"
            for name in claim.figures
        ]
        return [path.relative_to(project.folder).as_posix() for path in paths]

    def ledger_inputs(self, paper: str) -> list[str]:
        """Return all results that the paper's claims and the findings on it read."""
        if paper not in self._claims:
            findings = [each.claim for each in self.project.findings(paper)]
            self._claims[paper] = [*self.project.claims(paper), *findings]
        reads = {name for claim in self._claims[paper] for name in claim.reads}
        return [str(self.project.results_path(paper, name)) for name in sorted(reads)]

    def ledger_fingerprint(self, paper: str) -> str:
        """Return the hash of what claims are judged with: their entries and the sources."""
        package = self.project.experiments(paper).paper.package
        sources = fingerprint(f"{package}.statistics", "dpbandits.claims.simultaneous")
        paths = [self.project.claims_path(paper), self.project.findings_path(paper)]
        texts = [path.read_text() for path in paths if path.exists()]
        return digest_of([*texts, sources])[:16]

    def whole_ledger(self) -> list[str]:
        """Return the files with the verdicts on the claims of all chosen papers."""
        folder = self.project.results_folder()
        table = folder / "tables" / "claims"
        return [str(folder / "claims.csv"), *(f"{table}.{suffix}" for suffix in TABLE_SUFFIXES)]

    def whole_ledger_caption(self) -> str:
        """Return the caption of the whole ledger, for the report."""
        return CAPTION

    def whole_ledger_inputs(self) -> list[str]:
        """Return the ledgers of the chosen papers."""
        papers = self.project.selected()[0]
        return [path for paper in papers for path in self.ledger(paper)[:2]]

    def whole_ledger_made_from(self) -> dict[str, str]:
        """Return the fingerprints that the whole ledger depends on."""
        papers = {paper: self.ledger_fingerprint(paper) for paper in self.project.selected()[0]}
        own = [fingerprint("dpbandits.project.claims_summary"), template_text("table.html")]
        return {"ledger": digest_of(own)[:16]} | papers

    def whole_ledger_targets(self) -> list[str]:
        """Return the whole ledger, unless only a part of a paper, or of ours, is asked for."""
        papers, item = self.project.selected()
        return self.whole_ledger() if papers and item is None else []

    @cached_property
    def _claims(self) -> dict[str, list[Claim]]:
        """The claims read so far: rules ask of papers that are not built, too."""
        return {}

    def digitised(self, paper: str) -> str:
        """Return the file of digitised values beside ours; a paper may have none."""
        return str(self.project.results_folder() / paper / "digitised.csv")

    def digitised_figures(self, paper: str) -> list[str]:
        """Return the figures with digitised values."""
        figures = self.project.experiments(paper).figures
        return [name for name in figures if has_published(self.project.figure_spec(paper, name))]

    def digitised_inputs(self, paper: str) -> list[str]:
        """Return the results that stand beside digitised values."""
        inputs = (self.figure_inputs(paper, name) for name in self.digitised_figures(paper))
        return list(dict.fromkeys(path for own in inputs for path in own))

    def digitised_fingerprint(self, paper: str) -> str:
        """Return the hash of what digitised values are held against ours with."""
        figures = [
            dict(self.project.figure_spec(paper, name)) for name in self.digitised_figures(paper)
        ]
        return digest_of([figures, fingerprint("dpbandits.reporting.agreement")])[:16]

    def digitised_made_from(self, paper: str) -> dict[str, str]:
        """Return the fingerprints that the comparison of digitised values with ours depend on."""
        own = {"digitised": self.digitised_fingerprint(paper)}
        return own | self._results(paper, self.digitised_inputs(paper))

    def table_files(self, paper: str, table: str) -> list[str]:
        """Return the files of a table."""
        folder = self.project.tables_folder(paper)
        return [str(folder / f"{table}.{suffix}") for suffix in TABLE_SUFFIXES]

    def table_caption(self, paper: str, table: str) -> str:
        """Return the caption of a table, for the report."""
        return parse_table(table, self.project.table_spec(paper, table)).caption

    def table_inputs(self, paper: str, table: str) -> list[str]:
        """Return what a table reads: results, the ledger (``claims``) or the ``digitised``."""
        reads = parse_table(table, self.project.table_spec(paper, table)).reads
        if reads == LEDGER:
            return self.ledger(paper)[:1]
        if reads == DIGITISED:
            return [self.digitised(paper)]
        return [str(self.project.results_path(paper, name)) for name in reads]

    def table_made_from(self, paper: str, table: str) -> dict[str, str]:
        """Return the fingerprints that a table depends on."""
        spec = self.project.table_spec(paper, table)
        parsed = parse_table(table, spec)
        sources = ["dpbandits.reporting.tables"]
        if parsed.compute is not None:
            sources.append(f"{self.project.experiments(paper).paper.package}.tables")
        template = template_text("table.html")
        own = {"table": digest_of([dict(spec), fingerprint(*sources), template])[:16]}
        if parsed.reads == LEDGER:
            return own | self.ledger_made_from(paper)
        if parsed.reads == DIGITISED:
            return own | self.digitised_made_from(paper)
        return own | self._results(paper, self.table_inputs(paper, table))

    def report(self) -> list[str]:
        """Return the files of the typeset report."""
        folder = self.project.results_folder()
        return [str(folder / f"report.{suffix}") for suffix in ("tex", "pdf")]

    def report_inputs(self) -> list[str]:
        """Return what the report shows: everything."""
        return [*self.targets(), *self.extra_targets(), *self.whole_ledger_targets()]

    def report_made_from(self) -> dict[str, str]:
        """Return the fingerprint of the report's own sources; what it shows has others."""
        own = [fingerprint("dpbandits.commands.typeset"), template_text("report.tex")]
        return {"report": digest_of(own)[:16]}

    def targets(self) -> list[str]:
        """Return what ``rule all`` builds: the papers' own figures, tables and verdicts."""
        return self._targets(extra=False)

    def extra_targets(self) -> list[str]:
        """Return what ``rule extras`` builds: what is ours."""
        return self._targets(extra=True)

    def _targets(self, *, extra: bool) -> list[str]:
        item = self.project.selected()[1]
        built = self.project.built()
        found = [path for paper in built for path in self._paper_targets(paper, item, extra)]
        return list(dict.fromkeys(found))

    def _paper_targets(self, paper: str, item: str | None, extra: bool) -> list[str]:
        experiments = self.project.experiments(paper)

        def chosen(names: list[str]) -> list[str]:
            """What ``only`` names, or what begins with ``extra-`` or does not."""
            own = [name for name in names if name.startswith("extra-") == extra]
            return own if item is None else [name for name in names if name == item]

        figures = chosen(experiments.figures)
        files = [path for figure in figures for _, path in self.figure_files(paper, figure)]
        for table in chosen(experiments.tables):
            files += self.table_files(paper, table)
        if item in (None, "claims") and not extra:
            files += self.ledger(paper)
        if item in (None, "digitised") and not extra and self.digitised_figures(paper):
            files.append(self.digitised(paper))
        return files

    def finish(self, path: Path, begun: float, made_from: Mapping[str, str]) -> None:
        """Write the provenance of a figure, table or ledger.

        Args:
            path: one of its files.
            begun: when its making began, by ``time.monotonic``.
            made_from: name -> fingerprint of all that it depends on.
        """
        project = self.project
        details = {
            "scale": project.scale,
            "seed": project.seed,
            "made from": dict(made_from),
            "core_seconds": round(time.process_time(), 3),
            "memory": peak_memory(),
        }
        write_provenance(path, project.folder, details, time.monotonic() - begun)
