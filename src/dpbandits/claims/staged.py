"""Verdicts in stages: an interim analysis is simulated where the one before decided nothing."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from dpbandits.claims.evidence import Evidence, LackingRunsError

Verdicts = TypeVar("Verdicts")

Needed = Mapping[str, Mapping[str, int]]
"""Simulation -> series -> how many runs of it are needed, the first ones."""


def in_stages(
    rows: Sequence[Callable[[], Verdicts]], evidence: Evidence, simulate: Callable[[Needed], None]
) -> list[Verdicts]:
    """Return what every row comes to, its runs simulated as it asks for them.

    All rows that lack runs are simulated at once, so that the simulation can be shared by many
    processes; rows that lack none are judged once.

    Args:
        rows: each judges one row from the evidence, by functions that raise ``LackingRunsError``.
        evidence: what they judge.
        simulate: adds runs to what the evidence loads.
    """
    found: dict[int, Verdicts] = {}
    while len(found) < len(rows):
        evidence.lacking.clear()
        for index in range(len(rows)):
            if index not in found:
                with suppress(LackingRunsError):
                    found[index] = rows[index]()
        needed = _needed(evidence)
        if needed:
            simulate(needed)
            evidence.load_again(needed)
    return [found[index] for index in range(len(rows))]


def _needed(evidence: Evidence) -> dict[str, dict[str, int]]:
    needed: dict[str, dict[str, int]] = {}
    for simulation, series, runs in evidence.lacking:
        of_simulation = needed.setdefault(simulation, {})
        of_simulation[series] = max(runs, of_simulation.get(series, 0))
    return needed
