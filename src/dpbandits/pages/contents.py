"""What the pages show of each paper: figures, claims, findings and errata, from published files."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator

from dpbandits.claims.docket import NumberSource
from dpbandits.claims.ledger import together
from dpbandits.claims.verdict import VERDICTS
from dpbandits.config.documents import Sentence, Spec, load_document, one_of
from dpbandits.errors import InputError
from dpbandits.pages.published import (
    PUBLISHED,
    REPAIRED,
    evidence_paths,
    filled,
    published_digitised,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.render import plain
from dpbandits.pipeline.check import check_sentences
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import EXTRA
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.spec import FigureSpec
from dpbandits.reporting.text import readable
from dpbandits.text_tables import interval_text

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

DIFFERS = "differs by interpretation"
"""What counts a claim whose verdict depends on the interpretation of the text."""

MEANINGS = {
    "holds": "every number is, with its interval, where the claim says",
    "fails": "a number is, with its whole interval, where the claim says it is not",
    "mixed": "parts that the paper states separately come out differently",
    "undecided": "an interval contains the threshold",
    "not contradicted": "results could have refuted the claim and did not; they cannot prove it",
    "not testable": "the claim needs a horizon or a grid that is not reached",
    "not applicable": "the variant has no such statement",
    DIFFERS: "the verdict depends on how the text is read",
}
"""Word of a verdict -> what it says."""

OUTCOMES = {
    "shown": "the numbers show it",
    "not shown": "the numbers do not show it",
    "reported": "numbers without a threshold",
}
"""Outcome of a finding -> what it says."""

ANSWERS = {
    "holds": "Yes",
    "fails": "No",
    "mixed": "In part",
    "undecided": "Undecided",
    "not contradicted": "Not contradicted",
    "not testable": "Cannot be tested",
}
"""Word of a verdict -> how it answers whether a claim is so."""

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

Values = dict[str, Any]


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
    """Check the errata of the chosen papers, and that no sentence of theirs is missing.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    for paper in project.built():
        if paper in project.papers:
            load_errata(project, paper)
            check_sentences(project.study(paper))
            project.study(paper).summary()


_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


def head_of(stem: str) -> str:
    """Return how a paper names a figure or panel: ``Figure 1(b)`` for ``fig1b-repaired``.

    A supplementary figure, and a figure without a number, is called by its name.
    """
    found = _STEM.fullmatch(stem)
    if found is None:
        return stem.removeprefix(EXTRA).replace("-", " ").capitalize()
    number, letter = found.groups()
    return f"Figure {number}({letter})" if letter else f"Figure {number}"


@dataclass(frozen=True)
class FigureGroup:
    """A figure of a paper in all its variants.

    Attributes:
        paper: short name of the paper or comparison.
        base: name of the figure, such as ``fig1``.
        entries: the figure in each variant by name, the one of that name first.
    """

    paper: str
    base: str
    entries: Mapping[str, FigureSpec]

    @property
    def head(self) -> str:
        """How the paper names it, or the name of a supplementary one."""
        return head_of(self.base)

    @property
    def first(self) -> FigureSpec:
        """The figure in the variant that is shown first."""
        return next(iter(self.entries.values()))

    @property
    def title(self) -> str:
        """What came out, as a heading."""
        return plain(self.first.title)

    @property
    def message(self) -> str:
        """What came out, in one sentence."""
        return plain(self.first.message)

    @property
    def heading(self) -> str:
        """Its title, after its name where the paper has one."""
        return self.title if self.is_extra else f"{self.head}: {self.title}"

    @property
    def stems(self) -> list[str]:
        """Names of the figures and of their panels."""
        return [stem for entry in self.entries.values() for stem in entry.stems]

    @property
    def is_extra(self) -> bool:
        """Whether it is supplementary."""
        return _STEM.fullmatch(self.base) is None

    def panels_about(self, names: Iterable[str]) -> str:
        """Return the letters of the panels among some names of figures; "" for the whole figure."""
        letters = {
            match[2] if (match := _STEM.fullmatch(name)) else ""
            for name in names
            if name in self.stems
        }
        return "" if "" in letters else ", ".join(sorted(letters))


