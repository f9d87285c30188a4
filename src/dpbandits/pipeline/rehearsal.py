"""A paper on made-up numbers: its figures, tables, claims, findings and page before any simulation.

The code of the real build makes all of it in a temporary folder. Simulations are made up, exact
results are computed unless there are current ones.
"""

import math
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.series import Evidence
from dpbandits.config.claims import Stated, StatedEntry
from dpbandits.config.documents import naming
from dpbandits.config.figures import panel_stem
from dpbandits.config.numbers import NAMED, Numbers
from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.pipeline import jobs
from dpbandits.pipeline.check import check_taken, made_up_results
from dpbandits.pipeline.project import PUBLISHED_FIGURES, PUBLISHED_TABLES, Project, owner
from dpbandits.pipeline.published import fill_numbers
from dpbandits.pipeline.study import Study
from dpbandits.pipeline.targets import (
    CLAIMS,
    DIGITISED,
    FINDINGS,
    digitised_figures,
    published_seconds,
)
from dpbandits.reporting import style
from dpbandits.reporting.draw import draw_diagram, draw_panels, plotted_points, points_csv
from dpbandits.reporting.lines import check_panel_filters, panel_lines, panel_rows, read_rows

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 7.0
"""CPU time that making things may take; reading the files takes some more before."""

EXACT_SECONDS = 2.0
"""CPU time that computing one exact result may take of it."""

NO_TIME = "no time was left"

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
        scratch = _Scratch.load(folder, dict(project.config)).only([paper])
        # Read and expanded once.
        scratch.studies.update(project.studies)
        rehearsal = Rehearsal(project, scratch, paper, page, time.process_time() + seconds)
        rehearsal.play()
    return rehearsal


def _link(source: Path, folder: Path, paper: str) -> None:
    """Link all of a project's folder into another one, except what is made of the paper."""
    (folder / "config").symlink_to(source / "config")
    made = {Path("results"), PUBLISHED_FIGURES, PUBLISHED_TABLES}
    for parent in (*made, Path("docs")):
        (folder / parent).mkdir(parents=True, exist_ok=True)
        for path in sorted((source / parent).glob("*")):
            if parent / path.name not in made and path.name != paper:
                (folder / parent / path.name).symlink_to(path)


@dataclass(frozen=True)
class _Scratch(Project):
    """A project that reads each result once; those that are made are in no file."""

    made: "dict[tuple[str, str], pd.DataFrame]" = field(
        default_factory=dict, init=False, repr=False
    )

    def frame(self, paper: str, name: str) -> "pd.DataFrame":
        """Return the results ``name``, or read them; InputError as a project has it."""
        key = owner(paper, name)
        if key not in self.made:
            self.made[key] = super().frame(paper, name)
        return self.made[key]


