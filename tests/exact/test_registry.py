"""What algorithms of the registry have in common: epsilon, delta, guarantees."""

import math
from typing import Any

import pytest

from dpbandits.algorithms import IDENTIFICATION, REGISTRY
from dpbandits.algorithms.guarantees import guarantee_of
from support import message_of

PRIVATE = [name for name, algorithm in REGISTRY.items() if "epsilon" in algorithm.example]


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0, -1.0, 1e-200, math.nan, math.inf, "1", True, None])
def test_epsilon_outside_its_range(name: str, epsilon: Any) -> None:
    values = {**REGISTRY[name].example, "epsilon": epsilon}
    if epsilon == math.inf and name in IDENTIFICATION:
        assert REGISTRY[name].parameters_from(values).epsilon == math.inf
        return
    message = message_of(lambda: REGISTRY[name].parameters_from(values))
    # The wrappers of DP-NCB name their cores.
    assert message.partition(":")[0] in name
    assert f": epsilon is {epsilon!r}; allowed: a " in message


@pytest.mark.parametrize("delta", [0, 1, -0.1, True, "0.1", math.nan])
def test_delta_outside_its_range(delta: Any) -> None:
    algorithm = REGISTRY["dp-bai-gauss"]
    message = message_of(lambda: algorithm.parameters_from({"epsilon": 1.0, "delta": delta}))
    assert message.startswith(f"dp-bai-gauss: delta is {delta!r}; allowed: a number strictly ")


@pytest.mark.parametrize("name", PRIVATE)
def test_guarantees_are_those_of_the_papers(name: str) -> None:
    parameters = REGISTRY[name].parameters_from({**REGISTRY[name].example, "epsilon": 0.3})
    guarantee = guarantee_of(REGISTRY[name], parameters, 10**6)
    kind, slack = ("approximate", 0.01) if name == "dp-bai-gauss" else ("pure", 0.0)
    assert (guarantee.kind, guarantee.parameter, guarantee.slack) == (kind, 0.3, slack)
