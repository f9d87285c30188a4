"""The page on which private bandit to take; there is none before the comparison is published."""

from collections.abc import Iterator
from typing import Any

from dpbandits.comparisons.choosing.players import COMPARISON
from dpbandits.pages.choosing import page_values, published
from dpbandits.pages.site.model import Site

ADDRESS = "choosing.html"

TITLE = "Which one"


def choosing_pages(site: Site) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield template, address and values of the page, where there is one."""
    found = published(site.project)
    figures = [group for group in site.groups if group.paper == COMPARISON]
    if found is not None and figures:
        values = {"title": TITLE, "in_menu": TITLE, "figures": figures, **page_values(found)}
        yield "choosing.html", ADDRESS, {**values, "tables": site.tables(COMPARISON)}
