"""The page for evaluators: what the archive holds, counted."""

from dpbandits.pages.regions import with_block
from dpbandits.project.config import Project
from dpbandits.reporting.specs import figure_stems


def artifact_page(project: Project, text: str) -> str:
    """Return the page with the table of what the archive holds.

    Args:
        project: the project, at its paper scale.
        text: the page as it is.
    """
    lines = ["| | results | figures | panels | tables | claims |", "|---|---|---|---|---|---|"]
    counts = [_counts(project, paper) for paper in project.built()]
    for paper, own in zip(project.built(), counts, strict=True):
        lines.append(f"| `{paper}` | {' | '.join(map(str, own))} |")
    total = [sum(column) for column in zip(*counts, strict=True)]
    lines.append(f"| together | {' | '.join(map(str, total))} |")
    return with_block(text, "contents", "\n".join(lines))


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
