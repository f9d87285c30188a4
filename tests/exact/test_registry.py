"""What algorithms of the registry have in common: epsilon, guarantees, variants."""

import math
from typing import Any

import pytest

from dpbandits.algorithms import REGRET
from support import message_of

PRIVATE = [name for name, algorithm in REGRET.items() if "epsilon" in algorithm.example]


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1", True, None])
def test_epsilon_outside_its_range(name: str, epsilon: Any) -> None:
    message = message_of(
        lambda: REGRET[name].parameters_from({**REGRET[name].example, "epsilon": epsilon})
    )
    # The wrappers of DP-NCB name their cores.
    assert message.partition(":")[0] in name
    assert f": epsilon is {epsilon!r}; allowed: a " in message


@pytest.mark.parametrize("name", PRIVATE)
def test_guarantees_are_pure(name: str) -> None:
    """As their papers state them."""
    guarantee = REGRET[name].guarantee(
        REGRET[name].parameters_from({**REGRET[name].example, "epsilon": 0.3}), 10**6
    )
    assert (guarantee.kind, guarantee.parameter) == ("pure", 0.3)


TABLE = {
    # As written, as coded, repaired.
    "gdp-ncb": {
        "cap": ("none", "root", "root"),
        "stop_test": ("private", "clean", "off"),
        "refreshed": ("pulled", "pulled", "pulled"),
        "threshold": ("1600", "1600", "1600"),
        "threshold_log": ("horizon", "window", "horizon"),
        "index_log": ("horizon", "window", "window"),
        "start": ("carried", "zeros", "zeros"),
        "pseudo_pull": ("counted", "counted", "counted"),
        "release_log": ("natural", "natural", "base2"),
        "root": ("outside", "outside", "outside"),
        "ties": ("lowest", "lowest", "lowest"),
        "exploration": ("rounds", "rounds", "rounds"),
    },
    "adap-ucb": {
        "first_pulls": ("private", "raw", "private"),
        "first_h": ("one", "one", "one"),
        "doubling": ("total", "episode", "total"),
        "exploration_term": ("halved", "whole", "halved"),
        "privacy_term": ("over-epsilon", "doubled", "over-epsilon"),
        "log_argument": ("t", "t", "t"),
        "clip": ("none", "unit", "none"),
        "order": ("index", "index", "index"),
        "ties": ("lowest", "lowest", "lowest"),
    },
    "ncb": {
        "phase_one": ("length", "1", "1"),
        "width": ("4", "2c", "2c"),
        "log": ("horizon", "horizon", "horizon"),
        "ties": ("lowest", "lowest", "lowest"),
    },
    "ucb1": {
        "clock": ("played", "played", "played"),
        "first_mean": ("shown", "zero", "shown"),
    },
    "ldp-ncb": {
        "cap": ("none", "root-plus-one", "root-plus-one"),
        "stop_test": ("plain", "floored", "floored"),
        "threshold": ("1600", "1600", "1600"),
        "exploration_noise": ("scaled", "located", "scaled"),
        "clip": ("display", "display", "display"),
        "clipped_phases": ("second", "both", "both"),
        "last_log": ("horizon", "window", "window"),
        "ties": ("lowest", "lowest", "lowest"),
    },
    "ldp-ucb-l": {
        "clip": ("none", "rewards", "none"),
        "start": ("pull", "pull", "pull"),
        "forced_log": ("coming+1", "coming", "coming+1"),
        "ties": ("lowest", "lowest", "lowest"),
    },
}


@pytest.mark.parametrize("name", TABLE)
def test_presets_are_the_columns_of_the_table(name: str) -> None:
    algorithm, table = REGRET[name], TABLE[name]
    assert list(table) == list(algorithm.interpretations)
    assert algorithm.variants == ("as-written", "as-coded", "repaired")
    for column, variant in enumerate(algorithm.variants):
        expected = {key: values[column] for key, values in table.items()}
        assert algorithm.interpretations_from({}, variant) == expected
    # As written is what stands first.
    assert all(algorithm.interpretations[key][0] == values[0] for key, values in table.items())


def test_every_algorithm_with_variants_stands_in_the_table() -> None:
    """The anytime wrappers take theirs from their cores: `test_local_ncb.py`."""
    with_variants = {name for name, algorithm in REGRET.items() if len(algorithm.variants) > 1}
    assert with_variants == {*TABLE, "anytime-gdp-ncb", "anytime-ldp-ncb"}
