"""The page for evaluators: what the archive holds, counted."""

from dpbandits.pages.regions import table, with_region
from dpbandits.pipeline.project import Project
from dpbandits.reporting.specs import figure_stems

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
    experiments = project.experiments(paper)
    specs = experiments.figure_specs
    stems = {stem for name, spec in specs.items() for stem in figure_stems(name, spec)}
    return [
        len(experiments.plans) + len(experiments.analytic),
        len(experiments.figures),
        len(stems - set(experiments.figures)),
        len(experiments.tables),
        len(project.claims(paper)),
    ]
