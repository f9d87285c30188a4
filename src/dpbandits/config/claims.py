"""Claims and findings as `claims.yaml` and `findings.yaml` of `config/papers/PAPER/` state them.

A claim is one sentence of the paper, quoted, and what we measure for it. Entries are frozen models,
checked as the files are read: a mistake ends in a line with the file and the key.
"""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    StrictInt,
    model_validator,
)

from dpbandits.config.documents import (
    AtLeastZero,
    Count,
    Different,
    Name,
    Sentence,
    Spec,
    Value,
    Values,
    Variant,
    as_list,
    naming,
    number,
)
from dpbandits.config.numbers import NAMED, ClaimId, Numbers, NumbersOfClaims
from dpbandits.errors import InputError

Tags = Mapping[str, Any]


def _increasing(analyses: tuple[int, ...]) -> tuple[int, ...]:
    if sorted(set(analyses)) != list(analyses) or (len(analyses) > 1 and analyses[0] == 0):
        raise ValueError("Numbers of runs should increase, from 1 on")
    return tuple(filter(None, analyses))


def _threshold(value: Any) -> Any:
    """Return a number, or the pair of numbers in a list of two."""
    if isinstance(value, list) and len(value) == 2:
        return tuple(map(number, value))
    return number(value)


def _name_and_options(value: Any) -> Any:
    """Return name and options, as of ``{slope: {x: log}}``; other mappings have the name ""."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, Mapping) or not value:
        raise ValueError("Input should be a name, or a mapping")
    [(name, own), *others] = value.items()
    return (name, own) if isinstance(own, Mapping) and not others else ("", value)


MAXIMAL_RUNS = 10**7

FindingId = Annotated[str, Field(pattern="^[A-Z]+-F[0-9]+$")]
RunCount = Annotated[StrictInt, Field(ge=0, le=MAXIMAL_RUNS)]
Analyses = Annotated[
    tuple[RunCount, ...],
    BeforeValidator(as_list),
    Field(min_length=1),
    AfterValidator(_increasing),
]
ResultsName = Annotated[str, Field(pattern="^([a-z0-9-]+/)?[a-z0-9_-]+$")]
Reads = Annotated[tuple[ResultsName, ...], Different]
NamedTags = Annotated[tuple[str, dict[str, Any]], PlainValidator(_name_and_options)]
"""Name of a series with more tags, or of a pick with its options."""


class Reading(Spec):
    """One way to read a claim: a variant, and values of interpretations under their own keys."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    variant: Variant = "as-written"

    @property
    def values(self) -> Tags:
        """Interpretation -> its value."""
        return self.model_extra or {}

    @property
    def label(self) -> str:
        """The interpretations as ``key=value``, comma-separated; empty where there are none."""
        return ",".join(f"{key}={value}" for key, value in self.values.items())


Readings = Annotated[tuple[Reading, ...], Different]


NamedSeries = dict[str, dict[str, Any]]
"""Name of a series -> tags of results, and options of ``SeriesQuery``."""


class Range(Spec):
    """Values of a tag from one number to another, ends included."""

    low: float = Field(-math.inf, alias="from")
    high: float = Field(math.inf, alias="to")


class Shares(Spec):
    """``count`` points of an axis, from one number to another by equal ratios."""

    begin: float = Field(alias="from")
    to: float
    count: Count


SHOWN = "shown"
"""Kind of a comparison without a threshold, which decides nothing."""

KINDS = ("less", "greater", "at_most", "at_least", "identity", "within", "alike")
"""Keys of a comparison that say where its number has to lie:

less, greater, at_most, at_least: on one side of a threshold, the first two strictly.
identity: the threshold itself, but for the tolerance. within: between two numbers.
alike: no further from equality than half the width of the 95 % interval at this number of runs.
"""

OPERATIONS = ("value", "difference", "ratio", "quantity")
"""Keys of which a comparison has one: what it measures."""


Points = Annotated[
    tuple[Any, ...] | dict[str, tuple[Any, ...]] | Shares, Field(union_mode="left_to_right")
]


