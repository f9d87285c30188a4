"""What guarantees say of themselves: which an exact witness refutes, for which parameters."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import dpbandits
from dpbandits.algorithms import REGISTRY, REGRET
from dpbandits.algorithms.base import positive
from dpbandits.algorithms.guarantees import at_delta, guarantee_of
from dpbandits.auditing.gdp_ncb import exploration_witness, in_window
from dpbandits.privacy import Guarantee
from dpbandits.privacy.witnesses import classical_delta, stop_rules, stop_test_loss, window_loss
from found_papers import PLAYED
from support import message_of

# (algorithm, parameters, horizon, variant, interpretations, status, how basis begins)
EXPECTED: list[tuple[str, dict[str, float], int, str, dict[str, str], str, str]] = [
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {}, "refuted", "BAI-C14c"),
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {"norm": "l1"}, "not contradicted", "BAI-C14c"),
    ("dp-od", {"epsilon": 1.0}, 1000, "as-written", {"basis": "features"}, "stated", ""),
    ("dp-bai", {"epsilon": 1.0}, 1000, "as-written", {}, "not contradicted", "BAI-C14a"),
    ("dp-bai", {"epsilon": 50.0}, 1000, "as-written", {}, "stated", ""),
    ("dp-bai-gauss", {"epsilon": 5.0, "delta": 0.3}, 99, "as-written", {}, "refuted", "BAI-C24"),
    ("dp-bai-gauss", {"epsilon": 4.6, "delta": 0.3}, 99, "as-written", {}, "stated", ""),
    ("dp-bai-gauss", {"epsilon": 5.0, "delta": 0.01}, 99, "as-written", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "as-written", {}, "refuted", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**6, "as-written", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "as-coded", {}, "refuted", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**6, "as-coded", {}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {}, "proved", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {"start": "carried"}, "proved", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {"cap": "none"}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {"stop_test": "clean"}, "stated", ""),
    ("gdp-ncb", {"epsilon": 0.2}, 10**8, "repaired", {"ties": "random"}, "proved", "NCB-C15"),
    ("gdp-ncb", {"epsilon": 0.2}, 1, "as-written", {}, "stated", ""),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "as-written", {}, "proved", "NCB-C16"),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "as-coded", {}, "refuted", "NCB-C16"),
    ("ldp-ncb", {"epsilon": 1.0}, 10**6, "as-coded", {}, "stated", ""),
    ("ldp-ncb", {"epsilon": 0.2}, 10**6, "repaired", {}, "proved", "NCB-C16"),
    ("ts-gaussian", {}, 1000, "as-written", {}, "proved", "ts-is-dp, Lemma 4"),
    ("ts-gaussian", {}, 1000, "as-written", {"count": "n"}, "refuted", "DTU-F8"),
    ("ts-gaussian", {}, 30, "as-written", {"count": "n"}, "stated", ""),
    ("m-ts-gaussian", {"b": 0, "c": 1.0}, 1000, "as-written", {"count": "n"}, "stated", ""),
    ("m-ts-gaussian", {"b": 1, "c": 5.0}, 1000, "as-written", {"count": "n"}, "refuted", "DTU-F8"),
    ("m-ts-gaussian", {"b": 2, "c": 1.0}, 1000, "as-written", {"count": "n"}, "stated", ""),
    ("dp-ts-ucb", {"alpha": 0.5}, 1000, "as-written", {"renewal": "pull"}, "stated", ""),
    ("dp-od", {"epsilon": 50.0}, 1000, "as-written", {"norm": "l1"}, "stated", ""),
    ("dp-bai", {"epsilon": 1.0}, 1000, "as-written", {"samples": "pooled"}, "stated", ""),
    # Those that no claim is about.
    ("adap-ucb", {"epsilon": 0.2}, 2**25, "as-written", {}, "proved", "parallel composition: "),
    ("adap-ucb", {"epsilon": 0.2}, 2**25, "as-coded", {}, "refuted", "round K + 1 plays the arm "),
    ("anytime-gdp-ncb", {"epsilon": 0.2}, 2**25, "as-written", {}, "refuted", "NCB-C15, in one"),
    ("anytime-gdp-ncb", {"epsilon": 0.2}, 2**25, "as-coded", {}, "stated", ""),
    ("anytime-gdp-ncb", {"epsilon": 0.2}, 2**25, "repaired", {}, "proved", "NCB-C15, windows"),
    ("anytime-ldp-ncb", {"epsilon": 0.2}, 2**25, "as-written", {}, "proved", "NCB-C16, in every"),
    ("anytime-ldp-ncb", {"epsilon": 0.2}, 2**25, "as-coded", {}, "refuted", "NCB-C16, in every"),
    ("ldp-ucb-l", {"epsilon": 0.2}, 2**25, "as-coded", {}, "proved", "Laplace mechanism"),
    ("dp-se", {"epsilon": 1.0}, 2**25, "as-written", {}, "proved", "parallel composition: "),
    ("dp-ts", {"epsilon": 1.0}, 2**25, "as-written", {}, "proved", "composition: every reward"),
]


ROOT = Path(__file__).resolve().parents[1]
COINS = dpbandits.bernoulli([0.75, 0.5])


def test_the_status_is_that_of_what_is_played() -> None:
    for algorithm, values, horizon, variant, interpretations, status, basis in EXPECTED:
        definition = REGISTRY[algorithm]
        parameters = definition.parameters_from(values)
        words: dict[str, Any] = {"variant": variant, "interpretations": interpretations}
        found = guarantee_of(definition, parameters, horizon, **words)
        shown = dpbandits.guarantee(algorithm, params=values, horizon=horizon, **words)
        assert shown == found
        if algorithm == "gdp-ncb" and horizon > 1:
            played = dpbandits.simulate(
                algorithm=algorithm, params=values, horizon=horizon, bandit=COINS, runs=1, **words
            )
            assert played.guarantee == found
        assert found.status == status, (algorithm, values, horizon, variant)
        assert found.basis.startswith(basis)
        assert bool(found.basis) == bool(basis)
        assert found.stated
        if variant == "as-written" and not interpretations:
            assert guarantee_of(definition, parameters, horizon) == found


def test_entries_are_of_private_algorithms_and_interpretations_that_exist() -> None:
    """Papers' algorithms have one; of others a guarantee counts as stated."""
    private = {
        name
        for name, each in REGISTRY.items()
        if guarantee_of(each, each.parameters_from(each.example), 1000).kind != "none"
    }
    stated = {name for name, each in REGISTRY.items() if each.stated}
    known = {name for name, each in REGISTRY.items() if each.known}
    assert stated == known <= private
    assert private & PLAYED <= known
    for definition in REGISTRY.values():
        for entry in definition.known:
            definition.interpretations_from(entry.interpretations)
            assert (entry.status == "stated") == (not entry.basis)
            assert entry.basis or entry.remark


