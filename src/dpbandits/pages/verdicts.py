"""Verdicts in words, their counts, and what a page says of each claim."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from dpbandits.claims.tables import ALONE, BESIDE, JUDGED, count_verdicts
from dpbandits.claims.verdict import Verdict
from dpbandits.config.claims import SHOWN, Claim, Finding, StatedEntry
from dpbandits.config.project import PaperFile
from dpbandits.pipeline.published import number_text
from dpbandits.text_tables import interval_text

Values = dict[str, Any]
Row = Mapping[Any, Any]

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

COUNTED: Mapping[Verdict, str] = {
    "as stated": "as stated",
    "in part": "in part",
    "depends on the reading": "depending on the reading",
    "not as stated": "not as stated",
    "not contradicted": "not contradicted",
    "counterexample": "with a counterexample",
}
"""Verdicts that answer whether a sentence is true, as they are counted; others are summed up."""


def interpretation_text(papers: Iterable[PaperFile], label: str) -> str:
    """Return interpretations in words: ``l1 norm`` for ``norm=l1``."""
    words = {key: said for about in papers for key, said in about.interpretations.items()}
    keys = re.split(r", ?(?=[a-z_]+=|as-)", label) if label else []
    return ", ".join((words | VARIANTS).get(key, key.replace("=", " = ")) for key in keys)


def estimate_text(row: Row) -> str:
    """Return an estimate with three digits and its interval; "" where there is none.

    Beside a printed number it has four, as those that papers print.
    """
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    form = ".4g" if row["kind"] == "identity" else ".3g"
    return interval_text(value, low, high, partial(number_text, form=form))


def label_text(label: str) -> str:
    """Return the label of a comparison with long powers of ten as ``T=1e8``."""
    return re.sub(r"(?<==)1(0{6,})\b", lambda match: f"1e{len(match[1])}", label)


def counts_text(ledger: pd.DataFrame, claims: Iterable[StatedEntry]) -> dict[str, str]:
    """Return by kind how many claims have which verdict: ``14 as stated, 3 without a verdict``."""
    found = dict[str, str]()
    for kind, words in count_verdicts(ledger, claims).items():
        said = [f"{words[word]} {text}" for word, text in COUNTED.items() if word in words]
        left = sum(count for word, count in words.items() if word not in COUNTED)
        said += [f"{left} without a verdict"] if left else []
        found |= {kind: ", ".join(said)} if said else {}
    return found


MOST, MOST_OPEN = 6, 3
"""Points that are named, of those against and of others; the rest are counted."""


def _first_points(points: Sequence[str], most: int = MOST) -> str:
    left = len(points) - most
    return "; ".join(points[:most]) + (f"; and {left} more" if left > 0 else "")


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim or finding with its rows of the tables of verdicts and of comparisons.

    ``texts`` are those of the entry with numbers filled in; ``papers`` have the words of readings.
    """

    paper: str
    entry: Claim | Finding
    rows: Sequence[Row]
    compared: Sequence[Row] = field(repr=False)
    papers: Sequence[PaperFile] = ()
    texts: Sequence[str] = ()

    @property
    def id(self) -> str:
        """Such as ``TSDP-C8``."""
        return self.entry.id

    @property
    def kind(self) -> str:
        """The kind of a claim, or ``finding``."""
        return self.entry.kind if isinstance(self.entry, Claim) else "finding"

    @property
    def judged(self) -> list[Row]:
        """The rows of readings that are judged."""
        return [row for row in self.rows if row["role"] == JUDGED]

    @property
    def beside(self) -> list[Row]:
        """The rows of readings that are measured alone."""
        return [row for row in self.rows if row["role"] == BESIDE]

    @property
    def word(self) -> str:
        """Its verdict; "" for a finding without a threshold, and where nothing is published."""
        return next((str(row["verdict"]) for row in self.judged), "")

    @property
    def after_word(self) -> str:
        """What follows the verdict: the probability of a witness, and the excess that we would see.

        Empty where readings differ in it: then each has its own.
        """
        said = {self._witness(row) for row in self.judged}
        return said.pop() if len(said) == 1 else ""

    def _witness(self, row: Row) -> str:
        inputs = " under the two inputs" * (len(self.entry.chance) > 1)
        said = [f"probability of the event: {row['chance']}{inputs}"] if row["chance"] else []
        if row["seen_from"] and row["of_reading"] != "counterexample":
            factor = number_text(float(row["seen_from"]))
            seen = f"we would notice {factor} times what is claimed"
            if row["of_reading"] == "cannot be tested here":
                seen = f"we would notice only {factor} times what is claimed or more"
            said.append("we would notice any excess" if factor == "1" else seen)
        return f" ({'; '.join(said)})" if said else ""

    def reading_text(self, row: Row) -> str:
        """Return variant and interpretations of a row in words; no variant that all rows share."""
        words = interpretation_text(self.papers, str(row["interpretation"]))
        is_one = bool(words) and len({each["variant"] for each in self.rows}) == 1
        return ", ".join(filter(None, [VARIANTS[row["variant"]] * (not is_one), words]))

    def _told_apart(self, rows: Sequence[Row]) -> str:
        """Return in words what these judged readings have in common and the others lack."""

        def keys(row: Row) -> list[str]:
            return [str(row["variant"]), *str(row["interpretation"]).split(",")]

        common = [key for key in keys(rows[0]) if all(key in keys(row) for row in rows)]
        own = [key for key in common if not all(key in keys(row) for row in self.judged)]
        return interpretation_text(self.papers, ",".join(own))

    def comparisons(self, row: Row) -> Sequence[Row]:
        """Return every comparison of the reading of a row."""
        keys = ("variant", "interpretation")
        return [each for each in self.compared if all(each[key] == row[key] for key in keys)]

    def points(self, decision: str, *, ours: bool = False, exact: bool | None = None) -> list[str]:
        """Return the points with a decision, each with its number, of all judged readings.

        With ``ours`` only those at values that we chose; ``exact``: only those whose interval is a
        point, or only the others.
        """
        found = []
        for reading in self.judged:
            begin = f"{self.reading_text(reading)}: " if len(self.judged) > 1 else ""
            found += [begin + each for each in self._points_of(reading, decision, ours, exact)]
        return found

    def _points_of(
        self, reading: Row, decision: str, ours: bool = False, exact: bool | None = None
    ) -> list[str]:
        """Return the points of one reading, without a name that all comparisons share."""
        rows, found = [row for row in self.comparisons(reading) if row["kind"] != SHOWN], []
        names = {str(row["comparison"]).partition(" [")[0] for row in rows}
        for row in rows:
            is_wanted = exact is None or (float(row["lo"]) == float(row["hi"])) == exact
            is_wanted = is_wanted and (str(row["ours"]) == "True") == ours
            if row["decided"] == decision and is_wanted:
                label = label_text(str(row["comparison"]))
                _, _, point = label.partition(" [")
                label = point.removesuffix("]") if point and len(names) == 1 else label
                found.append(f"{label} ({estimate_text(row)})")
        return found

    @property
    def exceptions(self) -> str:
        """The points that the verdict is about, to follow it; "" where it is about all.

        Where one point is enough the text names it.
        """
        contra = self.points("against")
        if self.word == "in part":
            return f", except at {_first_points(contra)}"
        is_one_of_many = self.word == "not as stated" and contra and self.points("for")
        return f", at {_first_points(contra)}" if is_one_of_many else ""

    @property
    def _is_one_enough(self) -> bool:
        return getattr(self.entry, "quantifier", "") == "exists"

    @property
    def _names_points(self) -> bool:
        """Whether points that are open or equal matter: not to a bound, nor where one decides."""
        is_bound = self.kind == "privacy" or getattr(self.entry, "bound", False)
        return not is_bound and not self._is_one_enough

    @property
    def readings(self) -> list[str]:
        """The verdict on each reading, where there are several."""
        words = [f"{row['of_reading']}{self._witness(row)}" for row in self.judged]
        if len(set(words)) == 1:
            return [f"the same in {len(words)} readings"] * (len(words) > 1)
        named = []
        for row, word in zip(self.judged, words, strict=True):
            contra = self._points_of(row, "against") if word == "in part" else []
            named.append(f"{self.reading_text(row)}: {word}")
            named[-1] += f", except at {_first_points(contra)}" if contra else ""
        return named

    @property
    def not_judged(self) -> str:
        """The quoted words of its sentence that have no threshold."""
        quoted = (f'"{words}"' for words in getattr(self.entry, "not_judged", ()))
        return ", ".join(quoted)

    @property
    def standing(self) -> list[str]:
        """Whether it is a main guarantee, and which claim counts in its place."""
        source = getattr(self.entry, "follows_from", None)
        main = ["a main guarantee"] if getattr(self.entry, "main", False) else []
        return main + ([f"not counted apart from {source}"] if source else [])

    @property
    def left_out(self) -> list[str]:
        """Notes on open and alike points, on values that we chose, and on a claim's own level."""
        alike = (
            "not counted, because the paper's number of runs could not tell the two values apart"
        )
        same = "not counted, because the two values compared are equal"
        named = [
            ("open", self.points("undecided")),
            (same, self.points("equal", exact=True)),
            (alike, self.points("equal", exact=False)),
        ]
        notes = [
            f"{said}: {_first_points(at, MOST_OPEN)}"
            for said, at in named
            if at and self._names_points
        ]
        if contra := self.points("against", ours=True):
            notes.append(f"at values that we chose it is not so: {_first_points(contra)}")
        is_alone = any(row["family_wise"] == ALONE for row in self.judged)
        alone = "decided at 5 % for this claim alone, open if all claims of the paper share the 5 %"
        return [*notes, alone] if is_alone else notes

    @property
    def deciding(self) -> list[str]:
        """The number that decides each reading and what is asked, or its first; also as printed."""
        if self.word == "undecided" and not self._names_points:
            return [f"open: {_first_points(self.points('undecided'))}"]
        numbers: dict[str, dict[str, list[Row]]] = {}
        for row in self.judged:
            number = self._shown(row) if self._is_one_enough else estimate_text(self._binding(row))
            if row["asked"] and number:
                asked = re.sub(
                    r"\d+\.\d{4,}", lambda found: number_text(float(found[0])), row["asked"]
                )
                numbers.setdefault(asked, {}).setdefault(number, []).append(row)
        said, several = [], sum(map(len, numbers.values())) > 1
        for asked, rows_of in numbers.items():
            own = [
                ": ".join(filter(None, [self._told_apart(rows) * several, number]))
                for number, rows in rows_of.items()
            ]
            said.append(f"{'; '.join(own)} (asked: {asked})")
        sizes = [shown for row in self.judged if (shown := self._shown(row))]
        return [*(said or dict.fromkeys(sizes)), *self.as_printed]

    @property
    def as_printed(self) -> list[str]:
        """The readings beside that are not repaired, each with its number."""
        return [
            f"{self.reading_text(row).replace('as written', 'as printed')}, {shown}"
            for row in self.beside
            if row["variant"] != "repaired" and (shown := self._shown(row))
        ]

    def _binding(self, row: Row) -> Row:
        """Return the comparison that decides a reading, whose kind is that of its number."""
        named = (each for each in self.comparisons(row) if each["comparison"] == row["measured"])
        return next(named, row)

    def _shown(self, row: Row) -> str:
        """Return the binding comparison of a reading with its number, or else the first one."""
        first = [(each["comparison"], each) for each in self.comparisons(row)]
        for label, each in [(row["measured"], row), *first]:
            if number := estimate_text(each):
                return f"{label_text(label)}: {number}"
        return ""

    @property
    def repairs(self) -> list[tuple[str, str, str]]:
        """For each repaired reading: what is compared, as judged and repaired, with its numbers.

        Where there are several, each is named.
        """
        repaired, found = [row for row in self.beside if row["variant"] == "repaired"], []
        for row in repaired if self.judged else []:
            same = [each for each in self.judged if each["interpretation"] == row["interpretation"]]
            judged = (same or self.judged)[0]
            mine, theirs = (
                {str(each["comparison"]): estimate_text(each) for each in self.comparisons(of)}
                for of in (row, judged)
            )
            labels = [name for name in (judged["measured"], *theirs) if name in mine]
            if name := next(iter(labels), ""):
                reading = interpretation_text(self.papers, str(row["interpretation"]))
                begin = f"{reading}: " if len(repaired) > 1 else ""
                found.append((begin + label_text(name), theirs[name], mine[name]))
        return found
