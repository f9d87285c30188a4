"""Local reports: the density ratio on a grid, and the noise that the kernels draw."""

import math

import numpy as np
import pytest
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.statements import report_event, report_rows, reports_of
from dpbandits.kernels import Segments
from support import settings_of

LDP = REGRET["ldp-ncb"]


@pytest.mark.parametrize(("location", "scale"), [(0.0, 5.0), (5.0, 1.0), (0.3, 0.5)])
def test_the_loss_is_the_largest_density_ratio(location: float, scale: float) -> None:
    grid = np.linspace(location - 20.0 * scale, location + 1.0 + 20.0 * scale, 4001)
    density = [stats.laplace.logpdf(grid, reward + location, scale) for reward in (0.0, 1.0)]
    event = report_event(location, scale)
    assert event.epsilon == pytest.approx(np.abs(density[1] - density[0]).max(), rel=1e-9)
    exceeds = [stats.laplace.sf(location + 1.0, reward + location, scale) for reward in (0, 1)]
    assert [math.exp(event.log_p), math.exp(event.log_q)] == pytest.approx(exceeds, rel=1e-12)


def test_what_each_variant_loses() -> None:
    rows = list(report_rows((0.2, 1.0)))
    for row in rows:
        excessive = row.algorithm != "ldp-ucb-l" and row.variant == "as-coded"
        excessive = excessive and "Phase I " in row.pair and row.claimed < 1.0
        assert (row.ratio > 1.0 + 1e-9) == excessive
        if row.variant == "as-coded" and "Phase I " in row.pair and row.algorithm != "ldp-ucb-l":
            assert row.lower == pytest.approx(1.0, rel=1e-12)
    assert any(row.ratio > 4.9 for row in rows)


def exploration_noise(variant: str, epsilon: float, runs: int) -> tuple[float, float]:
    """Return mean and variance of the noise of a report of Phase I, from the kernel's sums."""
    bandit = dpbandits.bernoulli([0.0, 0.0])
    settings = settings_of(
        LDP, {"epsilon": epsilon}, LDP.interpretations_from({}, variant), bandit, 10
    )
    generator = np.random.default_rng(2)
    arms, lengths = np.empty((2, 1), np.int64)
    noises = []
    for _ in range(runs):
        state = LDP.state(2)
        stop = settings._replace(horizon=1)
        LDP.advance(stop, state, bandit.arrays, generator, Segments(arms, lengths, np.empty(1)))
        noises.append(state.private_sums.sum())
    return float(np.mean(noises)), float(np.var(noises))


@pytest.mark.parametrize("variant", LDP.variants)
def test_the_kernel_draws_the_noise_of_the_report(variant: str) -> None:
    """Variance 2 b^2, its relative standard error sqrt(5 / runs); within five of them."""
    epsilon, runs = 0.25, 20_000
    location, scale, _ = reports_of(LDP, variant, epsilon)[0]
    mean, variance = exploration_noise(variant, epsilon, runs)
    deviation = math.sqrt(2.0) * scale
    assert abs(mean - location) < 5.0 * deviation / math.sqrt(runs)
    assert abs(variance / deviation**2 - 1.0) < 5.0 * math.sqrt(5.0 / runs)
