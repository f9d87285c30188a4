"""Gaussian Thompson sampling from the papers, apart from the kernels: draws, chances, decisions.

Arm i after n pulls draws theta_i ~ N(centre_i(n), variance(n)); the largest draw is pulled.

Gaussian differential privacy bounds events of any size: the transcript in which arm 1 is abandoned
after its first or forced pulls has a loss that adds up over all later rounds, while its chance
falls exponentially in T. Lemma 3 and Theorems 6 and 7 of ts-is-dp are on one decision between two
arms; more arms may have so many pulls and so low means that they never win. Outputs are also
simulated with their exact likelihood ratios, for more arms or rounds than the lattices reach. A
threshold on the ratio is an event like any other: its counts are binomial.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.auditing.events import MU, Event, Measure, Values, clopper_pearson
from dpbandits.auditing.inputs import Pair, constant, hold
from dpbandits.auditing.rows import AuditRow, exact_row
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.kernels import njit

LEVEL = 0.05
"""Chance that the bound of simulated outputs is wrong."""

_OUTER = np.array([12.0, 16.0, 24.0, 37.0])
_BREAKS = np.concatenate([-_OUTER, np.arange(-9.0, 9.1, 1.5), _OUTER])
"""Where the line is cut, in deviations from every centre."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)

ABANDONED = constant(1.0, 0.0)
"""Arm 1 always pays 1 and arm 2 always 0; in x, the first reward of arm 1 is 0."""

PULLS, OTHER_PULLS = (1, 2, 3, 5, 10), (1, 2, 5, 10, 100, 1_000, 10_000)
"""Pulls of the arm with the changed reward before a decision, and of the other arm."""

FAR = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)  # T of the abandoned arm

_TRIED = np.concatenate([np.geomspace(0.002, 0.1, 8), np.linspace(0.15, 0.9, 12), [0.95, 0.99]])
"""Quantiles of the first half at which thresholds on the ratio are tried."""

SAMPLED_ZETA = 1.5  # distance of arm 1 in the tables of the simulated outputs


