"""A paper on made-up numbers: its figures, tables, claims, findings and page before any simulation.

The code of the real build makes all of it in a temporary folder. Simulations are made up, exact
results are computed unless there are current ones.
"""

import io
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from dpbandits.claims.judge import Judgement, judge
from dpbandits.config.claims import Stated, StatedEntry
from dpbandits.config.figures import panel_stem
from dpbandits.config.numbers import NAMED, Numbers
from dpbandits.engine.provenance import write_text
from dpbandits.engine.results import write_results
from dpbandits.errors import InputError
from dpbandits.pipeline import jobs
from dpbandits.pipeline.check import made_up_results
from dpbandits.pipeline.project import FIGURES, TABLES, Project
from dpbandits.pipeline.published import fill_numbers
from dpbandits.pipeline.study import Study
from dpbandits.pipeline.targets import CLAIMS, DIGITISED, FINDINGS, digitised_figures
from dpbandits.reporting import style
from dpbandits.reporting.draw import draw_diagram, draw_panels, plotted_points, points_csv
from dpbandits.reporting.lines import panel_lines, panel_rows, read_rows

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 10.0
"""CPU time that a rehearsal may take."""

NO_NUMBER = "on made-up numbers it has no value, such as a ratio to 0"


MakePage = Callable[[Project, str], str]
"""Returns the page of a paper."""


class _TimeIsUp(BaseException):
    """Raised in whatever runs: no ``except Exception`` in a paper's own code catches it."""


def rehearse(project: Project, paper: str, page: MakePage, seconds: float = SECONDS) -> "Rehearsal":
    """Make all of a paper on made-up numbers, and its ``page``; return what went wrong."""
    with tempfile.TemporaryDirectory(prefix="dpbandits-check-") as name:
        folder = Path(name).resolve()
        _link(project.folder.resolve(), folder, paper)
        scratch = Project.load(folder, dict(project.config)).only([paper])
        rehearsal = Rehearsal(project, scratch, paper, page, time.process_time() + seconds)
        rehearsal.play()
    return rehearsal


def _link(source: Path, folder: Path, paper: str) -> None:
    """Link all of a project's folder into another one, except what is made of the paper."""
    (folder / "config").symlink_to(source / "config")
    made = {Path("results"), FIGURES, TABLES}
    for parent in (*made, Path("docs")):
        (folder / parent).mkdir(parents=True, exist_ok=True)
        for path in sorted((source / parent).glob("*")):
            if parent / path.name not in made and path.name != paper:
                (folder / parent / path.name).symlink_to(path)


