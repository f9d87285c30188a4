"""GDP-NCB: the numbers of the specification.

Values to ten digits were computed with mpmath from its formulas; the instance is that of dp-ncb,
Experiments.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import gdp_ncb
from dpbandits.kernels import UNIFORM, new_segments
from dpbandits.papers.dp_ncb import theory
from fifty_arms import FIFTY_ARMS, GDP, decisions_of, run_to_the_end, told
from support import interpretations_to_draw, kernel_decisions, settings_of

TWO_ARMS = dpbandits.bernoulli([0.9, 0.3])


@pytest.mark.parametrize(
    ("horizon", "rounds"), [(10**5, 317), (10**6, 1001), (10**7, 3163), (10**8, 10001)]
)
@pytest.mark.parametrize("variant", ["as-coded", "repaired"])
def test_capped_phase_one_lasts_w_rounds(variant: str, horizon: int, rounds: int) -> None:
    # Derived, last line.
    settings = told(GDP, horizon, variant)
    assert run_to_the_end(GDP, settings, FIFTY_ARMS).explored.sum() == rounds


@pytest.mark.parametrize(
    ("horizon", "as_written", "as_coded"),
    # Derived (as written, to three digits) and 3 ("8.1e5 at T = 1e8").
    [
        (10**6, 1.73e6, 481333.2096),
        (10**7, 2.31e6, 635669.0436),
        (10**8, 2.98e6, 8.1e5),
        (10**9, 3.73e6, 1008116.281),
        (10**10, 4.57e6, 1226167.735),
    ],
)
def test_thresholds(horizon: int, as_written: float, as_coded: float) -> None:
    for variant, expected in (("as-written", as_written), ("as-coded", as_coded)):
        settings = told(GDP, horizon, variant)
        window = gdp_ncb.open_window(settings, horizon)
        assert window.threshold == pytest.approx(expected, rel=5e-3)
        # No W rounds reach it (the released code).
        assert window.threshold > np.sqrt(horizon) + 1


def test_threshold_of_panel_a() -> None:
    # The released code: 55 at T = 1000 and epsilon = 2, above W = 32.
    interpretations = GDP.interpretations_from(
        {"threshold": "1", "threshold_log": "mixed"}, "as-coded"
    )
    settings = settings_of(GDP, {"epsilon": 2.0}, interpretations, TWO_ARMS, 1000)
    window = gdp_ncb.open_window(settings, 1000)
    assert window.threshold == pytest.approx(55.05016462, rel=1e-9)
    assert window.cap == 32


@pytest.mark.parametrize(
    ("epsilon", "horizon"), [(0.2, 1.6e8), (0.5, 6.7e7), (1.0, 3.8e7), (2.0, 2.5e7)]
)
def test_where_phase_two_of_the_original_begins_to_exist(epsilon: float, horizon: float) -> None:
    # Derived: from these T on, to two digits; 5 % below all rounds are uniform, 5 % above not.
    for factor, reached in ((0.95, False), (1.05, True)):
        rounds = int(factor * horizon)
        interpretations = GDP.interpretations_from({"exploration": "blocks"})
        settings = settings_of(GDP, {"epsilon": epsilon}, interpretations, FIFTY_ARMS, rounds)
        state = run_to_the_end(GDP, settings, FIFTY_ARMS)
        assert (state.explored.sum() < rounds) == reached


@pytest.mark.parametrize(("horizon", "rounds"), [(10**9, 1.92e8), (10**10, 2.36e8)])
def test_phase_one_of_the_original(horizon: int, rounds: float) -> None:
    # Derived: within 1 % of the table in an episode-level simulation.
    settings = told(GDP, horizon, exploration="blocks")
    for seed in range(5):
        decisions = decisions_of(GDP, settings, FIFTY_ARMS, seed)
        state = run_to_the_end(GDP, settings, FIFTY_ARMS, seed)
        assert state.explored.sum() == pytest.approx(rounds, rel=0.01)
        blocks = [(length, total) for arm, length, total in decisions if arm == UNIFORM]
        assert sum(length for length, _ in blocks) > 0.99 * state.explored.sum()
        assert all(0 <= total <= length for length, total in blocks)


@pytest.mark.parametrize(
    ("interpretations", "expected"),
    [
        # p = 1/2, N1 = 100 and one pseudo-pull at T = 1e6: Algorithm 1, step 4a; D4; A3; A10.
        ({}, 43.3339783119),
        ({"index_log": "window"}, 13.3985129590),
        ({"root": "inside"}, 47.8909378145),
        ({"root": "inside", "index_log": "window"}, 18.8377166572),
    ],
)
def test_index_of_gdp_ncb(interpretations: dict[str, str], expected: float) -> None:
    pulls = {"counted": 100, "left-out": 101}
    for pseudo_pull, explored in pulls.items():
        settings = told(GDP, 10**6, pseudo_pull=pseudo_pull, **interpretations)
        window = gdp_ncb.open_window(settings, 10**6)
        state = GDP.state(3)
        state.private_means[:] = 0.5
        state.explored[:] = explored, 85, 0
        state.episodes[:] = 1, 16, 1
        indices = gdp_ncb._indices(settings, window, state)
        assert indices[:2] == pytest.approx([expected, expected], rel=1e-10)
        assert np.isinf(indices[2]) == (pseudo_pull == "left-out")


@pytest.mark.parametrize(("base", "scale"), [("natural", 0.6396069703), ("base2", 0.9227578041)])
def test_release_scale(base: str, scale: float) -> None:
    # docs/deviations.md: log(T) / (epsilon n), or log2(T) / (epsilon n), for n = 108 and T = 1e6.
    window = gdp_ncb.open_window(told(GDP, 10**6, release_log=base), 10**6)
    assert window.noise / 108 == pytest.approx(scale, rel=1e-9)


def test_windows_do_not_depend_on_the_settings_horizon() -> None:
    # What the anytime wrapper relies on (dp-ncb, Algorithm 3): a fresh copy for every window.
    long, short = told(GDP, 10**6, "repaired"), told(GDP, 64, "repaired")
    assert gdp_ncb.open_window(long, 64) == gdp_ncb.open_window(short, 64)
    window = gdp_ncb.open_window(long, 64)
    assert (window.horizon, window.cap) == (64, 9)
    expected = decisions_of(GDP, short, FIFTY_ARMS)
    state = GDP.state(50)
    out, arms = new_segments(99), FIFTY_ARMS.arrays
    for _ in range(2):
        generator = np.random.default_rng(1)
        written = 0
        for stop in (5, 20, 64):
            written = gdp_ncb.advance_window(
                long, window, stop, state, arms, generator, out, written
            )
            assert state.clock[0] == stop == out.lengths[:written].sum()
        assert out.arms[:9].tolist() == [arm for arm, _, _ in expected[:9]]
        gdp_ncb.reset(state)
        assert all(not array.any() for array in state)


@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**63), buffer=st.integers(1, 60))
def test_any_interpretations_agree_where_blocks_matter(
    data: st.DataObject, seed: int, buffer: int
) -> None:
    # Small epsilon and the constant 1 put the end of phase I in the blocks or near them.
    interpretations = data.draw(interpretations_to_draw(GDP)["any"]) | {"exploration": "blocks"}
    horizon = data.draw(st.integers(1000, 30_000))
    parameters = {"epsilon": data.draw(st.floats(1e-3, 0.1))}
    means = data.draw(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5))
    bandit = dpbandits.bernoulli(means)
    if interpretations["refreshed"] == "all":
        horizon = 1000
    told_kernel = settings_of(GDP, parameters, interpretations, bandit, horizon)
    fast, plain = np.random.default_rng(seed), np.random.default_rng(seed)
    decisions = list(kernel_decisions(GDP, told_kernel, bandit, fast, buffer))
    assert decisions == list(GDP.reference(told_kernel, bandit, plain))
    assert fast.bit_generator.state == plain.bit_generator.state
    assert sum(length for _, length, _ in decisions) == horizon


STEP = {"cap": "root", "stop_test": "off", "release_log": "base2"}
"""Algorithm 1 with a Phase I of W rounds and base-2 noise; log T in the index."""


def gdp_regret(played: dict[str, str], start: str, epsilon: float, horizon: int) -> float:
    """Return the average regret at the horizon, the mean over ten runs."""
    interpretations = GDP.interpretations_from({**played, "start": start})
    settings = settings_of(GDP, {"epsilon": epsilon}, interpretations, FIFTY_ARMS, horizon)
    found = []
    for seed in range(10):
        decisions = decisions_of(GDP, settings, FIFTY_ARMS, seed)
        found.append(sum(FIFTY_ARMS.gaps[arm] * length for arm, length, _ in decisions) / horizon)
    return float(np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("played", "epsilon", "horizon"),
    [
        (GDP.presets["as-coded"], 100.0, 10**7),
        (GDP.presets["as-coded"], 10.0, 10**8),
        (STEP, 10.0, 10**9),
    ],
)
def test_zeros_at_the_start_lock_in_where_the_widths_are_small(
    played: dict[str, str], epsilon: float, horizon: int
) -> None:
    # With private means of 0 all arms have small indices after a long phase I, so that the first
    # good enough arm to be released is played for ever; D5, "none measurable", holds
    # at epsilon = 0.2 up to T = 1e10. Measured over 20 runs: 0.31, 0.18 and 0.09 with zeros;
    # 0.016, 0.004 and 0.001 with the means of phase I carried over.
    assert gdp_regret(played, "zeros", epsilon, horizon) > 0.05
    assert gdp_regret(played, "carried", epsilon, horizon) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gdp-ncb", "anytime-gdp-ncb"])
def test_carried_means_never_lose_the_best_arm_where_zeros_do(name: str) -> None:
    # Epsilon = 100, T = 1e5. Of 2000 runs of GDP-NCB with zeros 1107 play the best arm in less than
    # half of the rounds, most of them 57 times; mean regret is 10,435. With the means of phase I
    # none plays it less than 65,574 times, and mean regret is 6692. The anytime form has a mean
    # regret of 11,318 and 10,907.
    arms = dpbandits.bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
    lost, regret = {}, {}
    for start in ("zeros", "carried"):
        runs = dpbandits.simulate(
            algorithm=name,
            params={"epsilon": 100.0},
            interpretations={**STEP, "start": start},
            bandit=arms,
            horizon=100_000,
            runs=200,
        )
        lost[start] = int((runs.pulls[:, 0] < 40_000).sum())
        regret[start] = float(runs.pseudo_regret.mean())
    assert lost["carried"] == 0
    assert lost["zeros"] > 60
    assert regret["carried"] < (0.85 if name == "gdp-ncb" else 1.0) * regret["zeros"]


def test_repaired_is_the_code_with_base_2_noise_and_no_stop_test() -> None:
    changes = {"release_log": "base2", "stop_test": "off"}
    repaired = GDP.interpretations_from({}, "repaired")
    # Without a test nothing reads its threshold.
    ignored = {"threshold_log": "horizon"}
    assert repaired == GDP.interpretations_from({**changes, **ignored}, "as-coded")


@pytest.mark.parametrize(
    ("horizon", "epsilon", "bandit"),
    [
        *((10**each, 0.2, FIFTY_ARMS) for each in (2, 3, 4, 5, 6)),
        *((10**each, 2.0, TWO_ARMS) for each in (2, 3, 4, 5, 6)),
        *((10**6, epsilon, dpbandits.bernoulli([1.0, 1.0])) for epsilon in (1e-3, 1e3, 1e9)),
    ],
)
def test_the_stop_test_of_the_code_never_fires(
    horizon: int, epsilon: float, bandit: dpbandits.Bandit
) -> None:
    """Repaired and the code with base-2 noise alone take the same decisions by the same draws."""
    tested = GDP.interpretations_from({"release_log": "base2"}, "as-coded")
    repaired = GDP.interpretations_from({}, "repaired")
    for seed in range(3):
        tested_run, repaired_run = (
            decisions_of(
                GDP, settings_of(GDP, {"epsilon": epsilon}, each, bandit, horizon), bandit, seed
            )
            for each in (tested, repaired)
        )
        assert tested_run == repaired_run


def test_the_stop_test_of_the_code_could_first_fire_beyond_3e10() -> None:
    """Were every reward of W rounds 1 and one arm's, and epsilon infinite."""
    for horizon, reached in ((3 * 10**10, False), (31 * 10**9, True)):
        coded = GDP.interpretations_from({}, "as-coded")
        settings = settings_of(GDP, {"epsilon": 1e12}, coded, TWO_ARMS, horizon)
        window = gdp_ncb.open_window(settings, horizon)
        assert (window.cap > window.threshold) == reached


