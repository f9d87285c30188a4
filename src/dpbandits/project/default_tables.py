"""Tables that every paper has: the verdicts on its claims."""

from collections.abc import Mapping
from typing import Any

DEFAULT_TABLES: Mapping[str, Mapping[str, Any]] = {
    "claims": {
        "caption": (
            "The statements of the paper as claims, and our verdicts, each computed from simulated "
            "or exactly computed results."
        ),
        "reads": "claims",
        "long": True,
        "columns": [
            {"name": "claim", "label": "Claim"},
            {"name": "statement", "label": "Statement", "width": 62},
            {"name": "choice", "label": "Interpretation", "width": 42},
            {"name": "verdict", "label": "Verdict"},
            {"name": "interval", "label": "Estimate [interval]", "align": "right"},
            {"name": "runs", "label": "Runs", "align": "right"},
            {"name": "scale", "label": "Scale"},
            {"name": "verdict_at_paper_runs", "label": "At the paper's runs", "width": 23},
        ],
    },
}
"""Name -> entry of ``tables:``."""


def with_default_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a paper, and after them those that it leaves to the defaults.

    Args:
        tables: entries by name; one of a default's name takes from it the keys that it has not.
    """
    return {**{name: _filled(name, entry) for name, entry in tables.items()}, **_left(tables)}


def _filled(name: str, entry: Any) -> Any:
    """Return an entry with the keys of the default of its name; what is no entry as it is."""
    return {**DEFAULT_TABLES.get(name, {}), **entry} if isinstance(entry, Mapping) else entry


def _left(tables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(entry) for name, entry in DEFAULT_TABLES.items() if name not in tables}
