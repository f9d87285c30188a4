"""Generated configs: valid ones drawn from the schema, and the checkout's own with one change.

A change puts junk, nothing, another value of the same document, or a number out of range in one
place, or adds, renames or drops a key there.
"""

import copy
import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml
from hypothesis import strategies as st

from fault_project import ROOT
from found_papers import PAPERS

Place = tuple[Any, ...]
CONFIG = "config/config.yaml"
# Those that are checked in a tenth of a second come more often than those that take a second.
OFTEN = dict.fromkeys(PAPERS, 1) | {"ts-is-dp": 8, "dp-ts-ucb": 8}

JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "..", "../..", "-1", "1e3", "nan", "\n", "a" * 300, "{0}", "%s", "Δ"]),
    st.just(datetime.date(2026, 1, 1)),
    st.lists(st.integers(-1, 3), max_size=3),
    st.dictionaries(st.sampled_from(["law", "first", "x"]), st.integers(0, 3), max_size=2),
)


@dataclass(frozen=True)
class Case:
    """A config to check.

    Attributes:
        path: the file that was generated.
        document: what it says.
        config: what config/config.yaml says.
        change: what was changed where.
    """

    path: str
    document: Any = field(repr=False)
    config: Any = field(repr=False)
    change: str = ""


@cache
def document_of(path: str) -> Any:
    """Return a document of the checkout."""
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a document but the top."""
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = dict(enumerate(value)).items()
    for key, inner in items:
        yield (*here, key)
        yield from places(inner, (*here, key))


@cache
def all_places(path: str) -> list[Place]:
    """Return the places of a document, those near the top more than once."""
    found = list(places(document_of(path)))
    return found + [each for each in found if len(each) < 3] * 3


def at(document: Any, place: Place) -> Any:
    """Return the value at a place."""
    for key in place:
        document = document[key]
    return document


def changed(path: str, place: Place, change: str, junk: Any) -> tuple[Any, str]:
    """Return a document with one place changed, and what was changed."""
    document = copy.deepcopy(document_of(path))
    parent, key = at(document, place[:-1]), place[-1]
    value = parent[key]
    if change == "drop":
        del parent[key]
    elif change == "rename" and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif change == "add" and isinstance(parent, dict):
        parent["no-such-key"] = junk
    elif change == "double" and isinstance(parent, list):
        parent.append(copy.deepcopy(value))
    elif change == "scale" and isinstance(value, int | float) and math.isfinite(value):
        parent[key] = -value if isinstance(junk, bool) else value * 1e9 + 0.5
    else:
        parent[key] = junk
    return document, f"{'.'.join(map(str, place))}: {change} {junk!r:.100}"


def changes(path: str) -> st.SearchStrategy[tuple[Any, str]]:
    """Draw the document of ``path`` with one change, and the change."""
    kinds = st.sampled_from(["junk", "junk", "drop", "rename", "add", "double", "scale", "other"])

    def with_value(place: Place) -> st.SearchStrategy[tuple[Any, str]]:
        others = st.sampled_from(all_places(path)).map(lambda other: at(document_of(path), other))
        junk = JUNK | others.map(copy.deepcopy)
        return st.tuples(kinds, junk).map(lambda drawn: changed(path, place, *drawn))

    return st.sampled_from(all_places(path)).flatmap(with_value)


def valid_configs() -> st.SearchStrategy[Case]:
    """Draw a config that the schema and the documentation allow."""
    chosen = st.lists(st.sampled_from(PAPERS[:2]), min_size=1, unique=True)
    config = chosen.flatmap(
        lambda papers: st.fixed_dictionaries(
            {
                "papers": st.just(papers),
                "scale": st.sampled_from(["paper", "quick"]),
                "seed": st.integers(0, 2**53),
                "cache": st.sampled_from([".cache/dpbandits", "../shared", "a folder", "Δ"]),
            },
            optional={
                "comparisons": st.just([]),
            },
        )
    )
    return config.map(lambda each: Case(CONFIG, each, each))


def broken_configs() -> st.SearchStrategy[Case]:
    """Draw the checkout's config with one change, of one paper."""
    return changes(CONFIG).map(lambda drawn: Case(CONFIG, drawn[0], drawn[0], drawn[1]))


def broken_files(kind: str) -> st.SearchStrategy[Case]:
    """Draw an experiments or a claims file of one paper with one change, and its config."""

    def of(paper: str) -> st.SearchStrategy[Case]:
        path = f"config/papers/{paper}/{kind}.yaml"
        config = {
            "papers": [paper],
            "comparisons": [],
            "scale": "quick",
            "seed": 1,
            "cache": ".cache/x",
        }
        return changes(path).map(lambda drawn: Case(path, drawn[0], dict(config), drawn[1]))

    return st.sampled_from([p for p, often in OFTEN.items() for _ in range(often)]).flatmap(of)
