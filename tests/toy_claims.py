"""Small claims on made-up numbers: one frame ``toy`` with a series for each mean."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.claims.docket import Claim, Comparison, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Estimate, exact, mean
from dpbandits.claims.verdict import region_of


def toy_frame(
    means: Sequence[float], runs: int = 400, sd: float = 1.0, seed: int = 1
) -> pd.DataFrame:
    """Results with one series a mean (tag ``which``), normal with the given sd, at t = 10."""
    generator = np.random.default_rng(seed)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "series": f"which={which}",
                    "which": which,
                    "run": np.arange(runs),
                    "metric": "regret",
                    "t": 10,
                    "arm": -1,
                    "value": centre + sd * generator.standard_normal(runs),
                }
            )
            for which, centre in enumerate(means)
        ],
        ignore_index=True,
    )


def toy_evidence(means: Sequence[float], **settings: Any) -> Evidence:
    """Evidence over ``toy_frame``."""
    return Evidence.of_frames({"toy": toy_frame(means, **settings)})


def level(evidence: Evidence, *, which: int) -> Estimate:
    """Mean of one series."""
    return mean(evidence.values("toy", "regret", which=which))


def levels(evidence: Evidence) -> Mapping[str, Estimate]:
    """Mean of the first two series."""
    return {f"series {which}": level(evidence, which=which) for which in (0, 1)}


def constant(evidence: Evidence, *, value: float) -> Estimate:
    """A number known exactly."""
    return exact(value)


def nothing(evidence: Evidence) -> Mapping[str, Estimate]:
    """No point at all."""
    return {}


STATISTICS = {"level": level, "levels": levels, "constant": constant, "nothing": nothing}


def comparison(
    statistic: str = "level",
    kind: str = "less",
    threshold: float = 0.0,
    tolerance: float = 0.0,
    **attributes: Any,
) -> Comparison:
    """One comparison of a toy claim."""
    name = attributes.pop("name", statistic)
    region = region_of(kind, threshold, tolerance)
    return Comparison(name, STATISTICS[statistic], kind, region, **attributes)


def claim(*comparisons: Comparison, **attributes: Any) -> Claim:
    """A claim on the toy results, of the given comparisons."""
    defaults: dict[str, Any] = {
        "id": "TOY-C1",
        "kind": "experiment",
        "scope": "the toy",
        "verdicts": ("holds", "fails", "mixed"),
        "statement": "A toy.",
        "place": "Nowhere",
        "rule": "As it comes.",
        "metric": "regret",
        "reads": ("toy",),
        "analyses": (50, 100, 200, 400),
        "runs_paper": 10,
        "parameters": {},
        "definitions": {},
        "interpretations": (Interpretation(),),
        "combine": "all",
    }
    return Claim(**{**defaults, **attributes}, comparisons=comparisons)


def on_series(*which: int, **attributes: Any) -> Iterator[Comparison]:
    """One comparison for each of some series."""
    for each in which:
        yield comparison(arguments={"which": each}, name=f"series {each}", **attributes)
