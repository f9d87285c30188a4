"""The templates in the folder ``templates``, filled with what was computed."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).with_name("templates")


_SHARED: dict[str, Any] = {
    "loader": FileSystemLoader(FOLDER),
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
}
_HTML = Environment(autoescape=True, **_SHARED)
# LaTeX has its braces to itself.
_LATEX = Environment(
    autoescape=False,
    variable_start_string="<<",
    variable_end_string=">>",
    block_start_string="<%",
    block_end_string="%>",
    comment_start_string="<#",
    comment_end_string="#>",
    **_SHARED,
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
    templates = _LATEX if name.endswith(".tex") else _HTML
    return templates.get_template(name).render(values)
