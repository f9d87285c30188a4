"""Blocks of a document: what is computed stands between two marks in what was written by hand."""

from dpbandits.errors import InputError


def with_block(text: str, name: str, content: str) -> str:
    """Return ``text`` with what stands between the marks of the block ``name`` replaced.

    Raises:
        InputError: the marks are missing.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        first = text.partition("\n")[0]
        raise InputError(f"document {first!r}: the marks {begin} and {end} are missing or double")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def table_row(cells: list[str]) -> str:
    """Return cells of plain text as one row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
