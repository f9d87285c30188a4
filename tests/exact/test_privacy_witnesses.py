"""The exact witnesses on the privacy of GDP-NCB: formulas by high precision and by hand (NCB-C15).

They are derived in docs/privacy-witnesses.md; the simulations are in `tests/law`.
"""

import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET, gdp_ncb
from dpbandits.auditing.gdp_ncb import exploration_witness, release_witness, stop_window
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.analytic import CODED_HORIZONS
from dpbandits.privacy.witnesses import (
    ALPHA,
    C,
    PhaseTwo,
    as_coded,
    deciding_releases,
    explored,
    log_cdf,
    published_threshold,
)
from shared import ExactResults
from support import settings_of

GDP = REGRET["gdp-ncb"]
FRAMES = ExactResults("dp-ncb")
PAGE = Path(__file__).parents[2] / "docs/privacy-witnesses.md"


def coded(horizon: int, epsilon: float) -> tuple[PhaseTwo, int, int]:
    """Return the rules of the code and the pulls of Phase I."""
    rules = as_coded(horizon, epsilon)
    return rules, *explored(rules.rounds)


def test_the_constants_are_those_of_the_kernel() -> None:
    assert (C, ALPHA) == (gdp_ncb.C, gdp_ncb.ALPHA)


def cdf(x: mpmath.mpf) -> mpmath.mpf:
    """The standard Laplace distribution function."""
    return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2


def test_the_toy_event_by_hand() -> None:
    """TH = 3, T = 40, epsilon = 1, n = 6: twelve tests are passed under each sequence."""
    with mpmath.workdps(30):
        scale = mpmath.log(40)
        arm_2 = cdf(3 / scale) ** 6
        under_x = arm_2 * mpmath.fprod(cdf((3 - i) / scale) for i in range(1, 7))
        changed = arm_2 * mpmath.fprod(cdf((4 - i) / scale) for i in range(1, 7))
    found = exploration_witness(3.0, math.log(40), 6)
    assert math.exp(found.log_p) == pytest.approx(float(under_x), rel=1e-12)
    assert math.exp(found.epsilon) == pytest.approx(float(changed / under_x), rel=1e-12)
    assert float(under_x) == pytest.approx(0.00120, abs=5e-6)
    assert float(changed) == pytest.approx(0.00421, abs=5e-6)
    assert float(changed / under_x) == pytest.approx(3.51, abs=5e-3)
    assert found.log_shared == pytest.approx(-13 * math.log(2))


@pytest.mark.parametrize("threshold", [2.5, 7.0, 60.0])
@pytest.mark.parametrize("pulls", [1, 3, 50, 90])
def test_the_product_telescopes(threshold: float, pulls: int) -> None:
    with mpmath.workdps(40):
        steps = [
            mpmath.log(cdf((threshold - i + 1) / mpmath.mpf(4)))
            - mpmath.log(cdf((threshold - i) / mpmath.mpf(4)))
            for i in range(1, pulls + 1)
        ]
        expected = float(mpmath.fsum(steps))
    found = exploration_witness(threshold, 4.0, pulls).epsilon
    assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("horizon", "offset", "loss"),
    [
        (10**7, -50, 1.551298),
        (10**7, 0, 3.426544),
        (10**7, 100, 9.630442),
        (10**8, -50, 1.702198),
        (10**8, 0, 3.431485),
        (10**8, 100, 8.859930),
    ],
)
def test_losses_at_the_printed_threshold(horizon: int, offset: int, loss: float) -> None:
    """ln 2 + (n - TH) epsilon / L past the threshold, ln of it by high precision below."""
    log = mpmath.log(horizon)
    threshold = 1600 * (9 * log + 5 * log**2)
    pulls = int(threshold) + offset
    expected = -mpmath.log(cdf((threshold - pulls) / (5 * log))) * 5
    if offset > 0:
        assert float(expected) == pytest.approx(
            float((mpmath.log(2) + (pulls - threshold) / (5 * log)) * 5)
        )
    row = FRAMES.rows("privacy-witnesses", horizon=horizon, x=offset)
    row = row[row["quantity"] == "witnessed"]
    assert row["y"].item() == pytest.approx(float(expected), rel=1e-8)
    assert row["y"].item() == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize(
    ("horizon", "offset", "loss", "given", "arms"),
    [(10**7, -81, 1.0018205, -6.713, -1_390_977.4), (10**8, -92, 1.0098501, -7.724, -1_793_980.7)],
)
def test_the_least_that_refutes_as_written(
    horizon: int, offset: int, loss: float, given: float, arms: float
) -> None:
    """The fewest pulls at which the loss exceeds epsilon; one fewer does not, by high precision."""
    log = mpmath.log(horizon)
    threshold = 1600 * (9 * log + 5 * log**2)
    losses = [
        -mpmath.log(cdf((threshold - int(threshold) - offset + fewer) / (5 * log))) * 5
        for fewer in (0, 1)
    ]
    assert losses[1] <= 1.0 < losses[0]
    row = FRAMES.rows("privacy-witnesses", horizon=horizon, quantity="least")
    assert row["x"].item() == offset
    assert row["y"].item() == pytest.approx(float(losses[0]), rel=1e-8)
    assert row["y"].item() == pytest.approx(loss, abs=1e-7)
    assert row["log10_probability"].item() == pytest.approx(given, abs=1e-3)
    assert row["log10_arms"].item() == pytest.approx(arms, abs=0.1)


