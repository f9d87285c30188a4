"""What the pages show of each paper: figures, claims, findings and errata, from published files."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator

from dpbandits.claims.docket import NumberSource
from dpbandits.claims.ledger import ALONE, EXACT
from dpbandits.config.documents import Sentence, Spec, load_document, one_of
from dpbandits.errors import InputError
from dpbandits.pages.published import (
    evidence_paths,
    filled,
    published_digitised,
    published_ledger,
    published_papers,
)
from dpbandits.pages.verdicts import (
    ANSWERS,
    VARIANTS,
    Values,
    answers,
    begun,
    by_verdict,
    claims_text,
    counted,
    counted_sentence,
    in_counts,
    in_words,
    number_text,
    with_powers,
)
from dpbandits.pipeline.check import check_sentences, require_letters
from dpbandits.pipeline.project import FIGURES, KEYS, Project, published_table
from dpbandits.pipeline.targets import EXTRA
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.spec import FigureSpec
from dpbandits.reporting.text import plain_label as plain
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
    """Return the entries of a paper's `errata.yaml` by id, checked; none without the file."""
    study = project.study(paper)
    path = study.config_path("errata")
    if not path.exists():
        return {}
    file = load_document(path, ErrataFile)
    if file.paper != paper:
        raise InputError(f"{path}: paper is {file.paper!r}; allowed: {paper}, its folder")
    require_letters(path, file.errata, study.letters)
    if twice := set().union(*study.ids) & file.errata.keys():
        raise InputError(f"{path}: errata has {', '.join(sorted(twice))}, a claim or finding")
    return file.errata


def check_pages(project: Project) -> None:
    """Check the errata and the sentences of the chosen papers."""
    for paper in project.chosen:
        load_errata(project, paper)
        study = project.study(paper)
        check_sentences(study)
        study.summary()


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
        """What to see in it, in one sentence of its entry."""
        return plain(self.first.message)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the ledger about it or any of its panels."""
        names, ledger = set(self.stems), self.contents.ledger
        is_about = ledger["figure"].map(lambda paths: not names.isdisjoint(_drawn(paths.split())))
        return ledger[is_about & (ledger["paper"] == self.paper)]

    @property
    def claims(self) -> list[Values]:
        """The claims about it or any of its panels."""
        return [self.contents.claims[name] for name in self.rows["claim"].unique()]

    @property
    def findings(self) -> list[Values]:
        """The findings about it or any of its panels."""
        of_paper = self.contents.findings.get(self.paper, [])
        return [each for each in of_paper if not {*self.stems}.isdisjoint(each["figure"])]

    @property
    def counts(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """The number of claims about it by verdict and variant."""
        return by_verdict(self.rows)

    @property
    def is_judged(self) -> bool:
        """Whether its opening has something to say."""
        return bool(self.as_drawn or self.counts or (self.is_extra and self.findings))

    @property
    def as_drawn(self) -> str:
        """A sentence on whether it comes out as drawn; "" without digitised values."""
        drawn = "" if self.is_extra else self.contents.reproduced(self.paper, self.base)
        return f"As drawn: {drawn}." if drawn else ""

    @cached_property
    def opening(self) -> str:
        """What came out of it, computed: as drawn or not, claims by verdict, or its findings."""
        said = [counted_sentence(self.rows, name, len(self.counts)) for name, _ in self.counts]
        if self.is_extra:
            said += [finding["said"] for finding in self.findings]
        if said or not self.is_extra:
            return " ".join(filter(None, [self.as_drawn, *said]))
        if self.paper not in self.contents.papers:
            return "A comparison across papers: no claim and no finding is about it."
        companion = re.match(rf"{EXTRA}(fig\d+)", self.base)
        begin = f"Beside {head_of(companion[1])}: n" if companion else "N"
        return f"{begin}o claim and no finding is about it{' alone' * bool(companion)}."

    @cached_property
    def numbers(self) -> list[str]:
        """Sentences with the numbers of claims that fail, and of a supplementary one's findings."""
        variants, said = [name for name, _ in self.counts], []
        for claim in self.claims:
            for row in claim["rows"]:
                if row["variant"] in variants and row["verdict"] in ("fails", "mixed"):
                    choice = row["choice"] if len(variants) > 1 else row["words"]
                    where = f", {choice}" * bool(choice)
                    where += f" ({row['sub_claims']})" * bool(row["sub_claims"])
                    number = f"{ANSWERS[row['verdict']]}{where}: {row['value']}"
                    said.append(f"{number} ({claim['id']}).")
        return said + [each["closest"] for each in self.findings * self.is_extra if each["closest"]]

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

    def by_panel(self, claims: Iterable[Values]) -> list[tuple[str, list[Values]]]:
        """Return claims about it by the panels that they are about, each group with a heading."""
        panels: dict[str, list[Values]] = {}
        for claim in claims:
            about = _drawn(claim["paths"]).intersection(self.stems)
            letters = {match[2] if (match := _STEM.fullmatch(name)) else "" for name in about}
            named = "" if "" in letters else ", ".join(sorted(letters))
            panels.setdefault(named, []).append(claim)
        whole = "What the paper says about it"
        return [
            (f"On panel ({letters})" if letters else whole, of_panel)
            for letters, of_panel in sorted(panels.items())
        ]


def _drawn(paths: Iterable[str]) -> set[str]:
    """Return the names of the figures and panels among the files that a claim is about."""
    return {Path(path).stem for path in paths if path.endswith(".png")}


