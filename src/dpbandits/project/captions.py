"""Captions: the horizon and the runs of what is shown, filled in from its simulations."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.engine.experiments import SimulationPlan

PLACEHOLDERS = ("{horizon}", "{runs}")
"""What a caption may leave to the simulations that its figure or table reads."""

LISTED = 3
"""So many different numbers are listed; of more, the smallest and the largest are given."""

Reads = Callable[[str, Mapping[str, Any]], Iterable[str]]
"""Returns the names of the results that an entry, given with its name, reads."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def with_caption(
    place: str,
    name: str,
    entry: Any,
    reads: Reads,
    plan_of: Callable[[str], "SimulationPlan | None"],
) -> Any:
    """Return the entry of a figure or table with the numbers of its caption filled in.

    Args:
        place: the entry's key, for messages.
        name: of the figure or table.
        entry: as it is in the file; what is no entry is returned as it is.
        reads: returns what it reads.
        plan_of: returns a simulation by its name; None for results that are not simulated.

    Raises:
        InputError: a placeholder is unknown, or stands for a number that nothing simulated has.
    """
    caption = entry.get("caption") if isinstance(entry, Mapping) else None
    if not isinstance(caption, str):
        return entry
    found = _PLACEHOLDER.findall(caption)
    if not found:
        return entry
    unknown = [placeholder for placeholder in found if placeholder not in PLACEHOLDERS]
    if unknown:
        allowed = ", ".join(PLACEHOLDERS)
        raise InputError(f"{place}.caption has {', '.join(unknown)}; allowed: {allowed}")
    plans = [plan for plan in map(plan_of, reads(name, entry)) if plan is not None]
    if not plans:
        raise InputError(f"{place}.caption has {found[0]}; allowed: none, no simulation is read")
    numbers = {
        "{horizon}": in_words(horizon for plan in plans for horizon in plan.horizons),
        "{runs}": in_words(plan.runs for plan in plans),
    }
    return {**entry, "caption": _PLACEHOLDER.sub(lambda found: numbers[found[0]], caption)}


def in_words(numbers: Iterable[int]) -> str:
    """Return different numbers, ascending: ``1,000``, ``10 and 20``, or ``100 to 6,400``."""
    texts = [f"{number:,}" for number in sorted(set(numbers))]
    if len(texts) > LISTED:
        return f"{texts[0]} to {texts[-1]}"
    return " and ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)
