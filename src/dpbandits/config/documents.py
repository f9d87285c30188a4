"""YAML documents as models: frozen pydantic models, and one line for whatever is wrong in one."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictFloat,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dpbandits.errors import InputError

_LONGEST = 160
"""Most characters of a value in a message."""

_EXPECTED = {
    "dict_type": "a mapping of keys to values",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text",
    "too_short": "at least one entry",
}
"""Type of an error of pydantic -> what is allowed, where no model says it better."""


def wrong(value: Any, allowed: str, key: str = "") -> PydanticCustomError:
    """Return the error of a value that is not allowed.

    Args:
        value: as it is in the document.
        allowed: in words.
        key: of the value, in the entry that is validated; "" for the entry itself.
    """
    context = {"key": key, "value": value, "allowed": allowed}
    return PydanticCustomError("wrong", "not allowed", context)


def misfit(line: str) -> PydanticCustomError:
    """Return the error of keys that do not fit each other, in one line."""
    return PydanticCustomError("misfit", "{line}", {"line": line})


@dataclass(frozen=True)
class Allowed:
    """Says in messages and in the JSON schema what a value may be.

    Attributes:
        words: such as ``a whole number of at least 1``.
        has_entries: whether its entries have messages of their own.
    """

    words: str
    has_entries: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of the type, with a message of its own."""
        return core_schema.no_info_wrap_validator_function(self._validated, handler(source))

    def _validated(self, value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if self.has_entries and error.errors()[0]["loc"]:
                raise
            raise wrong(value, self.words) from None

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON schema of the type, with its description."""
        return {"description": self.words, **handler(schema)}


@dataclass(frozen=True)
class OneOf:
    """Allows a few words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of a literal."""
        return core_schema.literal_schema(list(self.words))


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(value in values[:index] for index, value in enumerate(values)):
        raise ValueError("an entry is given twice")
    return values


def as_list(value: Any) -> Any:
    """Return a list as it is, and anything else as the only entry of one."""
    return value if isinstance(value, list | tuple) else [value]


Different = AfterValidator(_different)
"""Refuses a list in which an entry is given twice."""

Text = Annotated[str, Field(pattern=r"\S"), Allowed("text")]
Sentence = Annotated[str, Field(min_length=3), Allowed("a sentence")]
Flag = Annotated[bool, Field(strict=True), Allowed("true, false")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$"), Allowed("small letters, digits, - and _")]
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
    Field(min_length=1),
    Different,
    Allowed("a name, or a list of different names"),
]
Count = Annotated[int, Field(strict=True, ge=1), Allowed("a whole number of at least 1")]
Number = Annotated[StrictInt | StrictFloat, Allowed("a number")]
AtLeastZero = Annotated[float, Field(strict=True, ge=0), Allowed("a number of at least 0")]
Value = Annotated[StrictInt | StrictFloat | str, Allowed("a number or a text")]
Values = Annotated[tuple[Value, ...], Field(min_length=1), Allowed("a list of numbers or texts")]
Choice = Annotated[
    StrictInt | StrictFloat | str | list[Value], Allowed("a number, a text, or a list of them")
]
Variant = Annotated[str, OneOf(("as-written", "as-coded", "repaired"))]


class Spec(BaseModel):
    """An entry of a YAML document: frozen, its keys the fields of the model."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=False)

    @model_validator(mode="before")
    @classmethod
    def _has_its_keys(cls, entry: Any) -> Any:
        """Raise where a key is unknown or missing, with the keys that are allowed."""
        if isinstance(entry, BaseModel):
            return entry
        if not isinstance(entry, Mapping):
            raise wrong(entry, "a mapping of keys to values")
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        unknown = [str(key) for key in entry if key not in fields]
        if unknown and cls.model_config["extra"] == "forbid":
            allowed = ", ".join(fields)
            raise misfit(f"unknown key {', '.join(sorted(unknown))}; allowed: {allowed}")
        required = [key for key, field in fields.items() if field.is_required()]
        missing = [key for key in required if key not in entry]
        if missing:
            raise misfit(f"key {', '.join(missing)} is missing")
        return entry


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], document: Any, place: str = "") -> Model:
    """Return a document as its model.

    Args:
        model: of the document.
        document: as YAML has it.
        place: its key, for messages.

    Raises:
        InputError: in one line, the key, its value and what is allowed.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InputError(_line(dict(error.errors(include_url=False)[0]), place)) from None


def _line(error: Mapping[str, Any], place: str) -> str:
    """Return an error of pydantic as ``KEY is VALUE; allowed: ...``."""
    context = error.get("ctx", {})
    keys = [str(key) for key in error["loc"] if key != "[key]"]
    where = ".".join(filter(None, [place, *keys, context.get("key")])) or "the top level"
    if error["type"] == "misfit":
        return f"{where}: {context['line']}"
    given = repr(context.get("value", error["input"]))
    shown = given if len(given) <= _LONGEST else f"{given[:_LONGEST]} ..."
    return f"{where} is {shown}; allowed: {_allowed(error, context)}"


def _allowed(error: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    if error["type"] == "wrong":
        return str(context["allowed"])
    if error["type"] == "literal_error":
        return str(context["expected"]).replace("'", "").replace(" or ", ", ")
    return _EXPECTED.get(error["type"], str(error["msg"]).removeprefix("Input should be "))


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
