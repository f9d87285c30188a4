"""An Algorithm object of the user's own, in a file that the project does not know."""

import importlib
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm
from dpbandits.engine.cells import algorithm_fingerprint
from support import kernel_decisions, message_of, replace_in, run_python, settings_of

POLICY = '''"""Plays arm 0 with a given probability, else arm 1."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from dpbandits.algorithms.base import Algorithm
from dpbandits.bandits.draws import draw_reward
from dpbandits.privacy import Guarantee


@dataclass(frozen=True)
class Parameters:
    share: float


class Settings(NamedTuple):
    horizon: int
    share: float


class State(NamedTuple):
    clock: np.ndarray


def settings(parameters, interpretations, horizon, arms):
    return Settings(horizon, float(parameters.share))


def state(arms):
    return State(np.zeros(1, np.int64))


@numba.njit
def advance(settings, state, bandit, generator, out):
    laws, law_parameters = bandit
    arms, lengths, sums = out
    t = state.clock[0]
    written = 0
    while t < settings.horizon and written < arms.size:
        arm = 0 if generator.random() < settings.share else 1
        arms[written], lengths[written] = arm, 1
        sums[written] = draw_reward(laws[arm], law_parameters[arm], generator)
        written += 1
        t += 1
    state.clock[0] = t
    return written


def reference(settings, bandit, generator):
    for _ in range(settings.horizon):
        arm = 0 if generator.random() < settings.share else 1
        yield arm, 1, bandit.draw(arm, generator)


def guarantee(parameters, horizon):
    return Guarantee("pure", 0.0)


ALGORITHM = Algorithm(
    id="coin",
    name="Coin",
    paper="none",
    parameters=Parameters,
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee=guarantee,
    example={"share": 0.5},
)
'''

CALL = """
import sys

import dpbandits
from own_coin_policy import ALGORITHM

if __name__ == "__main__":
    simulation = dpbandits.simulate(
        algorithm=ALGORITHM, params={"share": 0.25}, bandit=dpbandits.bernoulli([0.75, 0.5]),
        horizon=100, runs=20, workers=int(sys.argv[1]), seed=4,
    )
    print(simulation.pulls.tolist())
"""


def simulate(algorithm: Algorithm, **changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {
        "params": {"share": 0.25},
        "bandit": dpbandits.bernoulli([0.75, 0.5]),
        "horizon": 100,
        "runs": 20,
        "seed": 4,
    }
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module of the user's file."""
    (tmp_path / "own_coin_policy.py").write_text(POLICY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_coin_policy", raising=False)
    return importlib.import_module("own_coin_policy")


def test_it_is_simulated_without_being_registered(policy: ModuleType) -> None:
    pulls = simulate(policy.ALGORITHM).pulls
    assert "coin" not in REGRET
    assert pulls.shape == (20, 2)
    assert (pulls.sum(axis=1) == 100).all()
    # 2000 coins of probability 1/4: six standard deviations are 6 sqrt(2000 * 3 / 16) = 116.
    assert abs(pulls[:, 0].sum() - 500) < 116
    assert (simulate(policy.ALGORITHM, params={"share": 1.0}).pulls[:, 0] == 100).all()


def test_its_kernel_and_reference_are_compared_as_ours_are(policy: ModuleType) -> None:
    bandit = dpbandits.truncated_exponential([1.0, 2.0])
    told = settings_of(policy.ALGORITHM, {"share": 0.25}, {}, bandit, 200)
    fast = kernel_decisions(policy.ALGORITHM, told, bandit, np.random.default_rng(1), 7)
    assert list(fast) == list(policy.ALGORITHM.reference(told, bandit, np.random.default_rng(1)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"params": {}}, "coin: parameters are none; allowed: share"),
        (
            {"interpretations": {"log": "base2"}},
            "coin: interpretation is 'log'; allowed: none",
        ),
        ({"variant": "as-coded"}, "coin: variant is 'as-coded'; allowed: as-written"),
    ],
)
def test_it_is_validated_as_ours_are(
    policy: ModuleType, changes: dict[str, Any], expected: str
) -> None:
    assert expected in message_of(lambda: simulate(policy.ALGORITHM, **changes))


def test_its_key_follows_its_file(policy: ModuleType) -> None:
    path = Path(str(policy.__file__))
    before = algorithm_fingerprint(policy.ALGORITHM)
    assert before not in {algorithm_fingerprint(each) for each in REGRET}
    first = simulate(policy.ALGORITHM).pulls
    replace_in(
        path, "< settings.share else 1\n        arms", "> settings.share else 1\n        arms"
    )
    sys.modules.pop("own_coin_policy")
    importlib.invalidate_caches()
    edited = importlib.import_module("own_coin_policy")
    assert algorithm_fingerprint(edited.ALGORITHM) != before
    # The same stream with the comparison turned round: the complement.
    np.testing.assert_array_equal(simulate(edited.ALGORITHM).pulls, 100 - first)


@pytest.mark.slow
def test_two_workers(policy: ModuleType, tmp_path: Path, cache_folder: Path) -> None:
    # A process of its own, so that its workers find the user's folder on their path.
    (tmp_path / "call.py").write_text(CALL)
    run = run_python("call.py", "2", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    shutil.rmtree(cache_folder / "cells")
    assert run.stdout.strip() == str(simulate(policy.ALGORITHM).pulls.tolist())


def test_functions_that_stand_in_no_file_are_hashed_as_they_are() -> None:
    """As in a notebook."""
    digests = []
    for text in (POLICY, POLICY, POLICY.replace("else 1\n        arms", "else 0\n        arms")):
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(text, names)
        digests.append(algorithm_fingerprint(names["ALGORITHM"]))
    assert digests[0] == digests[1] != digests[2]


def test_an_id_of_ours_is_refused() -> None:
    """Else its results would be taken from, and stored under, the keys of our algorithm."""
    ours = REGRET["ucb1"]
    impostor = replace(ours, name="another")
    arms = dpbandits.bernoulli([0.7, 0.5])
    message = message_of(
        lambda: dpbandits.simulate(algorithm=impostor, bandit=arms, horizon=5, runs=1)
    )
    assert message == "algorithm: id 'ucb1' is taken; allowed: an id of your own"


def test_its_key_follows_its_kernel(policy: ModuleType) -> None:
    other = replace(policy.ALGORITHM, advance=REGRET["ucb1"].advance)
    assert algorithm_fingerprint(other) != algorithm_fingerprint(policy.ALGORITHM)


def test_the_example_is_short() -> None:
    source = Path(__file__).resolve().parents[2] / "examples/my_algorithm.py"
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 30


@pytest.mark.parametrize("name", ["a.b.py", "import.py", "1 x.py"])
def test_a_file_whose_name_is_no_module_name(name: str, tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[2] / "examples/my_algorithm.py"
    (tmp_path / name).write_bytes(source.read_bytes())
    assert dpbandits.load_algorithm(tmp_path / name).id == dpbandits.load_algorithm(source).id
