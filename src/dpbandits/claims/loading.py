"""Interpretation claims and findings from the config, checked: whatever is wrong is one line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpbandits.claims.entries import (
    FINDING,
    Claim,
    Comparison,
    Finding,
    Interpretation,
    Notes,
    Statistic,
    Summary,
    parameters_of,
)
from dpbandits.claims.regions import region_of
from dpbandits.claims.verdict import ALPHA
from dpbandits.engine.documents import check_document, load_document, load_yaml
from dpbandits.errors import InputError

_COPIED = ("kind", "statement", "place", "scope", "rule", "metric", "parameters")
_RESERVED = ("variant", "not_applicable", "not_testable", "verdicts")

_FINDING_DEFAULTS: Mapping[str, Any] = {
    "kind": FINDING,
    "scope": "",
    "rule": "",
    "metric": "",
    "parameters": {},
    "reads": [],
    "runs": 0,
    "runs_paper": 0,
    "verdicts": ["holds", "fails", "mixed"],
    "comparisons": {},
}


def load_notes(path: Path, schema: Path) -> Notes:
    """Return what a claims file says beside its claims."""
    document = load_document(path, schema)
    keys = ("not_applicable", "withdrawn", "not_judged")
    return Notes(**{key: document.get(key, {}) for key in keys})


def load_claims(path: Path, schema: Path, statistics: Mapping[str, Statistic]) -> list[Claim]:
    """Return the claims of a paper, checked.

    Args:
        path: ``config/papers/PAPER/claims.yaml``.
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
            _check_arguments(claim)
            for interpretation in claim.interpretations:
                if interpretation.is_judged:
                    _check_parts(claim, interpretation)
        except InputError as error:
            raise InputError(f"{path}: claims.{name}: {error}") from None
        claims.append(claim)
    return claims


def load_findings(path: Path, schema: Path, statistics: Mapping[str, Statistic]) -> list[Finding]:
    """Return the findings on a paper, checked.

    Args:
        path: ``config/papers/PAPER/findings.yaml``.
        schema: the JSON schema of claims, beside which that of findings is.
        statistics: the paper's statistics by name.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    document = _findings_document(path, schema)
    definitions = document.get("definitions", {})
    findings = []
    for name, entry in document["findings"].items():
        try:
            claim = _claim(name, {**_FINDING_DEFAULTS, **entry}, definitions, statistics)
            _check_arguments(claim)
            finding = Finding(
                claim,
                entry["title"],
                tuple(entry.get("claims", ())),
                {key: _source(name, each) for key, each in entry.get("numbers", {}).items()},
                entry.get("headline", False),
            )
        except InputError as error:
            raise InputError(f"{path}: findings.{name}: {error}") from None
        findings.append(finding)
    return findings


def load_summary(path: Path, schema: Path) -> Summary | None:
    """Return the sentence that sums up a paper; None where its findings file has none."""
    summary = _findings_document(path, schema).get("summary")
    return None if summary is None else Summary(**summary)


def _findings_document(path: Path, schema: Path) -> dict[str, Any]:
    """Read a findings file, checked; it shares definitions with the schema of claims."""
    document = load_yaml(path)
    own = load_yaml(schema.with_name("findings.schema.yaml"))
    check_document(document, own | {"$defs": load_yaml(schema)["$defs"] | own["$defs"]}, path)
    return document


def _source(finding: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return where a number is published; a comparison is the finding's own where no id is."""
    return {"claim": finding, **entry} if "comparison" in entry else entry


def _claim(
    name: str,
    entry: Mapping[str, Any],
    definitions: Mapping[str, Mapping[str, Any]],
    statistics: Mapping[str, Statistic],
) -> Claim:
    runs = entry["runs"]
    analyses = tuple(runs) if isinstance(runs, list) else (runs,) * (runs > 0)
    if sorted(set(analyses)) != list(analyses):
        raise InputError(f"runs is {runs}; allowed: a number, or an increasing list of numbers")
    if "rerun" in entry and not analyses:
        raise InputError(f"rerun is {entry['rerun']}; allowed: only where runs is above 0")
    return Claim(
        id=name,
        **{key: entry[key] for key in _COPIED},
        verdicts=tuple(entry["verdicts"]),
        reads=tuple(entry["reads"]),
        analyses=analyses,
        runs_paper=entry["runs_paper"],
        definitions=definitions,
        interpretations=tuple(_interpretation(each) for each in entry.get("interpretations", [{}])),
        combine=entry.get("combine", "all"),
        comparisons=tuple(
            _comparison(label, each, statistics) for label, each in entry["comparisons"].items()
        ),
        level=entry.get("level", ALPHA),
        rerun=entry.get("rerun", 0),
        figures=_names(entry.get("figure", [])),
    )


def _names(given: str | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _interpretation(entry: Mapping[str, Any]) -> Interpretation:
    values = tuple((key, value) for key, value in entry.items() if key not in _RESERVED)
    return Interpretation(
        entry.get("variant", "as-written"),
        values,
        entry.get("not_applicable"),
        entry.get("not_testable"),
        tuple(entry.get("verdicts", ())),
    )


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
        asked_of={key: tuple(values) for key, values in entry.get("asked_of", {}).items()},
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


def _check_labels(comparison: Comparison, variables: Mapping[str, Any]) -> None:
    try:
        _ = comparison.name.format(**variables), comparison.part.format(**variables)
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(
            f"{comparison.name}: name or part asks for {error}; allowed: {', '.join(variables)}"
        ) from None
