"""The whole site: every page and file by its address, and the folder that holds them."""

import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image

from dpbandits.claims.ledger import COMPARISON_COLUMNS
from dpbandits.errors import InputError
from dpbandits.pages.contents import MEANINGS, OUTCOMES, VARIANTS, load_errata
from dpbandits.pages.published import PUBLISHED
from dpbandits.pages.render import one_line
from dpbandits.pages.site.content import (
    algorithms_page,
    choosing_pages,
    citation,
    claim_pages,
    errata_page,
    findings_page,
    front_page,
    search_page,
    table_pages,
)
from dpbandits.pages.site.figures import figure_pages
from dpbandits.pages.site.model import Site, claim_address
from dpbandits.pages.site.switches import switches_pages
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import CLAIMS_FILES, FIGURE
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
    """Return a number with three significant digits, as a reader has it; "" for NaN."""
    return "" if pd.isna(value) else readable(f"{value:.3g}")


def variant(name: str) -> str:
    """Return the name of a variant in words."""
    return VARIANTS.get(name, name)


def meaning(word: str) -> str:
    """Return what a verdict or an outcome says."""
    return {**MEANINGS, **OUTCOMES}.get(word, word)


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
    for filter in (embedded, meaning, one_line, readable, short, sign, slug, variant)
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


MARK = ".dpbandits-site"
"""File of a folder that may be replaced by a site."""

WIDTH = 1120
"""Largest width of a picture in pixels; the published ones are larger."""

COLOURS = 96
"""Colours of a picture: lines and letters have few."""

Contents = dict[str, bytes]
"""Address -> what is there."""


def write_site(project: Project, folder: Path) -> list[Path]:
    """Write the site into a folder, which is replaced as a whole; return its files.

    Raises:
        InputError: the folder holds something else, cannot be written, or nothing is published.
    """
    if folder.exists() and not (folder / MARK).is_file() and any(folder.iterdir()):
        raise InputError(f"out is {folder}; allowed: a new or empty folder, or one with a site")
    contents = site_contents(project)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            _fill(made, contents)
            _exchange(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{folder}: cannot be written ({reason}); allowed: a folder") from None
    return [folder / address for address in contents]


def _fill(folder: Path, contents: Contents) -> None:
    for address, content in contents.items():
        path = folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    folder.chmod(0o755)


def _exchange(made: Path, folder: Path) -> None:
    """Put a filled folder in the place of another; that one is then at the name of the first."""
    if folder.exists():
        old = made.with_name(f"{made.name}-old")
        folder.rename(old)
        made.rename(folder)
        shutil.rmtree(old)
    else:
        made.rename(folder)


def site_contents(project: Project) -> Contents:
    """Return every file of the site; the same csv files give the same bytes.

    Raises:
        InputError: no verdicts are published, or a config file is not as it must be.
    """
    site = Site(project)
    pages = [*_single_pages(site), *_pages(site)]
    menu = [(address, values["in_menu"]) for _, address, values in pages if "in_menu" in values]
    cited = citation(project)
    shared = {"menu": menu, "citation": cited, "papers_of_site": site.papers, "drafts": site.drafts}
    renderer = Renderer(_links(site), shared)
    contents = {
        address: renderer.page(template, address, **values).encode()
        for template, address, values in pages
    }
    contents |= {path.name: path.read_bytes() for path in sorted(STATIC.iterdir())}
    contents |= {"CITATION.cff": cited["text"].encode(), MARK: b""}
    return contents | _data(site) | _pictures(site)


def _single_pages(site: Site) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield template, address and values of each page of which there is one."""
    yield "front.html", "index.html", {"title": "", "in_menu": "Figures", **front_page(site)}
    yield "claims.html", "claims.html", _titled("Claims", search_page(site))
    for address, values in switches_pages(site):
        menu = values["title"].partition(" of ")[0]
        yield "switches.html", address, {"in_menu": menu, **values}
    yield from choosing_pages(site)
    yield "algorithms.html", "algorithms.html", _titled("Algorithms", algorithms_page(site))
    yield "findings.html", "findings.html", _titled("Findings", findings_page(site))
    yield "errata.html", "errata.html", _titled("Errata", errata_page(site))
    yield "downloads.html", "downloads.html", _titled("Downloads", _downloads(site))
    yield "cite.html", "cite.html", _titled("Cite", {})


def _titled(title: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "in_menu": title, **values}


def _pages(site: Site) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield from (("figure.html", address, values) for address, values in figure_pages(site))
    yield from (("claim.html", address, values) for address, values in claim_pages(site))
    yield from (("table.html", address, values) for address, values in table_pages(site))


def _links(site: Site) -> dict[str, str]:
    """Return the place of each claim, finding and erratum by its id."""
    claims = {claim: claim_address(claim) for claim in site.ledger["claim"].unique()}
    findings = {
        finding.claim.id: f"findings.html#{finding.claim.id}"
        for found in site.findings.values()
        for finding, _, _ in found
    }
    errata = {
        name: f"errata.html#{name}"
        for paper in site.papers
        for name in load_errata(site.project, paper)
    }
    return claims | findings | errata


def _data(site: Site) -> Contents:
    """Return the csv of every figure, table and verdict, and the pdf and tex that exist."""
    found = {
        f"data/{target.paper}/{path.name}": path.read_bytes()
        for target, path in site.sources.files()
        if path.suffix in (".csv", ".pdf", ".tex", ".tabular")
    }
    folder = site.project.folder / PUBLISHED
    verdicts = (folder / paper / f"{name}.csv" for paper in site.papers for name in CLAIMS_FILES)
    existing = [path for path in verdicts if path.is_file()]
    return found | {f"data/{path.parent.name}/{path.name}": path.read_bytes() for path in existing}


def _downloads(site: Site) -> dict[str, Any]:
    """Return the files of the site's folder ``data``, with their sizes, by paper."""
    files: dict[str, list[tuple[str, int]]] = {}
    for address, content in sorted(_data(site).items()):
        files.setdefault(address.split("/")[1], []).append((address, len(content)))
    order = [*site.papers, *site.comparisons]
    return {
        "files": {name: files[name] for name in order if name in files},
        "titles": {name: site.title(name) for name in order},
        "columns": COMPARISON_COLUMNS,
    }


def _pictures(site: Site) -> Contents:
    """Return the picture of each whole figure, small enough for a page."""
    figures = [target for target in site.sources.targets if target.kind == FIGURE]
    paths = {
        f"pictures/{target.paper}/{target.name}.png": site.sources.path(target, target.name, "png")
        for target in figures
    }
    existing = {address: path for address, path in paths.items() if path is not None}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(existing, pool.map(_picture, existing.values()), strict=True))


def _picture(path: Path) -> bytes:
    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((WIDTH, 4 * WIDTH))
    buffer = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(buffer, "PNG")
    return buffer.getvalue()
