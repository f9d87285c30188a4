"""Small claims on made-up numbers: one frame ``toy`` with a series for each mean."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.docket import Claim, ClaimsFile, Finding, FindingsFile, claims_of, findings_of
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Estimate, exact
from dpbandits.claims.verdict import KINDS


def toy_frame(
    means: Sequence[float], runs: int = 400, sd: float = 1.0, seed: int = 1
) -> pd.DataFrame:
    """Results with one series a mean (tag ``which``), normal with the given sd, at t = 10."""
    frame = pd.DataFrame(product(range(len(means)), range(runs)), columns=["which", "run"])
    noise = np.random.default_rng(seed).standard_normal(len(frame))
    frame = frame.assign(metric="regret", t=10, arm=-1, value=np.repeat(means, runs) + sd * noise)
    return frame.assign(series="which=" + frame["which"].astype(str))


def toy_evidence(means: Sequence[float], **settings: Any) -> Evidence:
    return Evidence.of_frames({"toy": toy_frame(means, **settings)})


def constant(*, value: float) -> Estimate:
    return exact(value)


def nothing() -> Mapping[str, Estimate]:
    return {}


FUNCTIONS = {"constant": constant, "nothing": nothing}

Entry = tuple[str, dict[str, Any]]
"""Name of a comparison and its keys."""


def comparison(name: str = "series {which}", less: float | None = 0.0, **keys: Any) -> Entry:
    """One comparison of a toy claim: the mean of a series, below a threshold."""
    measured = {"quantity", "value"} & {*keys}
    kinds = {*KINDS} & {*keys} or less is None
    return name, {
        **({} if measured else {"value": {"metric": "regret", "which": "{which}"}}),
        **({} if kinds else {"less": less}),
        **keys,
    }


def number(value: float, name: str = "a number", **keys: Any) -> Entry:
    """A comparison of a number known exactly."""
    return comparison(name, quantity="constant", arguments={"value": value}, **keys)


def on_series(*which: int, **keys: Any) -> Iterator[Entry]:
    """One comparison for each of some series."""
    for series in which:
        mean = {"metric": "regret", "which": series}
        yield comparison(f"series {series}", value=mean, **keys)


def claim(*comparisons: Entry, **keys: Any) -> Claim:
    """A claim on the toy results, of the given comparisons, as a file states it."""
    entry = {
        "kind": "experiment",
        "statement": "A toy.",
        "place": "Nowhere",
        "scope": "the toy",
        "rule": "As it comes.",
        "metric": "regret",
        "verdicts": ["holds", "fails", "mixed"],
        "reads": ["toy"],
        "runs": [50, 100, 200, 400],
        "runs_paper": 10,
        **keys,
        "comparisons": dict(comparisons),
    }
    file = ClaimsFile.model_validate({"paper": "toy", "claims": {"TOY-C1": entry}})
    return claims_of(file, Path("toy.yaml"), FUNCTIONS)[0]


def finding(*comparisons: Entry, **keys: Any) -> Finding:
    entry = {"title": "A toy", "statement": "A toy.", "place": "Nowhere", "reads": ["toy"], **keys}
    entry["comparisons"] = dict(comparisons)
    file = FindingsFile.model_validate({"paper": "toy", "findings": {"TOY-F1": entry}})
    return findings_of(file, Path("toy.yaml"), FUNCTIONS)[0]
