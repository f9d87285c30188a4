"""Claims and findings as `claims.yaml` and `findings.yaml` of `config/papers/PAPER/` state them.

The files are read as models, and checked: whatever is wrong is one line.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
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
    Names,
    Sentence,
    Spec,
    Value,
    Values,
    Variant,
    as_list,
    load_document,
    naming,
    number,
    one_of,
)
from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.claims.evidence import Evidence
    from dpbandits.claims.numbers import Estimate
    from dpbandits.claims.statistics import Measurement, NamedSeries


def _increasing(analyses: tuple[int, ...]) -> tuple[int, ...]:
    if sorted(set(analyses)) != list(analyses):
        raise ValueError("Numbers of runs should increase")
    return tuple(runs for runs in analyses if runs > 0 or len(analyses) > 1)


def _threshold(value: Any) -> Any:
    """Return a number, or the two of a list."""
    if isinstance(value, list) and len(value) == 2:
        return tuple(map(number, value))
    return number(value)


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
Verdicts = Annotated[tuple[Word, ...], Different]
Definitions = dict[str, Annotated[dict[str, Any], Field(min_length=1)]]
"""Argument -> short name -> the value that it stands for."""


class InterpretationEntry(Spec):
    """A variant and values of the interpretations, each under its own key."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    variant: Variant = "as-written"
    not_applicable: Sentence | None = None
    not_testable: Sentence | None = None
    verdicts: Verdicts = ()


class SeriesEntry(Spec):
    """A series: tags of results, and options of ``evidence.Series``; ``when`` has more of them."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Any] = Field(init=False)

    when: dict[Annotated[str, Field(pattern="^[^=]+=[^=]+$")], dict[str, Any]] = {}


class Range(Spec):
    """Where a tag is: from one number to another, both included."""

    low: float = Field(-math.inf, alias="from")
    high: float = Field(math.inf, alias="to")


class Shares(Spec):
    """Points of an axis: so many from one to another, by equal ratios."""

    begin: float = Field(alias="from")
    to: float
    count: Count


Operand = str | dict[str, Any]
Pick = str | dict[str, Any]
MEASURED = ("value", "difference", "ratio", "deviation", "quantity", "statistic")
"""Keys of which a comparison has one."""


class PointsEntry(Spec):
    """Where a comparison measures.

    Attributes:
        at: tags of all series.
        along: tags, or ``t``, that run over ``points``; all that there are by default.
        where: tags of the first series, which keep the points at which they are in a range.
        pick: what is made of the points along the last of them: names, or names with options.
        point: the label of a point.
    """

    at: dict[str, Any] = {}
    along: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    points: tuple[Any, ...] | Shares | dict[str, tuple[Any, ...]] = {}
    where: dict[str, Range] = {}
    pick: Annotated[tuple[Pick, ...], BeforeValidator(as_list)] = ()
    point: str = ""


class ComparisonEntry(PointsEntry):
    """One comparison of a claim; a key such as ``less: 0.8`` is its kind with the threshold.

    Attributes:
        value: the series whose number it is.
        difference: two series; likewise ``ratio`` and ``deviation``.
        quantity: a function of the paper, of the series under ``of``, with ``arguments``.
        statistic: a function of the paper on its evidence.
        places: several places that it measures at, one after the other.
        keep: a function of the paper that puts series in classes, and the classes that are kept.
        summary: what is made of all points: a name, or one with options.
    """

    value: Operand | None = None
    difference: tuple[Operand, Operand] | None = None
    ratio: tuple[Operand, Operand] | None = None
    deviation: tuple[Operand, Operand] | None = None
    quantity: str = ""
    statistic: str = ""
    of: Annotated[tuple[Operand, ...], BeforeValidator(as_list)] = ()
    places: tuple[PointsEntry, ...] = ()
    keep: Annotated[
        dict[str, Annotated[Values, BeforeValidator(as_list)]], Field(max_length=1)
    ] = {}
    summary: Pick | None = None
    kind: Annotated[str, one_of(KINDS)] = REPORT
    threshold: Annotated[float | tuple[float, float], PlainValidator(_threshold)] = 0.0
    tolerance: AtLeastZero = 0.0
    indifference: AtLeastZero = 0.0
    part: Sentence = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    arguments: dict[str, Any] = {}
    exploratory: StrictBool = False
    asked_of: dict[str, Annotated[Values, Different]] = {}

    @model_validator(mode="after")
    def _measures_one_thing(self) -> "ComparisonEntry":
        if len(self.measured) != 1:
            raise InputError(f"{len(self.measured)} of {', '.join(MEASURED)}; allowed: one")
        for one in self.places or (self,):
            if not one.along and not self.along and (one.pick or one.points or one.where):
                raise InputError("pick, points or where without along; allowed: with it")
        return self

    @property
    def measured(self) -> list[str]:
        """The key under which it says what it measures."""
        return [key for key in MEASURED if getattr(self, key) not in (None, "")]

    @model_validator(mode="before")
    @classmethod
    def _names_its_region(cls, entry: Any) -> Any:
        """Take a kind with its threshold for the two keys; a number without one is reported."""
        if not isinstance(entry, Mapping):
            return entry
        kinds = [key for key in entry if key in KINDS]
        if len(kinds) + ("kind" in entry) > 1:
            raise InputError(f"more than one of {', '.join(KINDS)}; allowed: one")
        others = {key: value for key, value in entry.items() if key not in kinds}
        regions = [{"kind": kind, "threshold": entry[kind]} for kind in kinds]
        return {**others, **(regions[0] if regions else {})}


class NumberSource(Spec):
    """Where a number is published: the estimate of a comparison, or a column of a csv.

    Attributes:
        claim: id of the claim or finding; "" for the finding that the number belongs to.
        comparison: its comparison, in the row of ``variant`` and ``interpretation``.
        file: a csv under ``docs``.
        where: columns and their values in the one row that is meant.
        column: of that row.
        format: of Python.
        interval: whether its interval is shown; not where it is a bound of one side alone.
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