HORIZONS = [10**each for each in range(3, 11)]


@pytest.mark.parametrize("horizon", HORIZONS)
def test_repaired_composes_to_less_than_epsilon(horizon: int) -> None:
    # Releases of episodes of 2, 4, ..., 2^m pulls after W rounds: one reward of phase I enters
    # m <= log2(T - W + 2) - 1 of them, at epsilon / log2 T each.
    explored = theory.capped_phase_one(horizon)
    most = (np.log2(horizon - explored + 2) - 1.0) / np.log2(horizon)
    repaired = theory.composed_loss(horizon, explored, release_log="base2")
    assert 0.80 <= repaired <= most <= 0.97
    count = theory.releases(horizon, explored)
    assert 2 ** (count + 2) > horizon - explored + 2 >= 2 ** (count + 1)
    # With carried means there is one release more, and that is enough, too.
    carried = theory.composed_loss(horizon, explored, 1.0, "base2")
    assert 0.9 <= carried <= 0.994
    # Not so with the natural logarithm, nor with three releases more.
    assert theory.composed_loss(horizon, explored, release_log="natural") > 1.15
    assert theory.composed_loss(horizon, explored, 3.0, "base2") > 1.0


@pytest.mark.parametrize("horizon", HORIZONS)
def test_no_run_releases_more_often_than_composition_counts(horizon: int) -> None:
    # Where all play goes to one arm, its releases are as many as can be: the bound is attained.
    single = dpbandits.bernoulli([1.0, 0.0])
    most = theory.releases(horizon, theory.capped_phase_one(horizon))
    interpretations = GDP.interpretations_from({}, "repaired")
    settings = settings_of(GDP, {"epsilon": 1e6}, interpretations, single, horizon)
    window = gdp_ncb.open_window(settings, horizon)
    assert window.noise == pytest.approx(np.log2(horizon) / 1e6, rel=1e-12)
    found = []
    for seed in range(20):
        episodes = decisions_of(GDP, settings, single, seed)[window.cap :]
        releases = {arm: [n for i, n, _ in episodes if i == arm] for arm in (0, 1)}
        whole = [[n for n in own if n & (n - 1) == 0] for own in releases.values()]
        found.append(max(map(len, whole)))
    assert max(found) == most
