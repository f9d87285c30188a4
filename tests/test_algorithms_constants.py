"""The printed constants: not named at their value, exact at others, and no matter for privacy.

Simulations have fixed seeds; a bound exceeds a loss of epsilon once in 10,000 times at most.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.index_policies import (
    LEAST_CHANCE,
    MARGIN,
    abandoned_arm,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    constant_means,
    largest_leaks,
)
from dpbandits.auditing.inputs import constant as constant_pair
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Cell, make_cell
from support import (
    FAMILIES,
    FIVE_ARMS,
    agree,
    mostly_slow,
    refused,
    settings_of,
    variant_interpretations,
)

PRINTED = {
    "gdp-ncb": 1.0,
    "anytime-gdp-ncb": 1.0,
    "ldp-ncb": 1.0,
    "anytime-ldp-ncb": 1.0,
    "adap-ucb": 3.1,
    "anytime-lazy-ucb": 1.0,
    "lazy-dp-ts": 3.0,
    "dp-ts": 6.0,
    "dp-se": 1.0,
    "ldp-ucb-l": 1.0,
    "ucb1": 2.0,
    "kl-ucb": 1.0,
    "ncb": 1.0,
}
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0])
TWO_ARMS = dpbandits.bernoulli([0.9, 0.3])


def cell(name: str, **constant: float) -> Cell:
    parameters = {**REGRET[name].example, **constant}
    return make_cell(algorithm=name, parameters=parameters, bandit=FIVE_ARMS, horizon=100)


def test_these_algorithms_have_one() -> None:
    kinds = {name: each.parameters.get("constant") for name, each in REGRET.items()}
    assert {name: kind.default for name, kind in kinds.items() if kind} == PRINTED


@pytest.mark.parametrize("name", PRINTED)
def test_streams_and_cells_name_it_off_its_printed_value_alone(name: str) -> None:
    plain, told, other = cell(name), cell(name, constant=PRINTED[name]), cell(name, constant=0.5)
    assert plain == told
    assert plain.description == told.description
    assert "'constant'" not in str(plain.description)
    expected = {**plain.description["parameters"], "constant": 0.5}
    assert other.description["parameters"] == expected
    assert other.stream_description["parameters"] == expected
    # What the kernel gets where the parameter is left out is the printed value.
    algorithm = REGRET[name]
    values = {**algorithm.example, **algorithm.interpretations_from({})}
    assert plain.settings == algorithm.settings(100, 5, constant=PRINTED[name], **values)
    assert plain.settings != other.settings


@pytest.mark.parametrize("name", PRINTED)
def test_values_that_are_not_above_0_are_refused(name: str) -> None:
    for value in (0, -1.0, float("nan"), float("inf"), True, "1"):
        refused(partial(cell, name, constant=value), f"{name}: constant is {value!r}; allowed: ")
    refused(partial(cell, "ts-gaussian", constant=1.0), "'constant'; allowed: none")


def test_it_is_listed_and_played() -> None:
    listed = REGRET["lazy-dp-ts"].described_parameters, REGRET["adap-ucb"].described_parameters
    assert listed == (["epsilon", "constant=3"], ["epsilon", "constant=3.1"])
    told: dict[str, Any] = {"bandit": FIVE_ARMS, "horizon": 2000, "runs": 4, "cache": False}
    plain, less = (
        dpbandits.simulate(algorithm="lazy-dp-ts", params={"epsilon": 1.0} | constant, **told)
        for constant in ({}, {"constant": 0.4})
    )
    assert (plain.parameters, less.parameters) == ("epsilon=1", "epsilon=1, constant=0.4")
    assert less.pseudo_regret.mean() < plain.pseudo_regret.mean()


def test_what_is_known_of_guarantees_does_not_depend_on_it() -> None:
    for name in PRINTED:
        algorithm, changed = REGRET[name], set()
        for variant in algorithm.variants:
            plain, told = (
                dpbandits.guarantee(name, params=values, horizon=10**8, variant=variant)
                for values in (algorithm.example, {**algorithm.example, "constant": 0.3})
            )
            changed |= {variant} if plain != told else set()
            assert plain == told or (plain.status, told.status) == ("refuted", "stated")
        # The loss of its releases is computed with the printed index.
        assert changed == ({"as-coded"} if name == "gdp-ncb" else set())


# Horizons in reach of the decisions that it changes.
HORIZONS = {"dp-se": 12_000, "anytime-gdp-ncb": 700, "anytime-ldp-ncb": 700}


@pytest.mark.parametrize("factor", mostly_slow([0.1, 3.0], 0.1))
@pytest.mark.parametrize("name", mostly_slow(PRINTED, *FAMILIES))
def test_kernel_and_reference_agree(name: str, factor: float) -> None:
    algorithm, horizon = REGRET[name], HORIZONS.get(name, 1500)
    epsilon = {"epsilon": 20.0} if "epsilon" in algorithm.parameters else {}
    decided = False
    cases: list[tuple[Bandit, dict[str, float]]] = [
        (TWO_ARMS, algorithm.example),
        (EXPONENTIAL_ARMS, epsilon),
    ]
    for interpretations in variant_interpretations(algorithm).values():
        for bandit, parameters in cases:
            told = [
                settings_of(algorithm, values, interpretations, bandit, horizon)
                for values in (parameters, {**parameters, "constant": factor * PRINTED[name]})
            ]
            decisions = agree(algorithm, told[1], bandit, seed=3, buffer=300)
            decided |= decisions != agree(algorithm, told[0], bandit, seed=3, buffer=300)
    assert decided


def test_what_it_multiplies_where_settings_have_the_product() -> None:
    chosen = {"epsilon": 0.5, "constant": 0.2}
    lazy, adap = (
        settings_of(REGRET[name], chosen, {}, TWO_ARMS, 100)
        for name in ("anytime-lazy-ucb", "adap-ucb")
    )
    # 0.2 (sqrt(3 LOG / n) + 3 LOG / (epsilon n)); sqrt(0.2 log / (2 h)) + 0.2 log / (epsilon h).
    assert (lazy.width_constant, lazy.noise_constant) == pytest.approx((0.12, 0.6))
    assert (adap.exploration_factor, adap.privacy_factor) == pytest.approx((0.1, 0.4))


# Privacy at a twentieth of the printed constant.

SMALL = {name: 0.05 * value for name, value in PRINTED.items()}
CHANGED = [constant_means(0.0, 0.0, 0, changed) for changed in (0.0, 1.0)]


@pytest.mark.parametrize(
    ("name", "policy", "horizon"),
    [("adap-ucb", adap_ucb_policy, 14), ("anytime-lazy-ucb", anytime_lazy_ucb_policy, 9)],
)
def test_no_exact_loss_of_an_index_exceeds_epsilon(name: str, policy: Any, horizon: int) -> None:
    made = policy(horizon, 1.0, constant=SMALL[name])
    [leak] = largest_leaks(made, *CHANGED, (LEAST_CHANCE,))
    assert 0.9 < leak.epsilon - MARGIN <= 1.0
    # Half the noise.
    [leak] = largest_leaks(replace(made, epsilon=2.0), *CHANGED, (LEAST_CHANCE,))
    assert leak.epsilon > 1.5


def test_no_exact_loss_of_lazy_thompson_sampling_exceeds_epsilon() -> None:
    small = SMALL["lazy-dp-ts"]
    assert 0.8 < abandoned_arm(8, 1.0, 0.0, constant=small).epsilon <= 1.0
    # Half the noise and the same bonus.
    assert abandoned_arm(8, 2.0, 0.0, constant=2.0 * small).epsilon > 1.5


AUDITS = {
    # An epoch of 48 pulls of either arm, after which the second one is about to be dropped.
    "dp-se": (98, 1.0, 2.0, 6.13 / 47.0, 0.0),
    # A decision shows one of two counters, which at half its noise loses no more than epsilon.
    "dp-ts": (12, 1.0, 4.0, 0.5, 0.5),
}
"""Horizon, epsilon, by what the noise is divided in the fault, later rewards of either arm."""


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_no_loss_beyond_chance_exceeds_epsilon(name: str) -> None:
    horizon, epsilon, fault, first, second = AUDITS[name]
    told: dict[str, Any] = {"horizon": horizon, "runs": 50_000, "level": 1e-4, "cache": False}
    told["pair"] = constant_pair(first, second)
    sound, faulty = (
        dpbandits.audit(name, params={"epsilon": by * epsilon, "constant": SMALL[name]}, **told)
        for by in (1.0, fault)
    )
    assert sound.row.claimed == epsilon
    assert 0.0 < sound.row.lower < epsilon < faulty.row.lower
