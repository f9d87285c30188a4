"""The documents that `dpbandits publish` writes, whole or in their marked regions."""

from collections.abc import Callable, Mapping
from pathlib import Path

from dpbandits.engine.files import write_text
from dpbandits.pages.api import api_page
from dpbandits.pages.artifact import artifact_page
from dpbandits.pages.choosing import choosing_page, which_one
from dpbandits.pages.claims import claims_page
from dpbandits.pages.costs import cluster_page
from dpbandits.pages.errata import errata_page
from dpbandits.pages.front import front_page
from dpbandits.pages.gallery import gallery_page
from dpbandits.pages.metadata import citation_page
from dpbandits.pages.published_tables import with_tables
from dpbandits.pipeline.project import Project

PAGES: Mapping[str, Callable[[Project], str]] = {
    "docs/api.md": lambda project: api_page(),
    "docs/choosing.md": choosing_page,
    "docs/claims.md": claims_page,
    "docs/errata.md": errata_page,
    "docs/gallery.md": gallery_page,
}
"""Document -> what returns the whole of it."""

REGIONS: Mapping[str, Callable[[Project, str], str]] = {
    "README.md": lambda project, text: which_one(project, front_page(project, text)),
    "CITATION.cff": citation_page,
    "docs/artifact.md": artifact_page,
    "docs/cluster.md": cluster_page,
    "docs/deviations.md": with_tables,
}
"""Document -> what fills in its computed parts, in the text that it has."""

DOCUMENTS = (*PAGES, *REGIONS)


def document(project: Project, name: str) -> str:
    """Return one of ``DOCUMENTS`` as the published copies have it.

    Raises:
        InputError: a number is not published, or the marks of a region are missing.
    """
    if name in PAGES:
        return PAGES[name](project)
    text = (project.folder / name).read_text(encoding="utf-8")
    return REGIONS[name](project, text)


def write_documents(project: Project) -> list[Path]:
    """Write every document from the published copies; return their paths."""
    texts = {project.folder / name: document(project, name) for name in DOCUMENTS}
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)