@dataclass
class Rehearsal:
    """What a paper looks like on made-up numbers.

    Attributes:
        faults: what went wrong, a line each.
        left: reason -> what was not tried for it.
        judged: the claims and findings that were measured.
    """

    project: Project
    scratch: _Scratch
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

    @property
    def unmade(self) -> tuple[str, ...]:
        """Names of the figures and tables that were not made."""
        left = [what for several in self.left.values() for what in several]
        return tuple(
            what.partition(".")[2] for what in left if what.startswith(("figures.", "tables."))
        )

    @cached_property
    def evidence(self) -> Evidence:
        """What its claims and findings read."""
        return jobs.evidence_of(self.scratch, self.paper)

    def play(self) -> None:
        """Try everything, results first."""
        study = self.study
        for name in sorted(
            study.simulations, key=lambda name: study.simulation(name).tuned_by or ""
        ):
            self._try(f"simulation {name}", (), partial(self._make_up, name))
        for name in study.file.analytic:
            self._take(name)
        for kind, path, entries in (
            (CLAIMS, study.claims_path, study.claims),
            (FINDINGS, study.findings_path, study.findings),
        ):
            for entry in entries:
                self._try(entry.id, entry.reads, partial(self._judge, entry), path)
            self._write_verdicts(kind, entries)
        compared = digitised_figures(study)
        compared_reads = list(dict.fromkeys(read for figure in compared for read in figure.reads))
        if compared:
            self._try(DIGITISED, compared_reads, self._compare)
        for name, table in study.tables.items():
            reads = [read for read in table.reads if read not in (CLAIMS, DIGITISED)]
            if DIGITISED in table.reads:
                # What is left of them is left of the table, too.
                reads += compared_reads
            if CLAIMS not in table.reads or self.judged.keys() & {each.id for each in study.claims}:
                self._try(f"tables.{name}", reads, partial(self._tabulate, name))
        for name, figure in study.figures.items():
            self._try(f"figures.{name}", figure.reads, partial(self._draw, name))
        if not study.is_comparison:
            self._write_page()

    def _try(
        self,
        what: str,
        reads: Iterable[str],
        make: Callable[[], Any],
        path: Path | None = None,
        seconds: float = math.inf,
    ) -> None:
        """Make something that a file states; note a fault, or that it cannot be made yet."""
        path = path or self.study.path
        for name in reads:
            try:
                self.scratch.frame(self.paper, name)
            except InputError as error:
                self._leave(what, str(error))
                return
        try:
            with naming(path), _until(min(self.end, time.process_time() + seconds)):
                make()
        except _TimeIsUp:
            self._leave(what, NO_TIME)
        except InputError as error:
            self._note(str(error))
        except Exception as error:
            self._note(f"{path}: {what}: {type(error).__name__}: {error}")

    def _leave(self, what: str, why: str) -> None:
        self.left.setdefault(self._line(why), []).append(what)

    def _note(self, fault: str) -> None:
        if (text := self._line(fault)) not in self.faults:
            self.faults.append(text)

    def _line(self, text: str) -> str:
        return " ".join(text.replace(f"{self.scratch.folder}/", "").split())

    def _make_up(self, name: str) -> None:
        series = self.scratch.series(self.paper, name)
        self.scratch.made[self.paper, name] = made_up_results(series)

    def _take(self, name: str) -> None:
        """Take an exact result of the project where it is not stale, or compute what is short."""
        what = f"exact result {name}"
        try:
            self.scratch.made[self.paper, name] = self.project.frame(self.paper, name)
        except InputError:
            known = published_seconds(self.project).get(f"{self.paper}/{name}", 0.0)
            if known <= EXACT_SECONDS:
                self._try(what, (), partial(self._compute, name), seconds=EXACT_SECONDS)

    def _compute(self, name: str) -> None:
        frame, _ = jobs.compute_exact(self.scratch, self.paper, name, workers=1)
        self.scratch.made[self.paper, name] = frame

    def _judge(self, entry: Stated) -> None:
        self.judged[entry.id] = judge([entry], self.evidence)

    def _write_verdicts(self, kind: str, entries: Sequence[StatedEntry]) -> None:
        """Write the verdicts on the entries that were measured, even if others were not."""
        judged = [each for entry in entries for each in self.judged.get(entry.id, [])]
        if not judged:
            return
        for path in jobs.write_verdicts(self.scratch, self.paper, kind, judged):
            self._publish(path, PUBLISHED_FIGURES)

    def _publish(self, path: Path, folder: Path) -> None:
        text = path.read_text(encoding="utf-8")
        write_text(self.scratch.folder / folder / self.paper / path.name, text)

    def _compare(self) -> None:
        self._publish(jobs.write_digitised_comparison(self.scratch, self.paper), PUBLISHED_FIGURES)

    def _tabulate(self, name: str) -> None:
        for path in jobs.write_paper_table(self.scratch, self.paper, name):
            self._publish(path, PUBLISHED_TABLES)

    def _draw(self, name: str) -> None:
        """Draw the whole of a figure, and keep its numbers, which texts may name."""
        figure, code = self.study.figure(name), self.study.code

        def frames(read: str) -> Any:
            return self.scratch.frame(self.paper, read)

        if figure.is_diagram:
            check_taken(f"diagrams.{name}", code.functions("diagrams")[name], "rows")
            rows = read_rows(figure.diagram_reads, frames, f"figures.{name}.reads")
            try:
                drawn, points = draw_diagram(code.functions("diagrams")[name], rows)
            except Exception as error:
                # Made-up numbers may lack what it needs, such as lines that cross.
                self._leave(f"figures.{name}", f"{type(error).__name__}: {error}")
                return
        else:
            lines = {}
            for letter, panel in figure.panels.items():
                place = f"figures.{panel_stem(name, letter)}"
                rows = panel_rows(panel, frames, code.functions("derived"), place)
                if panel.compute is None and {*panel.reads} <= {*self.study.simulations}:
                    is_whole = self.study.scale == "paper"
                    check_panel_filters(panel, rows, place, is_whole=is_whole)
                lines[letter] = panel_lines(panel, rows, place)
                self._keep(panel_stem(name, letter), plotted_points(figure, {"": lines[letter]}))
            drawn, points = draw_panels(figure, lines, self.paper), plotted_points(figure, lines)
        self._keep(name, points)
        # Labels that cannot be typeset fail where they are measured. Panels draw nothing else of a
        # paper's own, and legends and headings are measured already.
        with style.context():
            if figure.is_diagram:
                drawn.set_layout_engine("none")
                drawn.draw_without_rendering()
            for axes in drawn.axes:
                for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts):
                    text.get_window_extent()

    def _keep(self, stem: str, points: "pd.DataFrame") -> None:
        path = self.scratch.folder / PUBLISHED_FIGURES / self.paper / f"{stem}.csv"
        write_text(path, points_csv(points, stem))

    def _write_page(self) -> None:
        """Fill the numbers into each text; if none is missing, make the page."""
        study, before = self.study, len(self.faults)
        for path, entries in (
            (study.claims_path, study.claims),
            (study.findings_path, study.findings),
        ):
            for entry in entries:
                self._fill(path, entry.id, entry.numbers, *entry.texts, entry=entry)
        for name, erratum in study.errata.errata.items():
            self._fill(study.config_path("errata"), name, erratum.numbers, erratum.found)
        for name, figure in study.figures.items():
            self._fill(study.path, f"figures.{name}", figure.numbers, figure.message)
        summary = study.summary()
        texts = (summary.sentence, summary.statement)
        self._fill(study.findings_path, "summary", summary.numbers, *texts)
        has_all = len(self.judged) == len(study.stated) and NO_NUMBER not in self.left
        is_whole = has_all and not self.unmade
        if is_whole and not self.faults[before:]:
            self._try("its page", (), lambda: self.page(self.scratch, self.paper))

    def _fill(
        self,
        path: Path,
        name: str,
        numbers: Numbers,
        *texts: str,
        entry: StatedEntry | None = None,
    ) -> None:
        """Fill numbers and verdicts into texts, unless what they are of was not made."""
        place = f"{path}: {name}"

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
        stems = [Path(source.file).stem for source in numbers.values() if source.file]
        is_unmade = any(stem.startswith(self.unmade) for stem in stems)
        if not (named & known) - {*self.judged} and not is_unmade:
            self._try(f"texts of {name}", (), fill, path)


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
    # Again and again: what calls back from C loses an exception.
    signal.setitimer(signal.ITIMER_PROF, left, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
