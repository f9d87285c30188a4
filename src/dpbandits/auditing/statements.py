"""The audited statements and all rows that are exact but those of Gaussian Thompson sampling.

Of one noisy report, Y = reward + location + Laplace(b), the ratio of its densities for the rewards
0 and 1 is exp(1/b) beyond both centres, and nowhere larger, whatever the location is; what is done
to Y later loses nothing more.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpbandits.algorithms import REGRET, ldp_ncb, ldp_ucb_l
from dpbandits.algorithms.base import Algorithm
from dpbandits.auditing.best_arm import elimination_loss, first_epoch
from dpbandits.auditing.best_arm_statements import (
    Words,
    best_arm_rows,
    dp_bai_gauss_rows,
    dp_od_rows,
    rows_of_losses,
)
from dpbandits.auditing.gdp_ncb import (
    SMALL,
    PhaseTwo,
    Split,
    Witness,
    anytime_witness,
    as_coded,
    carried_rules,
    carried_split,
    coded_split,
    exploration_witness,
    in_window,
    least_pulls,
    published_threshold,
    scaled_split,
)
from dpbandits.auditing.index_policies import (
    LEAST_CHANCE,
    Leak,
    Policy,
    abandoned_chances,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    constant_means,
    largest_leaks,
)
from dpbandits.auditing.laplace import Loss
from dpbandits.auditing.rows import Audited, AuditRow
from dpbandits.auditing.support import Case, recommendation, separation

REPORT_EPSILONS = (0.2, 0.5, 1.0, 2.0)

REPORT_HORIZON = 1000
"""T, on which no report depends."""


@dataclass(frozen=True)
class Report:
    """The law of a report: the reward plus Laplace noise.

    Attributes:
        location: of the noise.
        scale: b, above 0.
        when: the rounds that it is made in.
    """

    location: float
    scale: float
    when: str


def report_loss(report: Report) -> tuple[float, float, float]:
    """Return the largest log ratio and the log chances of {Y > location + 1} for rewards 0 and 1.

    Args:
        report: its law.
    """
    likely, unlikely = math.log(0.5), math.log(0.5) - 1.0 / report.scale
    return likely - unlikely, unlikely, likely


def reports_of(algorithm: Algorithm, variant: str, epsilon: float) -> list[Report]:
    """Return the reports of a locally private algorithm of the registry.

    Args:
        algorithm: LDP-NCB, its anytime version or LDP-UCB-L.
        variant: of the algorithm.
        epsilon: above 0.
    """
    every = Report(0.0, 1.0 / epsilon, "every round")
    if algorithm is ldp_ucb_l.ALGORITHM:
        return [every]
    interpretations = algorithm.interpretations_from({}, variant)
    core = {name: interpretations[name] for name in ldp_ncb.ALGORITHM.interpretations}
    settings = ldp_ncb.settings(REPORT_HORIZON, 2, epsilon=epsilon, **core)
    location, scale = settings.exploration_location, settings.exploration_scale
    return [Report(location, scale, "Phase I"), Report(0.0, 1.0 / epsilon, "Phase II")]


def report_rows(
    algorithms: Sequence[Algorithm], epsilons: Sequence[float] = REPORT_EPSILONS
) -> list[AuditRow]:
    """Return the rows of AUD-16 (LDP-NCB) and of AUD-18 (LDP-UCB-L).

    Args:
        algorithms: locally private ones.
        epsilons: above 0.
    """
    return [
        row
        for algorithm in algorithms
        for variant in algorithm.variants
        for epsilon in epsilons
        for row in _rows(algorithm, variant, epsilon)
    ]


def _rows(algorithm: Algorithm, variant: str, epsilon: float) -> Iterator[AuditRow]:
    is_ncb = algorithm is not ldp_ucb_l.ALGORITHM
    audited = Audited(
        "AUD-16" if is_ncb else "AUD-18",
        "NCB-C16" if is_ncb else "",
        algorithm.id,
        variant,
        "local",
        "C",
    )
    for report in reports_of(algorithm, variant, epsilon):
        loss, unlikely, likely = report_loss(report)
        yield audited.row(
            arms=2,
            horizon=REPORT_HORIZON,
            parameters=f"epsilon={epsilon:g}",
            claimed=epsilon,
            pair=f"one user's reward in {report.when} is 0 or 1",
            event=f"the report exceeds {report.location + 1.0:g}",
            lower=loss,
            log_alpha=unlikely,
            log_likely=likely,
        )


NCB_HORIZON, CODED_NCB_HORIZON, CLEAN_HORIZON = 10_000, 100, 200

_SILENT = ((0.0,) * 4, (0.5, 0.0, 0.0, 0.0))
"""Arm 1 pays nothing, arm 2 once 1/2: the first reward of arm 1 decides which mean is larger."""

_FIRST_ONE = "rewards 0 but for the first ones: of arm 1 it is 0 or 1, of arm 2 it is 1/2"
_STOPPED = "arm 1 always 1 but for its first reward, which is 0 or 1; arm 2 always 0"


def support_rows() -> list[AuditRow]:
    """Return the rows of AUD-17 as coded and of AUD-19, and of a clean stop test (AUD-14)."""
    return [
        _adap_ucb(),
        *(_ucb1(variant) for variant in ("as-written", "as-coded", "repaired")),
        _ncb(),
        *(_coded_ncb(variant) for variant in ("as-coded", "repaired")),
        _clean_stop_test(),
        _best_arm("od-linbai", 3),
        _best_arm("sequential-halving", 2),
    ]


def _support_row(audited: Audited, case: Case, pair: str, claimed: float = math.inf) -> AuditRow:
    """Return the row of a case; its event is the arm sequence that one table makes impossible."""
    separated = separation(case)
    log_likely = -separated.draws * math.log(len(case.rewards))
    return audited.row(
        arms=len(case.rewards),
        horizon=case.horizon,
        parameters=", ".join(f"{name}={value:g}" for name, value in case.parameters),
        claimed=claimed,
        pair=pair,
        event=_words(separated.arms),
        direction="x' over x" if separated.under_changed else "x over x'",
        lower=math.inf if separated.proved else 0.0,
        log_alpha=-math.inf if separated.proved else log_likely,
        log_likely=log_likely,
        scaled="threshold" in dict(case.interpretations),
    )


def _words(arms: tuple[int, ...]) -> str:
    if len(arms) <= 8:
        return "the arms are " + ", ".join(str(arm + 1) for arm in arms)
    pulls = sum(arm == 0 for arm in arms[:-1])
    return (
        f"arm {arms[-1] + 1} in round {len(arms)}, after {pulls} pulls of arm 1 and "
        f"{len(arms) - 1 - pulls} of arm 2 in a given order"
    )


def _control(algorithm: str, variant: str) -> Audited:
    return Audited("AUD-19", "", algorithm, variant, "pull table", "support")


def _adap_ucb() -> AuditRow:
    case = Case("adap-ucb", "as-coded", 3, 3, (), _SILENT, 1.0, (("epsilon", 1.0),))
    audited = Audited("AUD-17", "", "adap-ucb", "as-coded", "pull table", "support")
    return _support_row(audited, case, _FIRST_ONE, 1.0)


def _ucb1(variant: str) -> AuditRow:
    """Return the row of UCB1; as coded a first reward is hidden until the arm's second pull."""
    if variant != "as-coded":
        return _support_row(
            _control("ucb1", variant), Case("ucb1", variant, 3, 3, (), _SILENT, 1.0), _FIRST_ONE
        )
    case = Case("ucb1", variant, 4, 4, (), ((0.0,) * 4, (0.0,) * 4), 1.0)
    pair = "rewards 0 but for the first one of arm 1, which is 0 or 1"
    return _support_row(_control("ucb1", variant), case, pair)


