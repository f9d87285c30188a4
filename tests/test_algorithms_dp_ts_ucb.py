"""DP-TS-UCB: its tables, its invariants, and its chunks against a player round by round."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.dp_ts_ucb import Settings
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BERNOULLI, BINOMIAL_FROM
from dpbandits.engine.cells import Work, make_cell
from dpbandits.kernels import new_segments
from support import (
    all_interpretations,
    bandits,
    dp_ts_ucb_by_rounds,
    kernel_decisions,
    message_of,
    settings_of,
)

ALGORITHM = REGRET["dp-ts-ucb"]
FIVE_ARMS = dpbandits.bernoulli([0.95, 0.75, 0.55, 0.35, 0.15])
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 2.0, 10.0])
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)

BUDGETS = {
    10_000: (11551, 2767, 663, 158, 38),
    31_622: (24511, 5011, 1024, 209, 42),
    100_000: (51052, 8920, 1558, 272, 47),
    316_227: (104737, 15659, 2341, 350, 52),
    1_000_000: (212220, 27179, 3480, 445, 57),
}
"""floor(phi) of dp-ts-ucb, Algorithm 1, by horizon and alpha.

Of the whole horizons: at alpha = 0, 10^4.5 = 31622.78 and 10^5.5 would have 24512 and 104738
(phi is 24511.65 and 104737.96 at the whole ones).
"""


def told(
    alpha: float,
    horizon: int,
    interpretations: dict[str, str] | None = None,
    bandit: Bandit = FIVE_ARMS,
) -> Any:
    return settings_of(ALGORITHM, {"alpha": alpha}, interpretations or {}, bandit, horizon)


def test_budgets() -> None:
    for horizon in BUDGETS:
        assert tuple(told(alpha, horizon).budget for alpha in ALPHAS) == BUDGETS[horizon]


def test_rounding_of_the_budget() -> None:
    # DTU-E4; phi = 24511.65 at (alpha, T) = (0, 31622) and 5011.24 at (0.25, 31622).
    for alpha, horizon, floor, nearest in ((0.0, 31_622, 24511, 24512), (0.25, 31_622, 5011, 5011)):
        found = [
            told(alpha, horizon, {"rounding": each}).budget for each in ("floor", "ceil", "round")
        ]
        assert found == [floor, floor + 1, nearest]


def test_short_horizons() -> None:
    for arms, horizon, refused in [(2, 2, True), (2, 3, False), (5, 4, True), (5, 5, False)]:
        bandit = dpbandits.bernoulli([0.5] * arms)
        if not refused:
            assert told(0.5, horizon, bandit=bandit).horizon == horizon
            return
        message = message_of(lambda: told(0.5, horizon, bandit=bandit))
        assert f"dp-ts-ucb: horizon is {horizon}, with {arms} arms; allowed: at least 3" in message


def test_alpha_outside_its_range() -> None:
    for alpha in [-0.01, 1.01, math.nan, math.inf, True, "1", None]:
        message = message_of(lambda: ALGORITHM.parameters_from({"alpha": alpha}))
        assert f"dp-ts-ucb: alpha is {alpha!r}; allowed: a number from 0 to 1" in message


def per_round(chunks: list[tuple[int, int, float]]) -> list[int]:
    """Return the arm of every round."""
    return [arm for arm, length, _ in chunks for _ in range(length)]


@given(
    data=st.data(),
    alpha=st.floats(0.0, 1.0),
    interpretations=st.sampled_from(all_interpretations(ALGORITHM)),
    seed=st.integers(0, 2**63),
)
def test_chunks_are_rounds_of_algorithm_1(
    data: st.DataObject, alpha: float, interpretations: dict[str, str], seed: int
) -> None:
    # Where sums are drawn reward by reward the stream is the same; only the rounding of a sum may
    # differ, by its last bits.
    arms = data.draw(bandits()).arms
    horizon = data.draw(st.integers(6, 1500))
    bandit = Bandit(
        tuple(each if each.code != BERNOULLI else EXPONENTIAL_ARMS.arms[1] for each in arms)
    )
    settings = told(alpha, horizon, interpretations, bandit)
    chunked, single = np.random.default_rng(seed), np.random.default_rng(seed)
    chunks = list(kernel_decisions(ALGORITHM, settings, bandit, chunked))
    rounds = list(dp_ts_ucb_by_rounds(settings, bandit, single))
    assert per_round(chunks) == [arm for arm, _, _ in rounds]
    assert chunked.bit_generator.state == single.bit_generator.state
    total = sum(reward for _, _, reward in rounds)
    assert sum(rewards for _, _, rewards in chunks) == pytest.approx(total, rel=1e-12)


def test_chunks_of_bernoulli_arms_below_the_binomial() -> None:
    # 61 rounds leave no batch of more than 32 rewards, so no sum is a binomial.
    for interpretations in all_interpretations(ALGORITHM):
        bandit = dpbandits.bernoulli([0.9, 0.1])
        settings = told(1.0, 61, interpretations, bandit)._replace(budget=4)
        longer = 0
        for seed in range(200):
            chunks = list(
                kernel_decisions(ALGORITHM, settings, bandit, np.random.default_rng(seed))
            )
            rounds = list(dp_ts_ucb_by_rounds(settings, bandit, np.random.default_rng(seed)))
            longest = max(length for _, length, _ in chunks)
            longer += longest > 1
            if longest < BINOMIAL_FROM:
                assert per_round(chunks) == [arm for arm, _, _ in rounds]
                assert sum(total for _, _, total in chunks) == sum(total for _, _, total in rounds)
        assert longer == (200 if interpretations["renewal"] == "batch" else 0)


def test_stretches_are_long_and_are_played_at_once() -> None:
    settings = told(1.0, 100_000)
    chunks = list(kernel_decisions(ALGORITHM, settings, FIVE_ARMS, np.random.default_rng(1)))
    assert len(chunks) < 2500, "of 100000 rounds"
    assert max(length for _, length, _ in chunks) > 10_000
    # A chunk fills a batch of its arm or ends at the horizon.
    pulls = np.zeros(5, np.int64)
    for arm, length, _ in chunks:
        pulls[arm] += length
        if length > 1 and pulls.sum() < 100_000:
            assert (pulls[arm] + 1) & pulls[arm] == 0, "2^(r+1) - 1 pulls"
    assert pulls.sum() == 100_000


def steps(settings: Settings, bandit: Bandit, seed: int) -> Any:
    """Yield (arm, length) of every chunk with the states before and after it."""
    state, generator = ALGORITHM.state(len(bandit.arms)), np.random.default_rng(seed)
    chunk = new_segments(1)
    while state.clock[0] < settings.horizon:
        before = type(state)(*(each.copy() for each in state))
        ALGORITHM.advance(settings, state, bandit.arrays, generator, chunk)
        yield int(chunk[0][0]), int(chunk[1][0]), before, state


def test_invariants() -> None:
    # Algorithm 1: draws per arm and epoch <= floor(phi); n_i in {1, 2, 4, ...}; pulls 2 n_i - 1 +
    # O_i;
    # theta frozen from the exhaustion of the budget to the end of the batch.
    for alpha in ALPHAS:
        for bandit in [FIVE_ARMS, EXPONENTIAL_ARMS]:
            settings = told(alpha, 4000, bandit=bandit)
            pulls = np.zeros(len(bandit.arms), np.int64)
            draws = np.zeros_like(pulls)
            exhausted = 0
            for arm, length, before, after in steps(settings, bandit, seed=3):
                first_pull = pulls.sum() < pulls.size
                pulls[arm] += length
                renewed = np.zeros(pulls.size, bool)
                renewed[arm] = after.counts[arm] != before.counts[arm]
                if not first_pull:
                    draws += before.budgets > 0
                    # The arms of line 9 stand still; the others spend one draw each.
                    still = (before.budgets == 0) & ~renewed
                    assert np.array_equal(after.largest_draws[still], before.largest_draws[still])
                    spent = ~renewed & (before.budgets > 0)
                    assert np.array_equal(after.budgets[spent], before.budgets[spent] - 1)
                    assert (length == 1) or not before.budgets.any()
                    exhausted += int(still.any())
                assert (draws <= settings.budget).all()
                assert (after.budgets[renewed] == settings.budget).all()
                assert (after.largest_draws[renewed] == 0).all()
                draws[renewed] = 0
                counts = after.counts[after.counts > 0]
                assert (counts & (counts - 1) == 0).all()
                known = after.counts > 0
                assert np.array_equal(pulls[known], (2 * after.counts - 1 + after.waiting)[known])
            assert pulls.sum() == 4000
            assert exhausted > 0 or settings.budget > 3000, "budgets were used up"


def test_every_reward_enters_one_estimate() -> None:
    # The sum behind an estimate is that of the batch just ended, of 1, 2, 4, ... rewards.
    settings = told(0.75, 3000, bandit=EXPONENTIAL_ARMS)
    state, generator = ALGORITHM.state(3), np.random.default_rng(2)
    chunk = new_segments(1)
    batch = [0.0] * 3
    while state.clock[0] < settings.horizon:
        counts = state.counts.copy()
        ALGORITHM.advance(settings, state, EXPONENTIAL_ARMS.arrays, generator, chunk)
        arm = int(chunk[0][0])
        batch[arm] += float(chunk[2][0])
        if state.counts[arm] != counts[arm]:
            assert state.counts[arm] == max(1, 2 * counts[arm])
            assert state.reward_sums[arm] == batch[arm]
            batch[arm] = 0.0
    assert state.counts.max() >= 256


def final_regrets(interpretations: dict[str, str], alpha: float = 0.75, runs: int = 40) -> Any:
    cell = make_cell(
        algorithm="dp-ts-ucb",
        parameters={"alpha": alpha},
        interpretations=interpretations,
        bandit=FIVE_ARMS,
        horizon=5000,
        stream="shared",
    )
    return Work(cell, range(runs)).play(1)["pseudo_regret"]


def test_the_interpretation_of_the_reset_changes_nothing_in_practice() -> None:
    # DTU-E3: an estimate is at least 0, so that a draw falls below 0 with probability 1/2 at most,
    # and
    # all 35 or more of an epoch with 2^-35: the same decisions on the same stream.
    for alpha in [0.75, 1.0]:
        assert told(alpha, 5000).budget >= 35
        found = final_regrets({"reset": "minus-infinity"}, alpha)
        assert np.array_equal(found, final_regrets({}, alpha))


def test_the_maximum_of_the_draws_alone_may_be_negative() -> None:
    # DTU-E3: reset to zero, MAX is at least 0; a budget of one draw and arms that pay nothing show
    # it.
    bandit = dpbandits.bernoulli([0.0, 0.0])
    lowest = {}
    for reset in ("zero", "minus-infinity"):
        settings = told(0.0, 40, {"reset": reset}, bandit)._replace(budget=1)
        values = itertools.chain.from_iterable(
            after.largest_draws[after.budgets == 0].tolist()
            for seed in range(20)
            for _, _, _, after in steps(settings, bandit, seed)
            if after.counts.all()
        )
        lowest[reset] = min(values)
    assert lowest["zero"] == 0
    assert -math.inf < lowest["minus-infinity"] < 0


def test_renewal_at_every_pull_never_leaves_the_pulled_arm_frozen() -> None:
    # DTU-E6: after each of its pulls an arm draws afresh, whatever its batch.
    settings = told(1.0, 3000, {"renewal": "pull"})
    for arm, length, _, after in steps(settings, FIVE_ARMS, seed=1):
        assert length == 1
        assert after.budgets[arm] == settings.budget
        assert after.largest_draws[arm] == 0


def test_a_horizon_of_one_round_each() -> None:
    settings = told(0.5, 5)
    chunks = list(kernel_decisions(ALGORITHM, settings, FIVE_ARMS, np.random.default_rng(1)))
    assert [(arm, length) for arm, length, _ in chunks] == [(arm, 1) for arm in range(5)]