def by_figure(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of figures, those that are variants of one figure under its name."""
    variants: dict[str, list[str]] = {}
    for name in names:
        found = _STEM.fullmatch(name)
        variants.setdefault(f"fig{found[1]}" if found else name, []).append(name)
    return variants


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

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """Every comparison behind the verdicts and findings of all papers."""
        paths = (path for paper in self.papers for path in evidence_paths(self.project, paper))
        frames = list(map(_read_evidence, paths))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def findings(self) -> dict[str, list[Values]]:
        """The findings on each paper, with their statements and outcomes."""
        return {paper: self._findings(paper) for paper in self.papers}

    def _findings(self, paper: str) -> list[Values]:
        return [
            {
                "id": finding.id,
                "title": finding.title,
                "place": finding.place,
                "rule": finding.rule,
                "beside": finding.claims,
                "figures": finding.figure,
                "is_headline": finding.headline,
                "statement": statement,
                "outcome": outcome,
            }
            for finding, statement, outcome in published_findings(
                self.project, paper, self.unpublished
            )
        ]

    @cached_property
    def errata(self) -> dict[str, list[Values]]:
        """The errata of each paper by weight, numbers filled in."""
        return {paper: self._errata(paper) for paper in self.papers}

    def _errata(self, paper: str) -> list[Values]:
        entries = load_errata(self.project, paper)
        order = list(KINDS)
        return [
            {
                "id": name,
                "place": entry.place,
                "kind": KINDS[entry.kind],
                "printed": entry.printed,
                "taken": entry.taken,
                "found": self._filled(paper, "errata", name, entry.found, entry.numbers),
                "sources": [*dict.fromkeys(map(_source, entry.numbers.values()))],
            }
            for name, entry in sorted(entries.items(), key=lambda item: order.index(item[1].kind))
        ]

    def _filled(
        self,
        paper: str,
        kind: str,
        key: str,
        text: str,
        numbers: Mapping[str, NumberSource],
    ) -> str:
        place = f"{self.project.study(paper).config_path(kind)}: {key}"
        try:
            return filled(self.project, paper, text, numbers, place)
        except InputError:
            if self.unpublished is None:
                raise
            return self.unpublished

    def summary(self, paper: str) -> str:
        """Return what sums up a paper, its numbers filled in."""
        summary = self.project.study(paper).summary()
        return self._filled(paper, "findings", "summary", summary.statement, summary.numbers)

    def figures(self, paper: str) -> list[FigureGroup]:
        """Return the figures of a paper or comparison."""
        entries = self.project.study(paper).figures
        return [
            FigureGroup(paper, base, {name: entries[name] for name in names})
            for base, names in by_figure(entries).items()
        ]

    def twin(self, group: FigureGroup) -> tuple[str, str] | None:
        """Return name and title of the picture that shows a figure more clearly, if one does."""
        about = self.project.papers.get(group.paper)
        if about is None or about.twin is None or about.picture not in group.stems:
            return None
        for other in self.figures(group.paper):
            if about.twin in other.stems:
                return about.twin, other.title
        allowed = "a figure or panel of the paper"
        raise InputError(f"{group.paper}: twin is {about.twin!r}; allowed: {allowed}")

    def about(self, group: FigureGroup) -> pd.DataFrame:
        """Return the rows of the ledger about a figure or any of its panels."""
        names = set(group.stems)
        is_about = self.ledger["figure"].map(lambda paths: not names.isdisjoint(_drawn(paths)))
        return self.ledger[is_about & (self.ledger["paper"] == group.paper)]

    def findings_about(self, group: FigureGroup) -> list[Values]:
        """Return the findings about a figure or any of its panels."""
        names = set(group.stems)
        of_paper = self.findings.get(group.paper, [])
        return [each for each in of_paper if not names.isdisjoint(each["figures"])]

    def reproduced(self, paper: str, stem: str = "fig") -> str:
        """Return whether the figures of a paper, one of them, or a panel come out as drawn."""
        return reproduced_as_drawn(published_digitised(self.project, paper), stem)

    def as_drawn(self, group: FigureGroup) -> str:
        """Return a sentence on whether a figure comes out as drawn; "" without numbers of it."""
        found = "" if group.is_extra else self.reproduced(group.paper, group.base)
        return f"As drawn: {found}." if found.startswith(("yes", "no")) else ""

    def answer(self, group: FigureGroup) -> str:
        """Return sentences that say what came out of a figure: yes or no, and what is against."""
        return " ".join(filter(None, [self.opening(group), *self.against(group)]))

    def opening(self, group: FigureGroup) -> str:
        """Return whether a figure comes out as drawn, and how the claims about it came out."""
        rows = self.about(group)
        variants = [variant for variant, _ in by_verdict(rows)]
        counts = [_counted_sentence(rows, variant, variants) for variant in variants]
        return " ".join(filter(None, [self.as_drawn(group), *counts]))

    def against(self, group: FigureGroup) -> list[str]:
        """Return a sentence with its number for every claim that fails, as a whole or in part."""
        rows = self.about(group)
        variants = [variant for variant, _ in by_verdict(rows)]
        return [
            f"{ANSWERS[row['verdict']]}{_where(row, variants)}: {row['value']} ({claim['id']})."
            for claim in self.claims(rows[rows["verdict"].isin(["fails", "mixed"])])
            for row in claim["rows"]
            if row["variant"] in variants
        ]

    def alt(self, group: FigureGroup) -> str:
        """Return what is seen of a figure, in words."""
        about = self.project.papers.get(group.paper)
        shown = (
            [about.panels[stem] for stem in group.first.stems if stem in about.panels]
            if about
            else []
        )
        return " ".join(shown) or group.message

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

    def claims(self, rows: pd.DataFrame) -> list[Values]:
        """Return the claims of some rows of the ledger, each with its rows and its answer."""
        return [self._claim(of_claim) for _, of_claim in rows.groupby("claim", sort=False)]

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
            "short": _short_answer(judged),
            "answer": _answer(judged),
            "by_variant": [
                (variant, list(dict.fromkeys(row["verdict"] for row in of_variant)))
                for variant, of_variant in _by_variant(judged)
            ],
        }

    def _row(self, row: Mapping[Any, Any]) -> Values:
        """Return a row of the ledger, with what its number is and in words what it was asked of."""
        words = self.in_words(row["paper"], row["interpretation"])
        measured, asked = _with_powers(row["measured"]), readable(row["asked"])
        number = number_text(row)
        value = f"{_begun(measured)} is {number}" + (f"; it must be {asked}" if asked else "")
        is_judged = row["verdict"] not in ("not applicable", "not testable")
        return {
            **row,
            "words": words,
            "choice": ", ".join(filter(None, [VARIANTS[row["variant"]], words])),
            "is_judged": is_judged,
            "measured": measured,
            "asked": asked,
            "number": number,
            "value": value if measured and number else _begun(row["detail"].rstrip(".")),
            "sub_claims": row["detail"].partition("; comparisons")[0]
            if row["verdict"] == "mixed"
            else "",
        }


def _source(number: NumberSource) -> tuple[str, str]:
    """Return a claim, or the name of a file, and its place from the page of a paper."""
    if number.claim:
        return number.claim, f"#{number.claim.lower()}"
    return Path(number.file).stem, f"../{number.file}"


def _with_powers(text: str) -> str:
    """Return a readable text in which horizons from a million on are powers of ten."""
    return readable(re.sub(r"(?<==)1(0{6,})\b", lambda match: f"1e{len(match[1])}", text))


def _where(row: Values, variants: list[str]) -> str:
    """Return of which variant and interpretation a row is, and how its sub-claims came out."""
    choice = row["choice"] if len(variants) > 1 else row["words"]
    return (f", {choice}" if choice else "") + (
        f" ({row['sub_claims']})" if row["sub_claims"] else ""
    )


def _begun(text: str) -> str:
    """Return a text with a capital, but for names and symbols: ``DP-SE``, ``b=1``, ``m-ts``."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and len(first) > 1 else text


def _read_evidence(path: Path) -> pd.DataFrame:
    """Read the csv of all comparisons; numbers as numbers, texts as they are.

    Raises:
        InputError: it cannot be read.
    """
    try:
        frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    numbers = ("estimate", "lo", "hi", "level", "runs")
    return frame.assign(**{key: pd.to_numeric(frame[key]) for key in numbers if key in frame})


def _drawn(paths: str) -> set[str]:
    """Return the names of the figures and panels among the files that a claim is about."""
    return {Path(path).stem for path in paths.split() if path.endswith(".png")}


def number_text(row: Mapping[Any, Any]) -> str:
    """Return an estimate with three digits, and its interval; "" where there is none."""
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    return readable(interval_text(value, low, high, _three))


def _three(value: float) -> str:
    """Return a number to three digits, up to a million without an exponent."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1e3 <= abs(value) < 1e6 else text


def _by_variant(rows: Iterable[Values]) -> list[tuple[str, list[Values]]]:
    return [(variant, list(own)) for variant, own in groupby(rows, key=lambda row: row["variant"])]


def _short_answer(rows: list[Values]) -> str:
    """Return ``yes``, or ``cannot be tested as written, no as coded``."""
    parts = []
    of_papers = [item for item in _by_variant(rows) if item[0] != REPAIRED]
    for variant, own in of_papers:
        name = f" {VARIANTS[variant]}" if len(of_papers) > 1 else ""
        verdicts = dict.fromkeys(row["verdict"] for row in own)
        words = [
            ANSWERS[verdict].lower()
            + (f" ({'; '.join(_words_of(own, verdict))})" if len(verdicts) > 1 else "")
            for verdict in verdicts
        ]
        parts.append(f"{', '.join(words)}{name}")
    return "; ".join(parts) or "not applicable"


def _words_of(rows: list[Values], verdict: str) -> list[str]:
    return [row["words"] for row in rows if row["verdict"] == verdict]


def _answer(rows: list[Values]) -> list[str]:
    """Return a sentence for each verdict on a claim: yes or no, where, and by which number."""
    variants = [item for item in _by_variant(rows) if item[0] != REPAIRED]
    sentences = []
    for variant, own in variants:
        name = f" {VARIANTS[variant]}" if len(variants) > 1 else ""
        for verdict in dict.fromkeys(row["verdict"] for row in own):
            chosen = [row for row in own if row["verdict"] == verdict]
            first = chosen[0]
            words = "; ".join(row["words"] for row in chosen if row["words"])
            where = f" ({words})" if len(chosen) < len(own) and words else ""
            many = f", in each of {len(chosen)} interpretations"
            many = many if len(chosen) > 1 and not where else ""
            parts = f" ({first['sub_claims']})" if first["sub_claims"] else ""
            sentences.append(f"{ANSWERS[verdict]}{name}{where}{many}{parts}: {first['value']}.")
    return sentences


def counted(ledger: pd.DataFrame, variant: str) -> dict[str, int]:
    """Return the number of claims on a variant by verdict; those last that have several.

    Args:
        ledger: some rows of the ledger.
        variant: such as ``as-written``.
    """
    judged = ledger[(ledger["variant"] == variant) & (ledger["verdict"] != "not applicable")]
    verdicts = judged.groupby("claim")["verdict"]
    agree = verdicts.nunique() == 1
    first = verdicts.first()[agree].value_counts()
    counts = {word: int(first.get(word, 0)) for word in VERDICTS[:-1]}
    return counts | {DIFFERS: int((~agree).sum())}


def by_verdict(ledger: pd.DataFrame) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return how many claims have which verdict, by variant of a paper: those that occur.

    The variant ``repaired`` is no statement on a paper and not counted.
    """
    found = []
    for variant in ("as-written", "as-coded"):
        words = [(word, n) for word, n in counted(ledger, variant).items() if n]
        if words:
            found.append((variant, words))
    return found


_COUNTED = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "not testable": ("cannot be tested", "cannot be tested"),
    DIFFERS: ("depends on how the text is read", "depend on how the text is read"),
}