def _ncb() -> AuditRow:
    """Return the row of the original NCB, whose uniform play has a length known beforehand."""
    log = math.log(NCB_HORIZON)
    rounds = math.ceil(16.0 * math.sqrt(2.0 * NCB_HORIZON * log / math.log(2.0)))
    explored = tuple(t % 2 for t in range(rounds))
    case = Case("ncb", "as-written", NCB_HORIZON, rounds + 1, explored, _SILENT, 1.0)
    return _support_row(_control("ncb", "as-written"), case, _FIRST_ONE)


def _coded_ncb(variant: str) -> AuditRow:
    """Return the row of NCB as coded, whose uniform play ends with a clean sum of rewards."""
    rounds = math.floor(9.0 * math.log(CODED_NCB_HORIZON)) + 2
    case = _stopped("ncb", variant, CODED_NCB_HORIZON, rounds)
    return _support_row(_control("ncb", variant), case, _STOPPED)


def _clean_stop_test() -> AuditRow:
    """Return the row of GDP-NCB whose Phase I is stopped by clean sums and not by a cap."""
    log = math.log(CLEAN_HORIZON)
    rounds = math.floor(9.0 * log + log**2) + 2
    interpretations = (("stop_test", "clean"), ("start", "zeros"), ("threshold", "1"))
    case = _stopped(
        "gdp-ncb", "as-written", CLEAN_HORIZON, rounds, (("epsilon", 1.0),), interpretations
    )
    audited = Audited(
        "AUD-14",
        "NCB-C15",
        "gdp-ncb",
        "as-written",
        "pull table",
        "support",
        ", ".join(f"{name}={value}" for name, value in interpretations),
    )
    return _support_row(audited, case, _STOPPED, 1.0)