class Entry(Spec):
    """What claims and findings have in common."""

    statement: Sentence
    place: Sentence
    scope: Sentence = ""
    rule: Sentence = ""
    metric: Sentence = ""
    figure: Names = ()
    parameters: dict[str, Value] = {}
    reads: Reads = ()
    runs: Analyses = ()
    combine: Rule = "all"
    level: Annotated[float, Field(strict=True, gt=0, lt=1)] = ALPHA
    interpretations: Annotated[tuple[InterpretationEntry, ...], Field(min_length=1), Different] = (
        InterpretationEntry(),
    )
    comparisons: dict[str, ComparisonEntry] = {}


class ClaimEntry(Entry):
    """A statement of a paper and how it is decided."""

    kind: Literal["experiment", "picture", "theorem", "order", "remark", "implied"]
    scope: Sentence
    verdicts: Annotated[Verdicts, Field(min_length=1)]
    rule: Sentence
    metric: Sentence
    reads: Annotated[Reads, Field(min_length=1)]
    runs: Analyses
    runs_paper: RunCount
    rerun: Annotated[Count, Field(le=MAXIMAL_RUNS)] = 0
    shown: Sentence = ""
    comparisons: dict[str, ComparisonEntry]

    @model_validator(mode="after")
    def _reruns_what_is_run(self) -> "ClaimEntry":
        if self.rerun and not self.runs:
            raise InputError(f"rerun is {self.rerun}; allowed: only where runs is above 0")
        return self


class FindingEntry(Entry):
    """What was found beyond the statements of a paper."""

    title: Sentence
    claims: Annotated[tuple[ClaimId, ...], Different] = ()
    headline: StrictBool = False
    numbers: dict[str, NumberSource] = {}


class Notes(Spec):
    """What a claims file says beside its claims.

    Attributes:
        not_applicable: variant -> why no claim of the paper is judged on it.
        withdrawn: id -> why it is no claim any more.
        not_judged: statement -> why there is no claim about it.
    """

    not_applicable: dict[Variant, Sentence] = {}
    withdrawn: dict[ClaimId, Sentence] = {}
    not_judged: dict[str, Sentence] = {}