def test_every_variant_has_an_entry_at_any_parameters() -> None:
    for definition in (each for each in REGISTRY.values() if each.known):
        for epsilon in (1e-100, 0.2, 5.0, 1e3, 1e100):
            values = dict(definition.example) | (
                {"epsilon": epsilon} if "epsilon" in definition.parameters else {}
            )
            parameters = definition.parameters_from(values)
            for variant in definition.variants:
                for horizon in (3, 4, 1000, 2**53):
                    found = guarantee_of(definition, parameters, horizon, variant=variant)
                    assert found.basis or found.remark
                    assert found.model == definition.model


def test_the_first_rewards_of_the_released_adap_ucb_decide_a_round() -> None:
    """Reward sequences that differ in the reward of round 1, and an event of chance 1 or 0."""
    definition = REGRET["adap-ucb"]
    interpretations = definition.interpretations_from({}, "as-coded")
    settings = definition.settings(3, 2, epsilon=0.2, **interpretations)
    for first, third in ((0.0, 1), (1.0, 0)):
        bandit = dpbandits.bernoulli([first, 1.0])
        for seed in range(20):
            played = list(definition.reference(settings, bandit, np.random.default_rng(seed)))
            assert [arm for arm, _, _ in played] == [0, 1, third]


def test_the_instance_counts() -> None:
    coded = REGISTRY["gdp-ncb"]
    parameters = coded.parameters_from({"epsilon": 0.2})
    for arms, status in ((2, "refuted"), (50, "stated")):
        bandit = dpbandits.bernoulli(np.linspace(0.1, 0.9, arms).tolist())
        found = guarantee_of(coded, parameters, 10**8, variant="as-coded", bandit=bandit)
        assert found.status == status
    comparator = REGISTRY["dp-od"]
    parameters = comparator.parameters_from({"epsilon": 0.5})
    for features, status in (
        ([[1.0, 0.0], [0.0, 1.0]], "stated"),
        ([[0.6, 0.8], [0.8, 0.6]], "refuted"),
    ):
        bandit = dpbandits.linear(features, [0.1, 0.2])
        assert guarantee_of(comparator, parameters, 1000, bandit=bandit).status == status