def _stopped(
    algorithm: str,
    variant: str,
    horizon: int,
    rounds: int,
    parameters: tuple[tuple[str, float], ...] = (),
    interpretations: tuple[tuple[str, str], ...] = (),
) -> Case:
    """Return the case of uniform play that pulls arm 1 until its sum stops it under one table."""
    rewards = ((0.0, *(1.0,) * rounds), (0.0,))
    explored = (0,) * rounds
    return Case(
        algorithm, variant, horizon, rounds, explored, rewards, 1.0, parameters, interpretations
    )


def _best_arm(algorithm: str, budget: int) -> AuditRow:
    """Return the row of a best-arm algorithm without noise, from one pull of each arm."""
    recommended = [recommendation(algorithm, budget, (0.0, reward)) for reward in (0.0, 1.0)]
    differ = recommended[0] != recommended[1]
    return _control(algorithm, "as-written").row(
        arms=2,
        horizon=budget,
        parameters="",
        claimed=math.inf,
        pair="one pull of each arm: that of arm 1 pays 0, that of arm 2 pays 0 or 1",
        event=f"the recommended arm is arm {recommended[1] + 1}",
        lower=math.inf if differ else 0.0,
        log_alpha=-math.inf if differ else 0.0,
        log_likely=0.0,
    )


EPISODE_EPSILONS = (0.2, 1.0)
ADAP_HORIZON, LAZY_HORIZON, SE_HORIZON = 60, 24, 100_000

TABLES = ((0.0, 0.0, 0), (0.0, 0.0, 1), (0.0, 1.0, 1), (1.0, 1.0, 0))
"""Constant rewards of both arms, and which private mean of arm 1 has the changed reward."""


def episode_rows(
    epsilons: Sequence[float] = EPISODE_EPSILONS,
    adap_horizon: int = ADAP_HORIZON,
    lazy_horizon: int = LAZY_HORIZON,
    se_horizon: int = SE_HORIZON,
) -> list[AuditRow]:
    """Return the rows of AUD-17 as written and of AUD-18 by exact computation.

    Args:
        epsilons: above 0.
        adap_horizon: T of AdaP-UCB, whose arm sequences are enumerated.
        lazy_horizon: likewise of Anytime-Lazy-UCB.
        se_horizon: T of DP-SE, above twice the pulls of its first epoch.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        audited = Audited("AUD-17", "", "adap-ucb", "as-written", "pull table")
        adap = list(_enumerated(audited, adap_ucb_policy, adap_horizon, epsilon))
        # The repaired variant is the original.
        rows += [*adap, *(replace(row, variant="repaired") for row in adap)]
        audited = Audited("AUD-18", "", "anytime-lazy-ucb", "as-written", "pull table")
        rows += _enumerated(audited, anytime_lazy_ucb_policy, lazy_horizon, epsilon)
        rows += _elimination(se_horizon, epsilon)
    return rows


ABANDONED_EPSILONS, ABANDONED_HORIZONS = (1.0, 5.0), (8, 16, 32, 64)

ABANDONED_MARGIN = 1e-6
"""Taken off the log ratio; quadrature errs by about 1e-9 of a decision's chance."""


