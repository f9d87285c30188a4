"""The templates in the folder ``templates``, filled with what was computed."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")

# LaTeX has its braces to itself.
_LATEX = {
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "block_start_string": "<%",
    "block_end_string": "%>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


@cache
def _templates(suffix: str) -> "Environment":
    # Reading the config asks for the texts of templates alone.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    given: dict[str, Any] = _LATEX if suffix == ".tex" else {"autoescape": True}
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **given,
    )


def template_text(name: str) -> str:
    """Return the text of a template, which what is made with it depends on."""
    return (FOLDER / name).read_text(encoding="utf-8")


def render(name: str, **values: Any) -> str:
    """Return a template with its names filled in.

    Args:
        name: its file; one that ends in ``.tex`` marks its names ``<< >>`` and takes LaTeX.
        values: what its names stand for, all of them.
    """
    return _templates(Path(name).suffix).get_template(name).render(values)
