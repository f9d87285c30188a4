"""`config/config.yaml` as a model."""

from typing import Annotated

from pydantic import Field

from dpbandits.engine.models import Allowed, Count, Different, Name, OneOf, Spec, Text
from dpbandits.papers import COMPARISONS

SCALES = ("paper", "quick")

Path = Annotated[str, Field(pattern=r'^[^"`\\;&|<>]+$')]
"""A path that a shell may read, variables in it replaced."""


class ConfigFile(Spec):
    """What to build and where."""

    papers: (
        Annotated[
            tuple[Name, ...],
            Field(min_length=1),
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
    only: Annotated[
        Annotated[str, Field(pattern="^[a-z0-9-]+(/[a-z0-9-]+)?$")] | None,
        Allowed("null, a paper (NAME) or one of its figures or tables (NAME/fig2)"),
    ] = None
    threads: Count = 8
    max_jobs_per_simulation: Count = 1
    numba_cache_dir: Annotated[
        Path | None, Allowed("null or the path of a folder, in which shell variables are replaced")
    ] = None
