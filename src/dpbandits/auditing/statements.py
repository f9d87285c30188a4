"""The audited statements on Laplace and Gaussian releases, local reports and supports, as rows.

A generator makes the rows of a statement; beside it stands what it sweeps over, at full and at
quick scale. Those on Gaussian Thompson sampling are in ``thompson_statements``.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpbandits.algorithms import (
    adap_ucb,
    anytime_ncb,
    best_arm,
    gdp_ncb,
    ldp_ncb,
    ldp_ucb_l,
    ncb,
    ucb1,
)
from dpbandits.algorithms.base import Algorithm
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.best_arm import (
    ANGLES,
    CALIBRATIONS,
    DIAGONAL,
    INSTANCES,
    NORMS,
    deviation,
    difference_loss,
    dp_od_scales,
    elimination_loss,
    first_epoch,
    gaussian_witness,
    limit_losses,
    pulls_of,
    sign_loss,
    square_loss,
    three_arm_pulls,
    tree_chances,
    tree_loss,
    unit_vectors,
)
from dpbandits.auditing.events import OBSERVABLE, Event, Measure
from dpbandits.auditing.gdp_ncb import (
    SMALL,
    carried_rules,
    carried_split,
    coded_split,
    exploration_witness,
    least_pulls,
    release_window,
    scaled_split,
    stop_window,
)
from dpbandits.auditing.index_policies import (
    LEAST_CHANCE,
    MARGIN,
    Policy,
    abandoned_arm,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    by_loss,
    constant_means,
    largest_leaks,
)
from dpbandits.auditing.inputs import constant, make_pair
from dpbandits.auditing.rows import AuditRow, exact_row, swept
from dpbandits.auditing.support import Case, separated_recommendation, separation
from dpbandits.privacy.witnesses import PhaseTwo, as_coded, stop_rules

Rows = Iterator[AuditRow]
Losses = Callable[[float], Event]
"""Least log chance of the output -> the event of the largest loss."""

Words = tuple[str, str]
"""Both inputs, and the event."""

About = dict[str, Any]
"""Fields of a row."""


def rows_of_losses(
    losses: Losses,
    describe: Words | Callable[[Event], Words],
    epsilon: float,
    more: str = "",
    **about: Any,
) -> Rows:
    """Yield the row of the largest loss and, if its chance is below 1e-6, an observable one."""
    events = [losses(-math.inf)]
    if events[0].log_unlikely < OBSERVABLE:
        events.append(losses(OBSERVABLE))
    for event in events:
        words = describe(event) if callable(describe) else describe
        yield exact_row(event, *words, epsilon=epsilon, more=more, **about)


def comparison(pulls: int, features: str, other: str, event: Event) -> Words:
    """Return a loss of ``difference_loss`` in words."""
    output, place = map(int, event.place)
    difference = place - pulls
    pair = f"{features}; {pulls} rewards of arm 1 minus those of {other} sum to {difference}"
    winner = other if output == 0 else "arm 1"
    return f"{pair} or {difference + 1}", f"the recommended arm is {winner}"


LARGER_REWARD = 1.1
"""The paper's instance I-B pays up to this (BAI-E7)."""


_SIGNS = [
    (f"features {features}; rewards of arm 1 are 0, or all but one are", event)
    for features, event in (
        ("1 and 0 on a line", "the recommended arm is arm 2"),
        ("u, u/2 and u/4 in the plane", "phase 2 does not pull arm 1"),
    )
]
"""Decisions by the sign of one noisy sum, in words."""


