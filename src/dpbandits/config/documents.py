"""YAML documents as frozen pydantic models; a mistake in one ends in a line.

The line is ``FILE: KEY is VALUE; MESSAGE`` with the message of pydantic. Where keys do not fit each
other, validators of the models raise InputError.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    PlainValidator,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import core_schema

from dpbandits.errors import InputError

_MISREAD = re.compile(r"[-+]?0[0-9_]*[1-9][0-9_]*|.*:.*|yes|no|on|off", re.IGNORECASE)
"""What YAML 1.1 reads as a number to the base 8 or 60, or as true or false."""

_MERGE = "tag:yaml.org,2002:merge"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader, in C where it was built with it, without the traps of YAML 1.1.

    A key that is given twice is an InputError, and so is a word or number that YAML 1.1 misreads;
    1e-6 is a number.
    """

    def construct_read(self, node: Any) -> Any:
        """Return a number, true or false; InputError where YAML 1.1 reads another one."""
        value = getattr(self, f"construct_yaml_{node.tag.rpartition(':')[2]}")(node)
        if _MISREAD.fullmatch(node.value):
            allowed = "true, false, a number to the base 10, or a text in quotes"
            raise InputError(
                f"{node.value} in line {node.start_mark.line + 1} is read as {value}; "
                f"allowed: {allowed}"
            )
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping; InputError where a key is given twice."""
        lines: dict[Any, int] = {}
        merges = [key.start_mark.line + 1 for key, _ in node.value if key.tag == _MERGE]
        if len(merges) > 1:
            raise InputError(
                f"key '<<' is given twice, in lines {merges[0]} and {merges[1]}; "
                "allowed: one with a list"
            )
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        for key, _ in node.value:
            # A merged key has the position of its definition, which is before this mapping.
            if isinstance(key, yaml.ScalarNode) and key.start_mark.index >= node.start_mark.index:
                name, line = self.construct_object(key), key.start_mark.line + 1
                if name in lines:
                    raise InputError(
                        f"key {name!r} is given twice, in lines {lines[name]} and {line}; "
                        "allowed: each key once"
                    )
                lines[name] = line
        return mapping


for _kind in ("bool", "int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_read)
# YAML 1.1 asks for a point and a sign: 1.0e-6.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def load_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping; InputError names the file, and what is not allowed in it."""
    with naming(path):
        try:
            document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
            if not isinstance(document, dict):
                raise InputError(f"is {document!r:.100}; allowed: a mapping of keys to values")
            _require_plain_values(document)
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise InputError(f"is not valid YAML ({error})") from None
    return document


def _require_plain_values(value: Any, *keys: str) -> None:
    """Raise InputError for dates and the like, and for infinite numbers other than epsilon."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _require_plain_values(inner, *keys, str(key))
    elif not isinstance(value, str | int | float | None):
        given = f"{value} ({type(value).__name__})"
        allowed = "texts (in quotes), numbers, lists and mappings"
        raise InputError(f"{'.'.join(keys)} is {given}; allowed: {allowed}")
    elif value == math.inf and "epsilon" in keys[-2:]:
        return
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{'.'.join(keys)} is {value}; allowed: finite numbers")


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Prefix InputError messages with a place, a file or a key, unless they name it already."""
    try:
        yield
    except InputError as error:
        line = str(error)
        raise InputError(line if str(place) in line else f"{place}: {line}") from None


def _different(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if any(entry in entries[:index] for index, entry in enumerate(entries)):
        raise ValueError("Entries should be different")
    return entries


def as_list(value: Any) -> Any:
    """Return a list as it is, and anything else as the only entry of one."""
    return value if isinstance(value, list | tuple) else [value]


def _scalar(value: Any) -> Any:
    if type(value) not in (int, float, str):
        raise ValueError("Input should be a number or a text")
    return value


def _scalars(value: Any) -> Any:
    """Check a value or a list of values; None stands for no value."""
    for each in as_list(value):
        if each is not None:
            _scalar(each)
    return value


def number(value: Any) -> Any:
    """Check a number; a whole one stays an int."""
    if type(value) not in (int, float):
        raise ValueError("Input should be a number")
    return value


def one_of(words: Iterable[str]) -> GetPydanticSchema:
    """Return an annotation that allows these words, as ``Literal`` does for typed ones."""
    return GetPydanticSchema(lambda source, handler: core_schema.literal_schema(list(words)))


Different = AfterValidator(_different)
"""For lists in which no entry is given twice."""

Text = Annotated[str, Field(pattern=r"\S")]
Sentence = Annotated[str, Field(min_length=3)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")]
Names = Annotated[tuple[Name, ...], BeforeValidator(as_list), Field(min_length=1), Different]
Count = Annotated[StrictInt, Field(ge=1)]
AtLeastZero = Annotated[float, Field(strict=True, ge=0)]
# Validated by functions: a union would name each of its types in a message.
Number = Annotated[int | float, PlainValidator(number)]
Value = Annotated[int | float | str, PlainValidator(_scalar)]
Values = Annotated[tuple[Value, ...], Field(min_length=1)]
LARGEST = "largest"
"""Stands for the largest value of a tag, or of a column of numbers."""

Choice = Annotated[int | float | str | list[Value | None] | None, PlainValidator(_scalars)]
Variant = Literal["as-written", "as-coded", "repaired"]


class Spec(BaseModel):
    """An entry of a YAML document: frozen, its keys the fields of the model, and ``more``.

    The text below a field is what config/README.md says of its key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    more: ClassVar[tuple[str, ...]] = ()
    """Keys beside the fields, of models that allow extra ones."""

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, entry: Any) -> Any:
        """Raise where a key is unknown, with the keys that are allowed."""
        if isinstance(entry, Mapping) and (cls.more or cls.model_config["extra"] == "forbid"):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            known += cls.more
            for key in entry:
                if key not in known:
                    raise InputError.unknown("key", key, known)
        return entry


Model = TypeVar("Model", bound=BaseModel)


def load_document(path: Path, model: type[Model]) -> Model:
    """Read a YAML file as a model."""
    document = load_yaml(path)
    with naming(path):
        return validated(model, document)


def validated(
    model: type[Model], document: Any, place: str = "", context: Mapping[Any, Any] | None = None
) -> Model:
    """Return a document as its model; ``place`` is its key, for messages.

    Validators of the model may read the ``context``.
    """
    try:
        return model.model_validate(document, context=context)
    except ValidationError as error:
        raise InputError(_line(error.errors(include_url=False)[0], place)) from None


def _line(error: Mapping[str, Any], place: str) -> str:
    """Return an error of pydantic as ``KEY is VALUE; MESSAGE``."""
    keys = [str(key) for key in error["loc"] if key != "[key]"]
    where = ".".join(filter(None, [place, *keys]))
    message = error["msg"].removeprefix("Value error, ")
    message = message.replace("tuple", "list").replace("Tuple", "List")
    if error["type"] == "missing" or isinstance(error.get("ctx", {}).get("error"), InputError):
        return f"{where}: {message}" if where else message
    return f"{where or 'the top level'} is {error['input']!r:.160}; {message}"