def abandoned_rows(
    epsilons: Sequence[float] = ABANDONED_EPSILONS, horizons: Sequence[int] = ABANDONED_HORIZONS
) -> list[AuditRow]:
    """Return the rows of AUD-18 on Lazy-DP-TS: arm 1 is pulled once, then arm 2 for ever.

    Args:
        epsilons: above 0.
        horizons: T.
    """
    audited = Audited("AUD-18", "", "lazy-dp-ts", "as-written", "pull table")
    rows = []
    for epsilon, horizon, reward in itertools.product(epsilons, horizons, (0.0, 1.0)):
        likely, unlikely = map(float, np.log(abandoned_chances(horizon, epsilon, reward)))
        row = audited.row(
            arms=2,
            horizon=horizon,
            parameters=f"epsilon={epsilon:g}",
            claimed=epsilon,
            pair=f"the first reward of arm 1 is 0 or 1, arm 2 always {reward:g}",
            event=f"the arms are 1, 2 ({horizon - 1} times)",
            lower=likely - unlikely - ABANDONED_MARGIN,
            log_alpha=unlikely,
            log_likely=likely,
            direction="x over x'",
        )
        rows.append(row)
    return rows


def _enumerated(
    audited: Audited, policy: Callable[[int, float], Policy], horizon: int, epsilon: float
) -> Iterator[AuditRow]:
    """Yield the rows of the worst arm sequence over all tables, and of the worst observable one."""
    leaks: list[list[tuple[Leak, str]]] = [[], []]
    for first, second, release in TABLES:
        tables = [constant_means(first, second, release, changed) for changed in (0.0, 1.0)]
        words = (
            f"arm 1 always {first:g}, arm 2 always {second:g}; the first reward of private mean "
            f"{release + 1} of arm 1 is 0 or 1"
        )
        found = largest_leaks(policy(horizon, epsilon), tables[0], tables[1], (LEAST_CHANCE, 1e-6))
        for by_chance, leak in zip(leaks, found, strict=True):
            by_chance.append((leak, words))
    for by_chance in leaks:
        leak, pair = max(by_chance, key=lambda candidate: candidate[0].log_ratio)
        yield audited.row(
            arms=2,
            horizon=horizon,
            parameters=f"epsilon={epsilon:g}",
            claimed=epsilon,
            pair=pair,
            event="the arms are " + _runs(leak.arms),
            lower=leak.log_ratio,
            log_alpha=leak.log_unlikely,
            log_likely=leak.log_unlikely + leak.log_ratio,
            direction="x' over x" if leak.changed_is_likelier else "x over x'",
        )


def _runs(arms: tuple[int, ...]) -> str:
    """Return an arm sequence in words, such as ``1, 2, 1 (4 times)``."""
    groups = ((arm, len(list(run))) for arm, run in itertools.groupby(arms))
    return ", ".join(
        f"{arm}" if length == 1 else f"{arm} ({length} times)" for arm, length in groups
    )