@dataclass(frozen=True)
class Sampler:
    """Gaussian Thompson sampling up to a round."""

    rounds: int
    forced_pulls: int  # of every arm, before any draw
    variance_factor: float  # over the count of rewards
    prior_count: int  # that the count has beside
    batches: bool = False  # whether the centre is the mean of the last full batch of 1, 2, 4, ...

    @property
    def counts(self) -> NDArray[np.int64]:
        """The rewards in a centre by the number of pulls, and one more by a prior count."""
        pulls = np.arange(self.rounds + 1)
        return batch_sizes(pulls) if self.batches else pulls + self.prior_count

    def variances(self) -> Values:
        """Return the variance by the number of pulls, shape (rounds + 1,); infinite at count 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.variance_factor / self.counts)

    def centres(self, rewards: Values) -> Values:
        """Return the centre by the number of pulls, shape (..., rounds + 1); 0 if undefined."""
        sums = np.zeros((*rewards.shape[:-1], self.rounds + 1))
        np.cumsum(rewards[..., : self.rounds], axis=-1, out=sums[..., 1:])
        counts = self.counts
        if self.batches:
            # Full batches of 1, 2, ..., size hold 2 size - 1 rewards.
            sums = sums[..., np.maximum(2 * counts - 1, 0)] - sums[..., np.maximum(counts - 1, 0)]
        return np.asarray(sums / np.maximum(counts, 1))


def batch_sizes(pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the size of the last full batch of 1, 2, 4, ... pulls; 0 before the first pull."""
    return np.asarray((2 ** np.floor(np.log2(pulls + 1.0))).astype(np.int64) // 2)


def ts_gaussian(horizon: int, count: str = "n+1") -> Sampler:
    """Return TS-Gaussian (ts-is-dp, Algorithm 1; in the ``n`` interpretation, dp-ts-ucb)."""
    return modified_ts(0, 1.0, horizon, count)


def modified_ts(b: int, c: float, horizon: int, count: str = "n+1") -> Sampler:
    """Return M-TS-Gaussian (ts-is-dp, Algorithm 2); by ``n``, an arm is pulled before it draws."""
    prior_count = 1 if count == "n+1" else 0
    return Sampler(horizon, max(b, 1 - prior_count), c, prior_count)


def dp_ts_ucb(alpha: float, horizon: int, arms: int = 2) -> Sampler:
    """Return DP-TS-UCB (dp-ts-ucb, Algorithm 1) while all arms still draw.

    Each arm has floor(phi) draws before its first renewal, one a round from round K + 1 on. Up to
    round K + floor(phi) the output is that of Thompson sampling on batch means; an output cut
    there is a function of the whole output, so that its loss is a lower bound for the whole.
    """
    rounds = min(horizon, arms + math.floor(privacy.dp_ts_ucb_budget(alpha, horizon)))
    return Sampler(rounds, 1, math.log(horizon) ** alpha, 0, batches=True)


@njit
def log_ndtr_of_one(x: float) -> float:
    """Return the log of the standard normal distribution function."""
    if x > 5.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > -37.0:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    # The first terms of the asymptotic series; the next one is below 1e-9 of it.
    y = 1.0 / (x * x)
    series = math.log1p(-y * (1.0 - 3.0 * y * (1.0 - 5.0 * y)))
    return -0.5 * x * x - math.log(-x) - 0.5 * math.log(2.0 * math.pi) + series


@njit
def log_chance(arm: int, centres: Values, deviations: Values) -> float:
    """Return the log chance that the draw of one arm exceeds those of all others.

    With two arms, the log of Phi. With more, the integral of f_a(u) prod_j Phi((u - m_j)/s_j) by
    Gauss and Legendre between breaks that are close in units of every deviation. The integrand is
    log-concave: its largest value is next to the break with the largest one, and what is below
    exp(-40) of it is left out. Relative error below 1e-9 for chances above 1e-30.
    """
    arms = centres.size
    if arms == 2:
        spread = math.sqrt(deviations[0] ** 2 + deviations[1] ** 2)
        return float(log_ndtr_of_one((centres[arm] - centres[1 - arm]) / spread))
    breaks = np.empty(arms * _BREAKS.size)
    for i in range(arms):
        for j in range(_BREAKS.size):
            breaks[i * _BREAKS.size + j] = centres[i] + deviations[i] * _BREAKS[j]
    breaks.sort()
    heights = np.empty(breaks.size)
    for j in range(breaks.size):
        heights[j] = _log_integrand(breaks[j], arm, centres, deviations)
    top = heights.argmax()
    total = 0.0
    for j in range(breaks.size - 1):
        near = top - 1 <= j <= top
        if near or max(heights[j], heights[j + 1]) > heights[top] - 40.0:
            half = 0.5 * (breaks[j + 1] - breaks[j])
            middle = 0.5 * (breaks[j + 1] + breaks[j])
            part = 0.0
            for node in range(_NODES.size):
                u = middle + half * _NODES[node]
                height = _log_integrand(u, arm, centres, deviations)
                part += _WEIGHTS[node] * math.exp(height - heights[top])
            total += half * part
    return float(heights[top] + math.log(total))


@njit
def _log_integrand(u, arm, centres, deviations):
    """Return the log density of the arm's draw at u times the chance that others are below."""
    x = (u - centres[arm]) / deviations[arm]
    value = -0.5 * x * x - math.log(deviations[arm]) - 0.5 * math.log(2.0 * math.pi)
    for other in range(centres.size):
        if other != arm:
            value += log_ndtr_of_one((u - centres[other]) / deviations[other])
    return value


def choice_chances(centres: Values, deviations: Values) -> Values:
    """Return the log chance of every arm, shape (K,)."""
    return np.array([log_chance(arm, centres, deviations) for arm in range(centres.size)])


def abandoned_arm(sampler: Sampler) -> Event:
    """Return the transcript on ``ABANDONED`` in which arm 1 is not pulled after its forced pulls.

    Without these it is pulled once, in round 1, which has the chance 1/2 under both inputs.
    """
    forced, rounds = sampler.forced_pulls, sampler.rounds
    # A horizon shorter than the forced pulls has no decision, and no loss.
    first = min(max(forced, 1), rounds)
    others = np.arange(forced, rounds - first)
    centres, variances = sampler.centres(ABANDONED.tables(rounds)), sampler.variances()
    spread = np.sqrt(variances[first] + variances[others])
    scores = (centres[:, 1, others] - centres[:, 0, first, None]) / spread
    log_p, log_q = map(float, log_ndtr(scores).sum(axis=1))
    begin = f"each arm {forced} times" if forced else "arm 1 in round 1"
    words = f"{begin}, then arm 2 in all rounds up to {rounds}"
    return Event(words, log_p, log_q, 0.0 if forced else math.log(0.5))


def score_shift(pulls: int, others: int) -> float:
    """Return by how much one changed reward moves the score of a decision at most.

    It is the mu of that decision, exactly: 1/(n_1 + 1) over sqrt(1/(n_1 + 1) + 1/(n_2 + 1)), below
    1/sqrt(n_1 + 1) (ts-is-dp, Lemma 3), and 0 before the arm's first pull.
    """
    if pulls == 0:
        return 0.0
    return 1.0 / (pulls + 1) / math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))


