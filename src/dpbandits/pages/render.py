"""Markdown pages from Jinja templates, and the marked regions of what was written by hand."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError
from dpbandits.reporting.text import plain_label

if TYPE_CHECKING:
    from jinja2 import Environment

plain = plain_label


def one_line(text: object) -> str:
    """Return a text with every run of white space replaced by one space."""
    return " ".join(str(text).split())


def prose(text: object) -> str:
    """Return a text of the config as Markdown, on one line and without elements of HTML."""
    return without_elements(one_line(plain(str(text))))


def without_elements(text: str) -> str:
    """Return a text of Markdown in which nothing is an element of HTML."""
    return re.sub(r"<(?=[A-Za-z/])", "&lt;", text)


def cell(text: object) -> str:
    """Return a text as a cell of a Markdown table."""
    return prose(text).replace("|", "\\|")


def claim(identifier: str, folder: str = "") -> str:
    """Return a link to a claim or finding from a page whose path to ``docs/`` is ``folder``."""
    return f"[{identifier}]({folder}claims.md#{identifier.lower()})"


@cache
def _templates() -> "Environment":
    """Return the templates; a wheel without extras, which renders none, answers without jinja2."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        # Markdown: code hosts show it, and the site escapes what it takes from it.
        autoescape=False,
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (cell, claim, one_line, prose)
    environment.filters |= {filter.__name__: filter for filter in filters}
    return environment


def render(template: str, /, **values: Any) -> str:
    """Return a page or a region of one.

    Args:
        template: its file.
        values: what its names stand for, all of them.
    """
    return _templates().get_template(template).render(values)


def with_region(text: str, name: str, content: str) -> str:
    """Return ``text`` with what is between the marks of the region ``name`` replaced.

    Raises:
        InputError: the marks are missing.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        first = text.partition("\n")[0]
        raise InputError(f"document {first!r}: the marks {begin} and {end} are missing or double")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], texts: int) -> str:
    """Return a table in Markdown.

    Args:
        head: names of the columns.
        rows: their cells, plain text.
        texts: number of columns on the left that are aligned left; the others have numbers.
    """
    sides = ["---"] * texts + ["---:"] * (len(head) - texts)
    lines = [f"| {' | '.join(map(cell, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(sides)}|", *lines[1:]])
