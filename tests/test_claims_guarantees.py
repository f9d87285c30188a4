"""What algorithms say of their guarantees, against the published verdicts on them.

No guarantee is called proved, or not contradicted, where the ledger says that its claim fails for
what is played; and what fails in the ledger is refuted for some parameters.
"""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
import yaml

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.guarantees import KNOWN, guarantee_of
from dpbandits.privacy import Guarantee
from support import ROOT

LEDGER = [
    row
    for path in sorted((ROOT / "docs/figures").glob("*/claims.csv"))
    for row in pd.read_csv(path, keep_default_na=False, dtype=str).to_dict("records")
]
HORIZONS = (1000, 10**6, 10**8)
EPSILONS = (0.2, 0.5, 1.0, 5.0)

CLAIMS = {
    "dp-bai": "BAI-C14a",
    "baseline": "BAI-C14b",
    "dp-od": "BAI-C14c",
    "dp-bai-gauss": "BAI-C24",
    "gdp-ncb": "NCB-C15",
    "ldp-ncb": "NCB-C16",
    "anytime-gdp-ncb": "NCB-C15",
    "anytime-ldp-ncb": "NCB-C16",
}
"""Algorithm -> the claim on its privacy."""


def values_of(row: dict[Any, str]) -> dict[str, str]:
    """The interpretation of a row, by name."""
    pairs = row["interpretation"].split(",")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def rows_of(algorithm: str) -> list[dict[Any, str]]:
    """The rows of the algorithm's claim."""
    core = algorithm.removeprefix("anytime-")
    return [
        row
        for row in LEDGER
        if row["claim"] == CLAIMS[algorithm]
        # Rewards above 1 are another statement, for which no guarantee is left.
        and values_of(row).get("algorithm", core) == core
        and "largest_reward" not in values_of(row)
    ]


def verdicts(algorithm: str, variant: str, played: dict[str, str]) -> list[str]:
    """Verdicts on what is played: of the rows that agree with it those that say most of it."""
    found: dict[int, list[str]] = {}
    for row in rows_of(algorithm):
        named = {k: v for k, v in values_of(row).items() if k in played}
        if row["variant"] == variant and named.items() <= played.items():
            found.setdefault(len(named), []).append(row["verdict"])
    return found[max(found)] if found else []


def guarantees(
    algorithm: str, variant: str, interpretations: dict[str, str]
) -> Iterator[Guarantee]:
    """What it says at several parameters and horizons."""
    definition = REGISTRY[algorithm]
    for epsilon in EPSILONS:
        values: dict[str, Any] = dict(definition.example)
        values |= {"epsilon": epsilon} if "epsilon" in values else {}
        values |= {"delta": 0.38} if "delta" in values else {}
        parameters = definition.parameters_from(values)
        for horizon in HORIZONS:
            yield guarantee_of(
                definition, parameters, horizon, variant=variant, interpretations=interpretations
            )


def departures(algorithm: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each variant with one departure and with none."""
    for variant in REGISTRY[algorithm].variants:
        yield variant, {}
        for name, allowed in REGISTRY[algorithm].interpretations.items():
            yield from ((variant, {name: value}) for value in allowed)


@pytest.mark.parametrize("algorithm", CLAIMS)
def test_nothing_that_fails_is_called_private(algorithm: str) -> None:
    named = {name for row in rows_of(algorithm) for name in values_of(row)}
    for variant, departure in departures(algorithm):
        played = REGISTRY[algorithm].interpretations_from(departure, variant)
        default = REGISTRY[algorithm].interpretations_from({}, variant)
        found = verdicts(algorithm, variant, played)
        # The ledger speaks of the variant as it is, and of the interpretations that it names.
        if not found or not (played == default or named & departure.keys()):
            continue
        statuses = {each.status for each in guarantees(algorithm, variant, departure)}
        if "fails" in found:
            assert statuses <= {"refuted", "stated"}, (variant, departure)
        if played != default:
            continue
        # Claims are of the core of an anytime version, where it has a window that is long enough.
        if not algorithm.startswith("anytime-"):
            assert ("fails" in found) == ("refuted" in statuses), (variant, departure)
        if "proved" in statuses:
            assert set(found) == {"holds"}, (variant, departure)


def test_every_claim_that_an_entry_rests_on_is_that_of_its_algorithm() -> None:
    for algorithm, entries in KNOWN.items():
        for claim in re.findall(r"[A-Z]+-C\d+[a-z]?", " ".join(each.basis for each in entries)):
            assert claim == CLAIMS[algorithm]


def test_every_claim_on_the_privacy_of_an_algorithm_is_known_here() -> None:
    """By its words; those on report-noisy-max are on one action, not on an algorithm."""
    found = set()
    for path in (ROOT / "config").rglob("claims.yaml"):
        for claim, entry in yaml.safe_load(path.read_text(encoding="utf-8"))["claims"].items():
            if re.search(r"differentially\s+private", entry["statement"]):
                found.add(claim)
    assert found == set(CLAIMS.values())


def test_the_published_ledger_has_these_claims() -> None:
    """On what is published now; a ledger without these claims leaves nothing to compare."""
    for algorithm in CLAIMS:
        assert verdicts(algorithm, "as-written", REGISTRY[algorithm].interpretations_from({}))