def decision(pulls: int, others: int, chosen: int, score: float) -> Event:
    """Return the decision for an arm that has this score under the less likely input."""
    unlikely, likely = map(float, log_ndtr([score, score + score_shift(pulls, others)]))
    words = f"the decision is arm {chosen}, its score under the less likely input being {score:.6g}"
    logs = (unlikely, likely) if chosen == 1 else (likely, unlikely)
    return Event(words, *logs, place=(pulls, others))


def worst_decision(epsilon: float) -> Event:
    """Return the decision that needs the largest delta at epsilon, rewards being in [0, 1]."""
    decisions = []
    for pulls, others, chosen in itertools.product(PULLS, OTHER_PULLS, (1, 2)):
        shift = score_shift(pulls, others)
        # Under the less likely input the chosen arm may have seen zeros and its rival ones; no
        # rewards give a lower score.
        rival = others / (others + 1) if chosen == 1 else pulls / (pulls + 1)
        lowest = -rival / math.sqrt(1.0 / (pulls + 1) + 1.0 / (others + 1))
        score = max(-epsilon / shift - shift / 2.0, lowest)
        decisions.append(decision(pulls, others, chosen, score))
    return max(decisions, key=lambda event: event.delta(epsilon))


def simulate(
    sampler: Sampler, pair: Pair, runs: int, generator: np.random.Generator, *, second: bool
) -> Values:
    """Return the log-likelihood ratio ln(Q(h)/P(h)) of outputs under x, or under x'."""
    centres = sampler.centres(pair.tables(sampler.rounds))
    laws = centres, np.sqrt(sampler.variances())
    played = _simulate(sampler.rounds, sampler.forced_pulls, *laws, runs, generator, int(second))
    return np.asarray(played)


@njit
def _simulate(rounds, forced_pulls, centres, deviations, runs, generator, played):
    """Play with the centres of one input; return the log ratio of the chances under both."""
    arms = centres.shape[1]
    ratios = np.zeros(runs)
    now, spread = np.empty((2, arms)), np.empty(arms)
    for run in range(runs):
        pulls = np.full(arms, forced_pulls)
        for _ in range(arms * forced_pulls, rounds):
            chosen, largest = 0, -math.inf
            for arm in range(arms):
                spread[arm] = deviations[pulls[arm]]
                for law in range(2):
                    now[law, arm] = centres[law, arm, pulls[arm]]
                theta = now[played, arm] + spread[arm] * generator.standard_normal()
                if theta > largest:
                    chosen, largest = arm, theta
            if (now[0] != now[1]).any():
                before = log_chance(chosen, now[0], spread)
                ratios[run] += log_chance(chosen, now[1], spread) - before
            pulls[chosen] += 1
    return ratios


def simulated_threshold(under_p: Values, under_q: Values) -> tuple[float, ...]:
    """Return tau, ln of bounds on P(ratio >= tau) from above and on Q of it from below, and runs.

    The threshold is chosen on the first halves, by bounds that hold for all thresholds at once, so
    that no lucky tail wins. The ratio is only a statistic: the bounds are valid whatever it is. Q,
    of ``under_q``, makes the event more likely.
    """
    half = under_p.size // 2

    def hits(part: slice, tau: float) -> tuple[int, int]:
        return int((under_q[part] >= tau).sum()), int((under_p[part] >= tau).sum())

    first, second = slice(None, half), slice(half, None)
    tried = np.unique(np.quantile(np.concatenate([under_p[first], under_q[first]]), _TRIED))
    strict = LEVEL / tried.size
    tau = float(max(tried, key=lambda x: MU.bound(*hits(first, x), half, strict)))
    runs = under_p[second].size
    more, less = hits(second, tau)
    low, high = clopper_pearson(more, runs, LEVEL)[0], clopper_pearson(less, runs, LEVEL)[1]
    return tau, math.log(high), math.log(low) if low else -math.inf, runs


def decision_rows(
    deltas: Sequence[float] = (0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6),
) -> Iterator[AuditRow]:
    """Yield AUD-1 and AUD-5: one decision, by Lemma 3 and by Theorem 7 of ts-is-dp."""
    for pulls in PULLS:
        others = OTHER_PULLS[-1]
        yield _decision_row(
            decision(pulls, others, 1, -score_shift(pulls, others) / 2.0),
            measure=MU,
            statement="AUD-1",
            parameters=f"n1={pulls}, n2={others}",
            claimed=privacy.ts_round_gdp(),
        )
    for delta in deltas:
        epsilon = privacy.ts_round_epsilon(delta, 2)
        yield _decision_row(
            worst_decision(epsilon),
            measure=Measure("delta", epsilon=epsilon),
            statement="AUD-5",
            parameters=f"epsilon={epsilon:.6g}, delta={delta:g}",
            claimed=delta,
        )


