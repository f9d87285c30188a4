"""A figure of a paper, in all its variants, with what came out of it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dpbandits.pages.render import plain
from dpbandits.pages.verdicts import ANSWERS, Values, by_verdict, counted_sentence
from dpbandits.pipeline.targets import EXTRA
from dpbandits.reporting.spec import FigureSpec

if TYPE_CHECKING:
    from dpbandits.pages.contents import Contents

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


@dataclass(frozen=True, eq=False)
class FigureGroup:
    """A figure of a paper in all its variants, and what came out of it.

    Attributes:
        contents: what is published.
        paper: short name of the paper or comparison.
        base: name of the figure, such as ``fig1``.
        entries: the figure in each variant by name, the one of that name first.
    """

    contents: "Contents" = field(repr=False)
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
        """What to see in it, in one sentence of its entry."""
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

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the ledger about it or any of its panels."""
        names, ledger = set(self.stems), self.contents.ledger
        is_about = ledger["figure"].map(lambda paths: not names.isdisjoint(_drawn(paths)))
        return ledger[is_about & (ledger["paper"] == self.paper)]

    @property
    def claims(self) -> list[Values]:
        """The claims about it or any of its panels."""
        return [self.contents.claims[name] for name in self.rows["claim"].unique()]

    @property
    def findings(self) -> list[Values]:
        """The findings about it or any of its panels."""
        names = set(self.stems)
        of_paper = self.contents.findings.get(self.paper, [])
        return [finding for finding in of_paper if not names.isdisjoint(finding["figures"])]

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
        """A sentence on whether it comes out as drawn; "" without numbers of the paper."""
        drawn = "" if self.is_extra else self.contents.reproduced(self.paper, self.base)
        return f"As drawn: {drawn}." if drawn.startswith(("yes", "no")) else ""

    @cached_property
    def opening(self) -> str:
        """What came out of it, computed: as drawn or not, and claims by verdict.

        Of a supplementary figure it says what became of the findings that it is drawn for, or that
        there is nothing to compute.
        """
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
        """Sentences with the numbers behind the opening.

        They are of every claim that fails, as a whole or in part, and of the findings that a
        supplementary figure is drawn for.
        """
        variants = [name for name, _ in self.counts]
        against = [
            f"{ANSWERS[row['verdict']]}{_where(row, variants)}: {row['value']} ({claim['id']})."
            for claim in self.claims
            for row in claim["rows"]
            if row["variant"] in variants and row["verdict"] in ("fails", "mixed")
        ]
        closest = [each["closest"] for each in self.findings if self.is_extra and each["closest"]]
        return against + closest

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

    @property
    def twin(self) -> tuple[str, "FigureGroup"] | None:
        """The picture that shows it more clearly, and the figure that this is of; None for none."""
        about = self.contents.project.papers.get(self.paper)
        if about is None or about.twin is None or about.picture not in self.stems:
            return None
        figures = self.contents.figures(self.paper)
        return next(((about.twin, each) for each in figures if about.twin in each.stems), None)

    def by_panel(self, claims: Iterable[Values]) -> list[tuple[str, list[Values]]]:
        """Return claims about it by the panels that they are about, each group with a heading."""
        panels: dict[str, list[Values]] = {}
        for claim in claims:
            about = _drawn(" ".join(claim["paths"])).intersection(self.stems)
            letters = {match[2] if (match := _STEM.fullmatch(name)) else "" for name in about}
            named = "" if "" in letters else ", ".join(sorted(letters))
            panels.setdefault(named, []).append(claim)
        whole = "What the paper says about it"
        return [
            (f"On panel ({letters})" if letters else whole, panels[letters])
            for letters in sorted(panels)
        ]


def by_figure(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of figures, those that are variants of one figure under its name."""
    variants: dict[str, list[str]] = {}
    for name in names:
        match = _STEM.fullmatch(name)
        variants.setdefault(f"fig{match[1]}" if match else name, []).append(name)
    return variants


def _where(row: Values, variants: list[str]) -> str:
    """Return of which variant and interpretation a row is, and how its sub-claims came out."""
    choice = row["choice"] if len(variants) > 1 else row["words"]
    return (f", {choice}" if choice else "") + (
        f" ({row['sub_claims']})" if row["sub_claims"] else ""
    )


def _drawn(paths: str) -> set[str]:
    """Return the names of the figures and panels among the files that a claim is about."""
    return {Path(path).stem for path in paths.split() if path.endswith(".png")}