def test_without_noise_or_with_rewards_above_one_there_is_no_guarantee() -> None:
    bandit = dpbandits.linear([[1.0, 0.0], [0.0, 1.0]], [0.9, 0.2])
    for algorithm in ("dp-bai", "baseline", "dp-od", "dp-bai-gauss"):
        definition = REGISTRY[algorithm]
        parameters = definition.parameters_from(definition.example)
        found = guarantee_of(definition, parameters, 1000, bandit=bandit)
        assert found.kind == "none"
        assert found.describe() == (
            "no privacy guarantee; rewards reach 1.8; every proof has at most 1"
        )
        scaled = {"sensitivity": "support"}
        found = guarantee_of(definition, parameters, 1000, interpretations=scaled, bandit=bandit)
        assert (found.kind != "none", found.status) == (True, "stated")
        silent = definition.parameters_from({**definition.example, "epsilon": math.inf})
        found = guarantee_of(definition, silent, 1000)
        assert (found.kind, found.status) == ("none", "stated")


@pytest.mark.parametrize("horizon", [1, 2, 2**53, np.int64(7), np.float32(7)])
def test_every_variant_answers_at_any_horizon(horizon: float) -> None:
    """A ratio of nothing is no error; DP-TS-UCB is defined from three rounds on."""
    for definition in REGISTRY.values():
        for variant in definition.variants:
            asked = partial(
                dpbandits.guarantee, definition, params=definition.example, variant=variant
            )
            if definition.id == "dp-ts-ucb" and horizon < 3:
                assert "3 or above" in message_of(lambda asked=asked: asked(horizon=horizon))
            else:
                assert asked(horizon=horizon) == asked(horizon=int(horizon))


def test_losses_in_a_window_and_in_the_stop_test() -> None:
    """docs/audit.md: in a window 1.92 epsilon at most, from T = 2^25 - 1 on."""
    assert window_loss(2**25, 0.2) / 0.2 == pytest.approx(1.92, abs=5e-3)
    pulls = math.floor(1600 * (9 * math.log(2**24) + 5 * math.log(2**24) ** 2)) - 35
    event = exploration_witness(*stop_rules(2**24, 0.2), pulls)
    exact = in_window(event, 2**24).epsilon
    assert window_loss(2**25, 0.2) == pytest.approx(exact, abs=1e-4)
    assert window_loss(2**20, 0.2) == -math.inf
    # Beyond the threshold it is ln 2 + (n - TH) epsilon/L; TH is 2310444.6 at T = 1e7.
    pulls = (10**7 - 1) // 2
    expected = math.log(2.0) + (pulls - 2310444.6) * 0.2 / math.log(10**7)
    assert stop_test_loss(10**7, 0.2) == pytest.approx(expected, rel=1e-7)
    assert stop_test_loss(4 * 10**6, 0.2) == -math.inf