def _decision_row(event: Event, **about: Any) -> AuditRow:
    pulls, others = map(int, event.place)
    pair = (
        f"before the decision arm 1 was pulled {pulls} times and arm 2 {others} times; one reward "
        "of arm 1 is 0 in x, 1 in x'"
    )
    about |= {"algorithm": "ts-gaussian", "notion": "round", "engine": "likelihood"}
    return exact_row(event, pair, horizon=pulls + others + 1, **about)


def theorem_3(horizon: int, arms: int = 2) -> dict[str, Any]:
    """Return fields of a row on AUD-2: T rounds are sqrt(T/2)-GDP."""
    return {
        "statement": "AUD-2",
        "algorithm": "ts-gaussian",
        "arms": arms,
        "horizon": horizon,
        "claimed": privacy.ts_gaussian_gdp(horizon),
    }


def lemma_5(b: int, c: float, horizon: int) -> dict[str, Any]:
    """Return fields of a row on AUD-3: Modified TS is sqrt(T/(c(b+1)))-GDP."""
    return {
        "statement": "AUD-3",
        "algorithm": "m-ts-gaussian",
        "horizon": horizon,
        "parameters": f"b={b}, c={c:.10g}",
        "claimed": privacy.modified_ts_gdp(b, c, horizon),
    }


def abandoned_row(sampler: Sampler, **about: Any) -> AuditRow:
    """Return the bound on mu from the transcript in which arm 1 is abandoned."""
    event, words = abandoned_arm(sampler), ABANDONED.words
    return exact_row(event, words, measure=MU, engine="exact sequence", **about)


def far_rows(far: Sequence[int] = FAR, count: str = "n+1", **about: Any) -> Iterator[AuditRow]:
    """Yield AUD-2 by the abandoned arm."""
    for horizon in far:
        yield abandoned_row(ts_gaussian(horizon, count), **theorem_3(horizon) | about)


def sampled_rows(
    sampled: Sequence[tuple[int, int, int]] = (
        (2, 100, 200_000),
        (3, 100, 3_000),
        (5, 50, 2_000),
    ),
    seed: int = DEFAULT_ROOT_SEED,
) -> Iterator[AuditRow]:
    """Yield AUD-2 by counts of simulated outputs: K, T and runs under either input."""
    for arms, horizon, runs in sampled:
        pair, ratios = hold(SAMPLED_ZETA, horizon, arms=arms), []
        for second in (False, True):
            law = "x'" if second else "x"
            key = stream_key(["audit", "gaussian", arms, horizon, runs, law])
            generator = run_generator(seed, key, 0)
            ratios.append(simulate(ts_gaussian(horizon), pair, runs, generator, second=second))
        # The event that shows most is rare under x' and less so under x: arm 1 is avoided.
        tau, log_q, log_p, certifying = simulated_threshold(-ratios[1], -ratios[0])
        yield exact_row(
            Event(f"ln(P/Q) of the arm sequence is at least {tau:.6g}", log_p, log_q),
            pair.words,
            measure=MU,
            engine="likelihood",
            confidence=1.0 - LEVEL,
            runs=int(certifying),
            seed=seed,
            **theorem_3(horizon, arms),
        )


def quoted_rows(far: Sequence[int] = FAR, horizon: int = 1_000_000) -> Iterator[AuditRow]:
    """Yield AUD-6: the bounds of ts-is-dp on TS-Gaussian and M-TS-Gaussian as dp-ts-ucb has them.

    Its Section 3 and Table 1 quote the bounds, and write centre and variance over n pulls.
    """
    about = {"statement": "AUD-6", "interpretation": "count=n"}
    yield from far_rows(far, "n", **about)
    figure_4 = [(0, 5.0 * math.log(horizon) ** alpha) for alpha in (0.0, 0.25, 0.5, 0.75, 1.0)]
    # c makes the privacy equal to that of DP-TS-UCB.
    pre_pulls = (0, 1, 500, 1_000, 2_000, 5_000, 100_000)
    figures_5_and_6 = [
        (b, privacy.equal_privacy_c(alpha, b, horizon)) for alpha in (0.0, 1.0) for b in pre_pulls
    ]
    for b, c in figure_4 + figures_5_and_6:
        yield abandoned_row(modified_ts(b, c, horizon, "n"), **lemma_5(b, c, horizon) | about)
