"""Checks of an identification algorithm: trials against reference, budgets, orders of the arms."""

import itertools
from collections.abc import Callable

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task
from dpbandits.bandits import LinearBandit, linear
from dpbandits.engine.checked import require_task
from dpbandits.engine.checked_trials import CheckedPlay
from dpbandits.engine.hidden_randomness import refuse_hidden_randomness
from dpbandits.engine.kernel_checks import SEEDS, Subject
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError

FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
THETA = [0.5, 0.3]
BUDGET = 500


def algorithm_of(subject: Subject) -> IdentificationAlgorithm:
    """Return the algorithm, which is one for identification."""
    assert isinstance(subject.definition, IdentificationAlgorithm)
    return subject.definition


def instances() -> list[LinearBandit]:
    """Return the same arms in every order."""
    return [linear(list(order), THETA) for order in itertools.permutations(FEATURES)]


def play(
    subject: Subject,
    bandit: LinearBandit,
    seed: int,
    trials: int,
    *,
    budget: int = BUDGET,
    twice: bool = False,
) -> Outcome:
    """Return the outcome of checked trials."""
    task = Task(subject.parameters, subject.interpretations, bandit, budget)
    require_task(algorithm_of(subject), task)
    player = CheckedPlay(algorithm_of(subject), lambda: twice)
    return player(task, np.random.default_rng(seed), trials)


def check_play(subject: Subject) -> None:
    """Play trials twice, for arms in every order."""
    for seed, bandit in enumerate(instances()):
        with refuse_hidden_randomness(place_of(subject.definition.id)):
            for trials in (1, 7, 100):
                play(subject, bandit, seed, trials, twice=True)


def check_reference(subject: Subject) -> None:
    """Compare one trial with the reference on every seed."""
    orders = instances()
    algorithm = algorithm_of(subject)
    for seed in SEEDS:
        bandit = orders[seed % len(orders)]
        outcome = play(subject, bandit, seed, 1)
        task = Task(subject.parameters, subject.interpretations, bandit, BUDGET)
        with user_code(place_of(algorithm.id), "reference"):
            trial = algorithm.reference(task, np.random.default_rng(seed))
            pulls = trial.pulls(len(bandit.arms)).tolist()
        kernel = (int(outcome.recommended[0]), outcome.pulls[0].tolist())
        if kernel != (trial.recommended, pulls):
            raise InputError(
                f"{place_of(algorithm.id)}, seed {seed}: play recommends arm {kernel[0]} after "
                f"pulls {kernel[1]}, the reference arm {trial.recommended} after {pulls}"
            )


def check_budgets(subject: Subject) -> None:
    """Play budgets of 1, 2 and K - 1 pulls, unless they are rejected."""
    bandit = instances()[0]
    for budget in (1, 2, len(bandit.arms) - 1):
        task = Task(subject.parameters, subject.interpretations, bandit, budget)
        try:
            require_task(algorithm_of(subject), task)
        except InputError as error:
            if error.__cause__ is not None:
                raise
            continue
        play(subject, bandit, 4, 3, budget=budget, twice=True)


TRIAL_CHECKS: dict[str, Callable[[Subject], None]] = {
    "trials are valid and the same when played again, for arms in any order": check_play,
    f"trials and reference agree on {len(SEEDS)} seeds": check_reference,
    "budgets 1, 2 and K - 1 are played or rejected": check_budgets,
}
"""Name -> the check, which raises InputError on failure."""