def test_no_setting_of_figure_1a_is_refuted_as_coded() -> None:
    """Its T from 3 to 1002, at epsilon = 2 of the code and at 0.2 of the text, all splits."""
    found = FRAMES.rows("privacy-witnesses", variant="as-coded", quantity="panel-a")
    largest = {row["epsilon"]: (row["x"], row["y"]) for _, row in found.iterrows()}
    assert largest[2.0] == (38, pytest.approx(0.9835426, abs=1e-7))
    assert largest[0.2] == (6, pytest.approx(0.5020216, abs=1e-7))


def test_probabilities_of_the_events_as_written() -> None:
    rows = FRAMES.rows("privacy-witnesses", variant="as-written", quantity="witnessed")
    rows = rows[(rows["horizon"] == 10**7) & rows["x"].isin([-50, 0, 100])]
    # 8e-11, 5e-21, 5e-78, given the arms; these are 2^-(2n + 1).
    assert rows["log10_probability"].to_numpy() == pytest.approx([-10.11, -20.34, -77.31], abs=0.01)
    assert (rows["log10_arms"].to_numpy() < -1.39e6).all()


def test_the_loss_as_written_is_above_any_epsilon() -> None:
    """It grows by epsilon / L with each pull; n may be as large as (T - 1) / 2."""
    threshold, scale = published_threshold(1e7, 0.2), math.log(1e7) / 0.2
    pulls = (10**7 - 1) // 2
    found = exploration_witness(threshold, scale, pulls)
    assert found.epsilon / 0.2 == pytest.approx(166_855, rel=1e-3)
    # From n = TH on it is above epsilon for every epsilon below ln 2.
    for epsilon in (0.1, 0.69):
        threshold, scale = published_threshold(1e7, epsilon), math.log(1e7) / epsilon
        found = exploration_witness(threshold, scale, math.ceil(threshold))
        assert found.epsilon > epsilon


def test_uniform_windows_do_not_hide_the_loss_of_the_anytime_version() -> None:
    """1.003 epsilon at n = TH - 84, 1.92 at most; at TH the uniform windows are likelier."""
    window, epsilon = 2**24, 0.2
    near = math.floor(published_threshold(window, epsilon))
    losses = {
        offset: stop_window(window, epsilon, near + offset).epsilon / epsilon
        for offset in range(-85, 1)
    }
    assert losses[-85] < 1.0 < losses[-84]
    assert losses[-84] == pytest.approx(1.0032, abs=5e-5)
    assert max(losses.values()) == losses[-35]
    assert losses[-35] == pytest.approx(1.919, abs=5e-4)
    assert losses[0] < 1e-5
    assert 2 * near + 1 < window


@pytest.mark.parametrize("horizon", [10**7, 10**8])
def test_the_loss_as_written_does_not_hang_on_base_or_clip(horizon: int) -> None:
    """docs/privacy-witnesses.md, section "What does not change it"."""
    log = math.log2(horizon)
    threshold = 1600.0 * (9.0 * log + log**2 / 0.2)
    found = exploration_witness(threshold, log / 0.2, math.floor(threshold) + 100)
    assert found.epsilon / 0.2 > 7.0
    # With means clipped to [0, 1] in the test, those at sums up to TH cannot stop the phase.
    log = math.log(horizon)
    threshold, scale = published_threshold(horizon, 0.2), log / 0.2
    pulls = math.floor(threshold) + 100
    sums = np.arange(math.ceil(threshold), pulls + 1)
    after = log_cdf((threshold - sums) / scale)
    before = log_cdf((threshold - np.maximum(sums - 1, math.floor(threshold))) / scale)
    assert float(np.sum(before - after)) / 0.2 > 5.0


@pytest.mark.parametrize(
    ("horizon", "epsilon", "count", "loss"),
    [
        (10**5, 0.2, 6, 0.518816),
        (10**6, 0.2, 10, 0.721411),
        (10**7, 0.2, 22, 1.362358),
        (10**8, 0.2, 25, 1.354500),
        (10**4, 2.0, 8, 0.823735),
        (10**5, 2.0, 15, 1.260973),
        (10**6, 2.0, 18, 1.262552),
        (10**7, 2.0, 22, 1.325893),
        (10**8, 2.0, 25, 1.319223),
    ],
)
def test_losses_as_coded(horizon: int, epsilon: float, count: int, loss: float) -> None:
    assert len(deciding_releases(*coded(horizon, epsilon))) == count
    row = FRAMES.rows("privacy-witnesses", variant="as-coded", horizon=horizon)
    row = row[row["epsilon"] == epsilon]
    assert row["y"].item() == pytest.approx(loss, abs=1e-6)
    # Each release costs epsilon / L at most.
    assert row["y"].item() <= count / math.log(horizon)


