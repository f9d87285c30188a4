"""Unknown names get "did you mean", in Python and on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

import dpbandits
from dpbandits.cli import main
from dpbandits.errors import InputError
from support import message_of

ARMS = dpbandits.bernoulli([0.7, 0.5])
SHORT: dict[str, Any] = {"bandit": ARMS, "horizon": 5, "runs": 2}
CASES: list[tuple[Callable[[], Any], str]] = [
    (lambda: dpbandits.simulate(algorithm="UCB-1", **SHORT), "ucb1"),
    (lambda: dpbandits.simulate(algorithm="dp-se", params={"epsilo": 1}, **SHORT), "epsilon"),
    (lambda: dpbandits.simulate(algorithm="ucb1", variant="as_coded", **SHORT), "as-coded"),
    (
        lambda: dpbandits.simulate(algorithm="ucb1", interpretations={"clocks": "x"}, **SHORT),
        "clock",
    ),
    (
        lambda: dpbandits.simulate(algorithm="ucb1", interpretations={"clock": "play"}, **SHORT),
        "played",
    ),
    (lambda: dpbandits.check_algorithm("dp-ts-ubc"), "dp-ts-ucb"),
]


@pytest.mark.parametrize(("function", "expected"), CASES, ids=[case[1] for case in CASES])
def test_the_nearest_name_is_suggested(function: Callable[[], Any], expected: str) -> None:
    assert message_of(function).endswith(f"; did you mean {expected!r}?")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["simulat"], "simulate"),
        (["simulate", "ucb1", "--law", "bernouli", "--arms", "1", "--horizon", "5", "--runs", "1"],
         "bernoulli"),
    ],
)  # fmt: skip
def test_the_command_line_suggests(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(f"; did you mean {expected!r}?\n")


def test_no_name_is_suggested_where_none_is_near() -> None:
    error = InputError.unknown("algorithm", "zzzzzz", ["ucb1", "dp-se"])
    assert str(error) == "algorithm is 'zzzzzz'; allowed: ucb1, dp-se"
    assert str(InputError.unknown("column", "x", [])) == "column is 'x'; allowed: none"
