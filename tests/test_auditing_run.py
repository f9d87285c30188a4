"""`dpbandits.audit`: planted leaks are caught, what is private is not; tables are played."""

import math
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from agreement import question_of
from dpbandits.algorithms import REGISTRY, REGRET, find_identification
from dpbandits.auditing.inputs import PULL_TABLE, ROUND, audit_pair, constant, search_pairs
from dpbandits.auditing.mechanisms import Plays, Trials
from dpbandits.auditing.run import Audit, audit, published
from dpbandits.cli import main
from dpbandits.engine.cache import require_cache
from leaky_algorithms import leaky
from support import FAMILIES, mostly_slow, refused

PAIR = constant(1.0, 0.0)
NULL = audit_pair([[1.0], [0.0]], [[1.0], [0.0]])


def quick(leak: str, **options: Any) -> Audit:
    """Audit a planted leak at epsilon = 1."""
    return audit(leaky(leak), horizon=8, params={"epsilon": 1.0}, **{"runs": 40_000, **options})


def test_planted_leaks_are_caught() -> None:
    """The largest loss that is left: twice epsilon, epsilon in each of 6 rounds, or unbounded."""
    for leak, most in {
        "half the noise": 2.0,
        "reused reward": 6.0,
        "raw first pulls": math.inf,
        "stopping time": math.inf,
    }.items():
        found = quick(leak, pair=PAIR, runs=100_000)
        assert found.verdict == "counterexample", leak
        assert 1.0 < found.row.lower <= most, leak
        assert found.p_value < 1e-6, leak


def test_what_is_private_is_not_caught() -> None:
    found = quick("none", pair=PAIR, runs=400_000)
    assert found.verdict == "not contradicted"
    # Exactly, arm 1 wins by the difference of two Laplace noises: 1/2 if the rewards are equal,
    # 1 - (1/2 + 1/4) / e if that of arm 1 is 1.
    truth = math.log(0.5 / (0.75 * math.exp(-1.0)))
    assert 0.95 * truth < found.row.lower <= truth


def test_constant_algorithm_and_equal_tables_give_zero() -> None:
    found = quick("constant", pair=PAIR)
    assert (found.row.lower, found.row.event) == (0.0, "no event")
    assert quick("half the noise", pair=NULL).row.lower == 0.0


@pytest.mark.slow
def test_search_finds_a_pair_and_counts_what_it_tried() -> None:
    found = quick("raw first pulls", search_runs=500)
    assert found.verdict == "counterexample"
    assert found.pairs == 56
    assert found.events > 56 * 20


def test_answers_come_from_the_cache_and_depend_on_what_was_asked() -> None:
    asked = partial(quick, pair=PAIR)
    first = asked("half the noise")
    assert first.row.seconds > 0.0
    assert asked("half the noise") == first
    anew = asked("half the noise", cache=False)
    assert replace(anew.row, seconds=0.0) == replace(first.row, seconds=0.0)
    assert asked("none").row.lower != first.row.lower
    assert asked("half the noise", seed=1).share != first.share
    # Numbers of numpy are those of Python, in what is kept, too.
    numbers = {"runs": np.int64(40_000), "level": np.float32(0.25), "workers": np.uint8(1)}
    expected = asked("half the noise", runs=4e4, level=0.25)
    assert asked("half the noise", **numbers) == expected


@pytest.mark.slow
def test_every_algorithm_and_variant_is_played() -> None:
    found = [case.audit(require_cache(False)) for case in published(400)]
    expected = [(name, variant) for name in REGISTRY for variant in REGISTRY[name].variants]
    assert sorted((each.row.algorithm, each.row.variant) for each in found) == sorted(expected)
    assert all(0.0 <= each.row.lower <= each.ceiling for each in found)


def test_bad_input_ends_in_one_line() -> None:
    asked = {"horizon": 8, "params": {"epsilon": 1.0}}
    shown = "pull table, round, as a played algorithm shows its arms and no noisy reward"
    for name, options, message in [
        ("adap-ucb", {"notion": "global"}, "notion is 'global'; allowed: pull table, round"),
        ("adap-ucb", {"notion": "local"}, f"notion is 'local'; allowed: {shown}"),
        ("adap-ucb", {"horizon": 1}, "horizon is 1; allowed: a whole number from 2 to 1000000"),
        ("adap-ucb", {"arms": 1}, "arms is 1; allowed: a whole number from 2 to 100"),
        ("adap-ucb", {"runs": 3}, "runs is 3; allowed: a whole number from 8 to 10000000000"),
        ("adap-ucb", {"search_runs": 0}, "search_runs is 0; allowed: a whole number from 8 to"),
        ("adap-ucb", {"level": 2.0}, "level is 2.0; allowed: strictly between 0 and 1"),
        ("adap-ucb", {"params": {"epsilon": -1.0}}, "adap-ucb: epsilon is -1.0"),
        ("adap-ucb", {"features": [[1.0], [2.0]]}, "features: adap-ucb takes none; allowed: left"),
        ("adap-ucb", {"variant": "as-drawn"}, "adap-ucb: variant is 'as-drawn'"),
        (
            "adap-ucb",
            {"runs": 10**9, "horizon": 10**6, "pair": PAIR},
            "runs is 1000000000 at horizon 1000000; allowed: at most 4000, for memory",
        ),
        ("dp-bai", {"notion": "round"}, "as a best-arm algorithm has tables by pulls"),
        ("dp-bai", {"features": [[1.0], [2.0], [3.0]]}, "features have shape 3 x 1; allowed: 2 ro"),
    ]:
        refused(partial(audit, name, **{**asked, **options}), message)


