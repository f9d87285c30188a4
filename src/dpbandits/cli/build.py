"""Commands of a project's folder: what the jobs of a build do, and its upkeep."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbandits.cli.options import (
    FOLDER,
    algorithm_options,
    choice_options,
    command,
    format_option,
    in_project,
    open_project,
    option,
    project_option,
    project_options,
    show,
    whole_option,
    workers_option,
)
from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.pipeline.project import Project


@command()
@click.argument("name", required=False, metavar="[FILE.py | PAPER]")
@algorithm_options
@choice_options
@project_options
@format_option
def check(
    name: str | None,
    params: dict[str, Any],
    variant: str,
    interpretations: dict[str, str],
    project: Path,
    form: str,
    **choice: Any,
) -> None:
    """Check config, experiments and claims, or an algorithm of your own in a Python file.

    Of a PAPER, or a comparison, also every figure, table, claim and finding is made on made-up
    numbers, for at most seven seconds; what was left is named.
    """
    if name is None or not name.endswith(".py"):
        _check_project(open_project(project, **choice), name)
        return
    import pandas as pd

    from dpbandits.own.check import check_algorithm, require_passed
    from dpbandits.own.loading import load_algorithm

    checks = check_algorithm(
        load_algorithm(name),
        params=params or None,
        variant=variant,
        interpretations=interpretations,
        on_fail=None,
    )
    show(pd.DataFrame([asdict(each) for each in checks]), form, "\n".join(map(str, checks)))
    require_passed(checks)


def _check_project(project: "Project", name: str | None) -> None:
    """Check every file of a project, or those of a paper, and make all of it on made-up numbers."""
    from dpbandits.pipeline.check import check_files, check_filters, check_pages
    from dpbandits.pipeline.stale import lines_on
    from dpbandits.pipeline.targets import stale_among, targets

    if name is not None:
        project = project.only([name])
    check_files(project)
    if name is None:
        check_filters(project)
    check_pages(project)
    if name is not None:
        # It draws, and the check of all files does without matplotlib.
        from dpbandits.pages.documents import page_of
        from dpbandits.pipeline.rehearsal import NO_TIME, rehearse

        rehearsal = rehearse(project, name, page_of)
        for why, left in rehearsal.left.items():
            more = f" and {len(left) - 3} more" if len(left) > 3 else ""
            print(f"not checked: {', '.join(left[:3])}{more}: {why}")
        if rehearsal.faults:
            *others, last = rehearsal.faults
            for fault in others:
                print(f"dpbandits: {fault}", file=sys.stderr)
            raise InputError(last)
        print(
            f"not checked: what algorithms play, and whether titles and messages of {name} are true"
        )
    for line in lines_on(stale_among(targets(project))):
        print(line)
    is_whole = name is None or NO_TIME not in rehearsal.left
    print(f"{'config, experiments and claims are' if is_whole else 'what was checked is'} in order")


@command(hidden=True)
@click.argument("paper")
@click.argument("names", nargs=-1, required=True)
@workers_option
@in_project
def run(project: "Project", paper: str, names: Sequence[str], workers: int) -> None:
    """Simulate named sets of cells of a paper, or compute some of its exact results.

    PAPER is its short name, as ts-is-dp, or that of a comparison; NAMES are of its experiments
    file, those that choose parameters of others before these.
    """
    from dpbandits.pipeline.jobs import build_results

    for name in names:
        build_results(project, paper, name, workers)


@command(hidden=True)
@click.argument("paper")
@click.argument("name")
@in_project
def draw(project: "Project", paper: str, name: str) -> None:
    """Draw one figure of a paper, with all its panels.

    PAPER is its short name, as ts-is-dp, or that of a comparison; NAME is of its experiments file.
    """
    from dpbandits.pipeline.jobs import draw_paper_figure

    draw_paper_figure(project, paper, name)


@command(hidden=True)
@click.argument("paper")
@click.argument("name")
@in_project
def tabulate(project: "Project", paper: str, name: str) -> None:
    """Write one table of a paper as LaTeX and csv.

    PAPER is its short name, as ts-is-dp, or that of a comparison; NAME is of its experiments file.
    """
    from dpbandits.pipeline.jobs import write_paper_table

    write_paper_table(project, paper, name)


@command(hidden=True)
@click.argument("paper")
@in_project
def digitised(project: "Project", paper: str) -> None:
    """Compare the digitised values of a paper with those that we computed."""
    from dpbandits.pipeline.jobs import write_digitised_comparison

    write_digitised_comparison(project, paper)


@command(hidden=True)
@click.argument("paper")
@click.option("--findings", "kind", flag_value="findings", help="judge what was found beyond them")
@in_project
def judge(project: "Project", paper: str, kind: str | None) -> None:
    """Judge every claim of a paper and write the verdicts."""
    from dpbandits.pipeline.jobs import judge_paper

    judge_paper(project, paper, kind or "claims")


@command(hidden=True)
@choice_options
@in_project
def ledger(project: "Project") -> None:
    """Gather the verdicts on the claims of all chosen papers in one ledger."""
    from dpbandits.pipeline.jobs import write_whole_ledger

    write_whole_ledger(project)


@command()
@workers_option
@whole_option("--batches", default=5, help="batches of runs of each set of results (default: 5)")
@whole_option("--rounds", default=5 * 10**7, help="most rounds of a batch (default: 50000000)")
@whole_option("--sample-seed", default=1, help="of the draw (default: 1)")
@format_option
@in_project
def verify(
    project: "Project", workers: int, batches: int, rounds: int, sample_seed: int, form: str
) -> None:
    """Recompute a random sample of batches of runs; say of each whether it agrees."""
    from dpbandits.pipeline import verify as verification

    plan = verification.Plan(batches, rounds, sample_seed)
    outcome = verification.verify(project, plan, workers)
    show(outcome.table, form, "\n".join(outcome.lines()))
    outcome.require_agreement()


@command()
@option("--out", type=FOLDER, default="artifact", help="of the archive (default: artifact)")
@in_project
def artifact(project: "Project", out: Path) -> None:
    """Pack sources, results, figures, tables, ledger, report and site into one archive."""
    from dpbandits.pipeline.archive import pack

    print(pack(project, out))


@command()
@click.argument("names", nargs=-1, metavar="[PAPER]...")
@in_project
def publish(project: "Project", names: tuple[str, ...]) -> None:
    """Copy figures, tables and verdicts at paper scale to docs/, with fingerprints.

    Where a PAPER is named, those of the others stay as they are in docs/, and the documents are
    written from all of them. Of a draft there is its own page, and no document names it.
    """
    from dpbandits.pages.documents import write_documents, write_drafts
    from dpbandits.pipeline.check import check_pages
    from dpbandits.pipeline.costs import write_costs
    from dpbandits.pipeline.publish import publish_chosen

    chosen = project.only(names) if names else project
    check_pages(chosen)
    drafts = [name for name in chosen.chosen if name not in project.published]
    written = [*publish_chosen(chosen), *write_drafts(project, drafts)]
    if chosen.built() != drafts:
        written += [write_costs(chosen), *write_documents(project)]
    print(*written, sep="\n")


@command("new-paper")
@click.argument("name")
@project_option
def new_paper(name: str, project: Path) -> None:
    """Write the folder of a new paper, one figure and one claim, that builds at once.

    NAME is its short name: small letters, digits and -.
    """
    from dpbandits.pipeline.project import Project
    from dpbandits.pipeline.skeleton import write_skeleton

    print(*write_skeleton(Project.load(project), name), sep="\n")
    print(f"dpbandits check {name}")
    print(f"snakemake --cores 2 --config 'papers=[{name}]' comparisons=[]")
