"""Claims and findings as `claims.yaml` and `findings.yaml` of `config/papers/PAPER/` state them.

What is asked stands in frozen models, which are checked as the files are read: whatever is wrong is
one line.
"""

import inspect
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

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

from dpbandits.claims.verdict import ALPHA, KINDS, REPORT, Region, Rule, Word, region_of
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
from dpbandits.errors import InputError

Tags = Mapping[str, Any]


def _increasing(analyses: tuple[int, ...]) -> tuple[int, ...]:
    if sorted(set(analyses)) != list(analyses) or (len(analyses) > 1 and analyses[0] == 0):
        raise ValueError("Numbers of runs should increase, from 1 on")
    return tuple(filter(None, analyses))


def _threshold(value: Any) -> Any:
    """Return a number, or the two of a list."""
    if isinstance(value, list) and len(value) == 2:
        return tuple(map(number, value))
    return number(value)


def _named(value: Any) -> Any:
    """Return a name with a mapping of its own, as in ``{slope: {x: log}}``; "" for a mapping."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, Mapping) or not value:
        raise ValueError("Input should be a name, or a mapping")
    [(name, own), *others] = value.items()
    return (name, own) if isinstance(own, Mapping) and not others else ("", value)


MAXIMAL_RUNS = 10**7

ClaimId = Annotated[str, Field(pattern="^[A-Z]+-C[0-9]+[a-z]?$")]
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
Level = Annotated[float, Field(strict=True, gt=0, lt=1)]
Verdicts = Annotated[tuple[Word, ...], Different]
NamedTags = Annotated[tuple[str, dict[str, Any]], PlainValidator(_named)]
"""Name of a series with more tags, or of a pick with its options."""


class Interpretation(Spec):
    """One row of a claim: a variant, and values of the interpretations, each under its own key."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    variant: Variant = "as-written"
    not_applicable: Sentence | None = None
    not_testable: Sentence | None = None
    verdicts: Verdicts = ()

    @property
    def is_judged(self) -> bool:
        """Whether results decide it."""
        return self.not_applicable is None and self.not_testable is None

    @property
    def values(self) -> Tags:
        """The values of the interpretations."""
        return self.model_extra or {}

    @property
    def label(self) -> str:
        """The interpretations as ``key=value``, comma-separated; empty where a claim has none."""
        return ",".join(f"{key}={value}" for key, value in self.values.items())


