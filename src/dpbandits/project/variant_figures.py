"""The figures that show one variant, of those that a claim is about."""

from pathlib import Path

from dpbandits.claims.entries import Claim
from dpbandits.project.config import Project
from dpbandits.reporting.specs import PanelSpec, panel_stem, parse_figure


def variant_figure(project: Project, paper: str, claim: Claim, variant: str) -> str | None:
    """Return the first figure, panel or table of a claim that shows a variant; None for none.

    Where none of those that the claim names shows it, the same panel drawn for it is taken, such as
    ``fig1b-as-written``.

    Args:
        project: the project.
        paper: short name of the paper.
        claim: one of its claims.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
    """
    shown = _variants_shown(project, paper)
    shown |= dict.fromkeys(project.experiments(paper).tables, frozenset())
    names = [*claim.figures, *(f"{name}-{variant}" for name in claim.figures)]
    fitting = (name for name in names if name in shown and shown[name] <= {variant})
    partly = (name for name in names if variant in shown.get(name, ()))
    return next(fitting, next(partly, None))


def published_file(project: Project, paper: str, name: str) -> str:
    """Return the published copy of a figure, panel or table."""
    is_table = name in project.experiments(paper).tables
    folder, suffix = ("tables", "csv") if is_table else ("figures", "png")
    return (Path("docs") / folder / paper / f"{name}.{suffix}").as_posix()


def _variants_shown(project: Project, paper: str) -> dict[str, frozenset[str]]:
    """Return the variants that the lines of each figure and panel name; none where they do not."""
    shown: dict[str, frozenset[str]] = {}
    for name in project.experiments(paper).figures:
        figure = parse_figure(name, project.figure_spec(paper, name))
        panels = {panel_stem(name, letter): _named(p) for letter, p in figure.panels.items()}
        shown |= panels | {name: frozenset[str]().union(*panels.values())}
    return shown


def _named(panel: PanelSpec) -> frozenset[str]:
    """Return the variants that a panel or its lines ask for."""
    filters = [panel.where, *(line.where for line in panel.series)]
    asked = [each["variant"] for each in filters if "variant" in each]
    lists = [each if isinstance(each, list | tuple) else [each] for each in asked]
    return frozenset(str(value) for each in lists for value in each)
