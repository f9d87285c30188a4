"""Errata as `errata.yaml` of `config/papers/PAPER/` states them."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from dpbandits.config.documents import Sentence, Spec, load_document
from dpbandits.config.numbers import NumbersOfClaims
from dpbandits.errors import InputError

ErratumKind = Literal["statement", "proof", "misprint", "code"]
ERRATUM_KINDS: tuple[ErratumKind, ...] = get_args(ErratumKind)
"""An error of a statement, of a proof, a misprint; or the released code differs from the text."""

ErratumId = Annotated[str, Field(pattern="^[A-Z]+-[A-Z]+[0-9]+$")]


class Erratum(Spec):
    """One entry: what is printed, what we computed and what we play.

    Of the kind ``code``: the text, the released code with its effect, and what we play. ``found``
    may have ``{names}`` of numbers.
    """

    place: Sentence
    kind: ErratumKind
    printed: Sentence
    found: Sentence
    taken: Sentence = ""
    numbers: NumbersOfClaims = Field(default={})


class ErrataFile(Spec):
    """config/papers/PAPER/errata.yaml."""

    paper: str
    errata: dict[ErratumId, Erratum] = Field(default={})
    withdrawn: dict[ErratumId, Sentence] = Field(default={})


def load_errata(path: Path, paper: str) -> ErrataFile:
    """Return the errata of a paper, none where there is no file; InputError names file and key."""
    if not path.exists():
        return ErrataFile(paper=paper)
    file = load_document(path, ErrataFile)
    if file.paper != paper:
        raise InputError(f"{path}: paper is {file.paper!r}; allowed: {paper}, its folder")
    if twice := sorted(file.errata.keys() & file.withdrawn.keys()):
        raise InputError(f"{path}: withdrawn has {', '.join(twice)}; allowed: ids of no erratum")
    return file
