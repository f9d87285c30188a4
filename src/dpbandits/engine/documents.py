"""YAML documents as models; whatever is wrong is one line."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dpbandits.engine.models import Model, validated
from dpbandits.errors import InputError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader in C, ten times as fast, where PyYAML was built with it."""

_MERGE = "tag:yaml.org,2002:merge"


def load_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML mapping.

    Raises:
        InputError: the file is missing, is no YAML or no mapping, or gives a key twice.
    """
    try:
        document = _construct(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not valid YAML ({error})") from None
    if not isinstance(document, dict):
        kind = type(document).__name__
        raise InputError(f"{path}: is a {kind}; allowed: a mapping of keys to values")
    return document


def _construct(text: str, path: Path) -> Any:
    """Return the document in a text, after a check of its keys, which YAML libraries leave out."""
    loader = LOADER(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        for mapping in _mappings(root):
            _refuse_duplicates(mapping, loader, path)
        return loader.construct_document(root)
    finally:
        loader.dispose()


def _mappings(root: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield every mapping of a document once, in the order of the text."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield node
            waiting.extend(part for pair in reversed(node.value) for part in reversed(pair))
        else:
            waiting.extend(reversed(node.value))


def _refuse_duplicates(mapping: yaml.MappingNode, loader: Any, path: Path) -> None:
    """Raise InputError where two keys of a mapping are equal: the first would be lost."""
    lines: dict[Any, int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
            continue
        value = loader.construct_object(key)
        line = key.start_mark.line + 1
        if value in lines:
            raise InputError(
                f"{path}: key {value!r} is given twice, in lines {lines[value]} and {line}; "
                "allowed: each key once"
            )
        lines[value] = line


def load_document(path: Path, model: type[Model]) -> Model:
    """Return a YAML file as its model.

    Raises:
        InputError: the file cannot be read, or an entry is not allowed; the line names both.
    """
    return parsed(load_yaml(path), path, model)


def parsed(document: Any, path: Path, model: type[Model]) -> Model:
    """Return a document that was read from a file as its model.

    Raises:
        InputError: an entry is not allowed; the line names file, key and what is allowed.
    """
    try:
        entry = validated(model, document)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    _refuse_odd_values(document, path, "")
    return entry


def _refuse_odd_values(value: Any, path: Path, where: str) -> None:
    """Refuse dates and the like, and numbers that are not finite.

    An infinite epsilon is allowed: it adds no noise.
    """
    if value == math.inf and "epsilon" in where.split(".")[-2:]:
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{path}: {where} is {value}; allowed: finite numbers")
    if not isinstance(value, str | int | float | list | dict | None):
        kind = type(value).__name__
        allowed = "texts (in quotes), numbers, lists and mappings"
        raise InputError(f"{path}: {where} is {value} ({kind}); allowed: {allowed}")
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = dict(enumerate(value)).items()
    for key, inner in items:
        _refuse_odd_values(inner, path, f"{where}.{key}".strip("."))
