"""Keyed random streams: run i of a cell draws from a stream named by what it simulates.

The key holds the algorithm, its parameters, variant and interpretations, the bandit and the
horizon, never what is recorded, how runs are cut into blocks, or which sources computed it.
"""

from typing import Any

import numpy as np

from dpbandits.engine.canonical import digest_of

DEFAULT_ROOT_SEED = 20260719


def stream_key(description: Any) -> int:
    """Return the first 128 bits of the sha256 of a canonical description."""
    return int(digest_of(description)[:32], 16)


def run_generator(root_seed: int, key: int, run: int) -> np.random.Generator:
    """Return the PCG64 generator of one run (``run`` >= 0) of the stream ``key``."""
    sequence = np.random.SeedSequence(root_seed, spawn_key=(key, run))
    return np.random.Generator(np.random.PCG64(sequence))