class ComparisonSpec(Spec):
    """A number, or one at each point, and where it has to lie (keys: ``config/README.md``).

    Its threshold stands under a key of ``KINDS``, such as ``less: 1``: ``kind`` and ``threshold``.
    """

    model_config = ConfigDict(extra="allow")
    more = KINDS
    __pydantic_extra__: dict[
        str, Annotated[float | tuple[float, float], PlainValidator(_threshold)]
    ] = Field(init=False)

    value: NamedTags | None = None
    difference: tuple[NamedTags, NamedTags] | None = None
    ratio: tuple[NamedTags, NamedTags] | None = None
    quantity: str = ""
    of: Annotated[tuple[NamedTags, ...], BeforeValidator(as_list)] = ()
    arguments: dict[str, Any] = {}
    at: dict[str, Any] = {}
    over: dict[str, Values] = Field(default={}, alias="for")
    along: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    points: Points = {}
    where: dict[str, Range] = {}
    pick: Annotated[tuple[NamedTags, ...], BeforeValidator(as_list)] = ()
    point: str = ""
    summary: NamedTags | None = None
    tolerance: AtLeastZero = 0.0
    ours: StrictBool = False
    asked_of: dict[str, Annotated[Values, Different]] = {}

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "ComparisonSpec":
        if len(self.model_extra or {}) > 1:
            raise InputError(f"{', '.join(self.model_extra or {})}; allowed: one of them")
        given = sum(bool(getattr(self, key)) for key in OPERATIONS)
        if given != 1:
            raise InputError(f"{given} of {', '.join(OPERATIONS)}; allowed: one")
        if not self.along and (self.pick or self.points or self.where):
            raise InputError("pick, points or where without along; allowed: with it")
        threshold, allowed = self.threshold, ""
        if self.kind == "within":
            if not isinstance(threshold, tuple) or threshold[0] > threshold[1]:
                allowed = "[low, high], low <= high"
        elif isinstance(threshold, tuple):
            allowed = "one number"
        elif self.kind == "alike" and threshold < 2:
            allowed = "a number of runs of at least 2"
        if allowed:
            shown = list(threshold) if isinstance(threshold, tuple) else threshold
            raise InputError(f"{self.kind} is {shown}; allowed: {allowed}")
        return self

    @property
    def operands(self) -> tuple[NamedTags, ...]:
        """The series from which its number is computed."""
        if self.value:
            return (self.value,)
        return self.difference or self.ratio or self.of

    @property
    def kind(self) -> str:
        """One of ``KINDS``, or ``SHOWN``."""
        return next(iter(self.model_extra or {}), SHOWN)

    @property
    def threshold(self) -> float | tuple[float, float]:
        """The value of its kind; 0 where it has none."""
        threshold: float | tuple[float, float] = (self.model_extra or {}).get(self.kind, 0.0)
        return threshold

    @property
    def decides(self) -> bool:
        """Whether it enters the verdict."""
        return self.kind != SHOWN and not self.ours


@dataclass(frozen=True)
class ComparisonCase:
    """A comparison for one reading, with one value for each variable under its key ``for``.

    ``series`` are the named ones of its file.
    """

    comparison: ComparisonSpec
    name: str
    reading: Tags
    over: Tags
    series: Mapping[str, Tags]

    @property
    def variables(self) -> dict[str, Any]:
        return {**self.reading, **self.over}

    @property
    def label(self) -> str:
        """Its name with variables filled in, then the values that the name does not mention."""
        named = re.findall(r"\{(\w+)", self.name + self.comparison.point)
        others = [f"{key}={value}" for key, value in self.over.items() if key not in named]
        try:
            filled = self.name.format(**self.variables)
        except (KeyError, ValueError, IndexError) as error:
            allowed = ", ".join(self.variables)
            raise InputError(f"{self.name!r} asks for {error}; allowed: {allowed}") from None
        return filled + (f" [{', '.join(others)}]" if others else "")


