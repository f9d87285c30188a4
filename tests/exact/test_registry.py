"""What algorithms of the registry have in common: epsilon, guarantees, variants."""

import math
from typing import Any

import pytest

from dpbandits.algorithms import REGRET
from dpbandits.algorithms.guarantees import guarantee_of
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
    guarantee = guarantee_of(
        REGRET[name], REGRET[name].parameters_from({**REGRET[name].example, "epsilon": 0.3}), 10**6
    )
    assert (guarantee.kind, guarantee.parameter) == ("pure", 0.3)
