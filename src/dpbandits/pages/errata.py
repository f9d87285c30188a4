"""`docs/errata.md`: what is printed wrong or left open, with the published numbers that show it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpbandits.engine.documents import load_document
from dpbandits.pages.published_numbers import evidence_path, filled, link
from dpbandits.pages.regions import table_row, with_block
from dpbandits.papers import PAPERS
from dpbandits.project.config import Project

PAGE = Path("docs/errata.md")
SCHEMA = Path("workflow/schemas/errata.schema.yaml")

KINDS = {
    "error": "printed error",
    "open": "left open",
    "code": "text and code differ",
    "loose": "loose bound",
    "editions": "editions differ",
    "extension": "our extension",
    "proof": "proof does not cover",
}


def load_errata(project: Project, paper: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of a paper's `errata.yaml` by id, checked; none without the file.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    path = project.config_path(paper, "errata")
    if not path.exists():
        return {}
    entries: Mapping[str, Mapping[str, Any]]
    entries = load_document(path, project.folder / SCHEMA)["errata"]
    return entries


def errata_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published numbers have them.

    Args:
        project: the project.
        text: the page as it is.

    Raises:
        InputError: the marks of a block are missing, or a number is not published.
    """
    for paper in PAPERS:
        if evidence_path(project, paper).exists():
            entries = load_errata(project, paper)
            text = with_block(text, f"errata {paper}", _table(project, paper, entries))
    return text


def _table(project: Project, paper: str, entries: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["id", "where", "kind", "what is printed", "what is computed", "taken here", "evidence"]
    lines = [table_row(head), "|---" * len(head) + "|"]
    for name, entry in entries.items():
        links = (link(source, PAGE) for source in entry["numbers"].values())
        cells = [
            f'<a id="{name.lower()}"></a>{name}',
            entry["place"],
            KINDS[entry["kind"]],
            " ".join(entry["printed"].split()),
            found_text(project, paper, name, entry),
            " ".join(entry["taken"].split()),
            " ".join(dict.fromkeys(links)),
        ]
        lines.append(table_row(cells))
    return "\n".join(lines)


def found_text(project: Project, paper: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return what is computed, in words, with the published numbers filled in.

    Raises:
        InputError: the text names a number that is not given, or the reverse, or a number is not
            published.
    """
    place = f"{project.config_path(paper, 'errata')}: {name}"
    return filled(project, paper, entry["found"], entry["numbers"], place)