class StatedEntry(Spec):
    """What claims and findings have in common; ``config/README.md`` says what the keys mean."""

    place: Sentence
    scope: Sentence = ""
    figure: Annotated[tuple[Name, ...], BeforeValidator(as_list), Different] = ()
    reads: Reads = ()
    runs: Analyses = ()
    runs_paper: RunCount = 0
    readings: Annotated[Readings, Field(min_length=1)] = (Reading(),)
    beside: Readings = ()
    compare: dict[str, ComparisonSpec] = {}
    numbers: Numbers = {}

    _id: str = PrivateAttr("")
    _series: Mapping[str, Tags] = PrivateAttr(default_factory=dict)

    @property
    def id(self) -> str:
        """Such as ``TSDP-C8``."""
        return self._id

    @property
    def series(self) -> Mapping[str, Tags]:
        """Named series of its file -> their tags."""
        return self._series

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts with ``{names}`` of numbers."""
        return ()

    @property
    def settings(self) -> str:
        """What it says of settings, in which a number may be typed."""
        compared = (f"{name} {one.model_dump()}" for name, one in self.compare.items())
        readings = (str(each.model_dump()) for each in (*self.readings, *self.beside))
        return " ".join([self.place, self.scope, *compared, *readings])

    @model_validator(mode="after")
    def _reads_each_way_once(self) -> "StatedEntry":
        if any(each in self.readings for each in self.beside):
            raise InputError("beside has a reading that is judged; allowed: others")
        return self

    def cases(self, reading: Reading) -> Iterator[ComparisonCase]:
        """Yield every comparison of a reading, for each combination of its values."""
        tags = {"variant": reading.variant, **reading.values}
        for name, comparison in self.compare.items():
            if any(tags.get(key) not in asked for key, asked in comparison.asked_of.items()):
                continue
            for values in itertools.product(*comparison.over.values()):
                over = dict(zip(comparison.over, values, strict=True))
                yield ComparisonCase(comparison, name, tags, over, self._series)


class Reply(Spec):
    """What authors answered."""

    who: Sentence
    when: Sentence
    where: Sentence
    says: Sentence


ClaimKind = Literal["experiment", "theory", "privacy"]
CLAIM_KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)
"""Kinds of claims, which are counted apart."""

Quantifier = Literal["points", "every", "exists"]


class Claim(StatedEntry):
    """One sentence of a paper, and what was measured.

    ``result`` is the sentence that the page shows. With the ``quantifier`` ``every`` one point
    against decides, with ``exists`` one point for it; with ``points`` those against are exceptions.
    A ``bound`` can be contradicted but not shown. ``cannot`` says why runs cannot decide.
    """

    kind: ClaimKind
    says: Sentence
    scope: Sentence
    measured: Sentence
    result: Sentence
    how: Sentence = ""
    not_judged: tuple[str, ...] = ()
    quantifier: Quantifier = "points"
    bound: StrictBool = False
    cannot: Sentence = ""
    main: StrictBool = False
    chance: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    seen_from: str = ""
    follows_from: ClaimId | None = None
    reply: Reply | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts with ``{names}`` of numbers."""
        return self.result, self.how

    @property
    def settings(self) -> str:
        """What it says of settings, in which a number may be typed."""
        return f"{super().settings} {self.says} {self.measured} {self.cannot}"

    @model_validator(mode="after")
    def _keys_go_together(self) -> "Claim":
        if self.kind != "privacy" and (self.main or self.seen_from):
            raise InputError(f"main or seen_from with kind {self.kind}; allowed: privacy")
        return self


