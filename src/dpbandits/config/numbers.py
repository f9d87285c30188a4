"""Numbers and verdicts that a typed text names in braces."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, model_validator

from dpbandits.config.documents import Spec, Value, Variant
from dpbandits.errors import InputError

ClaimId = Annotated[str, Field(pattern="^[A-Z]+-C[0-9]+[a-z]?$")]

NAMED = re.compile(r"{([a-z][a-z0-9_]*|[A-Z]+-C[0-9]+[a-z]?)}")
"""What a text names: a number, or a claim, which stands for its verdict."""


class NumberSource(Spec):
    """Where a number is published: the estimate of a comparison, or a column of a csv of ``docs``.

    Without ``claim`` the comparison is one of the number's own entry, without ``variant`` that of
    the entry's first reading. ``count`` is how many of its points are as stated (for), against,
    equal or undecided, or all that decide (points); with ``comparison`` of those whose names begin
    so.
    """

    claim: str = ""
    comparison: str = ""
    count: Literal["", "points", "for", "against", "equal", "undecided"] = ""
    variant: Variant | None = None
    interpretation: str = ""
    file: Annotated[str, Field(pattern="[.]csv$")] = ""
    where: dict[str, Value] = Field(default={})
    column: str = ""
    format: Annotated[str, Field(pattern="^[+.,0-9]*[a-z%]?$")] = ".3g"
    interval: StrictBool = True

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "NumberSource":
        of_file = [bool(self.file), bool(self.where), bool(self.column)]
        if any(of_file) == bool(self.comparison or self.count) or any(of_file) != all(of_file):
            raise InputError(
                "allowed: comparison or count, or else the keys file, where and column"
            )
        return self


Numbers = dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], NumberSource]
"""Name that a text has in braces -> where the number is."""


def _with_claims(numbers: Numbers) -> Numbers:
    for key, source in numbers.items():
        if (source.comparison or source.count) and not source.claim:
            raise InputError(f"{key}: key claim is missing; allowed: the claim of the comparison")
    return numbers


NumbersOfClaims = Annotated[Numbers, AfterValidator(_with_claims)]
"""Numbers of a text that belongs to no claim: each names its claim or its file."""
