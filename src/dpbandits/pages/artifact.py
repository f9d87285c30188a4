"""The page for evaluators: what the archive holds, counted."""

from dpbandits.pages.regions import with_block
from dpbandits.project.config import Project
from dpbandits.project.outputs import Outputs


def artifact_page(project: Project, text: str) -> str:
    """Return the page with the table of what the archive holds.

    Args:
        project: the project, at its paper scale.
        text: the page as it is.
    """
    outputs = Outputs(project)
    lines = ["| | results | figures | panels | tables | claims |", "|---|---|---|---|---|---|"]
    counts = [_counts(outputs, paper) for paper in project.built()]
    for paper, own in zip(project.built(), counts, strict=True):
        lines.append(f"| `{paper}` | {' | '.join(map(str, own))} |")
    total = [sum(column) for column in zip(*counts, strict=True)]
    lines.append(f"| together | {' | '.join(map(str, total))} |")
    return with_block(text, "contents", "\n".join(lines))


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
