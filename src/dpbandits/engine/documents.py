"""YAML documents, checked against a JSON schema; whatever is wrong is said in one line."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

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


def check_document(document: Any, schema: dict[str, Any], path: Path) -> None:
    """Raise InputError, naming file, key and what is allowed, where the schema is not met."""
    error = best_match(Draft202012Validator(schema).iter_errors(document))
    if error is not None:
        raise InputError(f"{path}: {_explain(error)}")
    _refuse_odd_values(document, path, "")


def load_document(path: Path, schema: Path) -> dict[str, Any]:
    """Read a YAML mapping and check it against the JSON schema in the YAML file ``schema``."""
    document = load_yaml(path)
    check_document(document, load_yaml(schema), path)
    return document


def _explain(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.absolute_path) or "the top level"
    schema: dict[str, Any] = dict(error.schema) if isinstance(error.schema, dict) else {}
    rule: Any = error.validator_value
    given: Any = error.instance
    if error.validator == "additionalProperties":
        known = schema.get("properties", {})
        unknown = ", ".join(sorted(str(key) for key in given if key not in known))
        return f"{where}: unknown key {unknown}; allowed: {', '.join(known) or 'nothing more'}"
    if error.validator == "required":
        missing = [key for key in rule if key not in given]
        return f"{where}: key {', '.join(missing)} is missing"
    if error.validator == "enum":
        allowed = ", ".join(str(value) for value in rule)
        return f"{where} is {given!r}; allowed: {allowed}"
    allowed = schema.get("description", f"{error.validator} {rule}")
    return f"{where}: {_shorten(error.message)}; allowed: {allowed}"


def _shorten(message: str, limit: int = 160) -> str:
    return message if len(message) <= limit else f"{message[:limit]} ..."


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
