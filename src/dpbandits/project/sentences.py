"""The sentences of `paper.yaml` on the panels of a paper's figures."""

import re

from dpbandits.errors import InputError
from dpbandits.project.config import Project
from dpbandits.reporting.specs import figure_stems


def check_sentences(project: Project, paper: str) -> None:
    """Raise InputError unless each panel of a paper's figures has one sentence.

    A variant of a figure shares its sentences.
    """
    named = filter(re.compile(r"fig\d+").fullmatch, project.experiments(paper).figures)
    stems = {stem for figure in named for stem in panels_of(project, paper, figure)}
    shown = set(project.papers[paper].panels)
    if stems != shown:
        wrong = ", ".join(sorted(stems ^ shown))
        raise InputError(
            f"{project.config_path(paper, 'paper')}: panels lacks, or has without a panel, "
            f"{wrong}; allowed: one sentence for each panel of the paper's figures"
        )


def panels_of(project: Project, paper: str, figure: str) -> list[str]:
    """Return the panels of a figure, or the figure itself where it has none."""
    stems = figure_stems(figure, project.figure_spec(paper, figure))
    return stems[:-1] or stems
