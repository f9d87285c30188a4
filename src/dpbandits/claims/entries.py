"""Claims as `config/claims/PAPER.yaml` states them: checked when loaded, then frozen."""

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpbandits.claims.estimates import Estimate
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.regions import Region, region_of
from dpbandits.claims.verdict import ALPHA, Rule
from dpbandits.engine.documents import load_document
from dpbandits.errors import InputError

Statistic = Callable[..., Estimate | Mapping[str, Estimate]]
"""A paper's statistic: (evidence, **arguments) -> one number, or one for each named point."""

_RESERVED = ("variant", "not_applicable")


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
        variants: the variants that it is asked of; empty for all.
    """

    name: str
    statistic: Statistic
    kind: str
    region: Region
    part: str = ""
    over: Mapping[str, tuple[Any, ...]] | None = None
    arguments: Mapping[str, Any] | None = None
    exploratory: bool = False
    variants: tuple[str, ...] = ()

    def is_asked_of(self, reading: "Reading") -> bool:
        """Whether it belongs to the row of this reading."""
        return not self.variants or reading.variant in self.variants

    def bindings(self, settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the variables of each combination, over those of the claim and the reading."""
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
class Reading:
    """One row of the ledger: a variant, the values of the readings, or why there is no verdict."""

    variant: str = "as-written"
    values: tuple[tuple[str, Any], ...] = ()
    not_applicable: str | None = None

    @property
    def label(self) -> str:
        """The readings as ``key=value``, comma-separated; empty where a claim has none."""
        return ",".join(f"{key}={value}" for key, value in self.values)


@dataclass(frozen=True)
class Claim:
    """An empirical statement of a paper as comparisons that decide it.

    Attributes:
        id: such as ``TSDP-C8``.
        statement: what the paper says, in our words.
        place: where it says it.
        rule: how it is decided, in words.
        metric: what is measured.
        reads: names of the simulations and analytic results it reads.
        looks: numbers of runs at which it is judged, increasing; the level is split over them.
            Empty for an analytic claim.
        runs_paper: the paper's own number of runs, 0 for an analytic claim.
        parameters: default arguments of the statistics.
        definitions: argument -> short name -> the value it stands for.
        readings: one row of the ledger each.
        combine: how the comparisons of a part combine.
        comparisons: in the order of the file.
        level: chance allowed of deciding any comparison wrongly, two-sided.
        rerun: how many fresh runs a verdict that a part fails is judged again on; 0 for none.
        only_refutable: whether the results can contradict the claim but never establish it.
        figures: the figures, panels and tables that it is about, the first one before all.
    """

    id: str
    statement: str
    place: str
    rule: str
    metric: str
    reads: tuple[str, ...]
    looks: tuple[int, ...]
    runs_paper: int
    parameters: Mapping[str, Any]
    definitions: Mapping[str, Mapping[str, Any]]
    readings: tuple[Reading, ...]
    combine: Rule
    comparisons: tuple[Comparison, ...]
    level: float = ALPHA
    rerun: int = 0
    only_refutable: bool = False
    figures: tuple[str, ...] = ()

    def settings(self, reading: Reading) -> dict[str, Any]:
        """Return the arguments of a row, its variant among them, short names replaced.

        Raises:
            InputError: a short name without a definition.
        """
        settings = {"variant": reading.variant, **self.parameters, **dict(reading.values)}
        for key, names in self.definitions.items():
            if key in settings:
                if settings[key] not in names:
                    allowed = ", ".join(str(name) for name in names)
                    raise InputError(f"{self.id}: {key} is {settings[key]!r}; allowed: {allowed}")
                settings[key] = names[settings[key]]
        return settings


def parameters_of(statistic: Statistic) -> dict[str, bool]:
    """Return the parameters of a statistic after its evidence, and whether each is required."""
    found = list(inspect.signature(statistic).parameters.values())[1:]
    return {each.name: each.default is inspect.Parameter.empty for each in found}