def in_counts(counts: Mapping[str, int]) -> str:
    """Return ``12 hold, 3 fail and 1 is mixed``."""
    parts = [
        f"{n} {_COUNTED.get(word, (f'is {word}', f'are {word}'))[n > 1]}"
        for word, n in counts.items()
        if n
    ]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def headline(contents: Contents) -> str:
    """Return how many claims of the papers hold, fail, and so on, in two sentences."""
    ledger, papers = contents.ledger, contents.project.papers
    counts = counted(ledger, "as-written")
    reduced = ledger["paper"].isin([name for name in papers if papers[name].reduced])
    smaller = sum(counted(ledger[reduced], "as-written").values())
    where = f", {smaller} of them at a smaller scale" if smaller else ""
    return (
        f"{sum(counts.values())} claims of the papers were checked{where}, with the algorithms as "
        f"written. Of these {in_counts(counts)}."
    )


def _counted_sentence(ledger: pd.DataFrame, variant: str, variants: list[str]) -> str:
    """Return how the claims about a figure came out, with the variant where there are several."""
    counts = counted(ledger, variant)
    size = sum(counts.values())
    name = f" {VARIANTS[variant]}" if len(variants) > 1 else ""
    if counts["holds"] == size > 1:
        return f"Yes{name}: {'both' if size == 2 else f'all {size}'} claims about it hold."
    if size == 1:
        [word] = [word for word, n in counts.items() if n]
        said = f"claim about it{name} {in_counts(counts).partition(' ')[2]}."
        return f"Yes: the {said}" if word == "holds" else f"The {said}"
    return f"Of {size} claims about it{name} {in_counts(counts)}."
