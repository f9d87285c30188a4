"""What the pages show of each paper: figures, claims, findings and errata, from published files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from dpbandits.claims.verdict import Verdict
from dpbandits.config.claims import Claim, Finding
from dpbandits.config.errata import ErrataFile, ErratumKind, load_errata
from dpbandits.config.figures import FigureSpec
from dpbandits.config.project import PaperFile
from dpbandits.errors import InputError
from dpbandits.pages.published import (
    filled,
    published_digitised,
    published_papers,
    verdicts_in,
)
from dpbandits.pages.verdicts import Outcome, Values, begun, counts_line, counts_text, in_words
from dpbandits.pipeline.check import check_sentences, require_letters
from dpbandits.pipeline.project import FIGURES, Project, read_verdicts
from dpbandits.pipeline.study import Study
from dpbandits.pipeline.targets import CLAIMS, EXTRA, FINDINGS, VERDICTS, rule_name
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.text import plain_label as plain

ERRORS: dict[ErratumKind, str] = {
    "statement": "Statement",
    "proof": "Proof",
    "misprint": "Misprint",
    "code": "Released code",
}
"""Kind of errata -> its name, in their order."""


def errata_of(project: Project, paper: str) -> ErrataFile:
    """Return the errata of a paper, their ids checked."""
    study = project.study(paper)
    path = study.config_path("errata")
    file = load_errata(path, paper)
    require_letters(path, [*file.errata, *file.withdrawn], study.letters)
    if twice := set().union(*study.ids) & file.errata.keys():
        raise InputError(f"{path}: errata has {', '.join(sorted(twice))}, a claim or finding")
    stated = {each.id for each in study.stated}
    for name, erratum in file.errata.items():
        for key, source in erratum.numbers.items():
            if source.claim and source.claim not in stated:
                place = f"{path}: {name}.numbers.{key}.claim"
                raise InputError.unknown(place, source.claim, sorted(stated))
    return file


def check_pages(project: Project) -> None:
    """Check the errata, the sentences and the messages of the chosen papers.

    Messages are read beside the verdicts of the last build, or else the published ones.
    """
    for paper in project.chosen:
        errata_of(project, paper)
        study = project.study(paper)
        check_sentences(study)
        study.summary()
        built = verdicts_in(project.results_folder() / paper) if project.scale == "paper" else {}
        _check_messages(study, built or verdicts_in(project.folder / FIGURES / paper))


OTHERWISE: tuple[Verdict, ...] = (
    *("in part", "not as stated", "undecided", "depends on the reading", "counterexample"),
)
"""Verdicts that what a figure says of a claim has to name."""


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


NOT_COMPARED = "not compared (no digitised values)"
"""Said of the figures of a paper."""

_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


def head_of(stem: str) -> str:
    """Return ``Figure 1(b)`` for ``fig1b-repaired``, and the name of what has no number."""
    found = _STEM.fullmatch(stem)
    if found is None:
        return stem.removeprefix(EXTRA).replace("-", " ").capitalize()
    number, letter = found.groups()
    return f"Figure {number}({letter})" if letter else f"Figure {number}"


@dataclass(frozen=True, eq=False)
class FigureGroup:
    """A figure of a paper or comparison in all its variants, the one called ``base`` first."""

    contents: "Contents" = field(repr=False)
    paper: str
    base: str
    entries: Mapping[str, FigureSpec]

    @property
    def first(self) -> FigureSpec:
        """The figure in the variant that is shown first."""
        return next(iter(self.entries.values()))

    @property
    def stems(self) -> list[str]:
        """Names of the figures and of their panels."""
        return [stem for entry in self.entries.values() for stem in entry.stems]

    @property
    def is_extra(self) -> bool:
        """Whether it is supplementary."""
        return _STEM.fullmatch(self.base) is None

    @property
    def head(self) -> str:
        """How the paper names it, or the name of a supplementary one."""
        return head_of(self.base)

    @property
    def title(self) -> str:
        """What came out, as a heading."""
        return plain(self.first.title)

    @property
    def heading(self) -> str:
        """Its title, after its name where the paper has one."""
        return self.title if self.is_extra else f"{self.head}: {self.title}"

    @property
    def message(self) -> str:
        """What to see in it, in one sentence of its entry, with its numbers and verdicts."""
        project, figure = self.contents.project, self.first
        place = f"{project.study(self.paper).path}: figures.{figure.name}"
        return plain(*filled(project, self.paper, place, figure.numbers, figure.message))

    @property
    def as_drawn(self) -> str:
        """A sentence on whether it comes out as drawn; "" without digitised values."""
        drawn = "" if self.is_extra else self.contents.reproduced(self.paper, self.base)
        return f"As drawn: {drawn}." if drawn else ""

    @property
    def panels(self) -> list[tuple[str, str]]:
        """The letters of its panels, and what is seen there."""
        about = self.contents.project.papers.get(self.paper)
        seen = about.panels if about else {}
        stems = [stem for stem in self.first.stems if stem in seen]
        return [(stem.removeprefix(self.base), seen[stem]) for stem in stems]

    @property
    def alt(self) -> str:
        """What is seen, in words."""
        return " ".join(seen for _, seen in self.panels) or self.message

    def shown(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Return those that are about it or any of its panels."""
        return [each for each in outcomes if not {*self.stems}.isdisjoint(each.entry.figure)]

    @property
    def claims(self) -> list[Outcome]:
        """The claims about it or any of its panels."""
        return self.shown(self.contents.of_paper(self.contents.claims, self.paper))

    @property
    def findings(self) -> list[Outcome]:
        """The findings about it or any of its panels."""
        return self.shown(self.contents.of_paper(self.contents.findings, self.paper))


