"""Rows of support arguments: AdaP-UCB as coded (AUD-17), non-private algorithms (AUD-19)."""

import math

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.rows import AuditRow
from dpbandits.audit.support import Case, recommendation, separation

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


def _row(audited: Audited, case: Case, pair: str, claimed: float = math.inf) -> AuditRow:
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
    return _row(audited, case, _FIRST_ONE, 1.0)


def _ucb1(variant: str) -> AuditRow:
    """Return the row of UCB1; as coded a first reward is hidden until the arm's second pull."""
    if variant != "as-coded":
        return _row(
            _control("ucb1", variant), Case("ucb1", variant, 3, 3, (), _SILENT, 1.0), _FIRST_ONE
        )
    case = Case("ucb1", variant, 4, 4, (), ((0.0,) * 4, (0.0,) * 4), 1.0)
    pair = "rewards 0 but for the first one of arm 1, which is 0 or 1"
    return _row(_control("ucb1", variant), case, pair)


def _ncb() -> AuditRow:
    """Return the row of the original NCB, whose uniform play has a length known beforehand."""
    log = math.log(NCB_HORIZON)
    rounds = math.ceil(16.0 * math.sqrt(2.0 * NCB_HORIZON * log / math.log(2.0)))
    explored = tuple(t % 2 for t in range(rounds))
    case = Case("ncb", "as-written", NCB_HORIZON, rounds + 1, explored, _SILENT, 1.0)
    return _row(_control("ncb", "as-written"), case, _FIRST_ONE)


def _coded_ncb(variant: str) -> AuditRow:
    """Return the row of NCB as coded, whose uniform play ends with a clean sum of rewards."""
    rounds = math.floor(9.0 * math.log(CODED_NCB_HORIZON)) + 2
    case = _stopped("ncb", variant, CODED_NCB_HORIZON, rounds)
    return _row(_control("ncb", variant), case, _STOPPED)


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
    return _row(audited, case, _STOPPED, 1.0)


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