@pytest.mark.parametrize(("horizon", "epsilon"), [(10**6, 2.0), (10**8, 0.2)])
def test_what_is_needed_is_where_the_kernel_turns(horizon: int, epsilon: float) -> None:
    """At the needed mean the kernel's index of arm 2 is that of arm 1; just above it is larger."""
    bandit = dpbandits.bernoulli([0.5, 0.5])
    interpretations = GDP.interpretations_from({}, "as-coded")
    settings = settings_of(GDP, {"epsilon": epsilon}, interpretations, bandit, horizon)
    window = gdp_ncb.open_window(settings, horizon)
    first, second = explored(math.isqrt(horizon) + 1)
    assert first + second == window.cap
    for each in deciding_releases(*coded(horizon, epsilon)):
        state = GDP.state(2)
        state.explored[:], state.episodes[:] = (first, second), (1, each.length)
        pulls = second + each.length
        state.private_means[:] = 0.0, each.needed / pulls
        indices = gdp_ncb._indices(settings, window, state)
        assert indices[1] == pytest.approx(indices[0], rel=1e-12)
        state.private_means[1] += 1e-6
        indices = gdp_ncb._indices(settings, window, state)
        assert indices[1] > indices[0]
        assert 0.0 <= each.rewards <= each.length


def test_the_kernel_begins_phase_two_with_arm_2_and_loses_ties() -> None:
    for horizon in CODED_HORIZONS:
        rules, first, second = coded(horizon, 0.2)
        assert rules.rounds == theory.capped_phase_one(horizon)
        other = rules.index(0.0, first + 1)
        assert rules.index(0.0, second + 1) > other
        # The same number of pulls after the first episode: equal to the last bit.
        assert rules.index(0.0, second + 2) == other
        assert deciding_releases(*coded(horizon, 0.2))[0].needed == 0.0


def test_rewards_of_zero_give_the_same_ratio() -> None:
    horizon, epsilon = 10**8, 0.2
    scale = math.log(horizon) / epsilon
    needed = np.array([each.needed for each in deciding_releases(*coded(horizon, epsilon))])
    ratio = log_cdf((1.0 - needed) / scale) - log_cdf(-needed / scale)
    found = release_witness(*coded(horizon, epsilon))
    assert float(ratio.sum()) == pytest.approx(found.epsilon, rel=1e-9)


def test_counts_of_phase_one() -> None:
    """501 and 500 pulls with arm 2 in round s: 1000 choose 499 of 2^1001."""
    expected = mpmath.binomial(1000, 499) / mpmath.mpf(2) ** 1001
    found = release_witness(*coded(10**6, 2.0)).log_shared
    assert math.exp(found) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("horizon", [2, 3, 7, 40, 1000, 12_345, 10**6, 2**20, 2**33 - 1, 10**10])
def test_the_bound_of_the_repaired_variant_is_at_most_1(horizon: int) -> None:
    """m + 1 <= log2(T - W + 2): episodes of 2, 4, ..., 2^m pulls take 2^(m+1) - 2 rounds."""
    rounds = theory.capped_phase_one(horizon)
    releases = theory.releases(horizon, rounds)
    assert 2 ** (releases + 1) - 2 <= max(horizon - rounds, 0) < 2 ** (releases + 2) - 2
    most = math.log2(max(horizon - rounds, 0) + 2) - 1.0
    with_zeros = theory.composed_loss(horizon, rounds, release_log="base2")
    assert with_zeros <= most / math.log2(horizon) + 1e-12 < 1.0
    # One release more, where Phase II begins with means of Phase I.
    assert theory.composed_loss(horizon, rounds, 1.0, "base2") <= 1.0


def test_the_tables_of_the_page() -> None:
    """Rows of T, epsilon, n or the number of releases, loss, log10 of probabilities."""
    rows = re.findall(
        r"^\| (1e\d) \| ([\d.]+) \| (\S.*?) \| ([\d.]+) \| (-[\d.]+) \|", PAGE.read_text(), re.M
    )
    assert len(rows) == 17
    for horizon, epsilon, third, loss, log10 in rows:
        found = FRAMES.rows("privacy-witnesses", horizon=float(horizon), epsilon=float(epsilon))
        x = float(horizon)
        if "TH" in third:
            x = float(third.replace("TH", "").replace(" ", "") or 0)
        else:
            assert int(third) == len(deciding_releases(*coded(int(x), float(epsilon))))
        row = found[(found["x"] == x) & found["quantity"].isin(["witnessed", "least"])]
        digits = len(loss.partition(".")[2])
        assert row["y"].item() == pytest.approx(float(loss), abs=0.51 * 10**-digits)
        assert row["log10_probability"].item() == pytest.approx(float(log10), abs=0.051)