class NamedSeries(Spec):
    """A series that a file names: tags of results, and options of ``evidence.Series``.

    ``when``: from ``KEY=VALUE`` of a variable to the tags that it has then.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Any] = Field(init=False)

    when: dict[Annotated[str, Field(pattern="^[^=]+=[^=]+$")], dict[str, Any]] = {}

    def resolved(self, variables: Tags) -> tuple[dict[str, Any], set[str]]:
        """Return its tags under some variables, and which of these have decided on them."""
        tags, keys = dict(self.model_extra or {}), set()
        for condition, more in self.when.items():
            key, _, value = condition.partition("=")
            keys.add(key)
            if str(variables.get(key)) == value:
                tags |= more
        return tags, keys


class Range(Spec):
    """Where a tag is: from one number to another, both included."""

    low: float = Field(-math.inf, alias="from")
    high: float = Field(math.inf, alias="to")


class Shares(Spec):
    """Points of an axis: so many from one to another, by equal ratios."""

    begin: float = Field(alias="from")
    to: float
    count: Count


class Points(Spec):
    """Where a comparison measures; ``config/README.md`` says what the keys mean."""

    at: dict[str, Any] = {}
    along: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    points: tuple[Any, ...] | Shares | dict[str, tuple[Any, ...]] = {}
    where: dict[str, Range] = {}
    pick: Annotated[tuple[NamedTags, ...], BeforeValidator(as_list)] = ()
    point: str = ""


MEASURED = ("value", "difference", "ratio", "deviation", "quantity")
"""Keys of which a comparison has one."""


class Comparison(Points):
    """One comparison of a claim, for each combination of the values it runs over.

    A key such as ``less: 0.8`` is its kind with the threshold; without one it is reported.
    ``config/README.md`` says what the keys mean.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[
        str, Annotated[float | tuple[float, float], PlainValidator(_threshold)]
    ] = Field(init=False)

    value: NamedTags | None = None
    difference: tuple[NamedTags, NamedTags] | None = None
    ratio: tuple[NamedTags, NamedTags] | None = None
    deviation: tuple[NamedTags, NamedTags] | None = None
    quantity: str = ""
    of: Annotated[tuple[NamedTags, ...], BeforeValidator(as_list)] = ()
    places: tuple[Points, ...] = ()
    keep: Annotated[
        dict[str, Annotated[Values, BeforeValidator(as_list)]], Field(max_length=1)
    ] = {}
    summary: NamedTags | None = None
    tolerance: AtLeastZero = 0.0
    indifference: AtLeastZero = 0.0
    part: Sentence = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    arguments: dict[str, Any] = {}
    exploratory: StrictBool = False
    asked_of: dict[str, Annotated[Values, Different]] = {}

    @model_validator(mode="before")
    @classmethod
    def _is_of_one_kind(cls, entry: Any) -> Any:
        """Raise where a key is neither a field nor a kind, or a second kind."""
        if isinstance(entry, Mapping):
            kinds = [key for key in entry if key in KINDS]
            if len(kinds) > 1:
                raise InputError(f"{', '.join(kinds)}; allowed: one of them")
            fields = [one.alias or name for name, one in cls.model_fields.items()]
            known = [*fields, *(kind for kind in KINDS if kind != REPORT)]
            for key in entry:
                if key not in known:
                    raise InputError.unknown("key", key, known)
        return entry

    @model_validator(mode="after")
    def _measures_one_thing(self) -> "Comparison":
        given = sum(bool(getattr(self, key)) for key in MEASURED)
        if given != 1:
            raise InputError(f"{given} of {', '.join(MEASURED)}; allowed: one")
        for one in self.located:
            if not one.along and (one.pick or one.points or one.where):
                raise InputError("pick, points or where without along; allowed: with it")
        _ = self.region
        return self

    @property
    def operation(self) -> str:
        """The key under which it says what it measures."""
        return next(key for key in MEASURED if getattr(self, key))

    @property
    def operands(self) -> tuple[NamedTags, ...]:
        """The series that it is of."""
        if self.quantity:
            return self.of
        given = getattr(self, self.operation)
        return (given,) if self.operation == "value" else given

    @property
    def located(self) -> "tuple[Comparison, ...]":
        """Itself at each of its places."""
        given = [{key: getattr(one, key) for key in one.model_fields_set} for one in self.places]
        return tuple(self.model_copy(update={"places": (), **keys}) for keys in given) or (self,)

    @property
    def kind(self) -> str:
        """A key of ``verdict.KINDS``."""
        return next(iter(self.model_extra or {}), REPORT)

    @cached_property
    def region(self) -> Region:
        """Where the number has to lie."""
        threshold = (self.model_extra or {}).get(self.kind, 0.0)
        return region_of(self.kind, threshold, self.tolerance, self.indifference)

    @property
    def decides(self) -> bool:
        """Whether it enters the verdict."""
        return not self.exploratory and self.kind != REPORT

    def named(self, name: str) -> str:
        """Return its name for all that it is asked of at once, as in ``epsilon=0.1 or 1``."""

        def values(variable: re.Match[str]) -> str:
            return " or ".join(map(str, self.over.get(variable[1], [variable[0]])))

        return re.sub(r"\{(\w+)\}", values, name)

    def is_asked_of(self, interpretation: Interpretation) -> bool:
        """Whether it belongs to the row of this interpretation."""
        values = {"variant": interpretation.variant, **interpretation.values}
        return all(values.get(key) in allowed for key, allowed in self.asked_of.items())


Quantity = Callable[..., Any]
"""A function that makes one number, or one for each named point, of series."""


