"""The whole site: every page and file by its address, and the folder that holds them."""

import io
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pdoc.doc
import pdoc.render
from markupsafe import Markup, escape
from PIL import Image

from dpbandits.errors import InputError
from dpbandits.pages.published import one_line, without_elements
from dpbandits.pages.site import content
from dpbandits.pages.site.content import Page
from dpbandits.pages.site.model import Site, figure_address, small_address
from dpbandits.pages.site.switches import switches_pages
from dpbandits.pages.verdicts import MEANINGS, VARIANTS
from dpbandits.pipeline.project import Project
from dpbandits.reporting.text import environment, readable

STATIC = Path(__file__).with_name("static")
"""Style sheet and script, the same for every page."""

TEMPLATES = Path(__file__).with_name("templates")

SIGNS = {
    "as stated": "✓",
    "in part": "◐",
    "not as stated": "✗",
    "undecided": "?",
    "depends on the reading": "≷",
    "cannot be tested here": "–",
    "size only": "·",
    "not contradicted": "○",
    "counterexample": "✗",
    "shown": "✓",
    "not shown": "✗",
}
"""Word of a verdict -> its sign, so that colour is not needed to tell them apart."""

_ID = re.compile(r"\b[A-Z]+-[CFAD-E][0-9]+[a-z]?\b")


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_FILTERS = (figure_address, small_address, one_line, readable)
_TEMPLATES = environment(TEMPLATES, autoescape=True)
_TEMPLATES.filters |= {filter.__name__: filter for filter in _FILTERS} | {
    # JSON that may stand within a script element.
    "embedded": lambda data: Markup(_json(data).replace("<", "\\u003c")),
    "meaning": lambda word: dict(MEANINGS).get(word, word),
    "short": lambda value: "" if pd.isna(value) else readable(f"{value:.3g}"),
    "sign": lambda word: SIGNS.get(word, ""),
    "slug": lambda text: text.replace(" ", "-"),
    "variant": lambda name: VARIANTS.get(name, name),
}


def rendered(page: Page, shared: Mapping[str, Any]) -> bytes:
    """Return a page, whose template has its values and those that every template is given."""
    template, address, values = page
    root, links = "../" * address.count("/"), shared["site"].links

    def link(match: re.Match[str]) -> str:
        name = match[0]
        return f'<a class="id" href="{root}{links[name]}">{name}</a>' if name in links else name

    def linked(text: object) -> Markup:
        """Return a text on one line with its numbers set, and each id of a claim as a link."""
        return Markup(_ID.sub(link, escape(readable(one_line(text)))))

    given = {"scripts": (), "embedded": {}, **shared, **values, "template": template}
    given |= {"root": root, "address": address, "linked": linked}
    return _TEMPLATES.get_template("base.html").render(given).encode()


MARK = ".dpbandits-site"
"""File of a folder that may be replaced by a site."""

WIDTH = 1120
"""Largest width of a picture in pixels; the published ones are larger."""

COLOURS = 96
"""Colours of a picture: lines and letters have few."""

Contents = dict[str, bytes]
"""Address -> what is there."""


