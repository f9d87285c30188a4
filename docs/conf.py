"""Sphinx builds the site from the documents, `make site` calls it at the root of the project."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from dpbandits import __version__
from dpbandits.errors import InputError
from dpbandits.pages.markdown import prose, table
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.published import read_table
from dpbandits.reporting.tables import cells_of

project = "dpbandits"
html_title = f"dpbandits {__version__}"

# Documents stand where a code host shows them, README as the first.
root_doc = "README"
include_patterns = ["*.md", "config/*.md", "docs/*.md", "docs/papers/*.md"]
exclude_patterns = [".*", "artifact", "docs/figures", "docs/tables", "figures", "results", "site"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
# Quotations are as they are printed.
smartquotes = False

# Docstrings have code between single marks.
default_role = "code"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False

html_theme = "furo"
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_show_copyright = html_show_sphinx = html_use_index = False
# It is fetched, which browsers do not do for a page that was opened from disk.
html_show_search_summary = False

CONTENTS = """
```{toctree}
:hidden:
:caption: Papers
:glob:
docs/papers/*
```

```{toctree}
:hidden:
:caption: Documents
:glob:
docs/*
```

```{toctree}
:hidden:
:caption: Project
CONTRIBUTING
config/README
CHANGELOG
```
"""
"""What README has on the site alone; a code host shows the folders."""

FIRST = 5
"""Rows of a table that its page shows."""


def add_text(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give the front page the contents of the site, and the page of tables their first rows."""
    if docname == root_doc:
        source[0] += CONTENTS
    if docname == "docs/tables":
        source[0] += "\n\n".join(first_rows(Project.load(Path(app.srcdir))))


def first_rows(project: Project) -> Iterator[str]:
    """Yield the caption, the first rows and the files of each published table."""
    for study in map(project.study, [*project.published, *project.known_comparisons]):
        yield f"## {study.title}"
        folder = Path("tables", study.name)
        for path in sorted((project.folder / "docs" / folder).glob("*.csv")):
            numbers = read_table(path)
            shown, files = numbers.head(FIRST), (folder / path.stem).as_posix()
            yield f"### {path.stem.removeprefix('extra-').replace('-', ' ').capitalize()}"
            if path.stem == "claims":
                where = f"on the [paper's page](papers/{study.name}.md#what-came-out)"
                yield f"Each claim is {where}; [csv]({files}.csv), [LaTeX]({files}.tex)."
                continue
            # The copies may be older than their entry.
            with suppress(InputError):
                spec = study.table(path.stem)
                yield prose(spec.caption)
                # Of rows that are spread out from results the heads are in the LaTeX alone.
                shown = shown if spec.rows else cells_of(spec, shown, path.stem)
            heads = [head.replace("_", " ") for head in shown]
            yield table(heads, shown.to_numpy(), len(heads))
            yield f"{len(shown)} of {len(numbers)} rows: [csv]({files}.csv), [LaTeX]({files}.tex)."


class Anchors(SphinxTransform):
    """Makes ``<a id="tsdp-c8"></a>`` a target of links and of the search, by its own name."""

    # Before links are resolved.
    default_priority = 800

    def apply(self, **kwargs: object) -> None:
        """Read the anchors of a document."""
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for node in [*self.document.findall(nodes.raw)]:
            for anchor in re.findall(r'<a id="([^"]+)">', node.astext()):
                slugs[anchor] = (node.line, anchor, "")
                if self.env.docname.startswith("docs/papers/"):
                    entries = [("single", name, anchor, "main", None) for name in names(anchor)]
                    node.parent.insert(node.parent.index(node), addnodes.index(entries=entries))


def names(anchor: str) -> list[str]:
    """Return what readers call a figure or panel; the id of a claim in capital letters."""
    panel = re.fullmatch(r"fig([0-9]+)([a-j]?)", anchor)
    if panel is None:
        return [anchor.upper()]
    number, letter = panel.groups()
    spelt = [f"Figure {number}({letter})"] if letter else []
    return [*spelt, f"Figure {number}{letter}", anchor]


class Pictures(SphinxTransform):
    """Makes a picture as wide as the text, and a link to itself in full size."""

    default_priority = 800

    def apply(self, **kwargs: object) -> None:
        """Set the width: Sphinx links what has one, unless it is a link already."""
        for link in self.document.findall(addnodes.pending_xref):
            for picture in link.findall(nodes.image):
                picture["classes"].append("no-scaled-link")
        for picture in self.document.findall(nodes.image):
            picture.setdefault("width", "100%")


FAULTS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    "<pre>": '<pre tabindex="0">',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}
"""What the theme has -> what a keyboard or a screen reader needs in its place."""


MOVED = {
    "about": "README",
    "algorithms": "docs/reference",
    "api/dpbandits": "docs/python",
    "audit": "docs/audit",
    "choosing": "docs/choosing",
    "claims": "docs/claims",
    "data": "docs/tables",
    "errata": "docs/claims",
    "findings": "docs/claims",
    "index": "README",
    "interpretations": "docs/deviations",
    "method": "docs/method",
}
"""Page of the site of version 1.0.0 -> the document that has it now."""


def moved(app: Sphinx) -> Iterator[tuple[str, str]]:
    """Yield the address of a page of version 1.0.0, and where it leads now."""
    for page, document in MOVED.items():
        yield f"{page}.html", f"{document}.html"
    for document in app.env.found_docs:
        paper = document.removeprefix("docs/papers/")
        if paper == document:
            continue
        yield f"papers/{paper}.html", f"{document}.html"
        for anchor in app.env.metadata[document].get("myst_slugs", {}):
            target = f"{document}.html#{anchor}"
            if re.fullmatch(r"[a-z]+-c[0-9]+[a-z]?", anchor):
                yield f"claims/{anchor.upper()}.html", target
            elif re.fullmatch(r"fig[0-9]+|extra-.*", anchor):
                yield f"figures/{paper.removesuffix('-supplementary')}/{anchor}.html", target


FORWARD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>dpbandits</title>
<meta http-equiv="refresh" content="0; url={0}"><a href="{0}">This page has moved.</a></html>
"""


def finish(app: Sphinx, error: Exception | None) -> None:
    """Repair the pages, and forward to them from where version 1.0.0 had them."""
    if error is not None:
        return
    for path in app.outdir.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for fault, repaired in FAULTS.items():
            text = text.replace(fault, repaired)
        path.write_text(text, encoding="utf-8")
    for address, target in moved(app):
        path = app.outdir / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FORWARD.format("../" * address.count("/") + target), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("source-read", add_text)
    app.add_transform(Anchors)
    app.add_transform(Pictures)
    app.connect("build-finished", finish)