class Finding(StatedEntry):
    """What was found beyond the statements of a paper; without ``statement`` it has a title alone.

    Keys that only claims have are fixed: one point against decides.
    """

    kind: ClassVar[str] = "finding"
    quantifier: ClassVar[Quantifier] = "every"
    bound: ClassVar[bool] = False
    cannot: ClassVar[str] = ""
    chance: ClassVar[tuple[str, ...]] = ()
    seen_from: ClassVar[str] = ""

    title: Sentence
    statement: Sentence = ""
    claims: Annotated[tuple[ClaimId, ...], Different] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts with ``{names}`` of numbers."""
        return self.title, self.statement


Stated = Claim | Finding
"""An entry of `claims.yaml` or `findings.yaml`."""


class Defaults(Spec):
    """Values for claims that lack these keys; ``runs`` is for findings too."""

    reads: Reads = ()
    runs: Analyses = ()
    runs_paper: RunCount = 0


class Notes(Spec):
    """What a claims file says of the claims that it does not have."""

    withdrawn: dict[ClaimId, Sentence] = {}
    not_judged: dict[str, Sentence] = {}


class ClaimsFile(Notes):
    """config/papers/PAPER/claims.yaml: sentences of a paper and what was measured."""

    paper: Name
    defaults: Defaults = Defaults()
    series: NamedSeries = {}
    claims: Annotated[dict[ClaimId, Claim], Field(min_length=1)]


class Summary(Spec):
    """What came out of a paper: some sentences, and one for the front page, with ``{names}``."""

    statement: Sentence
    sentence: Sentence = ""
    numbers: NumbersOfClaims = {}

    @model_validator(mode="after")
    def _names_an_outcome(self) -> "Summary":
        key = "sentence" if self.sentence else "statement"
        if not NAMED.search(getattr(self, key)):
            raise InputError(
                f"{key} names no outcome; allowed: {{a_name}} of numbers, or a claim's {{id}}, "
                f"which stands for its verdict"
            )
        return self


class FindingsFile(Spec):
    """config/papers/PAPER/findings.yaml: what was found beyond the statements of a paper."""

    paper: Name
    series: NamedSeries = {}
    summary: Summary | None = None
    withdrawn: dict[FindingId, Sentence] = {}
    findings: Annotated[dict[FindingId, Finding], Field(min_length=1)]


Simulated = Mapping[str, tuple[int, int]]
"""Simulation -> its number of runs, and how many make one Nash curve; 1 without curves."""


EntryType = TypeVar("EntryType", bound=StatedEntry)

_FIGURES = re.compile(r"Figures? (\d+)((?:\([a-z]\))?(?:(?:, | and )\d*\([a-z]\))*)")
"""Figures and panels that a place names, as in "Figures 1(c) and 1(d)"."""


def complete_entries(
    place: str,
    entries: Mapping[str, EntryType],
    defaults: Tags,
    series: Mapping[str, Tags],
    simulated: Simulated,
) -> list[EntryType]:
    """Return the claims or findings of a file with their ids, and defaults for what they leave out.

    Args:
        place: the file and its key, for messages.
        entries: what the file states, by id.
        defaults: values of keys for entries that lack them.
        series: the series that entries may name.
        simulated: the runs of each simulation; numbers of runs are not checked without any.

    Raises:
        InputError: an entry is wrong; names the file, the key and what is allowed.
    """
    every = []
    for name, stated in entries.items():
        given = stated.model_fields_set
        update = {key: value for key, value in defaults.items() if key not in given}
        entry = stated.model_copy(update=update)
        entry._id, entry._series = name, series
        with naming(f"{place}.{name}"):
            update = {"reads": entry.reads or tuple(dict.fromkeys(_results_of(entry)))}
            if not update["reads"] and any(one.operands for one in entry.compare.values()):
                raise InputError("key reads is missing; allowed: here, or key in of its series")
            counts = [simulated[one][0] for one in update["reads"] if one in simulated]
            if "figure" not in given:
                named = (
                    f"fig{number or figure}{letter}"
                    for figure, panels in _FIGURES.findall(entry.place)
                    for number, letter in re.findall(r"(\d*)\(([a-z])\)", panels) or [("", "")]
                )
                update["figure"] = tuple(dict.fromkeys(named))
            # Exact results have no runs, whatever the paper.
            if "runs" not in given and not counts:
                update["runs"] = ()
            elif "runs" not in given and not entry.runs:
                update["runs"] = (min(counts),)
            if "runs_paper" not in given and not update.get("runs", entry.runs):
                update["runs_paper"] = 0
            every.append(entry.model_copy(update=update))
            if simulated:
                _check_runs(every[-1], simulated, are_own="runs" in given)
    return every


def _check_runs(entry: StatedEntry, simulated: Simulated, *, are_own: bool) -> None:
    """Raise InputError where results have too few runs, or a Nash curve would be cut."""
    if not entry.runs:
        return
    asked = f"runs is {list(entry.runs)}"
    if simulated.keys().isdisjoint(entry.reads):
        raise InputError(f"{asked}; allowed: 0, it reads no simulation")
    for name in entry.reads:
        count, curve = simulated.get(name, (MAXIMAL_RUNS, 1))
        if entry.runs[-1] > count:
            raise InputError(f"{asked}; allowed: {count} at most, as {name} has")
        parted = [runs for runs in entry.runs if runs < count and runs % curve]
        # A default for all claims means whole curves, whatever their size.
        if parted and (are_own or len(entry.runs) > 1):
            raise InputError(
                f"{asked}, and {parted[0]} part a Nash curve of {name}; allowed: multiples of "
                f"{curve}"
            )


def _results_of(entry: StatedEntry) -> Iterator[str]:
    """Yield the results that the series of an entry name under ``in``."""
    readings = (*entry.readings, *entry.beside)
    for case in itertools.chain(*map(entry.cases, readings)):
        comparison = case.comparison
        axes = comparison.points
        if not isinstance(axes, dict):
            values = axes if isinstance(axes, tuple) else (axes.begin,)
            axes = {comparison.along[-1]: values}
        for point in itertools.product(*axes.values()):
            at_point = dict(zip(axes, point, strict=True))
            variables = {**case.variables, **comparison.at, **at_point}
            for template, more in comparison.operands:
                name = template.format_map(defaultdict(str, variables))
                tags = {**entry.series.get(name, {}), **variables, **more}
                for results in as_list(tags.get("in", ())):
                    yield results.format(**variables)
