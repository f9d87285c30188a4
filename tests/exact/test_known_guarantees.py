"""What guarantees say of themselves: which an exact witness refutes, for which parameters."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpbandits.algorithms import REGISTRY
from dpbandits.privacy.known import KNOWN, classical_delta, release_loss, stop_test_loss

# (algorithm, parameters, horizon, variant, readings, status, basis)
EXPECTED: list[tuple[str, dict[str, float], int, str, dict[str, str], str, str]] = [
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {}, "refuted", "BAI-C14c"),
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {"norm": "l1"}, "not contradicted", "BAI-C14c"),
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {"basis": "features"}, "stated", ""),
    ("dp-bai", {"epsilon": 1.0}, 1000, "as-written", {}, "not contradicted", "BAI-C14a"),
    ("dp-bai", {"epsilon": 50.0}, 1000, "as-written", {}, "stated", ""),
    ("dp-bai-gauss", {"epsilon": 5.0, "delta": 0.3}, 99, "as-written", {}, "refuted", "BAI-C24"),
    ("dp-bai-gauss", {"epsilon": 4.6, "delta": 0.3}, 99, "as-written", {}, "stated", ""),
    ("dp-bai-gauss", {"epsilon": 5.0, "delta": 0.01}, 99, "as-written", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "as-written", {}, "refuted", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**6, "as-written", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "as-coded", {}, "refuted", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**6, "as-coded", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {}, "proved", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {"start": "zeros"}, "stated", ""),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "as-written", {}, "proved", "NCB-C16"),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "as-coded", {}, "refuted", "NCB-C16"),
    ("ldp-ncb", {"epsilon": 1.0}, 10**6, "as-coded", {}, "stated", ""),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "repaired", {}, "proved", "NCB-C16"),
    ("ts-gaussian", {}, 1000, "as-written", {}, "stated", ""),
]


@pytest.mark.parametrize(
    ("algorithm", "values", "horizon", "variant", "readings", "status", "basis"), EXPECTED
)
def test_the_status_is_that_of_what_is_played(
    algorithm: str,
    values: dict[str, float],
    horizon: int,
    variant: str,
    readings: dict[str, str],
    status: str,
    basis: str,
) -> None:
    definition = REGISTRY[algorithm]
    parameters = definition.parameters_from(values)
    found = definition.guarantee(parameters, horizon, variant=variant, readings=readings)
    assert (found.status, found.basis) == (status, basis)
    if variant == "as-written" and not readings:
        assert definition.guarantee(parameters, horizon) == found


def test_a_refuted_guarantee_says_so_in_words() -> None:
    definition = REGISTRY["dp-od"]
    found = definition.guarantee(definition.parameters_from({"epsilon": 0.5}), 100)
    assert found.describe() == "0.5-DP (pure), refuted (BAI-C14c)"


def test_every_entry_is_of_a_variant_and_readings_that_exist() -> None:
    for algorithm, entries in KNOWN.items():
        definition = REGISTRY[algorithm]
        for entry in entries:
            definition.require_variant(entry.variant)
            definition.readings_from(entry.readings, entry.variant)


def test_without_noise_there_is_no_guarantee() -> None:
    for algorithm in ("dp-od", "dp-bai", "baseline", "dp-bai-gauss"):
        definition = REGISTRY[algorithm]
        values: dict[str, Any] = dict(definition.example) | {"epsilon": math.inf}
        found = definition.guarantee(definition.parameters_from(values), 1000)
        assert (found.kind, found.status) == ("none", "stated")


@pytest.mark.parametrize(
    ("horizon", "epsilon", "expected"),
    [(10**6, 0.2, 0.721), (10**7, 0.2, 1.362), (10**8, 0.2, 1.3545), (10**6, 2.0, 1.263)],
)
def test_the_loss_in_releases(horizon: int, epsilon: float, expected: float) -> None:
    """The table of docs/privacy-witnesses.md, derived by hand."""
    assert release_loss(horizon, epsilon) / epsilon == pytest.approx(expected, abs=6e-4)


def test_the_loss_in_the_stop_test() -> None:
    """Beyond the threshold it is ln 2 + (n - TH) epsilon/L; TH is 2310444.6 at T = 1e7."""
    pulls = (10**7 - 1) // 2
    expected = math.log(2.0) + (pulls - 2310444.6) * 0.2 / math.log(10**7)
    assert stop_test_loss(10**7, 0.2) == pytest.approx(expected, rel=1e-7)
    assert stop_test_loss(4 * 10**6, 0.2) == -math.inf


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.01), (2.0, 0.3), (5.0, 0.3), (8.0, 0.38)])
def test_the_delta_that_the_classical_calibration_needs(epsilon: float, delta: float) -> None:
    """Its maximum over the sum of rewards, against a grid of sums."""
    sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    s = np.linspace(0.0, 300.0, 3_000_001)
    needed = norm.sf(s / sigma) - math.exp(epsilon) * norm.sf((s + 1.0) / sigma)
    assert classical_delta(epsilon, delta) == pytest.approx(needed.max(), rel=1e-6)


def test_from_which_epsilon_on_the_classical_calibration_falls_short() -> None:
    grid = np.linspace(0.01, 0.99, 99)
    worst = {e: max(classical_delta(e, float(d)) / d for d in grid) for e in (2.0, 4.6, 4.8)}
    assert worst[2.0] < 0.51
    assert worst[4.6] < 1.0 < worst[4.8]
    assert classical_delta(5.0, 0.3) / 0.3 == pytest.approx(1.0118, abs=5e-5)
    assert classical_delta(5.0, 0.38) / 0.38 == pytest.approx(1.0824, abs=5e-5)
