"""The claims and findings of dp-ncb, judged on results made up for them."""

from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd

from claims.dp_ncb_perturbations import Made
from claims.dp_ncb_results import World, make
from claims.worlds import ROOT, ROOT_SEED, claims_of
from dpbandits.claims.docket import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge

FILE = ROOT / "config/papers/dp-ncb/claims.yaml"
CLAIMS, FINDINGS = claims_of("dp-ncb")
BY_ID = {claim.id: claim for claim in CLAIMS}
VARIANTS = ("as-written", "as-coded", "repaired")


@cache
def results(name: str) -> pd.DataFrame:
    """Results of one name in the world as it is, made once; never edited in place."""
    return make(name, World())


def frames_of(claim: Claim, made: Made) -> dict[str, pd.DataFrame]:
    """What a claim reads in a world."""
    as_is = made.world == World()
    frames = {name: results(name) if as_is else make(name, made.world) for name in claim.reads}
    made.edit(frames)
    return frames


def judged(claim: Claim, made: Made, *interpretations: int) -> list[Judgement]:
    """Judge some interpretations of a claim, or all, in a world."""
    chosen = tuple(claim.interpretations[each] for each in interpretations) or claim.interpretations
    evidence = Evidence.of_frames(frames_of(claim, made), root_seed=ROOT_SEED)
    return judge([replace(claim, interpretations=chosen)], evidence)


def first_judged(claim: Claim) -> int | None:
    """Position of the first interpretation that results decide; None without any."""
    positions = (
        i for i, interpretation in enumerate(claim.interpretations) if interpretation.is_judged
    )
    return next(positions, None)


def interpretation_of(name: str, variant: str, **values: Any) -> int:
    """Position of the interpretation of a claim with this variant and exactly these values."""
    interpretations = [(each.variant, dict(each.values)) for each in BY_ID[name].interpretations]
    return interpretations.index((variant, values))


def verdict_of(name: str, made: Made, variant: str, **values: Any) -> Judgement:
    """Judge one interpretation of the claim of this id in a world."""
    return judged(BY_ID[name], made, interpretation_of(name, variant, **values))[0]