@dataclass(frozen=True)
class Vocabulary:
    """What comparisons of a paper name: quantities and series by name."""

    functions: Mapping[str, Quantity] = field(default_factory=dict)
    series: Mapping[str, NamedSeries] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A comparison of a row, with one of the values for each variable that it runs ``over``.

    Its name may hold variables, as in ``eta={eta}``; ``row`` has those of the row.
    """

    comparison: Comparison
    name: str
    row: Tags
    over: Tags
    vocabulary: Vocabulary

    @property
    def variables(self) -> dict[str, Any]:
        """All variables."""
        return {**self.row, **self.over}

    @property
    def label(self) -> str:
        """Its name with the values of its variables; those that it does not name follow it."""
        named = re.findall(r"\{(\w+)", self.name + self.comparison.point)
        others = [f"{key}={value}" for key, value in self.over.items() if key not in named]
        return self._filled(self.name) + (f" [{', '.join(others)}]" if others else "")

    @property
    def part(self) -> str:
        """Label of its part."""
        return self._filled(self.comparison.part)

    def _filled(self, text: str) -> str:
        try:
            return text.format(**self.variables)
        except (KeyError, ValueError, IndexError) as error:
            allowed = ", ".join(self.variables)
            raise InputError(f"{text!r} asks for {error}; allowed: {allowed}") from None


class Entry(Spec):
    """What is judged, a claim or a finding; ``config/README.md`` says what the keys mean."""

    kind: str
    statement: Sentence
    place: Sentence
    scope: Sentence = ""
    rule: Sentence = ""
    figure: Annotated[tuple[Name, ...], BeforeValidator(as_list), Different] = ()
    parameters: dict[str, Value] = {}
    reads: Reads = ()
    runs: Analyses = ()
    runs_paper: RunCount = 0
    combine: Rule = "all"
    level: Level = ALPHA
    rerun: Annotated[Count, Field(le=MAXIMAL_RUNS)] = 0
    verdicts: Verdicts = ("holds", "fails", "mixed")
    shown: Sentence = ""
    interpretations: Annotated[tuple[Interpretation, ...], Field(min_length=1), Different] = (
        Interpretation(),
    )
    comparisons: dict[str, Comparison] = {}

    _id: str = PrivateAttr("")
    _vocabulary: Vocabulary = PrivateAttr(Vocabulary())

    @property
    def id(self) -> str:
        """Such as ``TSDP-C8``."""
        return self._id

    @property
    def judged_rows(self) -> tuple[Interpretation, ...]:
        """The rows that results decide."""
        return tuple(row for row in self.interpretations if row.is_judged)

    def implied(self) -> dict[str, Any]:
        """Return values of the keys that are left out, which follow from the others."""
        return {}

    def words(self, interpretation: Interpretation) -> tuple[Word, ...]:
        """Return the words that a row may end in."""
        return interpretation.verdicts or self.verdicts

    def questions(self, interpretation: Interpretation) -> Iterator[Question]:
        """Yield every comparison of a row, for each combination of its values."""
        row = {"variant": interpretation.variant, **self.parameters, **interpretation.values}
        for name, comparison in self.comparisons.items():
            if comparison.is_asked_of(interpretation):
                for values in itertools.product(*comparison.over.values()):
                    over = dict(zip(comparison.over, values, strict=True))
                    yield Question(comparison, name, row, over, self._vocabulary)


class Claim(Entry):
    """A statement of a paper and how it is decided; ``metric`` says what is measured.

    Without ``rule`` this is its comparisons with their thresholds, without ``verdicts`` a claim may
    hold and fail, be mixed where comparisons have parts, and an order is not contradicted or fails.
    """

    kind: Literal["experiment", "picture", "theorem", "order", "remark", "implied"]
    scope: Sentence
    metric: Sentence = ""
    verdicts: Verdicts = ()
    comparisons: dict[str, Comparison]

    def implied(self) -> dict[str, Any]:
        """Return figures, rule and verdicts where these keys are left out.

        Raises:
            InputError: another key is missing, or does not go with the others.
        """
        deciding = {name: one for name, one in self.comparisons.items() if one.decides}
        update: dict[str, Any] = {}
        if "figure" not in self.model_fields_set:
            update["figure"] = tuple(dict.fromkeys(_figures_in(self.place)))
        if not self.rule:
            asked = [
                f"{one.named(name)} is {one.region.describe()}" for name, one in deciding.items()
            ]
            update["rule"] = "; ".join(asked) + "."
        if not self.verdicts:
            has_parts = any(one.part for one in deciding.values())
            usual = ("holds", "fails", "mixed") if has_parts else ("holds", "fails")
            update["verdicts"] = ("not contradicted", "fails") if self.kind == "order" else usual
        if not self.metric:
            raise InputError("key metric is missing; allowed: here or under defaults")
        if self.runs and not self.reads:
            raise InputError("reads is []; allowed: only where runs is 0")
        if self.rerun and not self.runs:
            raise InputError(f"rerun is {self.rerun}; allowed: only where runs is above 0")
        return update


class NumberSource(Spec):
    """Where a number is published: the estimate of a comparison, or a column of a csv of ``docs``.

    Without ``claim`` the comparison is one of the finding that the number belongs to.
    """

    claim: str = ""
    comparison: str = ""
    variant: Variant = "as-written"
    interpretation: str = ""
    file: Annotated[str, Field(pattern="[.]csv$")] = ""
    where: dict[str, Value] = {}
    column: str = ""
    format: Annotated[str, Field(pattern="^[+.,0-9]*[a-z%]?$")] = ".4g"
    interval: StrictBool = True

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "NumberSource":
        of_file = bool(self.file and self.where and self.column)
        if bool(self.comparison) == of_file:
            raise InputError("allowed: the key comparison, or the keys file, where and column")
        return self


class Finding(Entry):
    """What was found beyond the statements of a paper."""

    kind: Literal["finding"] = "finding"
    title: Sentence
    claims: Annotated[tuple[ClaimId, ...], Different] = ()
    headline: StrictBool = False
    numbers: dict[str, NumberSource] = {}


class Defaults(Spec):
    """Keys of claims that lack them, and of findings that lack ``runs`` or ``level``."""

    metric: Sentence = ""
    reads: Reads = ()
    runs: Analyses = ()
    runs_paper: RunCount = 0
    level: Level = ALPHA


class Notes(Spec):
    """What a claims file says beside its claims: why there are no others."""

    not_applicable: dict[Variant, Sentence] = {}
    withdrawn: dict[ClaimId, Sentence] = {}
    not_judged: dict[str, Sentence] = {}


class ClaimsFile(Notes):
    """config/papers/PAPER/claims.yaml: the statements of a paper and how they are decided."""

    paper: Name
    defaults: Defaults = Defaults()
    series: dict[str, NamedSeries] = {}
    claims: Annotated[dict[ClaimId, Claim], Field(min_length=1)]


class Summary(Spec):
    """What came out of a paper: some sentences with ``{names}`` of numbers, and one without."""

    statement: Sentence
    sentence: Sentence = ""
    numbers: dict[str, NumberSource] = {}


class FindingsFile(Spec):
    """config/papers/PAPER/findings.yaml: what was found beyond the statements of a paper."""

    paper: Name
    series: dict[str, NamedSeries] = {}
    summary: Summary | None = None
    findings: Annotated[dict[FindingId, Finding], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_the_finding_of_each_number(self) -> "FindingsFile":
        for name, finding in self.findings.items():
            for key, source in finding.numbers.items():
                if not (source.claim or source.file):
                    finding.numbers[key] = source.model_copy(update={"claim": name})
        return self


Simulated = Mapping[str, tuple[int, int]]
"""Simulation -> its number of runs, and how many of them are one Nash curve; 1 without curves."""


def claims_of(
    file: ClaimsFile,
    path: Path,
    functions: Mapping[str, Quantity] | None,
    simulated: Simulated | None = None,
) -> list[Claim]:
    """Return the claims of a paper, checked.

    Its file is at ``path``; without ``functions``, its quantities, names of these are not checked.
    ``simulated`` has the runs of each simulation.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    defaults = {key: getattr(file.defaults, key) for key in file.defaults.model_fields_set}
    place = f"{path}: claims"
    return _checked(place, file.claims, file.series, defaults, functions, simulated or {})