def test_the_delta_that_the_classical_calibration_needs() -> None:
    """Its maximum over the sum of rewards, against a grid of sums; where it falls short."""
    asked = ((0.5, 0.01), (2.0, 0.3), (5.0, 0.3), (8.0, 0.38))
    for (epsilon, delta), means in product(asked, (1, 2)):
        sigma = math.sqrt(2.0 * means * math.log(1.25 / delta)) / epsilon
        s = np.linspace(1.0 - means, 10.0 * sigma, 300_001)
        needed = norm.sf(s / sigma) - math.exp(epsilon) * norm.sf((s + 1.0) / sigma)
        assert classical_delta(epsilon, delta, means) == pytest.approx(needed.max(), rel=1e-6)
    grid = np.linspace(0.01, 0.99, 99)
    worst = {e: max(classical_delta(e, float(d)) / d for d in grid) for e in (2.0, 4.6, 4.8)}
    assert worst[2.0] < 0.51
    assert worst[4.6] < 1.0 < worst[4.8]
    assert classical_delta(5.0, 0.3) / 0.3 == pytest.approx(1.0118, abs=5e-5)
    assert classical_delta(5.0, 0.38) / 0.38 == pytest.approx(1.0824, abs=5e-5)


def test_a_copy_under_another_id_has_no_verdict_on_the_original() -> None:
    for name, ours in REGISTRY.items():
        copy = replace(ours, id="mine")
        for variant in ours.variants:
            found = dpbandits.guarantee(copy, params=ours.example, horizon=1000, variant=variant)
            assert (found.status, found.basis, found.stated) == ("stated", "", ""), name
            assert found.kind == "none" or found.model == ours.model
            assert "stated by" not in found.describe()
            original = dpbandits.guarantee(name, params=ours.example, horizon=1000, variant=variant)
            assert (found.kind, found.parameter) == (original.kind, original.parameter)
    own = replace(
        REGISTRY["ucb1"],
        id="mine",
        stated="a paper of mine",
        guarantee="gdp",
        parameters={"eta": positive},
    )
    assert dpbandits.guarantee(own, eta=0.5, horizon=9).describe() == (
        "0.5-GDP, central model; stated by a paper of mine; neither proved nor refuted here"
    )


def test_a_guarantee_of_your_own_is_shown_as_stated_and_a_failing_one_is_one_line() -> None:
    mine = dpbandits.load_algorithm(ROOT / "examples/my_algorithm.py")
    values = {"params": {"epsilon": 0.5, "pulls": 5}, "horizon": 20}
    found = dpbandits.guarantee(mine, **values)
    assert found == Guarantee("pure", 0.5)
    assert at_delta(found, 0.01).endswith(", if it holds")
    short = Guarantee("approximate", 1.0, 0.1, "proved", "here")
    assert at_delta(short, 0.01).endswith("; nothing follows at delta=0.01")
    faults: dict[str, Callable[[], Any]] = {
        "guarantee fails: Zero": lambda: 1 / 0,
        "guarantee is 3": lambda: 3,
    }
    for expected, fault in faults.items():
        wrong = replace(mine, guarantee=lambda *_, fault=fault, **names: fault())
        made = dpbandits.simulate(algorithm=wrong, **values, bandit=COINS, runs=1)
        assert expected in message_of(lambda made=made: made.guarantee)

    own = replace(
        REGISTRY["ucb1"],
        id="own",
        parameters={"first": positive, "second": positive(default=3.0)},
        guarantee=lambda parameters, horizon: Guarantee("pure", parameters.second),
    )
    assert dpbandits.guarantee(own, params={"first": 1.0}, horizon=10).parameter == 3.0
