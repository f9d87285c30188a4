"""Why something is stale: the key of the config, the source or the result that moved.

The provenance of a file has the fingerprints that decide whether it is current (results have
theirs in their own file, too), and hashes of all pieces that it was made of. Of older files without
these it is only known that something moved.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.engine.identity import SOURCES, sources_of
from dpbandits.engine.provenance import read_provenance
from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.pipeline.targets import Target

MADE_OF = "made_of"
"""Key of the provenance."""

NAMED = 3
"""Most changes that a message lists."""


def made_of(target: "Target") -> dict[str, str]:
    """Return the pieces of a target: key of the config, source or result -> a short hash."""
    parts = {name: _hash(str(value)) for name, value in _keys("", target.entry())}
    for path in sources_of(*target.sources):
        parts[f"src/dpbandits/{path.as_posix()}"] = _hash(SOURCES[path].decode())
    read = {name: digest for name, digest in target.depends_on.items() if name != target.own_key}
    return parts | {f"result {name}": digest[:8] for name, digest in read.items()}


def _keys(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Yield every key of an entry by its full name, lists by the numbers of their entries."""
    if isinstance(value, list | tuple):
        value = {str(number): each for number, each in enumerate(value)}
    if not isinstance(value, Mapping) or not value:
        yield name, json.dumps(value, sort_keys=True, default=str)
        return
    for key, each in value.items():
        yield from _keys(f"{name}.{key}" if name else str(key), each)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def why_stale(target: "Target") -> str:
    """Return what moved since a file was made, in words."""
    try:
        record = read_provenance(target.provenance)
    except InputError:
        return "nothing says what it was made of"
    before, now = record.get(MADE_OF), made_of(target)
    if not isinstance(before, Mapping):
        known = record.get("depends_on")
        before = known if isinstance(known, Mapping) else {}
        moved = [name for name, digest in target.depends_on.items() if before.get(name) != digest]
        named = [
            f"result {name}" if name != target.own_key else "its entry, or a source that makes it,"
            for name in moved
        ]
    else:
        named = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    if not named:
        return "its files differ from what was written"
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{', '.join(named[:NAMED])}{more} moved"


def not_current(target: "Target", path: Path, *, exists: bool) -> InputError:
    """Return the error of a file that is missing or stale, with the command that builds it."""
    what = f"is stale: {why_stale(target)}" if exists else "does not exist"
    return InputError(f"{path}: {what}; run {target.advice()}")


def lines_on(stale: Iterable["Target"]) -> list[str]:
    """Return why some targets are stale, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for target in stale:
        reasons.setdefault(why_stale(target), []).append(f"{target.paper}/{target.name}")
    return [f"stale: {_named(names)}: {why}" for why, names in reasons.items()]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
