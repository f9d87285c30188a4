"""Small runs, and names of random streams, of all that decides a published number, as digests.

``tests/golden/values.txt`` has the values of each case. This file, run as a program, writes them
anew; that belongs in a commit which says why numbers move.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

import dpbandits
from dpbandits.algorithms import IDENTIFICATION, REGRET, Algorithm, Definition
from dpbandits.bandits import Bandit, ClippedExponential, LinearBandit, Uniform
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from support import (
    FAMILIES,
    FIVE_ARMS,
    TOLERANCE,
    kernel_decisions,
    mostly_slow,
    single_interpretations,
    variant_interpretations,
)

Values = dict[str, str | float]
"""Name of a value -> a digest, or a number that is equal up to ``TOLERANCE``."""

FILE = Path(__file__).parent / "values.txt"

HORIZON, BUFFER = 20_000, 700
BUDGET, TRIALS = 3_000, 100
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1, 2, 5, 10])
BANDITS = {"five": FIVE_ARMS, "exponential": EXPONENTIAL_ARMS}

ANGLES = np.linspace(0.0, math.pi / 2, 9)
LINEAR = {
    "corner": dpbandits.linear([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]], [0.045, 0.5]),
    "circle": dpbandits.linear(
        np.stack([np.cos(ANGLES), np.sin(ANGLES), ANGLES % 0.5], axis=1),
        [0.5, 0.3, 0.2],
        "bernoulli",
    ),
}


def digest(*parts: Any) -> str:
    """Return 16 digits of the hash of arrays of whole numbers, and of whatever has a text."""
    whole = hashlib.sha256()
    for part in parts:
        is_array = isinstance(part, np.ndarray)
        whole.update(part.astype("<i8").tobytes() if is_array else str(part).encode())
    return whole.hexdigest()[:16]


def checksum(values: ArrayLike) -> float:
    """Return a sum of the values in which each has a weight of its own."""
    flat = np.ravel(np.asarray(values, np.float64))
    return math.fsum(flat * np.sqrt(np.arange(1, flat.size + 1)))


def cell_of(definition: Definition, bandit: Bandit, interpretations: dict[str, str]) -> Cell:
    """Return a cell of the algorithm's example; where arms are exponential, nearly free of noise.

    With the noise of the example some algorithms explore to the end.
    """
    parameters = dict(definition.example)
    if "epsilon" in parameters and bandit is EXPONENTIAL_ARMS:
        parameters["epsilon"] = 20.0
    return make_cell(
        algorithm=definition.id,
        parameters=parameters,
        interpretations=interpretations,
        bandit=bandit,
        horizon=BUDGET if isinstance(bandit, LinearBandit) else HORIZON,
    )


def decisions(algorithm: Algorithm, bandit: Bandit, interpretations: dict[str, str]) -> Values:
    """Play one run, and say what names its stream, what it did and where it left its generator."""
    cell = cell_of(algorithm, bandit, interpretations)
    key = stream_key(cell.stream_description)
    generator = run_generator(DEFAULT_ROOT_SEED, key, 0)
    played = kernel_decisions(algorithm, cell.settings, bandit, generator, BUFFER)
    arms, lengths, sums = (np.array(column) for column in zip(*played, strict=True))
    return {
        "stream": f"{key:032x}"[:16],
        "segments": digest(arms, lengths),
        "rewards": checksum(sums),
        "generator": digest(generator.bit_generator.state),
    }


def trials(name: str, bandit: LinearBandit, interpretations: dict[str, str]) -> Values:
    """Play a batch of trials of an algorithm that names the best arm."""
    cell = cell_of(IDENTIFICATION[name], bandit, interpretations)
    key = stream_key(cell.stream_description)
    generator = run_generator(DEFAULT_ROOT_SEED, key, 0)
    outcome = IDENTIFICATION[name].play(cell.settings, generator, TRIALS)
    return {
        "stream": f"{key:032x}"[:16],
        "recommended": digest(outcome.recommended),
        "pulls": digest(outcome.pulls),
        "generator": digest(generator.bit_generator.state),
    }


def frame_values(frame: Callable[[], pd.DataFrame]) -> Values:
    """Compute a tidy table, and return its texts and its numbers."""
    table = frame()
    return {
        "table": digest(table.drop(columns="value").to_csv(index=False, lineterminator="\n")),
        "values": checksum(table["value"]),
    }


TIMES = [1, 30, 499, 1500, 2000]
MIXED_ARMS = Bandit(
    (*FIVE_ARMS.arms[:2], *EXPONENTIAL_ARMS.arms[:2], ClippedExponential(8.0), Uniform(0.5))
)


def best_arms() -> pd.DataFrame:
    """Return what trials recommend, over more than one batch."""
    return dpbandits.identify(
        algorithm="dp-bai", bandit=LINEAR["circle"], budget=500, runs=1200, epsilon=0.5, cache=False
    ).frame()


def compared() -> pd.DataFrame:
    """Return the pseudo-regrets of three algorithms."""
    names: list[Any] = ["dp-se", {"algorithm": "lazy-dp-ts", "params": {"epsilon": 0.3}}]
    told: Any = {"bandit": FIVE_ARMS, "horizon": 2000, "runs": 3, "epsilon": 2.0, "alpha": 0.3}
    return dpbandits.compare([*names, "dp-ts-ucb"], cache=False, **told).frame(at=TIMES)


def mixed_laws() -> pd.DataFrame:
    """Return both regrets of arms of several laws, from a seed of their own."""
    told: Any = {"params": {"b": 7, "c": 1.0}, "seed": 7, "runs": 12, "cache": False}
    result = dpbandits.simulate(algorithm="m-ts-gaussian", bandit=MIXED_ARMS, horizon=2000, **told)
    return result.frame(metric=["regret", "realised_regret"], at=TIMES)


FRAMES = {"best arms": best_arms, "compared": compared, "mixed laws": mixed_laws}


def named_interpretations(definition: Definition) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each variant, and then every other value of every interpretation by itself."""
    variants = variant_interpretations(definition)
    yield from variants.items()
    for changed in single_interpretations(definition):
        if definition.interpretations_from(changed) not in variants.values():
            [(key, value)] = changed.items()
            yield f"{key}={value}", changed