def load_claims(path: Path, schema: Path, statistics: Mapping[str, Statistic]) -> list[Claim]:
    """Read and check the claims of a paper.

    Args:
        path: ``config/claims/PAPER.yaml``.
        schema: the JSON schema of such files, as YAML.
        statistics: the paper's statistics by name.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    document = load_document(path, schema)
    definitions = document.get("definitions", {})
    claims = []
    for name, entry in document["claims"].items():
        try:
            claim = _claim(name, entry, definitions, statistics)
            _check(claim)
        except InputError as error:
            raise InputError(f"{path}: claims.{name}: {error}") from None
        claims.append(claim)
    return claims


def _claim(
    name: str,
    entry: Mapping[str, Any],
    definitions: Mapping[str, Mapping[str, Any]],
    statistics: Mapping[str, Statistic],
) -> Claim:
    runs = entry["runs"]
    looks = tuple(runs) if isinstance(runs, list) else (runs,) * (runs > 0)
    if sorted(set(looks)) != list(looks):
        raise InputError(f"runs is {runs}; allowed: a number, or an increasing list of numbers")
    if "rerun" in entry and not looks:
        raise InputError(f"rerun is {entry['rerun']}; allowed: only where runs is above 0")
    return Claim(
        id=name,
        **{key: entry[key] for key in ("statement", "place", "rule", "metric", "parameters")},
        reads=tuple(entry["reads"]),
        looks=looks,
        runs_paper=entry["runs_paper"],
        definitions=definitions,
        readings=tuple(_reading(each) for each in entry.get("readings", [{}])),
        combine=entry.get("combine", "all"),
        comparisons=tuple(
            _comparison(label, each, statistics) for label, each in entry["comparisons"].items()
        ),
        level=entry.get("level", ALPHA),
        rerun=entry.get("rerun", 0),
        only_refutable=entry.get("only_refutable", False),
        figures=_names(entry.get("figure", [])),
    )


def _names(given: str | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _reading(entry: Mapping[str, Any]) -> Reading:
    values = tuple((key, value) for key, value in entry.items() if key not in _RESERVED)
    return Reading(entry.get("variant", "as-written"), values, entry.get("not_applicable"))


def _comparison(
    name: str, entry: Mapping[str, Any], statistics: Mapping[str, Statistic]
) -> Comparison:
    if entry["statistic"] not in statistics:
        allowed = ", ".join(statistics)
        raise InputError(f"{name}: statistic is {entry['statistic']!r}; allowed: {allowed}")
    threshold = entry.get("threshold", 0.0)
    threshold = tuple(threshold) if isinstance(threshold, list) else threshold
    return Comparison(
        name=name,
        statistic=statistics[entry["statistic"]],
        kind=entry["kind"],
        region=region_of(
            entry["kind"],
            threshold,
            entry.get("tolerance", 0.0),
            entry.get("indifference", 0.0),
        ),
        part=entry.get("part", ""),
        over={key: tuple(values) for key, values in entry.get("for", {}).items()},
        arguments=entry.get("arguments", {}),
        exploratory=entry.get("exploratory", False),
        variants=tuple(entry.get("variants", ())),
    )


def _check(claim: Claim) -> None:
    """Refuse arguments that nothing takes, and parts that only presumed comparisons would carry."""
    used: set[str] = set()
    for comparison in claim.comparisons:
        accepted = parameters_of(comparison.statistic)
        for own in (comparison.over or {}, comparison.arguments or {}):
            unknown = set(own) - set(accepted)
            if unknown:
                raise InputError(
                    f"{comparison.name}: {', '.join(sorted(unknown))} is no argument of the "
                    f"statistic; allowed: {', '.join(accepted)}"
                )
        for reading in filter(comparison.is_asked_of, claim.readings):
            given = next(comparison.bindings(claim.settings(reading)))
            missing = [key for key, required in accepted.items() if required and key not in given]
            if missing:
                raise InputError(f"{comparison.name}: argument {', '.join(missing)} is missing")
            _check_labels(comparison, given)
        used |= set(accepted)
    for reading in claim.readings:
        idle = set(claim.settings(reading)) - used - {"variant"}
        if idle:
            raise InputError(
                f"{', '.join(sorted(idle))} is no argument of any of its statistics; "
                f"allowed: {', '.join(sorted(used))}"
            )
    for reading in claim.readings:
        _check_parts([each for each in claim.comparisons if each.is_asked_of(reading)])


def _check_parts(comparisons: Sequence[Comparison]) -> None:
    decisive = [each for each in comparisons if not each.exploratory]
    carried = {each.part for each in decisive if not each.region.is_presumed}
    if not decisive or {each.part for each in decisive} - carried:
        raise InputError(
            "a part has no comparison that could carry it; allowed: at least one that is neither "
            "exploratory nor of kind no_increase or no_decrease"
        )


def _check_labels(comparison: Comparison, variables: Mapping[str, Any]) -> None:
    try:
        _ = comparison.name.format(**variables), comparison.part.format(**variables)
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{comparison.name}: name or part asks for {error}; allowed: {', '.join(variables)}"
        ) from None