def findings_of(
    file: FindingsFile,
    path: Path,
    functions: Mapping[str, Quantity] | None,
    simulated: Simulated | None = None,
    claims: ClaimsFile | None = None,
) -> list[Finding]:
    """Return the findings on a paper, checked; arguments and errors are those of ``claims_of``.

    Series, runs and level of its ``claims`` are those of findings too.
    """
    shared, of_claims = (claims.series, claims.defaults) if claims else ({}, Defaults())
    keys = of_claims.model_fields_set & {"runs", "level"}
    defaults = {key: getattr(of_claims, key) for key in keys}
    series, place = {**shared, **file.series}, f"{path}: findings"
    return _checked(place, file.findings, series, defaults, functions, simulated or {})


EntryType = TypeVar("EntryType", bound=Entry)


def _checked(
    place: str,
    entries: Mapping[str, EntryType],
    series: Mapping[str, NamedSeries],
    defaults: Tags,
    functions: Mapping[str, Quantity] | None,
    simulated: Simulated,
) -> list[EntryType]:
    """Return the entries, completed by defaults and what follows from their keys, and checked."""
    vocabulary, checked = Vocabulary(functions or {}, series), []
    for name, entry in entries.items():
        with naming(f"{place}.{name}"):
            completed = _completed(name, entry, defaults, vocabulary, simulated)
            if functions is not None:
                _check(completed)
            checked.append(completed)
    return checked