def cases() -> dict[str, Callable[[], Values]]:
    """Return all cases; algorithms are those of the registry, so that a new one has its own."""
    found: dict[str, Callable[[], Values]] = {}
    for name, algorithm in REGRET.items():
        for label, interpretations in named_interpretations(algorithm):
            for place, arms in BANDITS.items():
                found[f"decisions of {name}, {label}, {place}"] = partial(
                    decisions, algorithm, arms, interpretations
                )
                if algorithm.skip is not None:
                    skipping = replace(algorithm, advance=algorithm.skip)
                    found[f"skipping of {name}, {label}, {place}"] = partial(
                        decisions, skipping, arms, interpretations
                    )
    for name, identification in IDENTIFICATION.items():
        for label, interpretations in named_interpretations(identification):
            for place, bandit in LINEAR.items():
                found[f"trials of {name}, {label}, {place}"] = partial(
                    trials, name, bandit, interpretations
                )
    for name, frame in FRAMES.items():
        found[f"frame, {name}"] = partial(frame_values, frame)
    return dict(sorted(found.items()))


CASES = cases()
GOLDEN = {
    case: dict(word.split("=") for word in words.split())
    for case, words in (line.split(": ") for line in FILE.read_text(encoding="utf-8").splitlines())
}
"""Case -> name of a value -> its text."""
WRITTEN_BY = f"`make golden UPDATE=1` writes tests/golden/{FILE.name} anew"
PLAYED = sorted({case.partition(",")[0] for case in CASES})
"""What cases are of: an algorithm, frames."""
QUICK = [*(f"decisions of {name}" for name in FAMILIES), "trials of dp-bai", "frame"]


@pytest.mark.parametrize("played", mostly_slow(PLAYED, *QUICK))
def test_values_are_the_golden_ones(played: str) -> None:
    for case in (case for case in CASES if case.partition(",")[0] == played):
        if case not in GOLDEN:
            pytest.fail(f"{case}: has no golden values; {WRITTEN_BY}", pytrace=False)
        values, golden = CASES[case](), GOLDEN[case]
        expected = {
            name: text
            if isinstance(values.get(name, text), str)
            else pytest.approx(float(text), rel=TOLERANCE, abs=0.0)
            for name, text in golden.items()
        }
        assert values == expected, f"{case}: {WRITTEN_BY}"


def test_every_golden_value_has_a_case() -> None:
    assert GOLDEN.keys() <= CASES.keys(), WRITTEN_BY


def main() -> None:
    """Write the file anew."""
    lines = []
    for case, play in CASES.items():
        texts = {k: v if isinstance(v, str) else f"{v:.12g}" for k, v in play().items()}
        lines.append(f"{case}: {' '.join(f'{k}={text}' for k, text in texts.items())}\n")
    FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