@dataclass
class Rehearsal:
    """What a paper looks like on made-up numbers.

    Attributes:
        faults: what went wrong, a line each.
        left: reason -> what was not tried for it.
        judged: the claims and findings that were measured.
    """

    project: Project
    scratch: Project
    paper: str
    page: MakePage
    end: float
    faults: list[str] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)
    judged: dict[str, list[Judgement]] = field(default_factory=dict)

    @property
    def study(self) -> Study:
        """The paper, in the folder that is deleted."""
        return self.scratch.study(self.paper)

    def play(self) -> None:
        """Try everything, results first."""
        study = self.study
        for name in sorted(
            study.simulations, key=lambda name: study.simulation(name).tuned_by or ""
        ):
            self._try(f"simulation {name}", (), partial(self._make_up, name))
        for name in study.file.analytic:
            self._try(f"exact result {name}", (), partial(self._compute, name))
        for kind, entries in ((CLAIMS, study.claims), (FINDINGS, study.findings)):
            for entry in entries:
                self._try(entry.id, entry.reads, partial(self._judge, entry))
            if entries:
                self._write_verdicts(kind, entries)
        if compared := digitised_figures(study):
            reads = list(dict.fromkeys(read for figure in compared for read in figure.reads))
            self._try(DIGITISED, reads, self._compare)
        for name, table in study.tables.items():
            reads = [read for read in table.reads if read not in (CLAIMS, DIGITISED)]
            self._try(f"tables.{name}", reads, partial(self._tabulate, name))
        for name, figure in study.figures.items():
            self._try(f"figures.{name}", figure.reads, partial(self._draw, name))
        if not study.is_comparison:
            self._write_page()

    def _try(self, what: str, reads: Iterable[str], make: Callable[[], Any]) -> None:
        """Make something, and note a fault, or that it cannot be made yet."""
        paths = {name: self.scratch.results_path(self.paper, name) for name in reads}
        missing = [name for name, path in paths.items() if not path.is_file()]
        if missing:
            self._leave(what, f"{', '.join(missing)} not computed yet")
            return
        try:
            with _until(self.end):
                make()
        except _TimeIsUp:
            self._leave(what, "no time was left")
        except InputError as error:
            self._note(str(error))
        except Exception as error:
            self._note(f"{what}: {type(error).__name__}: {error}")

    def _leave(self, what: str, why: str) -> None:
        self.left.setdefault(why, []).append(what)

    def _note(self, fault: str) -> None:
        text = " ".join(fault.replace(f"{self.scratch.folder}/", "").split())
        if text not in self.faults:
            self.faults.append(text)

    def _make_up(self, name: str) -> None:
        frame = made_up_results(self.scratch.series(self.paper, name))
        path = self.scratch.results_path(self.paper, name)
        write_results(path, frame, self.scratch.results_fingerprint(self.paper, name))

    def _compute(self, name: str) -> None:
        """Take an exact result of the project if it is current, else compute it."""
        try:
            frame = self.project.frame(self.paper, name)
        except InputError:
            jobs.build_results(self.scratch, self.paper, name, workers=1)
        else:
            path = self.scratch.results_path(self.paper, name)
            write_results(path, frame, self.scratch.results_fingerprint(self.paper, name))

    def _judge(self, entry: Stated) -> None:
        self.judged[entry.id] = judge([entry], jobs.evidence_of(self.scratch, self.paper))

    def _write_verdicts(self, kind: str, entries: Sequence[StatedEntry]) -> None:
        """Write the verdicts on the entries that were measured, even if others were not."""
        judged = [each for entry in entries for each in self.judged.get(entry.id, [])]
        for path in jobs.write_verdicts(self.scratch, self.paper, kind, judged):
            self._publish(path, FIGURES)

    def _publish(self, path: Path, folder: Path) -> None:
        text = path.read_text(encoding="utf-8")
        write_text(self.scratch.folder / folder / self.paper / path.name, text)

    def _compare(self) -> None:
        self._publish(jobs.write_digitised_comparison(self.scratch, self.paper), FIGURES)

    def _tabulate(self, name: str) -> None:
        for path in jobs.write_paper_table(self.scratch, self.paper, name):
            self._publish(path, TABLES)

    def _draw(self, name: str) -> None:
        """Draw the whole of a figure, and keep its numbers, which texts may name."""
        figure, code = self.study.figure(name), self.study.code

        def frames(read: str) -> Any:
            return self.scratch.frame(self.paper, read)

        if figure.is_diagram:
            rows = read_rows(figure.diagram_reads, frames, f"figures.{name}.reads")
            try:
                drawn, points = draw_diagram(code.diagrams[name], rows)
            except Exception as error:
                # Made-up numbers may lack what it needs, such as lines that cross.
                self._leave(f"figures.{name}", f"{type(error).__name__}: {error}")
                return
        else:
            lines = {}
            for letter, panel in figure.panels.items():
                place = f"figures.{panel_stem(name, letter)}"
                rows = panel_rows(panel, frames, code.derived, place)
                lines[letter] = panel_lines(panel, rows, place)
                self._keep(panel_stem(name, letter), plotted_points(figure, {"": lines[letter]}))
            drawn, points = draw_panels(figure, lines, self.paper), plotted_points(figure, lines)
        self._keep(name, points)
        # Labels that cannot be typeset fail only when they are drawn.
        with style.context():
            drawn.savefig(io.BytesIO(), format="png")

    def _keep(self, stem: str, points: "pd.DataFrame") -> None:
        path = self.scratch.folder / FIGURES / self.paper / f"{stem}.csv"
        write_text(path, points_csv(points, stem))

    def _write_page(self) -> None:
        """Fill the numbers into each text; if none is missing, make the page."""
        study, before = self.study, len(self.faults)
        for entry in study.stated:
            place = f"{study.claims_path.parent}: {entry.id}"
            self._fill(place, entry.numbers, *entry.texts, entry=entry)
        for name, erratum in study.errata.errata.items():
            self._fill(f"{study.config_path('errata')}: {name}", erratum.numbers, erratum.found)
        for name, figure in study.figures.items():
            self._fill(f"{study.path}: figures.{name}", figure.numbers, figure.message)
        summary = study.summary()
        texts = (summary.sentence, summary.statement)
        self._fill(f"{study.findings_path}: summary", summary.numbers, *texts)
        is_whole = len(self.judged) == len(study.stated) and NO_NUMBER not in self.left
        if is_whole and not self.faults[before:]:
            self._try("its page", (), lambda: self.page(self.scratch, self.paper))

    def _fill(
        self, place: str, numbers: Numbers, *texts: str, entry: StatedEntry | None = None
    ) -> None:
        """Fill numbers and verdicts into texts, unless some claims were not measured."""
        name = place.rpartition(" ")[2]

        def fill() -> None:
            try:
                fill_numbers(self.scratch, self.paper, place, numbers, *texts, entry=entry)
            except InputError:
                raise
            except ValueError:
                # A made-up number may be NaN, as a ratio to 0 is.
                self._leave(f"texts of {name}", NO_NUMBER)

        known = {each.id for each in self.study.stated}
        named = {source.claim or (entry.id if entry else "") for source in numbers.values()}
        named |= {*NAMED.findall(" ".join(texts))}
        if not (named & known) - {*self.judged}:
            self._try(f"texts of {name}", (), fill)


@contextmanager
def _until(end: float) -> Iterator[None]:
    """Raise ``_TimeIsUp`` once the CPU time of this process is ``end``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    left = end - time.process_time()
    if left <= 0:
        raise _TimeIsUp
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, left)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
