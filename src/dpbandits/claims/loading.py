"""Claims and findings from the config, checked: whatever is wrong is one line."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpbandits.claims.entries import (
    FINDING,
    Claim,
    Comparison,
    Finding,
    Interpretation,
    Statistic,
    parameters_of,
)
from dpbandits.claims.files import (
    ClaimsFile,
    ComparisonEntry,
    Entry,
    FindingsFile,
    InterpretationEntry,
)
from dpbandits.claims.regions import REPORT, region_of
from dpbandits.config.documents import load_document, naming
from dpbandits.errors import InputError


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
                _claim(name, entry, file.definitions, statistics),
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


def load_findings(path: Path, statistics: Mapping[str, Statistic]) -> list[Finding]:
    """Read ``config/papers/PAPER/findings.yaml``; return the findings on the paper, checked."""
    return findings_of(load_document(path, FindingsFile), path, statistics)


def findings_of(
    file: FindingsFile, path: Path, statistics: Mapping[str, Statistic]
) -> list[Finding]:
    """Return the findings on a paper, checked; arguments and errors are those of ``claims_of``."""
    findings = []
    for name, entry in file.findings.items():
        with naming(f"{path}: findings.{name}"):
            claim = _claim(name, entry, file.definitions, statistics)
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
    definitions: Mapping[str, Mapping[str, Any]],
    statistics: Mapping[str, Statistic],
) -> Claim:
    """Return an entry as a claim of the kind ``finding``."""
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
        definitions=definitions,
        interpretations=tuple(_interpretation(row) for row in entry.interpretations),
        combine=entry.combine,
        comparisons=tuple(
            _comparison(label, comparison, statistics)
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


def _comparison(
    name: str, entry: ComparisonEntry, statistics: Mapping[str, Statistic]
) -> Comparison:
    if entry.statistic not in statistics:
        allowed = ", ".join(statistics)
        raise InputError(f"{name}: statistic is {entry.statistic!r}; allowed: {allowed}")
    return Comparison(
        name=name,
        statistic=statistics[entry.statistic],
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
