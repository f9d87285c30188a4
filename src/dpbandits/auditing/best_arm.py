"""Exact privacy losses of best-arm algorithms and of DP-SE on small tables (BAI-C14, BAI-C24).

A table holds the rewards that every arm would give, 0 or the largest one; neighbours differ in one
of them. Sums stand in place of means throughout: where a mean over n rewards gets Lap(1/(epsilon
n)), its sum gets Lap(1/epsilon). DP-OD's noise is in the coordinates of a sum of features: with two
arms the difference of their scores has two Laplace variables.

DP-BAI-Gauss needs a delta at its epsilon. The witness has three arms with features u, u/2 and u/4.
The first phase pulls arm 1 alone and keeps arms 1 and 2 if that one noisy mean is above 0, else
arms 2 and 3. The second pulls the longest of them, so that the pulls show the sign. With two arms,
of which the paper does not speak (it has K > 2), the recommendation shows the sign of the longer
arm's noisy sum (in one dimension) or of the difference of both sums (in two).

DP-SE, first epoch of two arms: after R pulls of each arm the one that is behind by more than 2 h +
2 c is dropped, and the arm sequence shows which. The released means compare two noisy sums.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.events import LN_OBSERVABLE, Event, Measure, Values
from dpbandits.auditing.laplace import largest_loss, log_selection, log_tail, log_tail_of_two
from dpbandits.auditing.rows import AuditRow, exact_row
from dpbandits.errors import InputError

Words = tuple[str, str]
"""Both inputs, and the event."""


NORMS = {"l1": 1, "l2": 2}
"""Norms that DP-OD may take the largest feature by."""

DIAGONAL = (46.0, 224.0)  # degrees of two unit vectors, near antipodes
WORST = {"l1": (42.0, 228.0), "l2": (134.0, 316.0)}
"""Norm -> angles of two unit vectors with the largest loss, of all whole degrees."""

WITNESS = ((1.0, 0.0), (0.5, 0.0), (0.25, 0.0))
"""Features u, u/2, u/4; theta = u makes the means 1, 1/2 and 1/4, with arm 1 the one best arm."""

_ARMS_1_AND_2 = "rewards of arm 1 minus those of arm 2"
_RECOMMENDED = ("the recommended arm is arm 2", "the recommended arm is arm 1")
_SKIPPED = "phase 2 does not pull arm 1"
_ONE_SUM = "rewards of arm 1 are 0, or all but one are"

_INSTANCES = {
    "witness": (3, "features u, u/2 and u/4; phase 1 pulls arm 1 alone", _SKIPPED),
    "line": (2, "features 1 and 0 on a line; arm 1 alone is pulled", _RECOMMENDED[0]),
    "plane": (2, "two independent features", _RECOMMENDED[0]),
}
"""Instance -> arms, its features, and the event."""


def sign_chances(pulls: int, epsilon: float, largest_reward: float = 1.0) -> Values:
    """Return log chances of both signs of DP-BAI's noisy sum, two arms on a line, by the sum."""
    sums = largest_reward * np.arange(pulls + 1)
    return np.stack([log_tail(sums, 1.0 / epsilon), log_tail(-sums, 1.0 / epsilon)])


def difference_chances(
    pulls: int,
    epsilon: float,
    largest_reward: float = 1.0,
    scales: tuple[float, float] = (1.0, 1.0),
) -> Values:
    """Return log chances of the outputs that compare two noisy sums, by their difference."""
    differences = largest_reward * np.arange(-pulls, pulls + 1)
    tail = log_tail_of_two(differences, scales[0] / epsilon, scales[1] / epsilon)
    return np.stack([tail, tail[::-1]])


