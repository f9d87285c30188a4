"""Audit of any mechanism that is a function: what it releases, and how much that shows.

It is the black box of ``dpbandits.audit`` without a bandit: the first half of the runs chooses an
event, the second half certifies a bound.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.auditing.blackbox import Budget, Mechanism, certify
from dpbandits.auditing.events import Measure
from dpbandits.auditing.mechanisms import Outputs
from dpbandits.auditing.statistics import (
    Candidates,
    Runs,
    column,
    column_score,
    of_sequences,
    of_statistic,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.errors import InputError, user_code

PLACE = "audit_mechanism"

Sample = Callable[[Any, np.random.Generator, int], ArrayLike]
"""(input, generator, n) -> n outputs, shape (n,) or (n, columns)."""


@dataclass(frozen=True)
class MechanismAudit:
    """A certified lower bound on the privacy loss of a mechanism.

    Attributes:
        lower: epsilon is at least this; 0 where nothing is shown.
        claimed: the epsilon that is claimed.
        delta: at which both are.
        confidence: chance that the bound is correct, at least.
        event: outputs that show the loss, in words.
        more_likely: the input that makes the event more likely, ``x`` or ``x'``.
        share: shares of certifying runs in the event, under x and under x'.
        runs: certifying runs of each input.
        tried: events and directions that were tried, on other runs.
        ceiling: the largest bound that so many runs can certify.
        p_value: smallest level at which the bound exceeds the claim, for a family of audits.
    """

    lower: float
    claimed: float
    delta: float
    confidence: float
    event: str
    more_likely: str
    share: tuple[float, float]
    runs: int
    tried: int
    ceiling: float
    p_value: float

    @property
    def verdict(self) -> str:
        """``fails`` where the bound exceeds the claim, else ``not contradicted``."""
        return "fails" if self.lower > self.claimed else "not contradicted"

    def __str__(self) -> str:
        """Return all of it in a few lines."""
        at = f" at delta = {self.delta:g}" if self.delta else ""
        return (
            f"epsilon >= {self.lower:.6g}{at} with confidence {self.confidence:g}; "
            f"claimed: {self.claimed:g}; verdict: {self.verdict}\n"
            f"event, more likely under {self.more_likely}: {self.event}\n"
            f"shares of runs: {self.share[0]:.6g} under x, {self.share[1]:.6g} under x'\n"
            f"tried: {self.tried} events; {self.runs} runs of each input certify "
            f"{self.ceiling:.6g} at most"
        )


def audit_mechanism(
    sample: Sample,
    x: Any,
    x_prime: Any,
    *,
    claim: float,
    delta: float = 0.0,
    runs: int = 100_000,
    level: float = 0.05,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    names: Sequence[str] = (),
) -> MechanismAudit:
    """Return a certified lower bound on the epsilon of any function that releases numbers.

    Events are thresholds on each column of the outputs and, where there are several, on a score
    fitted to some of the runs; of whole numbers from 0 on also sets of outputs. Half of the runs
    choose one event, the other half certify it. A bound below the claim proves nothing.

    Args:
        sample: ``sample(input, rng, n)`` returns n independent outputs as an array of shape (n,)
            or (n, columns), drawn from the ``numpy.random.Generator`` alone.
        x: an input, handed to ``sample`` as it is.
        x_prime: its neighbour.
        claim: the epsilon that is claimed, at least 0.
        delta: at which it is claimed; 0 for pure differential privacy.
        runs: outputs of each input, at least 8.
        level: probability that the bound is wrong, at most.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
        names: of the columns, in the words of events.

    Raises:
        InputError: an argument is not allowed, or ``sample`` fails or returns no such array.

    Example:
        >>> import dpbandits
        >>> def laplace(total, rng, n):
        ...     return total + rng.laplace(scale=1.0, size=n)
        >>> found = dpbandits.audit_mechanism(laplace, 0.0, 1.0, claim=0.5, runs=20_000)
        >>> found.verdict, found.lower < 1.0
        ('fails', True)
    """
    if not callable(sample):
        raise InputError(f"{PLACE}: sample is {sample!r}; allowed: a function")
    for name, value, most in (("claim", claim, math.inf), ("delta", delta, 1.0)):
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value <= most:
            raise InputError(f"{PLACE}: {name} is {value!r}; allowed: 0 to {most:g}")
    budget = Budget(runs, level, seed, workers)
    inputs = (x, x_prime)

    def play(second: bool, rng: np.random.Generator, n: int) -> Outputs:
        with user_code(PLACE, "sample"):
            outputs = np.asarray(sample(inputs[second], rng, n))
        return _checked(outputs, n)

    def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
        columns = fitting.x.shape[1]
        labels = list(names) or [f"output {number + 1}" for number in range(columns)]
        if len(labels) != columns:
            raise InputError(f"{PLACE}: names are {labels}; allowed: {columns}, one a column")
        for number, words in enumerate(labels):
            yield of_statistic(column(number, words), ranking)
        score = column_score(labels, fitting) if columns > 1 else None
        if score is not None:
            yield of_statistic(score, ranking)
        parts = (fitting.x, fitting.other, ranking.x, ranking.other)
        if all(part.dtype.kind in "iu" and part.min() >= 0 for part in parts):
            yield from of_sequences(columns, ", ".join(labels), str, fitting, ranking)

    measure = Measure("epsilon", delta=float(delta))
    found = certify(Mechanism(play, propose, "a function"), measure, budget)
    return MechanismAudit(
        lower=found.lower,
        claimed=float(claim),
        delta=float(delta),
        confidence=1.0 - level,
        event=found.event,
        more_likely="x'" if found.second else "x",
        share=found.share,
        runs=found.runs,
        tried=found.tried,
        ceiling=found.ceiling,
        p_value=found.p_value(float(claim)),
    )


def _checked(outputs: Outputs, n: int) -> Outputs:
    """Return outputs with one row each; InputError unless they are n rows of numbers."""
    if outputs.dtype.kind == "b":
        outputs = outputs.astype(np.int64)
    is_table = outputs.ndim in (1, 2) and len(outputs) == n and outputs.size > 0
    if not is_table or outputs.dtype.kind not in "iuf" or np.isnan(outputs).any():
        raise InputError(
            f"{PLACE}: sample returns {outputs.dtype} of shape {outputs.shape} for n = {n}; "
            f"allowed: numbers of shape ({n},) or ({n}, columns)"
        )
    return outputs[:, None] if outputs.ndim == 1 else outputs
