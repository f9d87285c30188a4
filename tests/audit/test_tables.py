"""Neighbouring tables: what is refused, in one line, and what kernels draw from them."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import REGRET, find_identification
from dpbandits.auditing.inputs import (
    PULL_TABLE,
    ROUND,
    constant,
    hold,
    ladder,
    make_pair,
    search_pairs,
    shift,
)
from dpbandits.auditing.mechanisms import Plays, TableBandit, Trials
from dpbandits.auditing.run import setting_of
from dpbandits.bandits.draws import AFTER, FIRST, NEXT, TABLE, draw_reward, draw_reward_sum
from dpbandits.errors import InputError
from support import mostly_slow

ZEROS = [[0.0, 0.0], [0.0, 0.0]]
ZEROS_3 = [[0.1, 0.2, 0.4], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("first", "second", "more", "message"),
    [
        (ZEROS, [[0, 2], [0, 0]], {}, "table x' has the reward 2; allowed: 0 to 1"),
        ([[np.nan, 0], [0, 0]], ZEROS, {}, "table x has the reward nan; allowed: 0 to 1"),
        ([0.0, 1.0], ZEROS, {}, "table x has shape 2; allowed: one row of rewards an arm"),
        ([[0.0, 1.0]], ZEROS, {}, "table x has shape 1 x 2; allowed: one row of rewards an arm"),
        ([[0.0], [0.0, 1.0]], ZEROS, {}, "table x is no table of numbers"),
        (ZEROS, [[0.0], [0.0]], {}, "have shapes 2 x 2 and 2 x 1; allowed: one shape"),
        (ZEROS, [[1, 1], [0, 0]], {}, "differ in 2 cells; allowed: one"),
        (ZEROS, [[1, 1], [0, 0]], {"notion": ROUND}, "differ in 2 rounds; allowed: one"),
        (ZEROS, ZEROS, {"notion": "global"}, "notion is 'global'; allowed: pull table, round"),
        (ZEROS, ZEROS, {"after": [0.0]}, "after has 1 rewards; allowed: one an arm, 2"),
        (ZEROS, ZEROS, {"after": [0.0, -1.0]}, "after has the reward -1; allowed: 0 to 1"),
    ],
)
def test_bad_tables_end_in_one_line(
    first: Any, second: Any, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make_pair(first, second, **more)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_round_may_change_for_all_arms_at_once() -> None:
    pair = make_pair(ZEROS, [[1, 0], [1, 0]], notion=ROUND)
    assert pair.rows(True)[:, FIRST].tolist() == [1.0, 1.0]


def test_words_name_the_cell_that_differs() -> None:
    pair = make_pair([[0, 0.5], [0, 0]], [[0, 0.5], [0, 1]])
    assert pair.words == "arm 1 pays 0 0.5, arm 2 pays 0 0; reward 2 of arm 2 is 0 or 1"
    assert pair.arm == 1


@pytest.mark.parametrize("notion", [PULL_TABLE, ROUND])
@pytest.mark.parametrize("arms", [2, 3])
def test_families_are_neighbours_and_small(notion: str, arms: int) -> None:
    pairs = list(search_pairs(notion, arms, 10))
    for pair in pairs:
        differs = pair.rows(False) != pair.rows(True)
        assert differs.any()
        assert (differs.sum() if notion == PULL_TABLE else differs.any(axis=0).sum()) == 1
        assert pair.arms == arms
    assert len({str(pair.describe()) for pair in pairs}) == len(pairs) <= 70


def test_hold_keeps_the_arm_below() -> None:
    row = hold(1.0, 50).rows(False)[0, FIRST:]
    n = np.arange(20, 51)
    aim = (n + 1) - np.sqrt(n + 1) - 0.5
    np.testing.assert_allclose(row.cumsum()[n - 1] + 0.5, aim, atol=1e-9)


def test_families_refuse_what_is_no_pair() -> None:
    with pytest.raises(InputError, match="reward 2; allowed: 0 to 1"):
        constant(2.0, 0.0)
    with pytest.raises(InputError, match="pull is 0; allowed: 1 or above"):
        constant(0.0, 0.0, pull=0)
    with pytest.raises(InputError, match="2 arms; allowed: at least 3"):
        ladder(0.0, 2)


def test_draws_from_a_table_are_its_rewards_in_order() -> None:
    generator = np.random.default_rng(1)
    before = generator.bit_generator.state
    for compiled in (True, False):
        one = draw_reward if compiled else draw_reward.py_func
        several = draw_reward_sum if compiled else draw_reward_sum.py_func
        row = make_pair(ZEROS_3, ZEROS_3, after=[0.8, 0.0]).rows(False)[0]
        assert one(TABLE, row, generator) == 0.1
        assert several(TABLE, row, 2, generator) == pytest.approx(0.6)
        assert several(TABLE, row, 3, generator) == pytest.approx(2.4)
        assert row[NEXT] == 6
        assert row[AFTER] == 0.8
    assert generator.bit_generator.state == before


@pytest.mark.parametrize("by_round", [False, True])
@pytest.mark.parametrize("name", list(REGRET))
def test_kernels_receive_the_rewards_of_the_table(name: str, by_round: bool) -> None:
    """Sums of every segment are those of the next pulls, or of the rounds, of its arm."""
    horizon = 40
    rewards = np.random.default_rng(3).integers(0, 2**20, (2, horizon)) / 2**20
    algorithm = REGRET[name]
    setting = setting_of(name, horizon, dict(algorithm.example))
    pair = make_pair(rewards, rewards, notion=ROUND if by_round else PULL_TABLE)
    plays = setting.mechanism(pair).play
    assert isinstance(plays, Plays)
    seen = list[tuple[int, int, float]]()

    class Recorder:
        def __call__(self, *arguments: Any) -> int:
            written = algorithm.advance(*arguments)
            seen.extend(zip(*(column[:written] for column in arguments[4]), strict=True))
            return written

    recorder: Any = Recorder()
    recorded = replace(plays, algorithm=replace(algorithm, advance=recorder, id="recorded"))
    outputs = recorded(False, np.random.default_rng(4), 3)
    pulls, t = np.zeros(2, int), 0
    for arm, length, total in seen:
        begin = t if by_round else pulls[arm]
        assert total == rewards[arm, begin : begin + length].sum()
        pulls[arm] += length
        t += length
        if t == horizon:
            pulls[:], t = 0, 0
    assert sum(length for _, length, _ in seen) == outputs.size
    assert outputs.ravel().tolist() == [arm for arm, length, _ in seen for _ in range(length)]


class PlayedInOrder(TableBandit):
    """Rewards for the plain Python references, arm after arm in the order of their pulls."""

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        return float(draw_reward_sum.py_func(TABLE, self.table[arm], count, generator))


@pytest.mark.parametrize("name", mostly_slow(["sequential-halving", "od-linbai"], "od-linbai"))
def test_every_identification_trial_has_the_table_from_its_beginning(name: str) -> None:
    """Without noise all trials of a block decide as the reference does, in every phase."""
    algorithm = find_identification(name)
    # Arm 4 is best in the first phase alone, arm 2 from then on.
    rewards = [[0.2] * 24, [0.4] * 3 + [0.9] * 21, [0.3] * 24, [0.5] * 3 + [0.0] * 21]
    setting = setting_of(name, 24, {}, arms=4)
    play = setting.mechanism(make_pair(rewards, rewards)).play
    assert isinstance(play, Trials)
    block = play(False, np.random.default_rng(1), 50)
    task = play.task()
    values = {each.name: getattr(task.bandit, each.name) for each in fields(task.bandit)}
    trial = algorithm.reference(
        replace(task, bandit=PlayedInOrder(**values)), np.random.default_rng(1)
    )
    assert (block == [trial.recommended, *trial.pulls(4)]).all()
    assert trial.recommended == 1


def test_a_pair_by_rounds_shows_its_first_round() -> None:
    setting = setting_of("ucb1", 2, {})
    pair = shift(0.0, 0.0)
    play = setting.mechanism(pair).play
    assert (play(True, np.random.default_rng(1), 2) == [0, 1]).all()