def tree_pulls(arms: int, dimension: int, budget: int) -> tuple[int, int]:
    """Return how often every arm is pulled in either of two phases."""
    schedule = phase_schedule(arms, dimension)
    effective = budget - schedule.reserved
    first, second = (-(-effective // (schedule.phases * size)) for size in schedule.sizes[:-1])
    return first, second


def tree_chances(arms: int, pulls: tuple[int, int], epsilon: float) -> Values:
    """Return log chances that arm 0 wins two phases, which keep two of K arms, all pulled, and one.

    The first axis is the other survivor, the others are the sums of the K arms in either phase.
    """
    shape = (pulls[0] + 1,) * arms + (pulls[1] + 1,) * arms
    first = epsilon * np.indices(shape[:arms]).reshape(arms, -1).T
    second = epsilon * np.indices(shape[arms:]).reshape(arms, -1).T
    outcomes = []
    for other in range(1, arms):
        lost = [arm for arm in range(1, arms) if arm != other]
        survives = log_selection(first[:, [0, other]], first[:, lost])
        ahead = (second[:, 0] - second[:, other])[None, :]
        outcomes.append((survives[:, None] + log_tail_of_two(-ahead)).reshape(shape))
    return np.stack(outcomes)


def unit_vectors(*degrees: float) -> Values:
    """Return unit vectors of the plane at these angles, one a row."""
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def three_arm_pulls(budget: int) -> int:
    """Return how often DP-OD pulls either of two arms beside their midpoint, perhaps 0."""
    # One round; 3 pulls are set aside for a design on three arms, and the midpoint has no weight.
    return max(-(-(budget - 3) // 2), 0)


def dp_od_scales(features: ArrayLike, norm: str) -> tuple[float, float]:
    """Return the scales of the two Laplace variables in DP-OD's difference of two scores.

    In units of 1 / epsilon, on sums: |w_k| L, where A w = (1, -1), A are the features and L is
    their largest norm.
    """
    matrix = np.asarray(features, np.float64)
    largest = np.linalg.norm(matrix, NORMS[norm], axis=1).max()
    first, second = np.abs(np.linalg.solve(matrix, [1.0, -1.0])) * largest
    # An entry that should be 0 is one by rounding; the formula needs a scale above 0.
    return max(float(first), 1e-12), max(float(second), 1e-12)


def square_chances(pulls: int, epsilon: float, norm: str, largest_reward: float = 1.0) -> Values:
    """Return log chances of DP-OD on the four unit vectors (+-1, +-1)/sqrt 2, uniform design.

    Arm 1 wins where both coordinates of the noisy sum U are above 0. Over all sums u of the
    contribution of arms 1 and 3 (antipodes), those of arms 2 and 4 being 0: a reward moves both
    coordinates by 1/sqrt 2. The table need not obey the linear model; privacy is about all tables.
    """
    largest = {"l2": 1.0, "l1": math.sqrt(2.0)}[norm]
    coordinates = largest_reward * np.arange(-pulls, pulls + 1) / math.sqrt(2.0)
    tail = 2.0 * log_tail(coordinates, largest / epsilon)
    return np.stack([tail, tail[::-1]])


def first_epoch(horizon: int, epsilon: float) -> tuple[int, float]:
    """Return R and by how much one sum has to exceed the other one: R (2 h + 2 c)."""
    log8, log4 = math.log(16.0 * horizon), math.log(8.0 * horizon)
    pulls = math.floor(max(128.0 * log8, 16.0 * log4 / epsilon)) + 1
    if 2 * pulls >= horizon:
        raise InputError(f"horizon is {horizon!r}; allowed: above {2 * pulls}")
    return pulls, math.sqrt(2.0 * pulls * log8) + 2.0 * log4 / epsilon


def outcome_chances(horizon: int, epsilon: float) -> Values:
    """Return log chances that arm 1, arm 2 and none is dropped, by the difference from -R to R."""
    pulls, lead = first_epoch(horizon, epsilon)
    differences = np.arange(-pulls, pulls + 1)
    scale = 1.0 / epsilon
    first = log_tail_of_two(lead + differences, scale, scale)
    second = first[::-1]
    # Neither: the noise is between two numbers; where both are on one side, a difference of tails.
    near, far = np.abs(differences) - lead, np.abs(differences) + lead
    one_side = near > 0
    tails = [log_tail_of_two(np.where(one_side, end, 1.0), scale, scale) for end in (near, far)]
    with np.errstate(divide="ignore"):
        outside = np.log1p(-np.exp(np.minimum(np.logaddexp(first, second), 0.0)))
        between = tails[0] + np.log1p(-np.exp(tails[1] - tails[0]))
    return np.stack([first, second, np.where(one_side, between, outside)])


def deviation(epsilon: float, delta: float, calibration: str) -> float:
    """Return the standard deviation of the noise on a sum of rewards."""
    if calibration == "classical":
        return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
    return 1.0 / float(privacy.eta_from(epsilon, delta))


def gaussian_witness(
    epsilon: float, deviation: float, pulls: int, *, two_sums: bool, binary: bool
) -> Event:
    """Return the output that needs the largest delta, over neighbouring tables.

    In units of the noise's deviation (m = 1 / deviation) its delta is the largest
    Phi(-s m) - exp(epsilon) Phi(-(s + 1) m), where s runs from 0 to n - 1 (one sum), or from -n
    to n - 1 (two). It has one maximum, at s = epsilon / m^2 - 1/2. A reward that changes by less
    than 1 leaks less, and so does the other output of one sum, where s runs from -n to -1.
    """
    shift = 1.0 / (deviation * math.sqrt(2.0)) if two_sums else 1.0 / deviation
    best = epsilon / shift**2 - 0.5
    places = [math.floor(best), math.ceil(best)] if binary else [best]
    s = np.clip(places, -pulls if two_sums else 0, pulls - 1)
    likely, unlikely = log_ndtr(-s * shift), log_ndtr(-(s + 1.0) * shift)
    with np.errstate(over="ignore"):
        excess = np.exp(likely) - np.exp(epsilon + unlikely)
    at = int(excess.argmax())
    return Event("", float(likely[at]), float(unlikely[at]), place=(float(s[at]),))


def witness_pulls(budget: int) -> int:
    """Return how often the first phase of the witness pulls arm 1."""
    schedule = phase_schedule(len(WITNESS), len(WITNESS[0]))
    effective = budget - schedule.reserved
    if effective < 1:
        raise InputError(f"budget is {budget!r}; allowed: above {schedule.reserved}")
    return -(-effective // schedule.phases)


def pulls_of(instance: str, budget: int) -> int:
    """Return how often each arm is pulled whose noisy sum decides, by instance."""
    if instance == "witness":
        return witness_pulls(budget)
    return budget - 1 if instance == "line" else -(-(budget - 2) // 2)


def rows_of_losses(
    chances: Values, describe: Words | Callable[[Event], Words], epsilon: float, **about: Any
) -> Iterator[AuditRow]:
    """Yield the row of the largest loss and, if its chance is below 1e-6, an observable one."""
    events = [largest_loss(chances)]
    if events[0].log_unlikely < LN_OBSERVABLE:
        events.append(largest_loss(chances, LN_OBSERVABLE))
    for event in events:
        words = describe(event) if callable(describe) else describe
        yield exact_row(event, *words, epsilon=epsilon, **about)


def difference_rows(
    chances: Values, sums: str, outputs: Sequence[str], epsilon: float, **about: Any
) -> Iterator[AuditRow]:
    """Yield those of losses by the difference of two sums, which is from -n to n."""

    def describe(event: Event) -> Words:
        output, place = map(int, event.place)
        difference = place - chances.shape[1] // 2
        return f"{sums} sum to {difference} or {difference + 1}", outputs[output]

    return rows_of_losses(chances, describe, epsilon, **about)


def dp_bai_rows() -> Iterator[AuditRow]:
    """Yield AUD-9, and AUD-10 with larger rewards: DP-BAI and Baseline."""
    for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0):
        # The paper's two arms pay up to 1.1 (BAI-E7).
        for reward, budget in itertools.product((1.0, 1.1), (12, 1002, 10_002)):
            about: dict[str, Any] = {"statement": "AUD-9", "horizon": budget}
            if reward != 1.0:
                about |= {"statement": "AUD-10", "more": f"; rewards 0 or {reward:g}"}
            # One changed reward among zeros: with one pull or many the sums are 0 and 1.
            chances = sign_chances(1, epsilon, reward)
            for arms, features, output in (
                (2, "features 1 and 0 on a line", _RECOMMENDED[0]),
                (3, "features u, u/2 and u/4 in the plane", _SKIPPED),
            ):
                words = f"{features}; {_ONE_SUM}", output
                yield from rows_of_losses(
                    chances, words, epsilon, algorithm="dp-bai", arms=arms, **about
                )
            pulls = pulls_of("plane", budget)
            chances = difference_chances(pulls, epsilon, reward)
            sums = f"two independent features; {pulls} {_ARMS_1_AND_2}"
            for algorithm in ("dp-bai", "baseline"):
                about["algorithm"] = algorithm
                yield from difference_rows(chances, sums, _RECOMMENDED, epsilon, **about)
        yield from _tree_rows(epsilon, 3, 2, 16)
        yield from _tree_rows(epsilon, 4, 4, 24)


def _tree_rows(epsilon: float, arms: int, dimension: int, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of two phases, by the sequence of pulls."""
    chances = tree_chances(arms, tree_pulls(arms, dimension, budget), epsilon)

    def describe(event: Event) -> Words:
        survivor, *sums = map(int, event.place)
        first, second = (", ".join(map(str, part)) for part in (sums[:arms], sums[arms:]))
        pair = f"rewards of the arms sum to {first} in phase 1 and {second} in phase 2 under x; "
        words = f"arm 1 is recommended and arm {survivor + 2} survives phase 1"
        return f"{pair}one of them is 1 larger under x'", words

    about: dict[str, Any] = {"statement": "AUD-9", "arms": arms, "horizon": budget}
    for algorithm in ("dp-bai", "baseline"):
        about |= {"algorithm": algorithm, "more": f"; d={dimension}"}
        yield from rows_of_losses(chances, describe, epsilon, **about)


def dp_od_rows() -> Iterator[AuditRow]:
    """Yield AUD-11: DP-OD with two arms, with their midpoint, and with four on a square."""
    for norm, epsilon in itertools.product(NORMS, (0.1, 1.0, 5.0)):
        about: dict[str, Any] = {"statement": "AUD-11", "algorithm": "dp-od"}
        about["interpretation"] = f"norm={norm}"
        pairs = dict.fromkeys((DIAGONAL, (0.0, 90.0), WORST[norm]))
        for budget, angles, arms in itertools.product((12, 1002), pairs, (2, 3)):
            pulls = pulls_of("plane", budget) if arms == 2 else three_arm_pulls(budget)
            words = f"unit vectors at {angles[0]:g} and {angles[1]:g} degrees"
            features = words if arms == 2 else f"{words} and half their sum"
            scales = dp_od_scales(unit_vectors(*angles), norm)
            chances = difference_chances(pulls, epsilon, scales=scales)
            sums = f"{features}; {pulls} {_ARMS_1_AND_2}"
            about |= {"arms": arms, "horizon": budget}
            yield from difference_rows(chances, sums, _RECOMMENDED, epsilon, **about)
        outputs = "the recommended arm is its antipode", _RECOMMENDED[1]
        for budget in (23, 103):
            pulls = (budget - 3) // 4
            features = "features (+-1, +-1)/sqrt 2, rewards of two arms 0"
            sums = f"{features}; {pulls} rewards of arm 1 minus those of its antipode"
            chances = square_chances(pulls, epsilon, norm)
            about |= {"arms": 4, "horizon": budget}
            yield from difference_rows(chances, sums, outputs, epsilon, **about)


def dp_bai_gauss_rows() -> Iterator[AuditRow]:
    """Yield AUD-12: DP-BAI-Gauss; rewards may be anything in [0, 1]."""
    budget, epsilons = 10_002, (0.1, 0.5, 1.0, 5.0, 8.0, 9.0, 10.0, 20.0)
    deltas = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)  # Those of the experiments.
    kinds = itertools.product(("classical", "analytic"), _INSTANCES.items(), epsilons, deltas)
    for calibration, (instance, (arms, features, words)), epsilon, delta in kinds:
        is_plane = instance == "plane"
        sigma, pulls = deviation(epsilon, delta, calibration), pulls_of(instance, budget)
        event = gaussian_witness(epsilon, sigma, pulls, two_sums=is_plane, binary=False)
        sums = _ARMS_1_AND_2 if is_plane else "rewards of arm 1"
        yield exact_row(
            event,
            f"{features}; {sums} sum to {event.place[0]:.6g}, or to 1 more",
            words,
            measure=Measure("delta", epsilon=epsilon),
            statement="AUD-12",
            algorithm="dp-bai-gauss",
            interpretation=f"calibration={calibration}",
            arms=arms,
            horizon=budget,
            parameters=f"delta={delta:g}, epsilon={epsilon:g}",
            claimed=delta,
        )


def dp_se_rows(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield AUD-18 on the first epoch of DP-SE."""
    pulls, _ = first_epoch(horizon, epsilon)
    sums = f"the {pulls} rewards of arm 1 in epoch 1 minus those of arm 2"
    outputs = ("arm 1 is dropped after epoch 1", "arm 2 is dropped after epoch 1", "none is")
    about: dict[str, Any] = {"statement": "AUD-18", "algorithm": "dp-se", "horizon": horizon}
    yield from difference_rows(outcome_chances(horizon, epsilon), sums, outputs, epsilon, **about)
