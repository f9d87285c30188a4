"""The hash of code that is not this package's: of what is loaded, not of what lies on disk.

A function counts with its code, constants, defaults, closure and the globals that it uses, and so
on recursively; an installed package with its name and version. What is reached makes a graph with
circles. Its hash is that of the graph as one walks through it, so that a copy in another process,
where one function may have become two equal ones, has the same.
"""

import hashlib
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from dpbandits.engine.identity import PACKAGE
from dpbandits.engine.installed import origin, reference
from dpbandits.engine.own_parts import Parts, UnhashableError, parts_of, scalar_text
from dpbandits.errors import InputError


@dataclass(eq=False)
class _Node:
    """One thing that is reached: what it is by itself, and what it is made of."""

    text: str
    children: list["_Node"] = field(default_factory=list)
    ordered: bool = True


class _Walk:
    """Goes through everything that the parts of an algorithm use."""

    def __init__(self, walked: frozenset[str]) -> None:
        self.walked = walked
        self.known: dict[int, _Node] = {}
        self.alive: list[Any] = []
        self.trail: list[str] = []
        self.dispatchers: list[tuple[Dispatcher, _Node]] = []

    def node(self, value: Any) -> _Node:
        text = scalar_text(value)
        if text is not None:
            return _Node(text)
        if id(value) not in self.known:
            node = self.known[id(value)] = _Node("")
            self.alive.append(value)
            self._fill(node, value)
        return self.known[id(value)]

    def _fill(self, node: _Node, value: Any) -> None:
        installed = reference(value, self.walked)
        if installed is not None:
            node.text = installed
            return
        parts: Parts = parts_of(value)
        node.text, node.ordered = parts.text, parts.ordered
        for name, child in parts.children:
            self.trail.append(name)
            node.children.append(self.node(child))
            self.trail.pop()
        if isinstance(value, Dispatcher):
            self.dispatchers.append((value, node))


def own_digest(name: str, parts: dict[str, Any]) -> str:
    """Return the hash of the parts of an algorithm and of all that they use.

    Args:
        name: the algorithm, for error messages.
        parts: functions, classes and others, by name.

    Raises:
        InputError: something that they use cannot be hashed, or has changed since a kernel that
            uses it was compiled.
    """
    walk = _Walk(frozenset(filter(None, map(_package_of, parts.values()))))
    try:
        root = walk.node(parts)
    except (UnhashableError, RecursionError) as error:
        where = ".".join(each for each in walk.trail if each) or "it"
        raise InputError(
            f"algorithm {name}: {where} cannot be hashed ({error or 'nested too deeply'}); "
            f"allowed: functions, classes, numbers, texts, arrays and what is made of them"
        ) from None
    for dispatcher, node in walk.dispatchers:
        _require_as_compiled(name, dispatcher, _digest(node))
    return _digest(root)


def _package_of(part: Any) -> str | None:
    """Return the package that a part of the algorithm stands in: that one is not stopped at."""
    bare = getattr(part, "py_func", part)
    if not isinstance(bare, types.FunctionType | type):
        return None
    library = str(origin(bare.__module__)).startswith(("python ", f"{PACKAGE}."))
    return None if library else bare.__module__.split(".")[0]


_COMPILED: "WeakKeyDictionary[Dispatcher, str]" = WeakKeyDictionary()
"""What a kernel was made of when it was seen first, or seen last before it was compiled."""


def _require_as_compiled(name: str, kernel: Any, digest: str) -> None:
    """Raise InputError where the compiled kernel is not made of what the hash says.

    numba's own cache looks at the kernel's file alone, so that it is put out of use.
    """
    title = f"algorithm {name}: kernel {kernel.py_func.__name__}"
    if not isinstance(kernel._cache, NullCache):
        if kernel.stats.cache_hits:
            raise InputError(
                f"{title} comes from numba's own cache, which may be out of date; allowed: "
                f"numba.njit without cache=True"
            )
        kernel._cache = NullCache()
    if kernel.overloads and _COMPILED.get(kernel, digest) != digest:
        raise InputError(
            f"{title} was compiled before something that it uses was changed; allowed: globals "
            f"that stay as they are, or load it again"
        )
    _COMPILED[kernel] = digest


def _digest(root: _Node) -> str:
    """Return the hash of the graph that is reached from a node.

    Every node gets a label; in each round a label takes in those of the node's children, until no
    more nodes can be told apart. Equal copies of a node always have equal labels.
    """
    nodes = _reached(root)
    labels = {id(node): _hash([node.text]) for node in nodes}
    told_apart = 0
    while len(set(labels.values())) > told_apart:
        told_apart = len(set(labels.values()))
        labels = {id(node): _label(node, labels) for node in nodes}
    return _hash([labels[id(root)], *sorted(set(labels.values()))])


def _label(node: _Node, labels: dict[int, str]) -> str:
    children = [labels[id(child)] for child in node.children]
    return _hash([node.text, *(children if node.ordered else sorted(children))])


def _reached(root: _Node) -> list[_Node]:
    found, waiting = {id(root): root}, [root]
    while waiting:
        for child in waiting.pop().children:
            if id(child) not in found:
                found[id(child)] = child
                waiting.append(child)
    return list(found.values())


def _hash(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8) + encoded)
    return digest.hexdigest()
