"""The filters of claims, tried on results before these are simulated."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.claims.entries import Claim, Comparison
from dpbandits.claims.evidence import Evidence, Loader
from dpbandits.errors import InputError

_RESAMPLES = 2
_OF_EVIDENCE = "results "
"""Begins what evidence says of a series, tag, metric or time that is not there."""


def check_claim_filters(claims: Sequence[Claim], load: Loader) -> None:
    """Raise InputError where a comparison asks for a series, tag, metric or time that is not there.

    Statistics are called on results with made-up values, of which they may make nothing: what they
    ask for after that is not checked.

    Args:
        claims: those whose results ``load`` knows.
        load: from the name of results to a table with the columns and series of the real one.
    """
    evidence = Evidence.of(load, root_seed=0, resamples=_RESAMPLES)
    for claim in claims:
        for comparison, variables in _calls(claim):
            problem = _problem(comparison, evidence.of_results(claim.reads), variables)
            if problem is not None:
                raise InputError(f"{claim.id}: {comparison.name}: {problem}")


def _calls(claim: Claim) -> Iterator[tuple[Comparison, Mapping[str, Any]]]:
    """Yield every comparison that is judged, with its variables."""
    for interpretation in claim.interpretations:
        if not interpretation.is_judged:
            continue
        settings = claim.settings(interpretation)
        for comparison in claim.comparisons:
            if comparison.is_asked_of(interpretation):
                yield from ((comparison, each) for each in comparison.bindings(settings))


def _problem(
    comparison: Comparison, evidence: Evidence, variables: Mapping[str, Any]
) -> str | None:
    """Return what evidence says is not there; None where a statistic ends for another reason."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            comparison.call(evidence, variables)
    except InputError as error:
        return str(error) if str(error).startswith(_OF_EVIDENCE) else None
    except Exception:
        # Whatever a statistic makes of values that nobody simulated.
        return None
    return None
