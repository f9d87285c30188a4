"""`claims.yaml` and `findings.yaml` of `config/papers/PAPER/` as models."""

from typing import Annotated, Any, Literal

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

from dpbandits.claims.regions import KINDS
from dpbandits.claims.verdict import ALPHA, Rule, Word
from dpbandits.config.documents import (
    AtLeastZero,
    Count,
    Different,
    Name,
    Names,
    Sentence,
    Spec,
    Text,
    Value,
    Values,
    Variant,
    as_list,
    number,
    one_of,
)
from dpbandits.errors import InputError


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


class ComparisonEntry(Spec):
    """One comparison of a claim."""

    statistic: Text
    kind: Annotated[str, one_of(KINDS)]
    threshold: Annotated[float | tuple[float, float], PlainValidator(_threshold)] = 0.0
    tolerance: AtLeastZero = 0.0
    indifference: AtLeastZero = 0.0
    part: Sentence = ""
    over: dict[str, Values] = Field(default={}, alias="for")
    arguments: dict[str, Any] = {}
    exploratory: StrictBool = False
    asked_of: dict[str, Annotated[Values, Different]] = {}


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
    parameters: dict[str, Value]
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
    """config/papers/PAPER/claims.yaml: the statements of a paper and how they are decided."""

    paper: Name
    definitions: Definitions = {}
    claims: Annotated[dict[ClaimId, ClaimEntry], Field(min_length=1)]


class Summary(Spec):
    """The sentence that sums up a paper, with ``{names}`` of numbers."""

    statement: Sentence
    numbers: dict[str, NumberSource] = {}


class FindingsFile(Spec):
    """config/papers/PAPER/findings.yaml: what was found beyond the statements of a paper."""

    paper: Name
    definitions: Definitions = {}
    summary: Summary | None = None
    findings: Annotated[dict[FindingId, FindingEntry], Field(min_length=1)]
