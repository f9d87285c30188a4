"""Markdown from Jinja templates and texts of the config."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError
from dpbandits.reporting.text import plain_label

if TYPE_CHECKING:
    from jinja2 import Environment


def prose(text: object) -> str:
    """Return a text of the config as Markdown, on one line and without elements of HTML."""
    return re.sub(r"<(?=[A-Za-z/])", "&lt;", " ".join(plain_label(str(text)).split()))


def cell(text: object) -> str:
    """Return a text as a cell of a Markdown table."""
    return prose(text).replace("|", "\\|")


def claim(identifier: str) -> str:
    """Return a link to a claim or finding from a page in ``docs/``."""
    return f"[{identifier}](claims.md#{identifier.lower()})"


@cache
def _documents() -> "Environment":
    # Imported here: a wheel without extras explains published verdicts, without templates.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {each.__name__: each for each in (cell, claim, prose)}
    return templates


def render(template: str, /, **values: Any) -> str:
    """Return a template with a value for each of its names: a document, or a region of one."""
    return _documents().get_template(template).render(values)


def with_region(text: str, name: str, content: str) -> str:
    """Return ``text`` with new content between the marks of the region ``name``."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        first = text.partition("\n")[0]
        raise InputError(f"document {first!r}: the marks {begin} and {end} are missing or double")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], texts: int) -> str:
    """Return a table in Markdown, the first ``texts`` columns texts and the others numbers."""
    sides = ["---"] * texts + ["---:"] * (len(head) - texts)
    lines = [f"|{'|'.join(map(cell, row))}|" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(sides)}|", *lines[1:]])
