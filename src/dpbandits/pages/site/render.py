"""Pages of HTML from the Jinja templates beside this module."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dpbandits.pages.front import VARIANTS
from dpbandits.pages.render import one_line
from dpbandits.reporting.text import readable

STATIC = Path(__file__).with_name("static")
"""Style sheet and script, the same for every page."""

SIGNS = {
    "holds": "✓",
    "fails": "✗",
    "mixed": "◐",
    "undecided": "?",
    "not contradicted": "○",
    "not testable": "–",
    "not applicable": "–",
    "differs by interpretation": "≷",
    "shown": "✓",
    "not shown": "✗",
    "reported": "·",
}
"""Word of a verdict -> its sign, so that colour is not needed to tell them apart."""

_ID = re.compile(r"\b[A-Z]+-[CFAD-E][0-9]+[a-z]?\b")

Links = Mapping[str, str]
"""Id of a claim, finding or erratum -> its place in the site."""


def short(value: float) -> str:
    """Return a number with four significant digits, as a reader has it; "" for NaN."""
    return "" if pd.isna(value) else readable(f"{value:.4g}")


def variant(name: str) -> str:
    """Return the name of a variant in words."""
    return VARIANTS.get(name, name)


def spaced(text: str) -> str:
    """Return a list of interpretations with a space behind each comma."""
    return text.replace(",", ", ")


def slug(text: str) -> str:
    """Return a text as the name of a class."""
    return text.replace(" ", "-")


def sign(word: str) -> str:
    """Return the sign of a verdict."""
    return SIGNS.get(word, "")


def embedded(data: object) -> Markup:
    """Return data as JSON that may stand within a script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


_TEMPLATES = Environment(
    autoescape=True,
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters |= {
    filter.__name__: filter
    for filter in (embedded, one_line, readable, short, sign, slug, spaced, variant)
}


@dataclass(frozen=True)
class Renderer:
    """Renders pages that link to each other.

    Attributes:
        links: id -> its place in the site.
        shared: what every template is given.
    """

    links: Links
    shared: Mapping[str, Any]

    def page(self, template: str, address: str, **values: Any) -> str:
        """Return a page.

        Args:
            template: its file.
            address: its place in the site, which its links start from.
            values: what the names of the template stand for, beside the shared ones.
        """
        root = "../" * address.count("/")

        def linked(text: object) -> Markup:
            """Return a text on one line with each id of a claim or finding as a link."""
            return Markup(_ID.sub(lambda found: self._link(found[0], root), escape(one_line(text))))

        given = {**self.shared, "root": root, "address": address, "linked": linked, **values}
        return _TEMPLATES.get_template(template).render(given)

    def _link(self, name: str, root: str) -> str:
        place = self.links.get(name)
        return name if place is None else f'<a class="id" href="{root}{place}">{name}</a>'
