"""NCB: the numbers of the specification."""

from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import ncb
from dpbandits.kernels import new_segments
from fifty_arms import FIFTY_ARMS, NCB, decisions_of, told

MODIFIED = {"phase_one": "420", "width": "2c"}
MATCHED = {"phase_one": "root", "width": "2c", "log": "window"}


@pytest.mark.parametrize(
    ("horizon", "rounds"), [(10**6, 212_612), (10**7, 726_209), (10**8, 2_455_032)]
)
def test_length_of_the_original_s_phase_one(horizon: int, rounds: int) -> None:
    # Barman et al. (2023): ceil(16 sqrt(k T log T / log k)), 2.1e5, 7.3e5 and 2.5e6 for k = 50;
    # A19.
    settings = told(NCB, horizon)
    assert ncb._end_of_phase_one(settings, 50) == (rounds, np.inf)


def explored_rounds(settings: Any, seed: int) -> int:
    """Return how long phase I lasts in one run."""
    state, generator = NCB.state(50), np.random.default_rng(seed)
    size = 5_000_000
    out = new_segments(size)
    written = int(ncb._explore(settings, state, FIFTY_ARMS.arrays, generator, out))
    assert state.explored[0] == 1
    assert written == state.pulls.sum() == state.clock[0]
    return written


def test_phase_one_of_ncb_as_coded() -> None:
    # The released code: 9 L k / mu* = 7,477 rounds predict it; the largest sum crosses a little
    # earlier, at
    # about 7,000.
    settings = told(NCB, 10**7, "as-coded")
    lengths = [explored_rounds(settings, seed) for seed in range(40)]
    assert 9 * np.log(1e7) * 50 / FIFTY_ARMS.means.max() == pytest.approx(7477, abs=0.5)
    assert 6700 < np.mean(lengths) < 7300


@pytest.mark.parametrize(("horizon", "rounds"), [(10**7, 3.1e6), (10**8, 3.6e6)])
def test_phase_one_of_modified_ncb(horizon: int, rounds: float) -> None:
    # Barman et al. (2023), to two digits; its standard deviation is about a tenth of a per cent.
    settings = told(NCB, horizon, **MODIFIED)
    assert explored_rounds(settings, 1) == pytest.approx(rounds, rel=0.02)


def test_modified_ncb_never_leaves_phase_one_at_a_million() -> None:
    # Barman et al. (2023): it would take 2.7e6 rounds.
    settings = told(NCB, 10**6, **MODIFIED)
    assert explored_rounds(settings, 1) == 10**6


@pytest.mark.parametrize(
    ("interpretations", "expected"),
    [
        # Mean 3/4 of 400 pulls, T = 1e6: Barman et al. (2023), D11, C20.
        ({}, 1.3937898079),
        ({"width": "2c"}, 2.1156844165),
        ({"width": "2c", "log": "window"}, 1.7157545730),
    ],
)
def test_index_of_ncb(interpretations: dict[str, str], expected: float) -> None:
    settings = told(NCB, 10**6, **interpretations)
    pulls, sums = np.array([400, 0, 5]), np.array([300.0, 0.0, 0.0])
    indices = ncb._indices(ncb._width(settings), pulls, sums)
    assert indices == pytest.approx([expected, np.inf, 0.0], rel=1e-9)


def test_matched_ncb_explores_as_long_as_gdp_ncb() -> None:
    assert explored_rounds(told(NCB, 10**7, **MATCHED), 1) == 3163


def test_leader_stretches_are_long() -> None:
    # The measured 1.16 million stretches of 1e8 rounds (measured) are hundreds of rounds long.
    settings = told(NCB, 10**6, "as-coded")
    decisions = decisions_of(NCB, settings, FIFTY_ARMS)
    assert sum(length for _, length, _ in decisions) == 10**6
    assert len(decisions) < 450_000
    assert max(length for _, length, _ in decisions) > 50


def test_long_horizons_of_ncb() -> None:
    # Nothing overflows before phase II; a million arms at the longest horizon, too.
    settings = told(NCB, 2**53)
    rounds, _ = ncb._end_of_phase_one(settings, 10**6)
    expected = 16 * np.sqrt(1e6 * 2.0**53 * np.log(2.0**53) / np.log(1e6))
    assert rounds == pytest.approx(expected, rel=1e-12)
