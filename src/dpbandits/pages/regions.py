"""Regions of a document: what is computed is between two marks in what was written by hand."""

from collections.abc import Iterable, Sequence

from dpbandits.errors import InputError
from dpbandits.pages.render import render


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
    return render("table.md", head=head, sides=sides, rows=rows)