@dataclass(frozen=True)
class Contents:
    """What is published of some papers.

    A text of which a number is not published is ``unpublished``; None: that is an error.
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
        """The verdicts of all papers; InputError where none are published."""
        if not self.papers:
            folder = self.project.folder / FIGURES
            raise InputError(f"{folder}: has no verdicts; allowed: published ones (make publish)")
        ledgers = [published_ledger(self.project, paper) for paper in self.papers]
        return pd.concat(ledgers, ignore_index=True)

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

    def _claim(self, of_claim: pd.DataFrame) -> Values:
        records = [self._row(row) for row in of_claim.to_dict("records")]
        judged = [row for row in records if row["verdict"] != "not applicable"]
        keys = ("paper", "kind", "place", "statement", "scope", "rule")
        return {
            "id": records[0]["claim"],
            **{key: records[0][key] for key in keys},
            "paths": records[0]["figure"].split(),
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
        number, sub_claims = number_text(row), row["detail"].partition("; comparisons")[0]
        value = f"{begun(measured)} is {number}" + (f"; it must be {asked}" if asked else "")
        value += self._open_points(row)
        return {
            **row,
            "words": words,
            "choice": ", ".join(filter(None, [VARIANTS[row["variant"]], words])),
            "is_judged": row["verdict"] not in ("not applicable", "not testable"),
            "measured": measured,
            "asked": asked,
            "value": value if measured and number else begun(row["detail"].rstrip(".")),
            "sub_claims": sub_claims if row["verdict"] == "mixed" else "",
        }

    def _open_points(self, row: Mapping[Any, Any]) -> str:
        """Return the comparisons that a claim about most points leaves open, with their numbers."""
        if row["verdict"] != "holds" or "; undecided: " not in row["detail"]:
            return ""
        evidence = self.evidence
        mine = (evidence[KEYS] == [row[key] for key in KEYS]).all(axis=1)
        deciding = evidence[mine & (evidence["exploratory"] == "False")]
        is_open = deciding["decided"] == "undecided"
        points = [
            f"{with_powers(point['comparison'])} ({number_text(point)})"
            for point in deciding[is_open].to_dict("records")
        ]
        return f"; open, of {len(deciding)} points: {', '.join(points)}"

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
        found = []
        for each in study.findings:
            place = f"{study.findings_path}: findings.{each.id}"
            statement = self._filled(place, paper, each.statement, each.numbers)
            outcome = self._outcome(each.id, each.title, rows)
            found.append({**dict(each), "id": each.id, "statement": statement, **outcome})
        return found

    def _outcome(self, name: str, title: str, rows: pd.DataFrame) -> Values:
        """Return what became of a finding: a word, a sentence, and the closest comparison."""
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
                **dict(entry),
                "id": name,
                "kind": KINDS[entry.kind],
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
        study, figures = self.project.study(name), self.figures(name)
        about = study.about
        said: Values = {
            "name": name,
            "title": study.title,
            "authors": study.authors,
            "arxiv": about and about.arxiv,
            "short": (about and about.short_title) or study.title,
            "reduced": about and about.reduced,
            "is_draft": about and not about.is_published,
            "figures": [group for group in figures if not group.is_extra],
            "extras": [group for group in figures if group.is_extra],
        }
        if name in self.papers:
            place = f"{study.config_path('findings')}: summary"
            summary = study.summary()
            said |= {
                "sentence": summary.sentence,
                "summary": self._filled(place, name, summary.statement, summary.numbers),
                "drawn": self.reproduced(name) or NOT_COMPARED,
                "counts": by_verdict(self.ledger[self.ledger["paper"] == name]),
                "claims": [claim for claim in self.claims.values() if claim["paper"] == name],
                "findings": self.findings[name],
                "errata": self.errata[name],
                "notes": study.notes,
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
        """How many claims of the papers hold, fail, and so on, in two sentences."""
        papers, counts = self.project.papers, counted(self.ledger, "as-written")
        reduced = self.ledger["paper"].isin([name for name in papers if papers[name].reduced])
        smaller = sum(counted(self.ledger[reduced], "as-written").values())
        where = f", {smaller} of them at a smaller scale" if smaller else ""
        were = f"of the papers {'was' if sum(counts.values()) == 1 else 'were'} checked{where}"
        said = f"{claims_text(counts)} {were}, with the algorithms as written."
        return f"{said} Of these {in_counts(counts)}." if any(counts.values()) else said

    @cached_property
    def certainty(self) -> Values:
        """How many verdicts depend on chance, and how many of these are the same family-wise."""
        rows = self.ledger
        random, stands = rows[rows["level"].notna()], rows["family_wise"]
        return {
            "rows": len(rows),
            "random": len(random),
            "expected": float(random["level"].sum()),
            "in_family": int((random["verdict"] == random["verdict_in_family"]).sum()),
            "exact": int((stands == EXACT).sum()),
            "alone": int((random["family_wise"] == ALONE).sum()),
        }

    def reproduced(self, paper: str, stem: str = "fig") -> str:
        """Return whether figures of a paper come out as drawn; "" without digitised values."""
        return reproduced_as_drawn(published_digitised(self.project, paper), stem)

    def in_words(self, paper: str, label: str) -> str:
        """Return the interpretations of a row in words; a comparison knows those of all papers."""
        papers = self.project.papers
        return in_words([papers[paper]] if paper in papers else papers.values(), label)


def _source(number: NumberSource) -> tuple[str, str]:
    """Return a claim, or the name of a file, and its place from the page of a paper."""
    if number.claim:
        return number.claim, f"#{number.claim.lower()}"
    return Path(number.file).stem, f"../{number.file}"
