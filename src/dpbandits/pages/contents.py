"""What the pages show of each paper: figures, claims, findings and errata, from published files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator

from dpbandits.claims.docket import NumberSource
from dpbandits.claims.ledger import ALONE, EXACT, IN_FAMILY, together
from dpbandits.config.documents import Sentence, Spec, load_document, one_of
from dpbandits.errors import InputError
from dpbandits.pages.figures import FigureGroup, by_figure
from dpbandits.pages.published import (
    PUBLISHED,
    evidence_paths,
    filled,
    published_digitised,
    published_ledger,
    published_papers,
)
from dpbandits.pages.verdicts import (
    VARIANTS,
    Values,
    answers,
    begun,
    by_verdict,
    counted,
    in_counts,
    number_text,
    with_powers,
)
from dpbandits.pipeline.check import check_sentences
from dpbandits.pipeline.project import Project, published_table
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.text import readable

KINDS = {
    "error": "printed error",
    "proof": "proof does not cover",
    "code": "text and code differ",
    "open": "left open",
    "editions": "editions differ",
    "loose": "loose bound",
    "extension": "supplementary",
}
"""Kinds of errata by weight."""


class Erratum(Spec):
    """One entry: what is printed, what is computed and what is taken here."""

    place: Sentence
    kind: Annotated[str, one_of(KINDS)]
    printed: Sentence
    found: Sentence
    taken: Sentence
    numbers: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], NumberSource]

    @field_validator("numbers")
    @classmethod
    def _name_their_claims(cls, numbers: dict[str, NumberSource]) -> dict[str, NumberSource]:
        for key, source in numbers.items():
            if source.comparison and not source.claim:
                raise InputError(f"{key}: key claim is missing")
        return numbers


class ErrataFile(Spec):
    """config/papers/PAPER/errata.yaml: what is printed wrong or left open."""

    paper: str
    errata: Annotated[
        dict[Annotated[str, Field(pattern="^[A-Z]+-[A-Z]+[0-9]+$")], Erratum], Field(min_length=1)
    ]


def load_errata(project: Project, paper: str) -> Mapping[str, Erratum]:
    """Return the entries of a paper's `errata.yaml` by id, checked; none without the file.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    path = project.study(paper).config_path("errata")
    return load_document(path, ErrataFile).errata if path.exists() else {}


