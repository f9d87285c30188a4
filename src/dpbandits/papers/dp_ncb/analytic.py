"""The exact results behind the paper's claims, and a few runs that are played to be looked into.

Every frame has the columns series, its tags, x, y, lo, hi, with lo = hi = y. Differences (D) and
open questions (A) are those of ``docs/deviations.md``; epsilon is 0.2 unless said.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms import ldp_ncb
from dpbandits.audit.releases.stop_test import published_threshold
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.index_plays import index_plays
from dpbandits.papers.dp_ncb.instances import drawn_means
from dpbandits.papers.dp_ncb.privacy_witnesses import privacy_witnesses
from dpbandits.papers.dp_ncb.theory import GLOBAL, LOCAL

EPSILON = 0.2
EPSILONS = (0.2, 0.5, 1.0, 2.0)
"""Epsilon of panels (c) and (d)."""

HORIZONS = tuple(10**power for power in range(6, 11))
"""T at which Phase I and the bounds are evaluated."""

LOSS_HORIZONS = tuple(10**power for power in range(3, 11))
"""T at which the composed loss is computed (claim C15)."""


def phase_one_start() -> pd.DataFrame:
    """Return how long Phase I lasts as written on the fifty arms, and what it alone costs.

    Tags, each for ``global`` (GDP-NCB) and ``local`` (LDP-NCB): rounds, those of Phase I were
    nothing random and the horizon no end; share, over T; floor, the Nash regret if all other rounds
    are best; besides log (of T) and threshold (of GDP-NCB). x: T. y: the floor of GDP-NCB.
    """
    means = np.array(drawn_means())
    best, average = float(means.max()), float(means.mean())
    frame = pd.DataFrame({"series": "Phase I", "horizon": HORIZONS, "log": np.log(HORIZONS)})
    frame["threshold"] = [published_threshold(horizon, EPSILON) for horizon in HORIZONS]
    for name, algorithm in (("global", GLOBAL), ("local", LOCAL)):
        pulls = [theory.expected_pulls(algorithm, horizon, EPSILON, best) for horizon in HORIZONS]
        frame[f"{name}_rounds"] = means.size * np.array(pulls)
        shares = frame[f"{name}_rounds"] / frame["horizon"]
        frame[f"{name}_share"] = shares
        frame[f"{name}_floor"] = [
            theory.floor_of_regret(min(1.0, share), best, average) for share in shares
        ]
    floors = frame["global_floor"]
    return frame.assign(x=frame["horizon"], y=floors, lo=floors, hi=floors)


def first_horizons() -> pd.DataFrame:
    """Return the smallest T at which Phase I ends before T as written, on the fifty arms.

    Tags: algorithm. x: epsilon. y: T.
    """
    means = drawn_means()
    return joined(
        curve(
            algorithm,
            {"algorithm": algorithm},
            EPSILONS,
            [
                theory.first_horizon(algorithm, len(means), epsilon, max(means))
                for epsilon in EPSILONS
            ],
        )
        for algorithm in (GLOBAL, LOCAL)
    )


def phase_one() -> pd.DataFrame:
    """Return length of Phase I over k S: as written were nothing random, as coded exactly (C13).

    Tags: algorithm, variant. x: T. y: rounds over k S.
    """
    return joined(
        curve(
            f"{algorithm}, {variant}",
            {"algorithm": algorithm, "variant": variant},
            HORIZONS,
            [_phase_one_ratio(algorithm, variant, horizon) for horizon in HORIZONS],
        )
        for algorithm in (GLOBAL, LOCAL)
        for variant in ("as-written", "as-coded")
    )


def _phase_one_ratio(algorithm: str, variant: str, horizon: int) -> float:
    means = drawn_means()
    unit = len(means) * theory.scale(algorithm, horizon, EPSILON, max(means))
    if variant == "as-written":
        pulls = theory.expected_pulls(algorithm, horizon, EPSILON, max(means))
        return len(means) * pulls / unit
    # The threshold is out of reach of so few rounds, so that the cap ends the phase (D1, D34).
    return (theory.capped_phase_one(horizon) + (algorithm == LOCAL)) / unit


def composed_loss() -> pd.DataFrame:
    """Return the composed loss of the releases of GDP-NCB that a reward of Phase I enters (C15).

    Tags: variant; release_log (``natural`` or ``base2``); counted, as written releases of ``all``
    kinds or of ``phase-two`` alone, without the means that Phase I consults (NCB-Q2). As written
    these are as many as the pulls of an arm, T/k at most or those at which the phase is expected to
    stop, and its last means enter the first index besides (NCB-Q3). As coded and repaired
    (``base2``) Phase II begins with zeros, which release nothing. x: T. y: loss over epsilon, by
    basic composition.
    """
    return joined(_losses())


def _losses() -> Iterator[pd.DataFrame]:
    for counted in ("all", "phase-two"):
        tags = {"variant": "as-written", "release_log": "natural", "counted": counted}
        losses = []
        for horizon in LOSS_HORIZONS:
            consulted = _consulted(horizon) if counted == "all" else 0.0
            losses.append(theory.composed_loss(horizon, 0, 1.0 + consulted))
        yield curve(f"as-written, {counted}", tags, LOSS_HORIZONS, losses)
    for variant, log in (("as-coded", "natural"), ("repaired", "base2")):
        tags = {"variant": variant, "release_log": log, "counted": "all"}
        losses = [
            theory.composed_loss(horizon, theory.capped_phase_one(horizon), release_log=log)
            for horizon in LOSS_HORIZONS
        ]
        yield curve(f"{variant}, {log}", tags, LOSS_HORIZONS, losses)


def _consulted(horizon: int) -> float:
    means = drawn_means()
    expected = theory.expected_pulls(GLOBAL, horizon, EPSILON, max(means))
    return min(expected, horizon / len(means))


def noise_scales() -> pd.DataFrame:
    """Return the scale of the noise in an observation of LDP-NCB, its kernel's parameter (C16).

    Tags: variant, phase (``I`` or ``II``). x: epsilon. y: scale times epsilon.
    """
    return joined(
        curve(
            f"{variant}, Phase {phase}",
            {"variant": variant, "phase": phase},
            EPSILONS,
            [_noise_scale(variant, phase, epsilon) * epsilon for epsilon in EPSILONS],
        )
        for variant in ldp_ncb.ALGORITHM.variants
        for phase in ("I", "II")
    )


def _noise_scale(variant: str, phase: str, epsilon: float) -> float:
    interpretations = ldp_ncb.ALGORITHM.interpretations_from({}, variant)
    arms = len(drawn_means())
    settings = ldp_ncb.settings(HORIZONS[0], arms, epsilon=epsilon, **interpretations)
    return settings.exploration_scale if phase == "I" else 1.0 / settings.epsilon


def bounds() -> pd.DataFrame:
    """Return explicit bounds on the Nash regret on the fifty arms, and their premises (claim C17).

    Tags: theorem (1, of GDP-NCB; 3, of LDP-NCB), quantity (``bound``; ``premise``, the mu* that the
    proof asks for; ``best_mean``, mu*; of Theorem 1 the first two ``mended``, with the factor that
    the proof loses, and ``first_informative``, the bound at the T from which on it is below mu*).
    x: T. y: the quantity.
    """
    return joined(_bounds())


def _bounds() -> Iterator[pd.DataFrame]:
    arms, best = len(drawn_means()), max(drawn_means())
    quantities: dict[tuple[int, str], Callable[[int], float]] = {
        (1, "bound"): lambda horizon: theory.theorem_1(horizon, EPSILON, best, arms),
        (1, "premise"): lambda horizon: theory.theorem_1_premise(horizon, EPSILON, arms),
        (1, "mended bound"): lambda horizon: theory.theorem_1(
            horizon, EPSILON, best, arms, is_mended=True
        ),
        (1, "mended premise"): lambda horizon: theory.theorem_1_premise(
            horizon, EPSILON, arms, is_mended=True
        ),
        (1, "best_mean"): lambda _: best,
        (3, "bound"): lambda horizon: theory.theorem_3(horizon, EPSILON, best, arms),
        (3, "premise"): lambda horizon: theory.theorem_3_premise(horizon, EPSILON, arms),
        (3, "best_mean"): lambda _: best,
    }
    for (theorem, name), quantity in quantities.items():
        tags = {"theorem": theorem, "quantity": name}
        values = [quantity(horizon) for horizon in HORIZONS]
        yield curve(f"Theorem {theorem}, {name}", tags, HORIZONS, values)
    first = theory.first_informative_horizon(EPSILON, best, arms)
    tags = {"theorem": 1, "quantity": "first_informative"}
    yield curve("Theorem 1, first informative", tags, [first], [best])


def bound_terms() -> pd.DataFrame:
    """Return the privacy term over the other one in the order of Theorem 1, fifty arms (C18, C20).

    Tags: quantity, horizon. ``ratio``: x epsilon, y the ratio at that horizon; ``balance``: x T, y
    the epsilon of Remark 2, sqrt(k/T) L^1.5; ``ratio-at-balance``: x T, y the ratio at it.
    """
    return joined(_bound_terms())


def _bound_terms() -> Iterator[pd.DataFrame]:
    arms = len(drawn_means())
    for horizon in HORIZONS:
        ratios = [theory.term_ratio(horizon, epsilon, arms) for epsilon in EPSILONS]
        tags = {"quantity": "ratio", "horizon": horizon}
        yield curve(f"ratio, T={horizon:.0e}", tags, EPSILONS, ratios)
        balance = theory.balancing_epsilon(horizon, arms)
        at_balance = theory.term_ratio(horizon, balance, arms)
        for name, value in (("balance", balance), ("ratio-at-balance", at_balance)):
            tags = {"quantity": name, "horizon": horizon}
            yield curve(f"{name}, T={horizon:.0e}", tags, [horizon], [value])


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "phase-one-start": phase_one_start,
    "first-horizons": first_horizons,
    "phase-one": phase_one,
    "composed-loss": composed_loss,
    "privacy-witnesses": privacy_witnesses,
    "noise-scales": noise_scales,
    "bounds": bounds,
    "bound-terms": bound_terms,
    "index-plays": index_plays,
}
"""Exact results by name, as the experiments file lists them."""
