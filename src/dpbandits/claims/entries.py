"""Claims and findings as the config states them: frozen; `loading` reads and checks them."""

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from dpbandits.claims.estimates import Estimate
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.files import NumberSource
from dpbandits.claims.regions import REPORT, Region
from dpbandits.claims.verdict import ALPHA, Rule, Word
from dpbandits.errors import InputError

Statistic = Callable[..., Estimate | Mapping[str, Estimate]]
"""A paper's statistic: (evidence, **arguments) -> one number, or one for each named point."""

FINDING = "finding"
"""The kind of a finding, beside the kinds of claims."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim, for each combination of the values it runs over.

    Attributes:
        name: what is compared; may name variables, as in ``eta={eta}``.
        statistic: the function that measures.
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
    statistic: Statistic
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

    def is_asked_of(self, interpretation: "Interpretation") -> bool:
        """Whether it belongs to the row of this interpretation."""
        values = {"variant": interpretation.variant, **dict(interpretation.values)}
        return all(values.get(key) in allowed for key, allowed in self.asked_of.items())

    def bindings(self, settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the variables of each combination of values."""
        over = self.over or {}
        for values in itertools.product(*over.values()):
            yield {**settings, **dict(zip(over, values, strict=True)), **(self.arguments or {})}

    def call(self, evidence: Evidence, variables: Mapping[str, Any]) -> Mapping[str, Estimate]:
        """Measure; the statistic takes the variables that it has parameters for."""
        accepted = parameters_of(self.statistic)
        chosen = {key: value for key, value in variables.items() if key in accepted}
        answer = self.statistic(evidence, **chosen)
        return {"": answer} if isinstance(answer, Estimate) else answer


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


def _is_statistic(function: Statistic) -> bool:
    first, *others = inspect.signature(function).parameters.values()
    return first.name == "evidence" and all(each.kind is each.KEYWORD_ONLY for each in others)