def write_site(project: Project, folder: Path) -> list[Path]:
    """Write the site into a folder, which is replaced as a whole; return its files."""
    if folder.exists() and not (folder / MARK).is_file() and any(folder.iterdir()):
        raise InputError(f"out is {folder}; allowed: a new or empty folder, or one with a site")
    contents = site_contents(project)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as place:
            made = Path(place, "new")
            for address, content in contents.items():
                path = made / address
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if folder.exists():
                folder.rename(Path(place, "old"))
            made.rename(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{folder}: cannot be written ({reason}); allowed: a folder") from None
    return [folder / address for address in contents]


def site_contents(project: Project) -> Contents:
    """Return every file of the site; the same published files give the same bytes."""
    site = Site.of(project)
    charts = {figure_address(group): content.figure_charts(site, group) for group in site.groups}
    data = {address: path.read_bytes() for address, path in site.data_files().items()}
    sizes = {address: len(text) for address, text in data.items()}
    pages = [*content.pages(site, charts, sizes), *switches_pages(site, charts)]
    existing = {address for _, address, _ in pages}
    cited = content.citation(project)
    menu = [(address, name) for address, name in MENU if address in {*existing, PYTHON}]
    shared = {
        "site": site,
        "papers": [site.paper(paper) for paper in site.papers],
        "menu": menu,
        "citation": cited,
        "existing": existing,
    }
    contents = {page[1]: rendered(page, shared) for page in pages}
    for group in site.groups:
        if views := charts[figure_address(group)]:
            name, (_, address) = f"{group.paper}/{group.base}", content.chart_scripts(group)
            contents[address] = f"figures[{json.dumps(name)}] = {_json(views)};\n".encode()
    contents |= {path.name: path.read_bytes() for path in sorted(STATIC.iterdir())}
    contents |= {"CITATION.cff": cited["text"].encode(), MARK: b""}
    return contents | data | interface_pages(menu) | _pictures(site)


INTERFACE = {
    "dpbandits": "",
    "dpbandits.privacy": "",
    "dpbandits.algorithms.base": (
        "Definition Algorithm IdentificationAlgorithm Task Outcome Trial Phase Segment"
    ),
    "dpbandits.kernels": "njit blank write Arms Segments",
    "dpbandits.bandits.draws": "draw_reward draw_reward_sum laplace",
}
"""Module of the Python interface -> its public names, or "" for all that it exports."""


def interface_pages(menu: Sequence[tuple[str, str]]) -> Contents:
    """Return the reference of the Python interface, which pdoc writes from the docstrings."""
    pdoc.render.configure(
        docformat="google",
        search=False,
        show_source=False,
        template_directory=TEMPLATES / "interface",
    )
    pdoc.render.env.globals["menu"] = menu
    pdoc.render.env.filters["without_elements"] = without_elements
    modules = {name: pdoc.doc.Module(_exports(name, names)) for name, names in INTERFACE.items()}
    texts = {name: pdoc.render.html_module(module, modules) for name, module in modules.items()}
    return {
        # "Attributes:" and the like are no headings that an address may lead to.
        f"api/{name.replace('.', '/')}.html": re.sub(
            r'<h6 id="[^"]*">(.*?)</h6>', r"<p><strong>\1</strong></p>", text
        ).encode()
        for name, text in texts.items()
    }


def _exports(name: str, names: str) -> ModuleType:
    """Return a module of public names alone: names of the package are imported when asked for."""
    found = import_module(name)
    chosen = names.split() or [each for each in found.__all__ if each != "privacy"]
    module = ModuleType(name, found.__doc__)
    vars(module).update({each: getattr(found, each) for each in chosen}, __all__=chosen)
    return module


PYTHON = "api/dpbandits.html"
"""The page of the package, of those that pdoc writes."""

MENU = (
    ("index.html", "Papers"),
    ("claims.html", "Claims"),
    ("choosing.html", "Which one"),
    ("audit.html", "Audit"),
    ("algorithms.html", "Algorithms"),
    ("errata.html", "Errata"),
    (PYTHON, "Python"),
    ("data.html", "Data"),
    ("about.html", "About"),
)
"""The pages by what a reader comes for."""


def _pictures(site: Site) -> Contents:
    """Return the picture of each whole figure, small enough for a page."""
    existing = {
        f"pictures/{group.paper}/{name}.png": path
        for group in site.groups
        for name in group.entries
        if (path := site.files(group.paper, name).get("png"))
    }
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(existing, pool.map(_picture, existing.values()), strict=True))


def _picture(path: Path) -> bytes:
    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((WIDTH, 4 * WIDTH))
    buffer = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(buffer, "PNG")
    return buffer.getvalue()
