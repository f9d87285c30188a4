"""Eliminations played as blocks of trials side by side.

In each phase, trials with the same active arms do the same: pull the same arms equally often,
release some statistics of the rewards with noise, and rank the active arms by combinations of what
was released. Trials are grouped by their active arms, the groups in lexicographic order, and only
the draws are made trial by trial.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Outcome, Phase, Trial
from dpbandits.algorithms.best_arm.designs import Arms, FloatArray
from dpbandits.bandits import LinearBandit
from dpbandits.bandits.draws import draw_reward_sum, laplace, set_pulls
from dpbandits.kernels import njit

SILENT, LAPLACE, GAUSSIAN = 0, 1, 2
"""Laws of the noise."""

TIE = 1e-12
"""Estimates this near to each other, relatively to the trial's largest, differ by rounding only."""

NOTHING: FloatArray = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Step:
    """What is done in one phase with one set of s active arms.

    Attributes:
        arms: arms to pull, increasing, shape (r,).
        pulls: how often each, shape (r,).
        noise: scale of the noise of a released sum; of a released mean, times the pulls behind it.
        released: the k released sums as combinations of the arms' reward sums, shape (k, r); left
            out, the arms' means are released.
        coefficients: the active arms' estimates as combinations of what is released, shape (s, k);
            left out, they are what is released.
        exact: whether the arms were found by exhaustive search where a search was needed.
    """

    arms: Arms
    pulls: NDArray[np.int64]
    noise: float
    released: FloatArray = field(default_factory=lambda: NOTHING)
    coefficients: FloatArray = field(default_factory=lambda: NOTHING)
    exact: bool = True


@dataclass(frozen=True)
class Plan:
    """How an elimination goes.

    Attributes:
        sizes: numbers of active arms, from K at the start of the first phase to 1 after the last.
        step: (number of the phase, from 0; active arms) -> what is done with them.
        noise: law of the noise.
        pooled: whether means run over all pulls so far, not over those of the phase alone.
        random_ties: whether equal estimates are ranked at random, not by the arms' numbers.
    """

    sizes: tuple[int, ...]
    step: Callable[[int, Arms], Step]
    noise: int = SILENT
    pooled: bool = False
    random_ties: bool = False


class _StepSettings(NamedTuple):
    """Settings of the kernel for one step."""

    active: Arms
    arms: Arms
    pulls: NDArray[np.int64]
    scale: float
    released: FloatArray
    coefficients: FloatArray
    noise: int
    pooled: bool
    random_ties: bool


@njit
def _noise(law, scale, generator):
    if law == LAPLACE:
        return laplace(scale, generator)
    if law == GAUSSIAN:
        return scale * generator.standard_normal()
    return 0.0


@njit
def _keep(active, estimates, keys, kept):
    """Write the arms with the largest estimates to ``kept``, as many as fit, increasing.

    Of the arms that tie for the last places the first ones stay, or those with the largest keys.
    """
    margin = TIE * np.abs(estimates).max()
    cut = np.partition(estimates, active.size - kept.size)[active.size - kept.size]
    tied = np.abs(estimates - cut) <= margin
    places = kept.size - (estimates > cut + margin).sum()
    least = np.sort(keys[tied])[tied.sum() - places] if keys.size else 0.0
    written = 0
    for i in range(active.size):
        if tied[i] and (places == 0 or (keys.size and keys[i] < least)):
            continue
        if tied[i]:
            places -= 1
        elif estimates[i] < cut:
            continue
        kept[written] = active[i]
        written += 1


@njit(nogil=True)
def _play(step, trials, laws, law_parameters, generator, totals, pulls, kept, first):
    """Play one phase of the trials that have the same active arms.

    ``totals`` and ``pulls`` have one row a trial and one column an arm (``totals`` is used where
    means are pooled); ``kept`` gets the next active arms, ``first`` the estimates of trial 0.
    """
    means = step.released.shape[1] == 0
    sums, counts = np.empty(step.arms.size), step.pulls.copy()
    released = np.empty(step.arms.size if means else step.released.shape[0])
    estimates, keys = np.empty(step.active.size), np.empty(step.active.size * step.random_ties)
    for trial in trials:
        for j in range(step.arms.size):
            arm, count = step.arms[j], step.pulls[j]
            set_pulls(law_parameters[arm], pulls[trial, arm])
            sums[j] = draw_reward_sum(laws[arm], law_parameters[arm], count, generator)
            pulls[trial, arm] += count
            if step.pooled:
                totals[trial, arm] += sums[j]
                sums[j], counts[j] = totals[trial, arm], pulls[trial, arm]
        for k in range(released.size):
            if means:
                noise = _noise(step.noise, step.scale / counts[k], generator)
                released[k] = sums[k] / counts[k] + noise
            else:
                released[k] = _noise(step.noise, step.scale, generator)
                for j in range(step.arms.size):
                    released[k] += step.released[k, j] * sums[j]
        for i in range(keys.size):
            keys[i] = generator.random()
        if step.coefficients.shape[0] == 0:
            estimates[:] = released
        else:
            estimates[:] = 0.0
            # One arm after the other in the same order, so that equal arms have equal estimates.
            for i in range(estimates.size):
                for k in range(released.size):
                    estimates[i] += step.coefficients[i, k] * released[k]
        _keep(step.active, estimates, keys, kept[trial])
        if trial == 0:
            first[:] = estimates


def _groups(active: Arms) -> list[tuple[Arms, Arms]]:
    """Return each set of active arms with the trials that have it, both increasing."""
    sets, which = np.unique(active, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel()))[:-1]
    return list(zip(sets, np.split(order, ends), strict=True))


def play_plan(
    plan: Plan, bandit: LinearBandit, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a block of independent trials.

    Of the stream, a phase takes for each group of trials and each trial of it: the reward sums of
    the arms to pull, the noise of what is released, and a key for each active arm where ties are
    random.
    """
    arms = len(bandit.arms)
    pulls, exact = np.zeros((trials, arms), np.int64), np.ones(trials, np.bool_)
    totals = np.zeros(pulls.shape if plan.pooled else (0, 0))
    groups, phases = [(np.arange(arms), np.arange(trials))], []
    for number, size in enumerate(plan.sizes[1:]):
        kept, first = np.empty((trials, size), np.int64), np.empty(plan.sizes[number])
        for active, members in groups:
            step = plan.step(number, active)
            _play(
                _step_settings(plan, step, active),
                members,
                bandit.laws,
                bandit.law_parameters,
                generator,
                totals,
                pulls,
                kept,
                first,
            )
            exact[members] &= step.exact
            if members[0] == 0:
                phases.append(Phase(active, step.arms, step.pulls, first, step.exact))
        groups = _groups(kept)
    recommended = kept[:, 0]
    return Outcome(recommended, pulls, exact, Trial(int(recommended[0]), tuple(phases)))


def _step_settings(plan: Plan, step: Step, active: Arms) -> _StepSettings:
    return _StepSettings(
        active,
        step.arms,
        step.pulls,
        float(step.noise),
        step.released,
        step.coefficients,
        plan.noise,
        plan.pooled,
        plan.random_ties,
    )