@dataclass(frozen=True)
class Contents:
    """What is published of some papers."""

    project: Project
    papers: tuple[str, ...]

    @classmethod
    def of(cls, project: Project) -> "Contents":
        """Return what is published of all published papers."""
        return cls(project, tuple(published_papers(project, project.published)))

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """The verdicts of all papers; InputError where none are published."""
        if not self.papers:
            folder = self.project.folder / FIGURES
            raise InputError(f"{folder}: has no verdicts; allowed: published ones (make publish)")
        return self._table(CLAIMS)

    def _table(self, name: str) -> pd.DataFrame:
        """Return a table of verdicts or comparisons of all papers; of findings some have none."""
        folder = self.project.folder / FIGURES
        paths = {paper: folder / paper / f"{name}.csv" for paper in self.papers}
        tables = [
            read_verdicts(path).assign(paper=paper)
            for paper, path in paths.items()
            if path.is_file()
        ]
        return pd.concat(tables or [pd.DataFrame({"claim": []})], ignore_index=True)

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """Every comparison behind the verdicts and findings of all papers."""
        tables = [self._table(names[-1]) for names in VERDICTS.values()]
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def claims(self) -> dict[str, Outcome]:
        """Every claim that is judged by its id."""
        entries = [(paper, self.project.study(paper).claims) for paper in self.papers]
        return self._outcomes(self.ledger, entries)

    @cached_property
    def findings(self) -> dict[str, Outcome]:
        """Every finding by its id."""
        entries = [(paper, self.project.study(paper).findings) for paper in self.papers]
        return self._outcomes(self._table(FINDINGS), entries)

    def _outcomes(
        self, table: pd.DataFrame, entries: Iterable[tuple[str, Sequence[Claim | Finding]]]
    ) -> dict[str, Outcome]:
        rows = {name: own.to_dict("records") for name, own in table.groupby("claim", sort=False)}
        compared = dict(list(self.evidence.groupby("claim", sort=False)))
        found = {}
        for paper, stated in entries:
            for entry in stated:
                if entry.id not in rows and isinstance(entry, Claim):
                    # A claim that is newer than the published verdicts.
                    continue
                place = f"{self.project.study(paper).config_path('claims').parent}: {entry.id}"
                found[entry.id] = Outcome(
                    paper,
                    entry,
                    rows.get(entry.id, []),
                    compared.get(entry.id, self.evidence[:0]),
                    self._known(paper),
                    filled(self.project, paper, place, entry.numbers, *entry.texts, entry=entry),
                )
        return found

    def of_paper(self, outcomes: Mapping[str, Outcome], paper: str) -> list[Outcome]:
        """Return the claims or findings of a paper."""
        return [each for each in outcomes.values() if each.paper == paper]

    @cached_property
    def errata(self) -> dict[str, dict[str, list[Values]]]:
        """The errata of each paper by kind, numbers filled in."""
        return {paper: self._errata(paper) for paper in self.papers}

    def _errata(self, paper: str) -> dict[str, list[Values]]:
        path, file = self.project.study(paper).config_path("errata"), errata_of(self.project, paper)
        found: dict[str, list[Values]] = {kind: [] for kind in ERRORS}
        for name, each in file.errata.items():
            [text] = filled(self.project, paper, f"{path}: {name}", each.numbers, each.found)
            found[each.kind].append({**dict(each), "id": name, "found": text})
        return found

    def withdrawn(self, paper: str) -> Mapping[str, str]:
        """Return the ids that a page named once, and where they went."""
        return {
            **self.project.study(paper).withdrawn,
            **errata_of(self.project, paper).withdrawn,
        }

    def paper(self, name: str) -> Values:
        """Return what pages say of a paper, or of a comparison, which has no claims."""
        study, figures = self.project.study(name), self.figures(name)
        about = study.about
        said: Values = {
            "name": name,
            "title": study.title,
            "authors": study.authors,
            "arxiv": about and about.arxiv,
            "short": (about and about.short_title) or study.title,
            "asked": about and about.asked,
            "reduced": about and about.reduced,
            "is_draft": about and not about.is_published,
            "rule": rule_name(name),
            "figures": [group for group in figures if not group.is_extra],
            "extras": [group for group in figures if group.is_extra],
        }
        if name in self.papers:
            place, summary = f"{study.findings_path}: summary", study.summary()
            texts = filled(
                self.project, name, place, summary.numbers, summary.sentence, summary.statement
            )
            said |= {
                "sentence": texts[0],
                "summary": texts[1],
                "drawn": self.reproduced(name) or NOT_COMPARED,
                "counts": counts_text(self.ledger[self.ledger["paper"] == name], study.claims),
                "claims": self.of_paper(self.claims, name),
                "findings": self.of_paper(self.findings, name),
                "errata": self.errata[name],
                "not_judged": study.notes.not_judged,
                "withdrawn": self.withdrawn(name),
            }
        return said

    def figures(self, paper: str) -> list[FigureGroup]:
        """Return the figures of a paper or comparison, each with its variants."""
        groups: dict[str, dict[str, FigureSpec]] = {}
        for name, entry in self.project.study(paper).figures.items():
            match = _STEM.fullmatch(name)
            groups.setdefault(f"fig{match[1]}" if match else name, {})[name] = entry
        return [FigureGroup(self, paper, base, entries) for base, entries in groups.items()]

    @property
    def headline(self) -> str:
        """How many claims of the papers have which word, by kind."""
        counts = counts_text(self.ledger, [each.entry for each in self.claims.values()])
        said = begun(f"{counts_line(counts)}.")
        smaller = [paper for paper in self.papers if self.project.papers[paper].reduced]
        return said + f" At a smaller scale than the paper's: {', '.join(smaller)}." * bool(smaller)

    def reproduced(self, paper: str, stem: str = "fig") -> str:
        """Return whether figures of a paper come out as drawn; "" without digitised values."""
        return reproduced_as_drawn(published_digitised(self.project, paper), stem)

    def in_words(self, paper: str, label: str) -> str:
        """Return the interpretations of a row in words; a comparison knows those of all papers."""
        return in_words(self._known(paper), label)

    def _known(self, paper: str) -> list[PaperFile]:
        papers = self.project.papers
        return [papers[paper]] if paper in papers else list(papers.values())
