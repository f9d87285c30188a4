"""No array that is handed out, or was given, changes what is played or found later."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.bandits import Bandit, Bernoulli, LinearBandit

FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
BANDITS: dict[str, Callable[[], Any]] = {
    "bernoulli": lambda: dpbandits.bernoulli([0.2, 0.7, 0.5]),
    "nominal": lambda: Bandit(
        (Bernoulli(0.5), Bernoulli(0.25)),
        nominal=(0.5, 0.125),
        logarithms=(float(np.log(0.5)), float(np.log(0.25))),
    ),
    "linear": lambda: dpbandits.linear(FEATURES, [0.5, 0.3]),
    "recorded": lambda: dpbandits.replay([[1, 0, 1], [0, 0.5]]),
    "drawn": lambda: dpbandits.arms([lambda rng: 0.5, lambda rng: 0.25], means=[0.5, 0.25]),
}
ARRAYS = ("means", "nominal_means", "log_means", "gaps", "laws", "law_parameters")


def arrays_of(bandit: Any) -> list[Any]:
    names = (*ARRAYS, "feature_matrix") if isinstance(bandit, LinearBandit) else ARRAYS
    recorded = [arm.recorded for arm in bandit.arms if hasattr(arm, "recorded")]
    return [*(getattr(bandit, name) for name in names), *recorded]


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("travels", [False, True], ids=["here", "in another process"])
def test_arrays_of_a_bandit_are_read_only(name: str, travels: bool) -> None:
    bandit = BANDITS[name]()
    if travels and name != "drawn":  # Functions travel by the engine's own way.
        before = [array.copy() for array in arrays_of(bandit)]
        bandit = pickle.loads(pickle.dumps(bandit))
        for array, expected in zip(arrays_of(bandit), before, strict=True):
            np.testing.assert_array_equal(array, expected)
    for array in arrays_of(bandit):
        for change in (lambda a: a.fill(0), lambda a: a.sort(), lambda a: a.setflags(write=True)):
            with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
                change(array)


def test_what_a_caller_gave_may_change_later() -> None:
    means, rows = np.array([0.2, 0.7]), [np.array([1.0, 0.0]), np.array([0.5, 0.5, 0.0])]
    features, laws = np.array(FEATURES), [Bernoulli(0.2), Bernoulli(0.7)]
    made = [
        dpbandits.bernoulli(means),
        dpbandits.replay(rows),
        dpbandits.linear(features, [0.5, 0.3]),
        Bandit(laws),  # type: ignore[arg-type]
    ]
    before = [bandit.describe() for bandit in made]
    for given in (means, *rows, features):
        given[...] = 0.25
    laws.reverse()
    assert [bandit.describe() for bandit in made] == before
    assert [bandit.means.tolist() for bandit in made] == [
        [0.2, 0.7],
        [0.5, 1 / 3],
        pytest.approx([0.5, 0.3, 0.48]),
        [0.2, 0.7],
    ]


def spoil(array: Any) -> None:
    """Write to an array, unless it refuses."""
    if array.flags.writeable:
        array[...] = 0


def test_results_that_are_asked_for_again_are_the_same() -> None:
    simulation = dpbandits.simulate(
        algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=60, runs=3
    )
    trials = dpbandits.identify(
        algorithm="dp-bai",
        epsilon=1.0,
        bandit=dpbandits.linear(FEATURES, [0.5, 0.3]),
        budget=400,
        runs=5,
    )
    curve = simulation.nash_regret(at=[10, 60])
    asked: list[Callable[[], Any]] = [
        lambda: simulation.pulls,
        lambda: simulation.pseudo_regret,
        lambda: simulation.realised_regret,
        lambda: simulation.curve(metric="regret", at=[10, 60]),
        lambda: trials.recommended,
        lambda: trials.success,
        lambda: trials.pulls,
        lambda: trials.exact,
        lambda: trials.total_pulls,
        lambda: trials.trace.phases[0].estimates,
        lambda: trials.trace.phases[0].active,
        lambda: curve.log_mean,
        lambda: curve.influences,
        lambda: curve.nash_regret,
        lambda: curve.standard_error,
    ]
    before = [np.array(ask()) for ask in asked]
    for ask in asked:
        spoil(ask())
    for ask, expected in zip(asked, before, strict=True):
        np.testing.assert_array_equal(ask(), expected)