def _elimination(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    pulls, _ = first_epoch(horizon, epsilon)

    def describe(loss: Loss) -> Words:
        output, place = loss.place
        difference = place - pulls
        pair = f"the {pulls} rewards of arm 1 in epoch 1 minus those of arm 2 sum to {difference}"
        event = ("arm 1 is dropped after epoch 1", "arm 2 is dropped after epoch 1", "none is")
        likelier = ("x over x'", "x' over x", "x over x'" if difference >= 0 else "x' over x")
        return Words(f"{pair} or {difference + 1}", event[output], likelier[output])

    yield from rows_of_losses(
        Audited("AUD-18", "", "dp-se", "as-written", "pull table"),
        lambda least: elimination_loss(horizon, epsilon, least),
        describe,
        arms=2,
        horizon=horizon,
        epsilon=epsilon,
    )


EPSILONS = (0.2, 1.0, 2.0)
HORIZONS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
WINDOW = 2**24

FIXED_LENGTH = "cap=root, stop_test=off, release_log=natural"
"""Interpretation of Algorithm 1 whose Phase I has W rounds; Phase II begins with its means.

The paper prints no base of the logarithm in the noise; with base 2 nothing exceeds epsilon (A9).
"""

DOUBLINGS = (3, 4, 5, 6, 8, 10, 12, 16, 20)
"""Numbers of releases of the scaled rows."""


def gdp_ncb_rows(
    epsilons: Sequence[float] = EPSILONS,
    horizons: Sequence[int] = HORIZONS,
    doublings: Sequence[int] = DOUBLINGS,
    window: int = WINDOW,
) -> list[AuditRow]:
    """Return the rows of AUD-13 to AUD-15 that count releases, the anytime versions among them.

    Args:
        epsilons: above 0.
        horizons: T.
        doublings: numbers of releases of the scaled rows.
        window: W of the anytime versions.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        for horizon in horizons:
            rows += _releases(horizon, epsilon)
        for number in doublings:
            rows += _scaled(number, epsilon)
        rows += _windows(window, epsilon)
    return rows


_CODED = Audited("AUD-13", "NCB-C15", "gdp-ncb", "as-coded", "round")
_CARRIED = Audited("AUD-14", "NCB-C15", "gdp-ncb", "as-written", "round", "B", FIXED_LENGTH)
_REPAIRED = Audited("AUD-15", "NCB-C15", "gdp-ncb", "repaired", "round")


def _releases(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the rows of the releases of Phase II with the published constants."""
    for audited, noise in ((_CODED, "natural"), (_REPAIRED, "base2")):
        rules = as_coded(horizon, epsilon, noise)
        yield _row_of_split(audited, rules, coded_split(rules))
    rules = carried_rules(horizon, epsilon, "natural")
    yield _row_of_split(_CARRIED, rules, carried_split(rules))


def _scaled(doublings: int, epsilon: float) -> Iterator[AuditRow]:
    cases = (
        (_CODED, "natural", coded_split),
        (_CARRIED, "natural", carried_split),
        (_REPAIRED, "base2", coded_split),
    )
    for audited, noise, search in cases:
        rules, split = scaled_split(doublings, epsilon, noise, search)
        yield _row_of_split(audited, rules, split)


def _row_of_split(audited: Audited, rules: PhaseTwo, split: Split) -> AuditRow:
    witness, other, changed = split
    scaled = rules.c == SMALL
    constants = f"alpha={SMALL:g}, c={SMALL:g}, " if scaled else ""
    log_alpha = witness.log_probability + witness.log_arms
    return audited.row(
        arms=2,
        horizon=rules.horizon,
        parameters=f"{constants}epsilon={rules.epsilon:g}",
        claimed=rules.epsilon,
        pair=f"rewards of the {rules.rounds} rounds of Phase I are 0, in x' one of them is 1; "
        "those of an episode sum to 1 less than what its release needs, where they can",
        event=f"Phase I pulls one arm {other} times and the other {changed} times, the changed "
        "round among these, which then has all episodes as long as it can",
        lower=witness.log_ratio,
        log_alpha=log_alpha,
        log_likely=log_alpha + witness.log_ratio,
        scaled=scaled,
    )


def _windows(window: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the rows of one window of the anytime versions, where the changed round is."""
    cases = (("AUD-13", "as-coded", "natural"), ("AUD-15", "repaired", "base2"))
    for statement, variant, noise in cases:
        rules = as_coded(window, epsilon, noise)
        witness, other, changed = coded_split(rules)
        audited = Audited(statement, "NCB-C15", "anytime-gdp-ncb", variant, "round")
        yield _row_of_split(audited, rules, (in_window(witness, window), other, changed))


STOP_EPSILONS = (0.2,)
STOP_HORIZONS = (10**7,)
"""epsilon of the experiments, and the smallest T of Figure 1 at which the event fits into T."""


THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
TOY_HORIZONS = (12, 16, 24, 64)
TOY_EPSILONS = (0.5, 1.0)
"""Of the stop test with a small threshold."""

_WRITTEN = Audited("AUD-14", "NCB-C15", "gdp-ncb", "as-written", "round")
_ANYTIME = Audited("AUD-14", "NCB-C15", "anytime-gdp-ncb", "as-written", "round")


def stop_test_rows(
    epsilons: Sequence[float] = STOP_EPSILONS,
    horizons: Sequence[int] = STOP_HORIZONS,
    toy_horizons: Sequence[int] = TOY_HORIZONS,
    window: int = WINDOW,
) -> list[AuditRow]:
    """Return the rows of AUD-14 on the stop test.

    Args:
        epsilons: above 0.
        horizons: T at the published threshold.
        toy_horizons: T at small thresholds.
        window: W of the anytime version.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        for horizon in horizons:
            rows += _published(horizon, epsilon)
        rows += _window(window, epsilon)
    for epsilon in TOY_EPSILONS:
        for horizon in toy_horizons:
            rows += _toy(horizon, epsilon)
    return rows


def _witness_row(
    audited: Audited,
    witness: Witness,
    *,
    horizon: int,
    parameters: str,
    epsilon: float,
    pair: str,
    event: str,
    scaled: bool = False,
) -> AuditRow:
    log_alpha = witness.log_probability + witness.log_arms
    return audited.row(
        arms=2,
        horizon=horizon,
        parameters=parameters,
        claimed=epsilon,
        pair=pair,
        event=event,
        lower=witness.log_ratio,
        log_alpha=log_alpha,
        log_likely=log_alpha + witness.log_ratio,
        scaled=scaled,
    )


_STOP_PAIR = "reward 1 in odd rounds, 0 in even ones; in x' that of round 1 is 0"
_SHORTEST = ", the shortest such event that refutes"


def _published(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the row of the shortest event that refutes at the published threshold, if it fits."""
    threshold, scale = published_threshold(horizon, epsilon), math.log(horizon) / epsilon
    pulls = least_pulls(threshold, scale, epsilon)
    if 2 * pulls + 1 <= horizon:
        yield _stop_row(threshold, scale, pulls, horizon, epsilon, "")


def _stop_row(
    threshold: float, scale: float, pulls: int, horizon: int, epsilon: float, constants: str
) -> AuditRow:
    return _witness_row(
        _WRITTEN,
        exploration_witness(threshold, scale, pulls),
        horizon=horizon,
        parameters=f"{constants}epsilon={epsilon:g}",
        epsilon=epsilon,
        pair=_STOP_PAIR,
        event=f"the arms of rounds 1 to {2 * pulls + 1} are 1, 2, 1, 2, ..., 1"
        + ("" if constants else f"{_SHORTEST}; longer ones lose more"),
        scaled=constants != "",
    )


def _toy(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    scale, pulls = math.log(horizon) / epsilon, (horizon - 1) // 2
    for threshold in THRESHOLDS:
        yield _stop_row(threshold, scale, pulls, horizon, epsilon, f"threshold={threshold:g}, ")


def _window(window: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the row of the shortest event in one window of the anytime version, if it refutes."""
    threshold, scale = published_threshold(window, epsilon), math.log(window) / epsilon
    pulls = least_pulls(threshold, scale, epsilon)
    if 2 * pulls + 1 > window:
        return
    witness = anytime_witness(window, epsilon, pulls)
    # Uniform windows, which lose nothing, hide events that are rarer than they are.
    if witness.log_ratio > epsilon:
        yield _witness_row(
            _ANYTIME,
            witness,
            horizon=2 * window - 1,
            parameters=f"epsilon={epsilon:g}",
            epsilon=epsilon,
            pair=f"within the window of {window} rounds: {_STOP_PAIR}",
            event=f"its arms are 1, 2, 1, 2, ..., 1 in {2 * pulls + 1} rounds{_SHORTEST}",
        )


Rows = Callable[[], list[AuditRow]]


def _reports() -> list[AuditRow]:
    return report_rows([each for each in REGRET.values() if each.model == "local"])


FULL: Mapping[str, Rows] = {
    "best arm": best_arm_rows,
    "dp-od": dp_od_rows,
    "gaussian": dp_bai_gauss_rows,
    "gdp-ncb": gdp_ncb_rows,
    "stop test": stop_test_rows,
    "episodes": episode_rows,
    "abandoned arm": abandoned_rows,
    "reports": _reports,
    "support": support_rows,
}
"""Name -> the rows at full scale."""

QUICK: Mapping[str, Rows] = {
    **FULL,
    "gdp-ncb": lambda: gdp_ncb_rows((0.2, 2.0), (10**4, 10**6), (3, 5, 8), 2**16),
    "stop test": lambda: stop_test_rows((0.2,), (10**7,), (16,)),
    "episodes": lambda: episode_rows((1.0,), 12, 10, 20_000),
    "abandoned arm": lambda: abandoned_rows((1.0,), (8, 16)),
}
"""Name -> the rows at quick scale."""


def exact_rows(*, quick: bool = False) -> list[AuditRow]:
    """Return every exact row.

    Args:
        quick: whether at quick scale, in seconds.
    """
    return [row for rows in (QUICK if quick else FULL).values() for row in rows()]
