"""The page for evaluators: what the archive holds, counted."""

from dpbandits.pages.regions import table, with_region
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs

HEAD = ("", "results", "figures", "panels", "tables", "claims")


def artifact_page(project: Project, text: str) -> str:
    """Return the page with the table of what the archive holds.

    Args:
        project: the project, at its paper scale.
        text: the page as it is.
    """
    outputs = Outputs(project)
    counts = {f"`{name}`": _counts(outputs, name) for name in project.built()}
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[name, *numbers] for name, numbers in {**counts, "all": total}.items()]
    return with_region(text, "contents", table(HEAD, rows, texts=len(HEAD)))


def _counts(outputs: Outputs, paper: str) -> list[int]:
    """Return how many sets of results, figures, panels, tables and claims a paper has."""
    experiments = outputs.project.experiments(paper)
    stems = {stem for f in experiments.figures for stem, _ in outputs.figure_files(paper, f)}
    return [
        len(experiments.plans) + len(experiments.analytic),
        len(experiments.figures),
        len(stems - set(experiments.figures)),
        len(experiments.tables),
        len(outputs.project.claims(paper)),
    ]
