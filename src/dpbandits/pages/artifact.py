"""The page for evaluators: what the archive holds, counted."""

from dpbandits.pages.regions import table, with_region
from dpbandits.pipeline.project import Project

HEAD = ("", "results", "figures", "panels", "tables", "claims")


def artifact_page(project: Project, text: str) -> str:
    """Return the page with the table of what the archive holds.

    Args:
        project: the project, at its paper scale.
        text: the page as it is.
    """
    counts = {f"`{name}`": _counts(project, name) for name in project.built()}
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[name, *numbers] for name, numbers in {**counts, "all": total}.items()]
    return with_region(text, "contents", table(HEAD, rows, texts=len(HEAD)))


def _counts(project: Project, paper: str) -> list[int]:
    """Return how many sets of results, figures, panels, tables and claims a paper has."""
    study = project.study(paper)
    stems = {stem for figure in study.figures.values() for stem in figure.stems}
    return [
        len(study.simulations) + len(study.exact),
        len(study.figures),
        len(stems - set(study.figures)),
        len(study.tables),
        len(study.claims),
    ]
