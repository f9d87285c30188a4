"""Base of the models of YAML entries, and one line for whatever is wrong in one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

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
