"""Small claims on made-up numbers: one frame ``toy`` with a series for each mean."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.judge import Judgement, MeasuredComparison, judge
from dpbandits.claims.series import Evidence
from dpbandits.claims.verdict import region_of
from dpbandits.config import claims as stated
from dpbandits.config.claims import KINDS, Claim, ComparisonSpec, Finding


def toy_frame(
    means: Sequence[float], runs: int = 400, sd: float = 1.0, seed: int = 1
) -> pd.DataFrame:
    """Results with one series a mean (tag ``which``), normal with the given sd, at t = 10."""
    frame = pd.DataFrame(product(range(len(means)), range(runs)), columns=["which", "run"])
    noise = np.random.default_rng(seed).standard_normal(len(frame))
    frame = frame.assign(metric="regret", t=10, arm=-1, value=np.repeat(means, runs) + sd * noise)
    return frame.assign(series="which=" + frame["which"].astype(str))


def toy_evidence(means: Sequence[float], **settings: Any) -> Evidence:
    return Evidence.of_frames({"toy": toy_frame(means, **settings)}, FUNCTIONS)


def constant(*, value: float) -> Estimate:
    return exact(value)


def nothing() -> Mapping[str, Estimate]:
    return {}


FUNCTIONS = {"constant": constant, "nothing": nothing}

Entry = tuple[str, dict[str, Any]]
"""Name of a comparison and its keys."""

EXACT: dict[str, Any] = {"runs": 0, "runs_paper": 0}
"""Keys of a claim on exact numbers alone."""


MEASURED = {"quantity", "value", "ratio", "difference"}


def compared(**keys: Any) -> ComparisonSpec:
    """The model of a comparison of two series, where no key says what it measures."""
    of = {} if MEASURED & {*keys} else {"difference": ["a", "b"]}
    return ComparisonSpec.model_validate({**of, **keys})


def measured(estimate: Estimate, **keys: Any) -> MeasuredComparison:
    """A comparison with the number that it measured."""
    comparison = compared(**keys)
    return MeasuredComparison(comparison, "", estimate, region_of(comparison, estimate))


def compare(name: str = "series {which}", less: float | None = 0.0, **keys: Any) -> Entry:
    """One comparison of a toy claim: the mean of a series, below a threshold."""
    of = {} if MEASURED & {*keys} else {"value": series("{which}")}
    asked = {} if less is None or {*KINDS} & {*keys} else {"less": less}
    return name, {**of, **asked, **keys}


def gap(first: int, second: int, **keys: Any) -> Entry:
    """A comparison of two series."""
    return compare(f"{first} - {second}", difference=[series(first), series(second)], **keys)


def series(which: int | str) -> dict[str, Any]:
    return {"metric": "regret", "which": which}


def number(value: float, name: str = "a number", **keys: Any) -> Entry:
    """A comparison of a number known exactly."""
    return compare(name, quantity="constant", arguments={"value": value}, **keys)


def on_series(*which: int, **keys: Any) -> Iterator[Entry]:
    """One comparison for each of some series."""
    for each in which:
        yield compare(f"series {each}", value=series(each), **keys)


WORDS = {"place": "Nowhere", "scope": "The toy", "says": "A toy.", "result": "It was played."}


def claims_in(
    file: stated.ClaimsFile, path: str = "toy.yaml", simulated: stated.Simulated | None = None
) -> list[Claim]:
    """The claims of a file, as a paper has them."""
    defaults = file.defaults.model_dump(exclude_unset=True)
    place = f"{path}: claims"
    return stated.complete_entries(place, file.claims, defaults, file.series, simulated or {})


def claim(*comparisons: Entry, name: str = "TOY-C1", **keys: Any) -> Claim:
    """A claim on the toy results, of the given comparisons, as a file states it."""
    series = keys.pop("series", {})
    entry = {
        **WORDS,
        "kind": "experiment",
        "measured": "Its mean.",
        "reads": ["toy"],
        "runs": [50, 100, 200, 400],
        "runs_paper": 10,
        **keys,
        "compare": dict(comparisons),
    }
    document = {"paper": "toy", "series": series, "claims": {name: entry}}
    file = stated.ClaimsFile.model_validate(document)
    return claims_in(file)[0]


def finding(*comparisons: Entry, **keys: Any) -> Finding:
    entry = {"title": "A toy", "statement": "A toy.", "place": "Nowhere", "reads": ["toy"], **keys}
    entry["compare"] = dict(comparisons)
    file = stated.FindingsFile.model_validate({"paper": "toy", "findings": {"TOY-F1": entry}})
    return stated.complete_entries("toy.yaml: findings", file.findings, {}, file.series, {})[0]


def judged(toy: Claim | Finding, means: Sequence[float] = (0.0,), **settings: Any) -> Judgement:
    """The first reading of a claim, judged on the toy results."""
    return judge([toy], toy_evidence(means, **settings))[0]
