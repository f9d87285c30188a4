"""`config/config.yaml` as a model."""

from typing import Annotated

from pydantic import Field

from dpbandits.engine.models import Allowed, Different, Name, OneOf, Spec, Text
from dpbandits.papers import COMPARISONS

SCALES = ("paper", "quick")


class ConfigFile(Spec):
    """What to build and where."""

    papers: (
        Annotated[
            tuple[Name, ...],
            Different,
            Allowed("null, or a list of papers, each at most once", has_entries=True),
        ]
        | None
    ) = None
    comparisons: Annotated[
        tuple[Annotated[str, OneOf(COMPARISONS)], ...],
        Different,
        Allowed("a list of comparisons across papers, each at most once", has_entries=True),
    ] = ()
    scale: Annotated[str, OneOf(SCALES)]
    seed: Annotated[
        int,
        Field(strict=True, ge=0, le=2**53),
        Allowed("a whole number from 0 to 9007199254740992"),
    ]
    cache: Text