class ClaimsFile(Notes):
    """config/papers/PAPER/claims.yaml: the statements of a paper and how they are decided.

    Attributes:
        paper: its short name.
        defaults: keys of a claim -> what they are where a claim does not have them.
        definitions: argument -> short name -> the value that it stands for.
        series: name -> tags of the series that comparisons name.
        claims: id -> the claim.
    """

    paper: Name
    defaults: dict[str, Any] = {}
    definitions: Definitions = {}
    series: dict[str, SeriesEntry] = {}
    claims: Annotated[dict[ClaimId, ClaimEntry], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _fills_in_defaults(cls, file: Any) -> Any:
        """Give each claim the keys that it lacks; no paper runs what is exact (``runs: 0``)."""
        if not isinstance(file, Mapping) or not isinstance(file.get("claims"), Mapping):
            return file
        defaults = file.get("defaults")
        if not isinstance(defaults, Mapping):
            return file
        claims = {}
        for name, entry in file["claims"].items():
            filled = {**defaults, **entry} if isinstance(entry, Mapping) else entry
            if isinstance(entry, Mapping) and filled.get("runs") == 0 and "runs_paper" not in entry:
                filled["runs_paper"] = 0
            claims[name] = filled
        return {**file, "claims": claims}


class Summary(Spec):
    """What came out of a paper: some sentences with ``{names}`` of numbers, and one without."""

    statement: Sentence
    sentence: Sentence = ""
    numbers: dict[str, NumberSource] = {}


class FindingsFile(Spec):
    """config/papers/PAPER/findings.yaml: what was found beyond the statements of a paper."""

    paper: Name
    definitions: Definitions = {}
    series: dict[str, SeriesEntry] = {}
    summary: Summary | None = None
    findings: Annotated[dict[FindingId, FindingEntry], Field(min_length=1)]


Statistic = Callable[..., "Estimate | Mapping[str, Estimate]"]
"""A paper's statistic: (evidence, **arguments) -> one number, or one for each named point."""

FINDING = "finding"
"""The kind of a finding, beside the kinds of claims."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim, for each combination of the values it runs over.

    Attributes:
        name: what is compared; may name variables, as in ``eta={eta}``.
        statistic: what measures: a function of the evidence, or an operation on series.
        kind: a key of ``regions.KINDS``.
        region: where the number has to lie.
        part: label of the separately stated part it belongs to; may name variables.
        over: variable -> the values it takes.
        arguments: fixed arguments of the statistic.
        exploratory: whether it is reported without entering the verdict.
        asked_of: ``variant`` or an interpretation -> the values that it is asked of; all where
            empty.
    """

    name: str
    statistic: "Statistic | Measurement"
    kind: str
    region: Region
    part: str = ""
    over: Mapping[str, tuple[Any, ...]] | None = None
    arguments: Mapping[str, Any] | None = None
    exploratory: bool = False
    asked_of: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def decides(self) -> bool:
        """Whether it enters the verdict."""
        return not self.exploratory and self.kind != REPORT

    @property
    def is_of_series(self) -> bool:
        """Whether it is an operation on series, or a quantity of them."""
        from dpbandits.claims.statistics import Measurement

        return isinstance(self.statistic, Measurement)

    def is_asked_of(self, interpretation: "Interpretation") -> bool:
        """Whether it belongs to the row of this interpretation."""
        values = {"variant": interpretation.variant, **dict(interpretation.values)}
        return all(values.get(key) in allowed for key, allowed in self.asked_of.items())

    def bindings(self, settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the variables of each combination of values."""
        over = self.over or {}
        given = {} if self.is_of_series else self.arguments or {}
        for values in itertools.product(*over.values()):
            yield {**settings, **dict(zip(over, values, strict=True)), **given}

    def _parted(self, variables: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return variables of the row, and those that it runs over."""
        over = {key: variables[key] for key in self.over or {}}
        return {key: value for key, value in variables.items() if key not in over}, over

    def find(self, evidence: "Evidence", variables: Mapping[str, Any]) -> None:
        """Raise InputError where a series that it is of is not there, or is several."""
        cast("Measurement", self.statistic).find(evidence, *self._parted(variables))

    def call(self, evidence: "Evidence", variables: Mapping[str, Any]) -> "Mapping[str, Estimate]":
        """Measure; the statistic takes the variables that it has parameters for."""
        if self.is_of_series:
            return cast("Measurement", self.statistic)(evidence, *self._parted(variables))
        accepted = parameters_of(self.statistic)
        chosen = {key: value for key, value in variables.items() if key in accepted}
        answer = self.statistic(evidence, **chosen)
        return answer if isinstance(answer, Mapping) else {"": answer}


@dataclass(frozen=True)
class Interpretation:
    """One row of the ledger: a variant, and the values of the interpretations.

    Attributes:
        variant: of the algorithms.
        values: the interpretations.
        not_applicable: why the claim says nothing of this variant, if it does not.
        not_testable: why it cannot be tested here, with the horizon that it would need.
        verdicts: the words that this row may end in, where they are not those of the claim.
    """

    variant: str = "as-written"
    values: tuple[tuple[str, Any], ...] = ()
    not_applicable: str | None = None
    not_testable: str | None = None
    verdicts: tuple[Word, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Whether results decide it."""
        return self.not_applicable is None and self.not_testable is None

    @property
    def label(self) -> str:
        """The interpretations as ``key=value``, comma-separated; empty where a claim has none."""
        return ",".join(f"{key}={value}" for key, value in self.values)


@dataclass(frozen=True)
class Claim:
    """An empirical statement of a paper as comparisons that decide it.

    Attributes:
        id: such as ``TSDP-C8``.
        kind: what sort of statement it is: experiment, picture, theorem, order, remark or implied.
        statement: what the paper says, in our words, with its qualifiers.
        place: where it says it.
        scope: what it is said of, and what of that is not the paper's.
        verdicts: the words that it may end in; see ``verdict.in_words``.
        rule: how it is decided, in words.
        metric: what is measured.
        reads: names of the simulations and analytic results it reads.
        analyses: numbers of runs at which it is judged, increasing; the level is split over them.
            Empty for an analytic claim.
        runs_paper: the paper's own number of runs, 0 for an analytic claim.
        parameters: default arguments of the statistics.
        definitions: argument -> short name -> the value it stands for.
        interpretations: one row of the ledger each.
        combine: how the comparisons of a part combine.
        comparisons: in the order of the file.
        level: chance allowed of deciding any comparison wrongly, two-sided.
        rerun: how many fresh runs a verdict that a part fails is judged again on; 0 for none.
        figures: the figures, panels and tables that it is about, the first one before all.
        shown: the reported comparison whose number its rows show in place of the binding one,
            where that is the quantity that the statement is about.
    """

    id: str
    kind: str
    statement: str
    place: str
    scope: str
    verdicts: tuple[Word, ...]
    rule: str
    metric: str
    reads: tuple[str, ...]
    analyses: tuple[int, ...]
    runs_paper: int
    parameters: Mapping[str, Any]
    definitions: Mapping[str, Mapping[str, Any]]
    interpretations: tuple[Interpretation, ...]
    combine: Rule
    comparisons: tuple[Comparison, ...]
    level: float = ALPHA
    rerun: int = 0
    figures: tuple[str, ...] = ()
    shown: str = ""

    def words(self, interpretation: Interpretation) -> tuple[Word, ...]:
        """Return the words that a row may end in."""
        return interpretation.verdicts or self.verdicts

    def settings(self, interpretation: Interpretation) -> dict[str, Any]:
        """Return the arguments of a row, its variant among them, short names replaced.

        Raises:
            InputError: a short name without a definition.
        """
        settings = {
            "variant": interpretation.variant,
            **self.parameters,
            **dict(interpretation.values),
        }
        for key, names in self.definitions.items():
            if key in settings:
                if settings[key] not in names:
                    allowed = ", ".join(str(name) for name in names)
                    raise InputError(f"{self.id}: {key} is {settings[key]!r}; allowed: {allowed}")
                settings[key] = names[settings[key]]
        return settings


@dataclass(frozen=True)
class Finding:
    """What was found beyond the statements of a paper.

    Attributes:
        claim: its comparisons, in the form of a claim of the kind ``finding``.
        title: a short heading.
        beside: ids of the claims that it is shown beside.
        numbers: placeholder of the statement -> where its number is published.
        is_headline: whether it is worth the front page.
    """

    claim: Claim
    title: str
    beside: tuple[str, ...] = ()
    numbers: Mapping[str, NumberSource] = field(default_factory=dict)
    is_headline: bool = False


def parameters_of(statistic: Statistic) -> dict[str, bool]:
    """Return the parameters of a statistic after its evidence, and whether each is required."""
    found = list(inspect.signature(statistic).parameters.values())[1:]
    return {each.name: each.default is inspect.Parameter.empty for each in found}


def statistics_of(*modules: ModuleType) -> dict[str, Statistic]:
    """Return the statistics that modules define, by the names that claims give them.

    These are their public functions of ``evidence`` and otherwise of keyword arguments alone.

    Raises:
        InputError: two of them have one name.
    """
    statistics: dict[str, Statistic] = {}
    for module in modules:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            is_imported = function.__module__ != module.__name__
            if is_imported or name.startswith("_") or not _is_statistic(function):
                continue
            if name in statistics:
                raise InputError(f"{module.__name__}: a second statistic {name!r}; allowed: one")
            statistics[name] = function
    return statistics


def quantities_of(*modules: ModuleType) -> dict[str, Statistic]:
    """Return the public functions that modules define, which are quantities of series."""
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def _is_statistic(function: Statistic) -> bool:
    first, *others = inspect.signature(function).parameters.values()
    return first.name == "evidence" and all(each.kind is each.KEYWORD_ONLY for each in others)


def load_claims(path: Path, statistics: Mapping[str, Statistic]) -> list[Claim]:
    """Read ``config/papers/PAPER/claims.yaml``; return the claims of the paper, checked."""
    return claims_of(load_document(path, ClaimsFile), path, statistics)


def claims_of(file: ClaimsFile, path: Path, statistics: Mapping[str, Statistic]) -> list[Claim]:
    """Return the claims of a paper, checked.

    Args:
        file: what its claims file says.
        path: where that is, for messages.
        statistics: the paper's statistics by name.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    claims = []
    for name, entry in file.claims.items():
        with naming(f"{path}: claims.{name}"):
            claim = replace(
                _claim(name, entry, file, statistics),
                kind=entry.kind,
                verdicts=entry.verdicts,
                runs_paper=entry.runs_paper,
                rerun=entry.rerun,
                shown=entry.shown,
            )
            _check_arguments(claim)
            for interpretation in claim.interpretations:
                if interpretation.is_judged:
                    _check_parts(claim, interpretation)
                    _check_shown(claim, interpretation)
        claims.append(claim)
    return claims


def findings_of(
    file: FindingsFile,
    path: Path,
    statistics: Mapping[str, Statistic],
    series: Mapping[str, SeriesEntry] | None = None,
) -> list[Finding]:
    """Return the findings on a paper, checked; arguments and errors are those of ``claims_of``.

    Args:
        file: what its findings file says.
        path: where that is, for messages.
        statistics: the paper's statistics by name.
        series: those that its claims name.
    """
    file = file.model_copy(update={"series": {**(series or {}), **file.series}})
    findings = []
    for name, entry in file.findings.items():
        with naming(f"{path}: findings.{name}"):
            claim = _claim(name, entry, file, statistics)
            _check_arguments(claim)
        numbers = {
            key: source
            if source.claim or source.file
            else source.model_copy(update={"claim": name})
            for key, source in entry.numbers.items()
        }
        findings.append(Finding(claim, entry.title, entry.claims, numbers, entry.headline))
    return findings


def _claim(
    name: str,
    entry: Entry,
    file: "ClaimsFile | FindingsFile",
    statistics: Mapping[str, Statistic],
) -> Claim:
    """Return an entry as a claim of the kind ``finding``."""
    from dpbandits.claims.statistics import NamedSeries

    series = {
        label: NamedSeries(one.model_extra or {}, one.when) for label, one in file.series.items()
    }
    return Claim(
        id=name,
        kind=FINDING,
        statement=entry.statement,
        place=entry.place,
        scope=entry.scope,
        rule=entry.rule,
        metric=entry.metric,
        parameters=entry.parameters,
        verdicts=("holds", "fails", "mixed"),
        reads=entry.reads,
        analyses=entry.runs,
        runs_paper=0,
        definitions=file.definitions,
        interpretations=tuple(_interpretation(row) for row in entry.interpretations),
        combine=entry.combine,
        comparisons=tuple(
            _comparison(label, comparison, series, statistics)
            for label, comparison in entry.comparisons.items()
        ),
        level=entry.level,
        figures=entry.figure,
    )


def _interpretation(entry: InterpretationEntry) -> Interpretation:
    return Interpretation(
        entry.variant,
        tuple((entry.model_extra or {}).items()),
        entry.not_applicable,
        entry.not_testable,
        entry.verdicts,
    )


def _measurement(
    name: str,
    entry: ComparisonEntry,
    series: "Mapping[str, NamedSeries]",
    statistics: Mapping[str, Statistic],
) -> "Statistic | Measurement":
    from dpbandits.claims.statistics import Measurement

    (key,) = entry.measured
    if key in ("statistic", "quantity"):
        function = getattr(entry, key)
        if function not in statistics:
            allowed = ", ".join(statistics)
            raise InputError(f"{name}: {key} is {function!r}; allowed: {allowed}")
        if key == "statistic":
            return statistics[function]
    operands = entry.of if key == "quantity" else as_list(getattr(entry, key))
    keep = next(iter(entry.keep.items()), None)
    if keep is not None and keep[0] not in statistics:
        raise InputError(f"{name}: keep is {keep[0]!r}; allowed: {', '.join(statistics)}")
    whole = Measurement(
        operation=statistics[entry.quantity] if key == "quantity" else key,
        operands=tuple(_operand(name, operand, series) for operand in operands),
        series=series,
        keep=keep,
        summary=None if entry.summary is None else _with_options(entry.summary),
        arguments=entry.arguments,
        quantities=statistics,
    )
    places = tuple(
        _located(
            name,
            whole,
            entry.model_copy(update={key: getattr(place, key) for key in place.model_fields_set}),
        )
        for place in entry.places
    )
    return replace(_located(name, whole, entry), places=places)


def _located(name: str, whole: "Measurement", entry: PointsEntry) -> "Measurement":
    """Return a measurement where an entry says."""
    from dpbandits.claims.statistics import PICKS

    picks = tuple(map(_with_options, entry.pick))
    unknown = [pick for pick, _ in picks if pick not in PICKS]
    if unknown:
        allowed = ", ".join(PICKS)
        raise InputError(f"{name}: pick is {', '.join(unknown)}; allowed: {allowed}")
    points = entry.points
    if isinstance(points, Shares):
        import numpy as np

        points = tuple(np.geomspace(points.begin, points.to, points.count).tolist())
    if isinstance(points, tuple):
        points = {entry.along[-1]: points}
    return replace(
        whole,
        at=entry.at,
        along=entry.along,
        points=points,
        where={tag: (one.low, one.high) for tag, one in entry.where.items()},
        picks=picks,
        point=entry.point,
    )


def _with_options(pick: Pick) -> tuple[str, Mapping[str, Any]]:
    """Return a pick or summary and its options, as in ``{slope: {x: log}}``."""
    if isinstance(pick, str):
        return pick, {}
    ((name, options),) = pick.items()
    return name, options or {}


def _operand(
    name: str, operand: Operand, series: "Mapping[str, NamedSeries]"
) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a series, "" for none, and more tags."""
    if isinstance(operand, str):
        if "{" not in operand and operand not in series:
            raise InputError(f"{name}: series {operand!r}; allowed: {', '.join(series)}")
        return operand, {}
    if len(operand) == 1:
        ((first, more),) = operand.items()
        if isinstance(more, Mapping):
            return _operand(name, first, series)[0], more
    return "", operand


def _comparison(
    name: str,
    entry: ComparisonEntry,
    series: "Mapping[str, NamedSeries]",
    statistics: Mapping[str, Statistic],
) -> Comparison:
    return Comparison(
        name=name,
        statistic=_measurement(name, entry, series, statistics),
        kind=entry.kind,
        region=region_of(entry.kind, entry.threshold, entry.tolerance, entry.indifference),
        part=entry.part,
        over=entry.over,
        arguments=entry.arguments,
        exploratory=entry.exploratory,
        asked_of=entry.asked_of,
    )


def _check_arguments(claim: Claim) -> None:
    """Refuse arguments that nothing takes, and statistics that lack one."""
    used: set[str] = set()
    judged = [
        interpretation for interpretation in claim.interpretations if interpretation.is_judged
    ]
    for comparison in claim.comparisons:
        if comparison.is_of_series:
            for interpretation in filter(comparison.is_asked_of, judged):
                _check_labels(comparison, next(comparison.bindings(claim.settings(interpretation))))
            continue
        accepted = parameters_of(comparison.statistic)
        for own in (comparison.over or {}, comparison.arguments or {}):
            unknown = set(own) - set(accepted)
            if unknown:
                raise InputError(
                    f"{comparison.name}: {', '.join(sorted(unknown))} is no argument of the "
                    f"statistic; allowed: {', '.join(accepted)}"
                )
        for interpretation in filter(comparison.is_asked_of, judged):
            given = next(comparison.bindings(claim.settings(interpretation)))
            missing = [key for key, required in accepted.items() if required and key not in given]
            if missing:
                raise InputError(f"{comparison.name}: argument {', '.join(missing)} is missing")
            _check_labels(comparison, given)
        used |= {*accepted, *comparison.asked_of}
    if any(comparison.is_of_series for comparison in claim.comparisons):
        return
    for interpretation in judged:
        idle = set(claim.settings(interpretation)) - used - {"variant"}
        if idle:
            raise InputError(
                f"{', '.join(sorted(idle))} is no argument of any of its statistics; "
                f"allowed: {', '.join(sorted(used))}"
            )


def _check_parts(claim: Claim, interpretation: Interpretation) -> None:
    """Refuse parts that only presumed comparisons would carry, where the claim may hold."""
    deciding = [
        each for each in claim.comparisons if each.decides and each.is_asked_of(interpretation)
    ]
    carried = {
        each.part
        for each in deciding
        if not each.region.is_presumed or "holds" not in claim.words(interpretation)
    }
    if not deciding or {each.part for each in deciding} - carried:
        raise InputError(
            "a part has no comparison that could carry it; allowed: at least one that is neither "
            "exploratory nor of kind report, no_increase or no_decrease"
        )


def _check_shown(claim: Claim, interpretation: Interpretation) -> None:
    """Refuse to show the number of a comparison that is not there, or that decides."""
    settings = claim.settings(interpretation)
    reported = [
        each.name.format(**variables)
        for each in claim.comparisons
        if each.kind == REPORT and each.is_asked_of(interpretation)
        for variables in each.bindings(settings)
    ]
    if claim.shown and claim.shown not in reported:
        raise InputError(f"shown is {claim.shown!r}; allowed: {', '.join(reported)}")


def _check_labels(comparison: Comparison, variables: Mapping[str, Any]) -> None:
    try:
        _ = comparison.name.format(**variables), comparison.part.format(**variables)
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{comparison.name}: name or part asks for {error}; allowed: {', '.join(variables)}"
        ) from None