def _completed(
    name: str,
    entry: EntryType,
    defaults: Tags,
    vocabulary: Vocabulary,
    simulated: Simulated,
) -> EntryType:
    """Return an entry with its id and what it does not say."""
    given = entry.model_fields_set
    filled = {key: value for key, value in defaults.items() if key not in given}
    entry = entry.model_copy(update=filled)
    entry._id, entry._vocabulary = name, vocabulary
    reads = entry.reads or tuple(dict.fromkeys(_results_of(entry)))
    if not reads and any(one.operands for one in entry.comparisons.values()):
        raise InputError("key reads is missing; allowed: here, or key in of its series")
    counts = [simulated[one][0] for one in reads if one in simulated]
    update: dict[str, Any] = {"reads": reads}
    # What is exact has no runs, in no paper.
    if "runs" not in given and not counts:
        update["runs"] = ()
    elif "runs" not in given and not entry.runs:
        update["runs"] = (min(counts),)
    if "runs_paper" not in given and not update.get("runs", entry.runs):
        update["runs_paper"] = 0
    completed = entry.model_copy(update=update)
    if simulated:
        _check_runs(completed, simulated, are_own="runs" in given)
    return completed.model_copy(update=completed.implied())


def _check_runs(entry: Entry, simulated: Simulated, *, are_own: bool) -> None:
    """Raise InputError where results have fewer runs than are asked for, or do not part them."""
    if not entry.runs:
        return
    if simulated.keys().isdisjoint(entry.reads):
        raise InputError(f"runs is {list(entry.runs)}; allowed: 0, it reads no simulation")
    asked = f"runs is {list(entry.runs)}" + f" and rerun {entry.rerun}" * bool(entry.rerun)
    for name in entry.reads:
        count, curve = simulated.get(name, (MAXIMAL_RUNS, 1))
        if entry.runs[-1] + entry.rerun > count:
            raise InputError(f"{asked}; allowed: {count} together at most, as {name} has")
        parted = [runs for runs in (*entry.runs, entry.rerun) if runs < count and runs % curve]
        # One number for all claims stands for whole curves, whatever their size.
        if parted and (are_own or len(entry.runs) > 1):
            raise InputError(
                f"{asked}, and {parted[0]} part a Nash curve of {name}; allowed: multiples of "
                f"{curve}"
            )


