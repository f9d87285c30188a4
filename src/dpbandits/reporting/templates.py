"""The templates in the folder ``templates``, filled with what was computed."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).with_name("templates")


@cache
def _environment(*, is_latex: bool) -> Environment:
    """Return how templates are read; LaTeX has its braces to itself, HTML is escaped."""
    marks = (
        {
            "variable_start_string": "<<",
            "variable_end_string": ">>",
            "block_start_string": "<%",
            "block_end_string": "%>",
            "comment_start_string": "<#",
            "comment_end_string": "#>",
        }
        if is_latex
        else {}
    )
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=not is_latex,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **marks,
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
    template = _environment(is_latex=name.endswith(".tex")).get_template(name)
    return template.render(values)
