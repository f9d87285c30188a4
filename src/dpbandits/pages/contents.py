"""What the pages show of each paper: figures, claims, findings and errata, from published files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from dpbandits.config.claims import Finding
from dpbandits.config.errata import ERRATUM_KINDS
from dpbandits.config.figures import FigureSpec
from dpbandits.errors import InputError
from dpbandits.pages.verdicts import ClaimOutcome, Values, counts_text
from dpbandits.pipeline.project import PUBLISHED_FIGURES, Project, read_verdicts
from dpbandits.pipeline.published import fill_numbers, published_digitised, published_papers
from dpbandits.pipeline.targets import CLAIMS, FINDINGS, VERDICT_FILES, rule_name
from dpbandits.reporting.digitised import reproduced_as_drawn

_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


@dataclass(frozen=True)
class FigureGroup:
    """A figure of a paper or comparison in all its variants.

    Attributes:
        base: its name, as ``fig1``.
        entries: name -> figure, the variant that is shown first before the others.
        message: what to see in it, in one sentence of its entry, with its numbers and verdicts.
        caption: what is drawn, with its numbers.
        panels: panel -> what is seen there.
        drawn: whether our values agree with the drawn ones; "" without digitised values.
    """

    base: str
    entries: Mapping[str, FigureSpec]
    message: str
    caption: str
    panels: Mapping[str, str]
    drawn: str

    @property
    def first(self) -> FigureSpec:
        """The variant that is shown first."""
        return next(iter(self.entries.values()))

    @property
    def stems(self) -> list[str]:
        """Names of the figures and of their panels."""
        return [stem for entry in self.entries.values() for stem in entry.stems]

    @property
    def head(self) -> str:
        """How the paper names it; "" where it is supplementary."""
        return f"Figure {self.base.removeprefix('fig')}" if _STEM.fullmatch(self.base) else ""

    @property
    def alt(self) -> str:
        """The picture in words: what its panels show, else the title; the message follows it."""
        seen = [self.panels[stem] for stem in self.first.stems if stem in self.panels]
        return " ".join(seen) or self.first.title


@dataclass(frozen=True)
class Contents:
    """The published contents of some papers."""

    project: Project
    papers: tuple[str, ...]

    @classmethod
    def of(cls, project: Project) -> "Contents":
        return cls(project, tuple(published_papers(project, project.published)))

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """The verdicts of all papers; InputError where none are published."""
        if not self.papers:
            folder = self.project.folder / PUBLISHED_FIGURES
            raise InputError(f"{folder}: has no verdicts; allowed: published ones (make publish)")
        return self._table(CLAIMS)

    def _table(self, name: str) -> pd.DataFrame:
        """Return a table of verdicts or comparisons of all papers; of findings some have none."""
        folder = self.project.folder / PUBLISHED_FIGURES
        paths = {paper: folder / paper / f"{name}.csv" for paper in self.papers}
        tables = [
            read_verdicts(path).assign(paper=paper)
            for paper, path in paths.items()
            if path.is_file()
        ]
        return pd.concat(tables or [pd.DataFrame({"claim": []})], ignore_index=True)

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        return [*self._outcomes(CLAIMS)]

    @cached_property
    def findings(self) -> list[ClaimOutcome]:
        return [*self._outcomes(FINDINGS)]

    def _outcomes(self, kind: str) -> Iterator[ClaimOutcome]:
        rows, compared = (
            {name: own.to_dict("records") for name, own in self._table(each).groupby("claim")}
            for each in VERDICT_FILES[kind]
        )
        for paper in self.papers:
            study, about = self.project.study(paper), self.project.papers[paper]
            for entry in study.stated:
                # A claim that is newer than the published verdicts is left out.
                is_meant = entry.id in rows if kind == CLAIMS else isinstance(entry, Finding)
                if is_meant:
                    place = f"{study.claims_path.parent}: {entry.id}"
                    texts = fill_numbers(
                        self.project, paper, place, entry.numbers, *entry.texts, entry=entry
                    )
                    found, own = (each.get(entry.id, []) for each in (rows, compared))
                    yield ClaimOutcome(paper, entry, found, own, [about], texts)

    def errata(self, paper: str) -> list[Values]:
        """Return the errata of a paper, those of a kind together, with their numbers."""
        study, found = self.project.study(paper), []
        for name, each in study.errata.errata.items():
            place = f"{study.config_path('errata')}: {name}"
            [text] = fill_numbers(self.project, paper, place, each.numbers, each.found)
            found.append({**dict(each), "id": name, "found": text})
        return sorted(found, key=lambda each: ERRATUM_KINDS.index(each["kind"]))

    def paper(self, name: str) -> Values:
        """Return what pages say of a paper."""
        study, figures, summary = self.project.study(name), self.figures(name), self.summary(name)
        return {
            "name": name,
            "about": self.project.papers[name],
            "rule": rule_name(name),
            "figures": [group for group in figures if group.head],
            "extras": [group for group in figures if not group.head],
            "sentence": summary[0],
            "statement": summary[1],
            "counts": counts_text(self.ledger[self.ledger["paper"] == name], study.claims),
            "claims": [each for each in self.claims if each.paper == name],
            "findings": [each for each in self.findings if each.paper == name],
            "errata": self.errata(name),
            "not_judged": study.notes.not_judged,
            "withdrawn": {**study.withdrawn, **study.errata.withdrawn},
        }

    def summary(self, paper: str) -> list[str]:
        """Return the summary of a paper: a sentence, and a paragraph."""
        study = self.project.study(paper)
        place, summary = f"{study.findings_path}: summary", study.summary()
        texts = summary.sentence, summary.statement
        return fill_numbers(self.project, paper, place, summary.numbers, *texts)

    def figures(self, paper: str) -> list[FigureGroup]:
        groups: dict[str, dict[str, FigureSpec]] = {}
        for name, entry in self.project.study(paper).figures.items():
            match = _STEM.fullmatch(name)
            groups.setdefault(f"fig{match[1]}" if match else name, {})[name] = entry
        return [self._group(paper, base, entries) for base, entries in groups.items()]

    def _group(self, paper: str, base: str, entries: Mapping[str, FigureSpec]) -> FigureGroup:
        study, panels = self.project.study(paper), self.project.papers[paper].panels
        name, figure = next(iter(entries.items()))
        place = f"{study.path}: figures.{name}"
        [message] = fill_numbers(self.project, paper, place, figure.numbers, figure.message)
        drawn = self.reproduced(paper, base)
        return FigureGroup(base, entries, message, study.caption(name), panels, drawn)

    def reproduced(self, paper: str, stem: str = "fig") -> str:
        """Return whether our values agree with the drawn ones; "" without digitised values."""
        return reproduced_as_drawn(published_digitised(self.project, paper), stem)