@pytest.mark.slow
def test_blocks_of_uniform_arms_are_refused() -> None:
    blocks = {"exploration": "blocks"}
    question = question_of("gdp-ncb", 4096, {"epsilon": 1.0}, interpretations=blocks)
    play = partial(question.mechanism(PAIR).sample, False, np.random.default_rng(1), 1)
    refused(play, "has not answered in segments of arms 1 to 2")


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "ucb1", "--horizon", "4", "--runs", "2000", "--x", "0;0"]
    assert main([*words, "--x-prime", "1;0"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("lower bound: epsilon >= 5.6")
    assert shown[1] == "claimed: nothing; verdict: nothing claimed"
    for more, told in [(["--x-prime", "2;0"], "table x': reward is 2"), ([], "--x-prime")]:
        assert main([*words, *more]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.slow
def test_command_line_audits_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "examples/my_algorithm.py", "--params", "epsilon=1", "pulls=1"]
    words += ["--horizon", "6", "--runs", "20000", "--x", "0;0.5", "--x-prime", "1;0.5"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "claimed: 1; verdict: not contradicted" in shown
    assert "lower bound: epsilon >= 0." in shown


@pytest.mark.slow
def test_twice_the_claim_is_caught_where_the_case_can_show_it() -> None:
    """Of one decision by noisy sums it is; where 24 rounds hide every reward it is not."""
    expected = {"dp-bai": "caught", "baseline": "caught", "gdp-ncb": "missed"}
    expected |= {"ucb1": "", "ts-gaussian": "no parameter of noise"}
    settings = {case.question.definition.id: case for case in reversed(published(8_000))}
    found = {name: settings[name].power(require_cache(False)) for name in expected}
    assert found == expected


ZEROS = [[0.0, 0.0], [0.0, 0.0]]


def test_bad_tables_end_in_one_line() -> None:
    for first, second, more, message in [
        (ZEROS, [[0, 2], [0, 0]], {}, "table x': reward is 2; allowed: 0 to 1"),
        ([[np.nan, 0], [0, 0]], ZEROS, {}, "table x: reward is nan; allowed: 0 to 1"),
        ([0.0, 1.0], ZEROS, {}, "table x has shape 2; allowed: one row of rewards an arm"),
        ([[0.0, 1.0]], ZEROS, {}, "table x has shape 1 x 2; allowed: one row of rewards an arm"),
        ([[0.0], [0.0, 1.0]], ZEROS, {}, "table x is no table of numbers"),
        (ZEROS, [[0.0], [0.0]], {}, "have shapes 2 x 2 and 2 x 1; allowed: one shape"),
        (ZEROS, [[1, 1], [0, 0]], {}, "differ in 2 cells; allowed: one"),
        (ZEROS, [[1, 1], [0, 0]], {"notion": ROUND}, "differ in 2 rounds; allowed: one"),
        (ZEROS, ZEROS, {"notion": "global"}, "notion is 'global'; allowed: pull table, round"),
        (ZEROS, ZEROS, {"after": [0.0]}, "after has 1 rewards; allowed: one an arm, 2"),
        (ZEROS, ZEROS, {"after": [0.0, -1.0]}, "after: reward is -1; allowed: 0 to 1"),
    ]:
        refused(partial(audit_pair, first, second, **more), message)


def test_families_are_neighbours_and_small() -> None:
    for arms, notion in product([2, 3], [PULL_TABLE, ROUND]):
        pairs = list(search_pairs(notion, arms, 10))
        for pair in pairs:
            differs = pair.rows(False) != pair.rows(True)
            assert (differs.sum() if notion == PULL_TABLE else differs.any(axis=0).sum()) == 1
            assert pair.arms == arms
        assert len({str(pair.describe()) for pair in pairs}) == len(pairs) <= 70


@pytest.mark.parametrize("by_round", [False, True])
@pytest.mark.parametrize("name", mostly_slow(REGRET, *FAMILIES))
def test_kernels_receive_the_rewards_of_the_table(name: str, by_round: bool) -> None:
    """Sums of every segment are those of the next pulls, or of the rounds, of its arm."""
    horizon = 40
    rewards = np.random.default_rng(3).integers(0, 2**20, (2, horizon)) / 2**20
    algorithm = REGRET[name]
    setting = question_of(name, horizon, dict(algorithm.example))
    pair = audit_pair(rewards, rewards, notion=ROUND if by_round else PULL_TABLE)
    plays = setting.mechanism(pair).sample
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


@pytest.mark.parametrize("name", mostly_slow(["sequential-halving", "od-linbai"], "od-linbai"))
def test_every_identification_trial_has_the_table_from_its_beginning(name: str) -> None:
    """Without noise all trials of a block decide as the reference does, in every phase."""
    algorithm = find_identification(name)
    # Arm 4 is best in the first phase alone, arm 2 from then on.
    rewards = [[0.2] * 24, [0.4] * 3 + [0.9] * 21, [0.3] * 24, [0.5] * 3 + [0.0] * 21]
    setting = question_of(name, 24, {}, arms=4)
    play = setting.mechanism(audit_pair(rewards, rewards)).sample
    assert isinstance(play, Trials)
    block = play(False, np.random.default_rng(1), 50)
    trial = algorithm.reference(play.task(), np.random.default_rng(1))
    assert (block == [trial.recommended, *trial.pulls(4)]).all()
    assert trial.recommended == 1