def check_pages(project: Project) -> None:
    """Check the errata, the twin and the sentences of the chosen papers.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    for paper in project.built():
        if paper in project.papers:
            load_errata(project, paper)
            study = project.study(paper)
            check_sentences(study)
            study.summary()
            stems = [stem for figure in study.figures.values() for stem in figure.stems]
            if study.about and study.about.twin not in [None, *stems]:
                allowed = "a figure or panel of the paper"
                raise InputError(f"{paper}: twin is {study.about.twin!r}; allowed: {allowed}")


@dataclass(frozen=True)
class Contents:
    """What is published of some papers.

    Attributes:
        project: the project.
        papers: short names of the papers.
        unpublished: stands for a text of which a number is not published; None: that is an error.
    """

    project: Project
    papers: tuple[str, ...]
    unpublished: str | None = None

    @classmethod
    def of(cls, project: Project) -> "Contents":
        """Return what is published of all published papers."""
        return cls(project, tuple(published_papers(project, project.published)))

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """The verdicts of all papers.

        Raises:
            InputError: no verdicts are published.
        """
        if not self.papers:
            folder = self.project.folder / PUBLISHED
            raise InputError(f"{folder}: has no verdicts; allowed: published ones (make publish)")
        return together([published_ledger(self.project, paper) for paper in self.papers])

    def ledger_of(self, paper: str) -> pd.DataFrame:
        """Return the verdicts of one paper."""
        return self.ledger[self.ledger["paper"] == paper]

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """Every comparison behind the verdicts and findings of all papers."""
        tables = [
            published_table(self.project, paper, path.stem)
            for paper in self.papers
            for path in evidence_paths(self.project, paper)
        ]
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def claims(self) -> dict[str, Values]:
        """Every claim by its id, with its rows of the ledger and its answer."""
        by_id = self.ledger.groupby("claim", sort=False)
        return {str(name): self._claim(of_claim) for name, of_claim in by_id}

    @cached_property
    def findings(self) -> dict[str, list[Values]]:
        """The findings on each paper, with their statements and what became of them.

        An outcome is ``shown``, ``not shown``, ``undecided`` or ``reported``; where the rows of a
        finding differ, each of these once.
        """
        return {paper: self._findings(paper) for paper in self.papers}

    def _findings(self, paper: str) -> list[Values]:
        study = self.project.study(paper)
        if not study.findings:
            return []
        try:
            rows = published_table(self.project, paper, "findings")
        except InputError:
            if self.unpublished is None:
                raise
            # Claims are published first.
            rows = self.evidence.assign(verdict="")[:0]
        return [
            {
                "id": finding.id,
                "title": finding.title,
                "place": finding.place,
                "rule": finding.rule,
                "beside": finding.claims,
                "figures": finding.figure,
                "is_headline": finding.headline,
                "statement": self._filled(
                    f"{study.findings_path}: findings.{finding.id}",
                    paper,
                    finding.statement,
                    finding.numbers,
                ),
                **self._outcome(finding.id, finding.title, rows),
            }
            for finding in study.findings
        ]

    def _outcome(self, name: str, title: str, rows: pd.DataFrame) -> Values:
        """Return what became of a finding: a word, a sentence, and the number nearest to another.

        Args:
            name: its id.
            title: its title.
            rows: the published findings of its paper.
        """
        own, compared = (each[each["claim"] == name] for each in (rows, self.evidence))
        deciding = compared[compared["exploratory"] == "False"]
        words = [*dict.fromkeys(own["verdict"])]
        said = "reported, without a threshold" if words else "not judged yet"
        if words and (size := len(deciding)):
            shown = int((deciding["decided"] == "for").sum())
            few = {1: "its comparison", 2: "both comparisons"}
            which = few.get(size, f"all {size} comparisons")
            which = which if shown == size else f"{shown} of {size} comparisons"
            said = f"{words[0]} by {which}"
        found = {"outcome": ", ".join(words), "said": f"{title}: {said} ({name}).", "closest": ""}
        closest = deciding.merge(own, on=["estimate", "lo", "hi"], suffixes=("", "_finding"))
        for row in closest[:1].to_dict("records"):
            value = f"{with_powers(row['comparison'])} is {number_text(row)}"
            found["closest"] = (
                f"Closest comparison of {name}: {value}; it must be {readable(row['threshold'])}."
            )
        return found

    @cached_property
    def errata(self) -> dict[str, list[Values]]:
        """The errata of each paper by weight, numbers filled in."""
        return {paper: self._errata(paper) for paper in self.papers}

    def _errata(self, paper: str) -> list[Values]:
        path, order = self.project.study(paper).config_path("errata"), list(KINDS)
        entries = load_errata(self.project, paper).items()
        return [
            {
                "id": name,
                "place": entry.place,
                "kind": KINDS[entry.kind],
                "printed": entry.printed,
                "taken": entry.taken,
                "found": self._filled(f"{path}: {name}", paper, entry.found, entry.numbers),
                "sources": [*dict.fromkeys(map(_source, entry.numbers.values()))],
            }
            for name, entry in sorted(entries, key=lambda item: order.index(item[1].kind))
        ]

    def _filled(
        self, place: str, paper: str, text: str, numbers: Mapping[str, NumberSource]
    ) -> str:
        try:
            return filled(self.project, paper, text, numbers, place)
        except InputError:
            if self.unpublished is None:
                raise
            return self.unpublished

    def paper(self, name: str) -> Values:
        """Return what pages say of a paper, or of a comparison, which has no claims."""
        study = self.project.study(name)
        about = study.about
        said: Values = {
            "name": name,
            "title": study.title,
            "authors": study.authors,
            "arxiv": about and about.arxiv,
            "short": (about and about.short_title) or study.title,
            "reduced": about and about.reduced,
            "is_draft": about and not about.is_published,
            "figures": [group for group in self.figures(name) if not group.is_extra],
            "extras": [group for group in self.figures(name) if group.is_extra],
        }
        if name in self.papers:
            place = f"{study.config_path('findings')}: summary"
            summary = study.summary()
            said |= {
                "sentence": summary.sentence,
                "summary": self._filled(place, name, summary.statement, summary.numbers),
                "drawn": self.reproduced(name),
                "counts": by_verdict(self.ledger_of(name)),
                "claims": [claim for claim in self.claims.values() if claim["paper"] == name],
                "findings": self.findings[name],
                "errata": self.errata[name],
                "notes": study.notes,
            }
        return said

    def figures(self, paper: str) -> list[FigureGroup]:
        """Return the figures of a paper or comparison."""
        entries = self.project.study(paper).figures
        return [
            FigureGroup(self, paper, base, {name: entries[name] for name in names})
            for base, names in by_figure(entries).items()
        ]

    @property
    def headline(self) -> str:
        """How many claims of the papers hold, fail, and so on, in two sentences."""
        papers, counts = self.project.papers, counted(self.ledger, "as-written")
        reduced = self.ledger["paper"].isin([name for name in papers if papers[name].reduced])
        smaller = sum(counted(self.ledger[reduced], "as-written").values())
        where = f", {smaller} of them at a smaller scale" if smaller else ""
        return (
            f"{sum(counts.values())} claims of the papers were checked{where}, with the algorithms "
            f"as written. Of these {in_counts(counts)}."
        )

    @cached_property
    def certainty(self) -> Values:
        """How many verdicts depend on chance, and how many of these are the same family-wise."""
        rows = self.ledger
        random, stands = rows[rows["level"].notna()], rows["family_wise"]
        return {
            "rows": len(rows),
            "random": len(random),
            "expected": float(random["level"].sum()),
            "in_family": int((random["family_wise"] == IN_FAMILY).sum()),
            "exact": int((stands == EXACT).sum()),
            "alone": int((random["family_wise"] == ALONE).sum()),
        }

    def reproduced(self, paper: str, stem: str = "fig") -> str:
        """Return whether the figures of a paper, one of them, or a panel come out as drawn."""
        return reproduced_as_drawn(published_digitised(self.project, paper), stem)

    def in_words(self, paper: str, label: str) -> str:
        """Return the interpretations of a row in words: ``l1 norm`` for ``norm=l1``.

        In a comparison across papers those of all papers are known.
        """
        papers = self.project.papers
        known = [papers[paper]] if paper in papers else papers.values()
        words = {key: said for about in known for key, said in about.interpretations.items()}
        words |= VARIANTS
        keys = re.split(r", ?(?=[a-z_]+=|as-)", label) if label else []
        return ", ".join(words.get(key, key.replace("=", " = ")) for key in keys)

    def _claim(self, of_claim: pd.DataFrame) -> Values:
        records = [self._row(row) for row in of_claim.to_dict("records")]
        first = records[0]
        judged = [row for row in records if row["verdict"] != "not applicable"]
        keys = ("paper", "kind", "place", "statement", "scope", "rule")
        return {
            "id": first["claim"],
            **{key: first[key] for key in keys},
            "paths": first["figure"].split(),
            "rows": records,
            **answers(judged),
            "by_variant": [
                (variant, list(dict.fromkeys(row["verdict"] for row in of_variant)))
                for variant, of_variant in groupby(judged, key=lambda row: row["variant"])
            ],
        }

    def _row(self, row: Mapping[Any, Any]) -> Values:
        """Return a row of the ledger, with what its number is and in words what it was asked of."""
        words = self.in_words(row["paper"], row["interpretation"])
        measured, asked = with_powers(row["measured"]), readable(row["asked"])
        number = number_text(row)
        value = f"{begun(measured)} is {number}" + (f"; it must be {asked}" if asked else "")
        is_judged = row["verdict"] not in ("not applicable", "not testable")
        return {
            **row,
            "words": words,
            "choice": ", ".join(filter(None, [VARIANTS[row["variant"]], words])),
            "is_judged": is_judged,
            "measured": measured,
            "asked": asked,
            "number": number,
            "value": value if measured and number else begun(row["detail"].rstrip(".")),
            "sub_claims": row["detail"].partition("; comparisons")[0]
            if row["verdict"] == "mixed"
            else "",
        }


def _source(number: NumberSource) -> tuple[str, str]:
    """Return a claim, or the name of a file, and its place from the page of a paper."""
    if number.claim:
        return number.claim, f"#{number.claim.lower()}"
    return Path(number.file).stem, f"../{number.file}"