_FIGURES = re.compile(r"Figures? (\d+)((?:\([a-z]\))?(?:(?:, | and )\d*\([a-z]\))*)")


def _figures_in(place: str) -> Iterator[str]:
    """Yield the figures and panels that a place names, as in "Figures 1(c) and 1(d)"."""
    for figure, panels in _FIGURES.findall(place):
        letters = re.findall(r"(\d*)\(([a-z])\)", panels) or [("", "")]
        yield from (f"fig{number or figure}{letter}" for number, letter in letters)


def _results_of(entry: Entry) -> Iterator[str]:
    """Yield the results that the series of an entry are in, as far as it says."""
    for question in itertools.chain(*map(entry.questions, entry.judged_rows)):
        for one in question.comparison.located:
            axes = one.points
            if not isinstance(axes, dict):
                axes = {one.along[-1]: axes if isinstance(axes, tuple) else (axes.begin,)}
            for values in itertools.product(*axes.values()):
                at_point = dict(zip(axes, values, strict=True))
                variables = {**question.variables, **one.at, **at_point}
                for template, more in one.operands:
                    name = template.format_map(defaultdict(str, variables))
                    series = entry._vocabulary.series.get(name, NamedSeries())
                    own, _ = series.resolved({**variables, **more})
                    tags = {**own, **variables, **more}
                    for results in as_list(tags.get("in", ())):
                        yield results.format(**variables)


def _check(entry: Entry) -> None:
    """Raise InputError where something that an entry names is not there."""
    for name, comparison in entry.comparisons.items():
        with naming(name):
            _check_names(comparison, entry._vocabulary)
    for interpretation in entry.judged_rows:
        for question in entry.questions(interpretation):
            with naming(question.name):
                _ = question.label, question.part
        if isinstance(entry, Claim):
            _check_row(entry, interpretation)


def _check_names(comparison: Comparison, vocabulary: Vocabulary) -> None:
    """Raise where a function, a pick or a series is not there, or does not take its arguments."""
    from dpbandits.claims.statistics import PICKS

    functions, quantity = vocabulary.functions, comparison.quantity
    if quantity:
        if quantity not in functions:
            raise InputError.unknown("quantity", quantity, functions)
        _check_call(quantity, functions[quantity], *comparison.of, **comparison.arguments)
    for name in comparison.keep:
        if name not in functions:
            raise InputError.unknown("keep", name, functions)
    for pick, options in itertools.chain(*(one.pick for one in comparison.located)):
        if pick not in PICKS:
            raise InputError.unknown("pick", pick, PICKS)
        _check_call(pick, PICKS[pick], [], **options)
    for name, _ in comparison.operands:
        if name and "{" not in name and name not in vocabulary.series:
            raise InputError.unknown("series", name, vocabulary.series)


def _check_call(name: str, function: Quantity, *given: Any, **arguments: Any) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(*given, **arguments)
    except TypeError as error:
        raise InputError(f"{name}: {error}; allowed: {signature}") from None


def _check_row(claim: Claim, interpretation: Interpretation) -> None:
    """Refuse parts that nothing could carry, and to show a number that is not reported.

    Only presumed comparisons carry no part where the claim may hold.
    """
    questions = list(claim.questions(interpretation))
    may_hold = "holds" in claim.words(interpretation)
    deciding = [one for one in questions if one.comparison.decides]
    carried = {one.part for one in deciding if not (may_hold and one.comparison.region.is_presumed)}
    if not deciding or {one.part for one in deciding} - carried:
        raise InputError(
            "a part has no comparison that could carry it; allowed: at least one that is neither "
            "exploratory nor of kind report, no_increase or no_decrease"
        )
    reported = [one.label for one in questions if one.comparison.kind == REPORT]
    if claim.shown and claim.shown not in reported:
        raise InputError(f"shown is {claim.shown!r}; allowed: {', '.join(reported)}")