@swept("releases", epsilons=(0.1, 0.5, 1.0, 2.0, 5.0), budgets=(12, 1002, 10_002))
def best_arm_rows(epsilons: Sequence[float], budgets: Sequence[int]) -> Rows:
    """Yield AUD-9, and AUD-10 with larger rewards: DP-BAI and Baseline."""
    for epsilon in epsilons:
        for reward, budget in itertools.product((1.0, LARGER_REWARD), budgets):
            statement = "AUD-9" if reward == 1.0 else "AUD-10"
            more = "" if reward == 1.0 else f"; rewards 0 or {reward:g}"
            pulls = -(-(budget - 2) // 2)
            sums = partial(difference_loss, pulls, epsilon, reward, (1.0, 1.0))
            compared = partial(comparison, pulls, "two independent features", "arm 2")
            # One changed reward among zeros: with one pull or many the sums are 0 and 1.
            sign = partial(sign_loss, 1, epsilon, reward)
            for algorithm, arms, losses, words in (
                ("dp-bai", 2, sign, _SIGNS[0]),
                ("dp-bai", 3, sign, _SIGNS[1]),
                ("dp-bai", 2, sums, compared),
                ("baseline", 2, sums, compared),
            ):
                about = {"statement": statement, "algorithm": algorithm, "arms": arms}
                yield from rows_of_losses(losses, words, epsilon, more, horizon=budget, **about)
        # (K, d, T) with two phases.
        for tree in ((3, 2, 16), (4, 4, 24)):
            yield from _tree(epsilon, *tree)


def _tree(epsilon: float, arms: int, dimension: int, budget: int) -> Rows:
    """Yield the rows of two phases, by sequence of pulls and recommendation."""
    schedule = phase_schedule(arms, dimension)
    effective = budget - schedule.reserved
    pulls = [-(-effective // (schedule.phases * size)) for size in schedule.sizes[:-1]]
    chances = tree_chances(arms, (pulls[0], pulls[1]), epsilon)

    def describe(event: Event) -> Words:
        survivor, *sums = map(int, event.place)
        first, second = (", ".join(map(str, part)) for part in (sums[:arms], sums[arms:]))
        pair = f"rewards of the arms sum to {first} in phase 1 and {second} in phase 2 under x; "
        words = f"arm 1 is recommended and arm {survivor + 2} survives phase 1"
        return f"{pair}one of them is 1 larger under x'", words

    losses = partial(tree_loss, chances, True)
    for algorithm in ("dp-bai", "baseline"):
        about = {"statement": "AUD-9", "algorithm": algorithm, "arms": arms, "horizon": budget}
        yield from rows_of_losses(losses, describe, epsilon, f"; d={dimension}", **about)


@swept("releases", epsilons=(0.1, 1.0, 5.0), budgets=(12, 1002), square_budgets=(23, 103))
def dp_od_rows(
    epsilons: Sequence[float], budgets: Sequence[int], square_budgets: Sequence[int]
) -> Rows:
    """Yield AUD-11: DP-OD with two arms, with their midpoint, and with four on a square."""
    for norm, epsilon in itertools.product(NORMS, epsilons):
        about: About = {"statement": "AUD-11", "algorithm": "dp-od"}
        about["interpretation"] = f"norm={norm}"
        pairs = list(dict.fromkeys((DIAGONAL, (0.0, 90.0), worst_angles(norm))))
        for budget, angles, arms in itertools.product(budgets, pairs, (2, 3)):
            pulls = -(-(budget - 2) // 2) if arms == 2 else three_arm_pulls(budget)
            words = f"unit vectors at {angles[0]:g} and {angles[1]:g} degrees"
            features = words if arms == 2 else f"{words} and half their sum"
            scales = dp_od_scales(unit_vectors(*angles), norm)
            losses = partial(difference_loss, pulls, epsilon, 1.0, scales)
            describe = partial(comparison, pulls, features, "arm 2")
            yield from rows_of_losses(losses, describe, epsilon, arms=arms, horizon=budget, **about)
        for budget in square_budgets:
            pulls = (budget - 3) // 4
            # The table need not obey the linear model.
            features = "features (+-1, +-1)/sqrt 2, rewards of two arms 0"
            losses = partial(square_loss, pulls, epsilon, norm, 1.0)
            describe = partial(comparison, pulls, features, "its antipode")
            yield from rows_of_losses(losses, describe, epsilon, arms=4, horizon=budget, **about)


def worst_angles(norm: str) -> tuple[float, float]:
    """Return the angles in degrees of two unit vectors with the largest loss, of whole degrees."""
    limits = limit_losses(norm)
    first, second = np.unravel_index(np.nanargmax(limits), limits.shape)
    return float(ANGLES[first]), float(ANGLES[second])


_DECIDING = {
    "witness": ("features u, u/2 and u/4; phase 1 pulls arm 1 alone", _SIGNS[1][1]),
    "line": ("features 1 and 0 on a line; arm 1 alone is pulled", "the recommended arm is arm 2"),
    "plane": ("two independent features", "the recommended arm is arm 2"),
}


@swept(
    "releases",
    epsilons=(0.1, 0.5, 1.0, 5.0, 8.0, 9.0, 10.0, 20.0),
    deltas=(1e-5, 0.01, 0.1, 0.3, 0.5, 0.9),  # Those of the paper's experiments.
    budget=10_002,
)
def dp_bai_gauss_rows(epsilons: Sequence[float], deltas: Sequence[float], budget: int) -> Rows:
    """Yield AUD-12: DP-BAI-Gauss; rewards may be anything in [0, 1]."""
    kinds = itertools.product(CALIBRATIONS, INSTANCES, epsilons, deltas)
    for calibration, instance, epsilon, delta in kinds:
        is_plane = instance == "plane"
        event = gaussian_witness(
            epsilon,
            deviation(epsilon, delta, calibration),
            pulls_of(instance, budget),
            two_sums=is_plane,
            binary=False,
        )
        of_sum = "minus those of arm 2 sum to" if is_plane else "sum to"
        features, words = _DECIDING[instance]
        yield exact_row(
            event,
            f"{features}; rewards of arm 1 {of_sum} {event.place[0]:.6g}, or to 1 more",
            words,
            measure=Measure("delta", epsilon=epsilon),
            statement="AUD-12",
            algorithm="dp-bai-gauss",
            interpretation=f"calibration={calibration}",
            arms=INSTANCES[instance][0],
            horizon=budget,
            parameters=f"delta={delta:g}, epsilon={epsilon:g}",
            claimed=delta,
        )


FIXED_LENGTH = "cap=root, stop_test=off, release_log=natural"
"""Interpretation of Algorithm 1 whose Phase I has W rounds; Phase II begins with its means.

The paper prints no base of the logarithm in the noise; with base 2 nothing exceeds epsilon (A9).
"""

_CODED: About = {"statement": "AUD-13", "variant": "as-coded"}
_CARRIED: About = {"statement": "AUD-14", "interpretation": FIXED_LENGTH}
_REPAIRED: About = {"statement": "AUD-15", "variant": "repaired"}
_CODED_BOTH = ((_CODED, "natural", coded_split), (_REPAIRED, "base2", coded_split))
_SCALED = (_CODED_BOTH[0], (_CARRIED, "natural", carried_split), _CODED_BOTH[1])
"""Fields of a row, logarithm of the noise, and search for the worst split."""


@swept(
    "releases",
    quick={
        "epsilons": (0.2, 2.0),
        "horizons": (10**4, 10**6),
        "doublings": (3, 5, 8),
        "window": 2**16,
    },
    epsilons=(0.2, 1.0, 2.0),
    horizons=(10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    doublings=(3, 4, 5, 6, 8, 10, 12, 16, 20),
    window=2**24,
)
def gdp_ncb_rows(
    epsilons: Sequence[float], horizons: Sequence[int], doublings: Sequence[int], window: int
) -> Rows:
    """Yield AUD-13 to AUD-15 that count releases, those of the anytime versions' windows last."""
    for epsilon in epsilons:
        for horizon in horizons:
            for about, noise, search in _CODED_BOTH:
                rules = as_coded(horizon, epsilon, noise)
                yield _row_of_split(rules, search(rules), **about)
            rules = carried_rules(horizon, epsilon, "natural")
            yield _row_of_split(rules, carried_split(rules), **_CARRIED)
        for number in doublings:
            for about, noise, search in _SCALED:
                yield _row_of_split(*scaled_split(number, epsilon, noise, search), **about)
        for about, noise, _ in _CODED_BOTH:
            rules = as_coded(window, epsilon, noise)
            yield _row_of_split(rules, release_window(rules), "anytime-gdp-ncb", **about)


def _row_of_split(
    rules: PhaseTwo, event: Event, algorithm: str = "gdp-ncb", **about: Any
) -> AuditRow:
    scaled = rules.c == SMALL
    return exact_row(
        event,
        f"rewards of the {rules.rounds} rounds of Phase I are 0, in x' one of them is 1; "
        "those of an episode sum to 1 less than what its release needs, where they can",
        algorithm=algorithm,
        notion="round",
        horizon=rules.horizon,
        epsilon=rules.epsilon,
        constants=f"alpha={SMALL:g}, c={SMALL:g}, " if scaled else "",
        scaled=scaled,
        **about,
    )


_STOP_PAIR = "reward 1 in odd rounds, 0 in even ones; in x' that of round 1 is 0"
_SHORTEST = ", the shortest such event that refutes"


@swept(
    "releases",
    quick={"epsilons": (0.2,), "horizons": (10**7,), "toy_horizons": (16,), "window": 2**24},
    epsilons=(0.2,),  # That of the experiments.
    horizons=(10**7,),  # The smallest T of Figure 1 at which the event fits into T.
    toy_horizons=(12, 16, 24, 64),
    window=2**24,
)
def stop_test_rows(
    epsilons: Sequence[float], horizons: Sequence[int], toy_horizons: Sequence[int], window: int
) -> Rows:
    """Yield AUD-14 on the stop test: at the published threshold, in a window, at small ones."""
    for epsilon in epsilons:
        for horizon in horizons:
            rules = stop_rules(horizon, epsilon)
            pulls = least_pulls(*rules, epsilon)
            if 2 * pulls + 1 <= horizon:
                event = exploration_witness(*rules, pulls)
                words = f"{_alternating(pulls)}{_SHORTEST}; longer ones lose more"
                yield _stop_row(
                    event,
                    _STOP_PAIR,
                    words,
                    algorithm="gdp-ncb",
                    horizon=horizon,
                    epsilon=epsilon,
                )
        # The shortest event in one window of the anytime version. Uniform windows, which lose
        # nothing, hide events that are rarer than they are.
        pulls = least_pulls(*stop_rules(window, epsilon), epsilon)
        event = stop_window(window, epsilon, pulls)
        if 2 * pulls + 1 <= window and event.epsilon > epsilon:
            yield _stop_row(
                event,
                f"within the window of {window} rounds: {_STOP_PAIR}",
                f"its arms are 1, 2, 1, 2, ..., 1 in {2 * pulls + 1} rounds{_SHORTEST}",
                algorithm="anytime-gdp-ncb",
                horizon=2 * window - 1,
                epsilon=epsilon,
            )
    toys = itertools.product((0.5, 1.0), toy_horizons, (0.5, 1.0, 2.0, 4.0))
    for epsilon, horizon, threshold in toys:
        pulls = (horizon - 1) // 2
        event = exploration_witness(threshold, math.log(horizon) / epsilon, pulls)
        yield _stop_row(
            event,
            _STOP_PAIR,
            _alternating(pulls),
            algorithm="gdp-ncb",
            horizon=horizon,
            epsilon=epsilon,
            constants=f"threshold={threshold:g}, ",
            scaled=True,
        )


def _alternating(pulls: int) -> str:
    return f"the arms of rounds 1 to {2 * pulls + 1} are 1, 2, 1, 2, ..., 1"


_stop_row = partial(exact_row, statement="AUD-14", notion="round")


TABLES = ((0.0, 0.0, 0), (0.0, 0.0, 1), (0.0, 1.0, 1), (1.0, 1.0, 0))
"""Constant rewards of both arms, and which private mean of arm 1 has the changed reward."""


@swept(
    "releases",
    quick={"epsilons": (1.0,), "adap_horizon": 12, "lazy_horizon": 10, "se_horizon": 20_000},
    epsilons=(0.2, 1.0),
    adap_horizon=60,
    lazy_horizon=24,
    se_horizon=100_000,
)
def episode_rows(
    epsilons: Sequence[float], adap_horizon: int, lazy_horizon: int, se_horizon: int
) -> Rows:
    """Yield AUD-17 as written, and AUD-18 on Anytime-Lazy-UCB and on the first epoch of DP-SE."""
    for epsilon in epsilons:
        adap = list(_enumerated("AUD-17", "adap-ucb", adap_ucb_policy(adap_horizon, epsilon)))
        yield from adap
        # The repaired variant is the original.
        yield from (replace(row, variant="repaired") for row in adap)
        lazy = anytime_lazy_ucb_policy(lazy_horizon, epsilon)
        yield from _enumerated("AUD-18", "anytime-lazy-ucb", lazy)
        yield from _elimination(se_horizon, epsilon)


def _enumerated(statement: str, algorithm: str, policy: Policy) -> Rows:
    """Yield the rows of the worst arm sequence over all tables, and of the worst observable one."""
    by_table = []
    for first, second, release in TABLES:
        means = [constant_means(first, second, release, changed) for changed in (0.0, 1.0)]
        words = (
            f"arm 1 always {first:g}, arm 2 always {second:g}; the first reward of private mean "
            f"{release + 1} of arm 1 is 0 or 1"
        )
        leaks = largest_leaks(policy, means[0], means[1], (LEAST_CHANCE, math.exp(OBSERVABLE)))
        by_table.append([(leak, words) for leak in leaks])
    for found in zip(*by_table, strict=True):
        leak, pair = max(found, key=lambda candidate: by_loss(candidate[0]))
        yield exact_row(
            leak,
            pair,
            margin=MARGIN,
            epsilon=policy.epsilon,
            statement=statement,
            algorithm=algorithm,
            horizon=policy.horizon,
        )


def _elimination(horizon: int, epsilon: float) -> Rows:
    pulls, _ = first_epoch(horizon, epsilon)

    def describe(event: Event) -> Words:
        output, place = map(int, event.place)
        difference = place - pulls
        pair = f"the {pulls} rewards of arm 1 in epoch 1 minus those of arm 2 sum to {difference}"
        words = ("arm 1 is dropped after epoch 1", "arm 2 is dropped after epoch 1", "none is")
        return f"{pair} or {difference + 1}", words[output]

    losses = partial(elimination_loss, horizon, epsilon)
    about: About = {"statement": "AUD-18", "algorithm": "dp-se", "horizon": horizon}
    yield from rows_of_losses(losses, describe, epsilon, **about)


ABANDONED_MARGIN = 1e-6
"""Taken off the log ratio; quadrature errs by about 1e-9 of a decision's chance."""


@swept(
    "releases",
    quick={"epsilons": (1.0,), "horizons": (8, 16)},
    epsilons=(1.0, 5.0),
    horizons=(8, 16, 32, 64),
)
def abandoned_rows(epsilons: Sequence[float], horizons: Sequence[int]) -> Rows:
    """Yield AUD-18 on Lazy-DP-TS: arm 1 is pulled once, then arm 2 for ever."""
    for epsilon, horizon, reward in itertools.product(epsilons, horizons, (0.0, 1.0)):
        event = abandoned_arm(horizon, epsilon, reward)
        yield exact_row(
            event,
            f"the first reward of arm 1 is 0 or 1, arm 2 always {reward:g}",
            margin=ABANDONED_MARGIN,
            epsilon=epsilon,
            statement="AUD-18",
            algorithm="lazy-dp-ts",
            horizon=horizon,
        )


REPORT_HORIZON = 1000
"""T, on which no report depends."""

Report = tuple[float, float, str]
"""Location and scale of the Laplace noise, and the rounds in which a reward gets it."""


def reports_of(algorithm: Algorithm, variant: str, epsilon: float) -> list[Report]:
    """Return the reports of a locally private algorithm of the registry."""
    if algorithm is ldp_ucb_l.ALGORITHM:
        return [(0.0, 1.0 / epsilon, "every round")]
    interpretations = algorithm.interpretations_from({}, variant)
    core = {name: interpretations[name] for name in ldp_ncb.ALGORITHM.interpretations}
    settings = ldp_ncb.settings(REPORT_HORIZON, 2, epsilon=epsilon, **core)
    location, scale = settings.exploration_location, settings.exploration_scale
    return [(location, scale, "Phase I"), (0.0, 1.0 / epsilon, "Phase II")]


def report_event(location: float, scale: float) -> Event:
    """Return the event of a report's largest loss: it exceeds both centres.

    Y = reward + location + Laplace(b): the ratio of its densities for the rewards 0 and 1 is
    exp(1/b) beyond both centres, and nowhere larger; what is done to Y later loses nothing more.
    """
    likely = math.log(0.5)
    return Event(f"the report exceeds {location + 1.0:g}", likely - 1.0 / scale, likely)


@swept("releases", epsilons=(0.2, 0.5, 1.0, 2.0))
def report_rows(epsilons: Sequence[float]) -> Rows:
    """Yield AUD-16 (LDP-NCB) and AUD-18 (LDP-UCB-L)."""
    for algorithm in (ldp_ncb.ALGORITHM, anytime_ncb.LOCAL, ldp_ucb_l.ALGORITHM):
        for variant, epsilon in itertools.product(algorithm.variants, epsilons):
            for location, scale, when in reports_of(algorithm, variant, epsilon):
                yield exact_row(
                    report_event(location, scale),
                    f"one user's reward in {when} is 0 or 1",
                    epsilon=epsilon,
                    statement="AUD-18" if algorithm is ldp_ucb_l.ALGORITHM else "AUD-16",
                    algorithm=algorithm.id,
                    variant=variant,
                    notion="local",
                    engine="local",
                    horizon=REPORT_HORIZON,
                )


_SILENT = make_pair(
    [[0.0], [0.5]],
    [[1.0], [0.5]],
    after=[0.0, 0.0],
    words="rewards 0 but for the first ones: of arm 1 it is 0 or 1, of arm 2 it is 1/2",
)
"""The first reward of arm 1 decides which mean is larger."""

_STOPPED = constant(1.0, 0.0)
"""Uniform play that pulls arm 1 until its sum stops it under one table."""


def support_cases() -> Iterator[tuple[str, Case]]:
    """Yield statements and pairs of tables that algorithms without enough noise tell apart."""
    private = {"epsilon": 1.0}
    yield "AUD-17", Case(adap_ucb.ALGORITHM, "as-coded", 3, 3, _SILENT, parameters=private)
    yield "AUD-19", Case(ucb1.ALGORITHM, "as-written", 3, 3, _SILENT)
    # As coded a first reward is hidden until the arm's second pull.
    yield "AUD-19", Case(ucb1.ALGORITHM, "as-coded", 4, 4, constant(0.0, 0.0))
    yield "AUD-19", Case(ucb1.ALGORITHM, "repaired", 3, 3, _SILENT)
    # The uniform play of the original NCB has a length known beforehand; as coded it ends with a
    # clean sum of rewards.
    horizon = 10_000
    rounds = math.ceil(16.0 * math.sqrt(2.0 * horizon * math.log(horizon) / math.log(2.0)))
    explored = tuple(t % 2 for t in range(rounds))
    yield "AUD-19", Case(ncb.ALGORITHM, "as-written", horizon, rounds + 1, _SILENT, explored)
    rounds = math.floor(9.0 * math.log(100)) + 2
    for variant in ("as-coded", "repaired"):
        yield "AUD-19", Case(ncb.ALGORITHM, variant, 100, rounds, _STOPPED, (0,) * rounds)
    # GDP-NCB whose Phase I is stopped by clean sums and not by a cap.
    rounds = math.floor(9.0 * math.log(200) + math.log(200) ** 2) + 2
    clean = {"stop_test": "clean", "start": "zeros", "threshold": "1"}
    arms = (0,) * rounds
    yield (
        "AUD-14",
        Case(gdp_ncb.ALGORITHM, "as-written", 200, rounds, _STOPPED, arms, private, clean),
    )


@swept("releases")
def support_rows() -> Rows:
    """Yield AUD-17 as coded and AUD-19, and a clean stop test (AUD-14)."""
    for statement, case in support_cases():
        yield exact_row(
            separation(case),
            case.pair.words,
            statement=statement,
            algorithm=case.algorithm.id,
            variant=case.variant,
            interpretation=", ".join(
                f"{key}={value}" for key, value in case.interpretations.items()
            ),
            engine="support",
            horizon=case.horizon,
            parameters=", ".join(f"{key}={value:g}" for key, value in case.parameters.items()),
            claimed=case.parameters.get("epsilon", math.inf),
            scaled="threshold" in case.interpretations,
        )
    for algorithm, budget in ((best_arm.OD_LINBAI, 3), (best_arm.SEQUENTIAL_HALVING, 2)):
        yield exact_row(
            separated_recommendation(algorithm, budget),
            "one pull of each arm: that of arm 1 pays 0, that of arm 2 pays 0 or 1",
            statement="AUD-19",
            algorithm=algorithm.id,
            engine="support",
            horizon=budget,
            claimed=math.inf,
        )
