"""Commands that play algorithms: simulate, identify, compare, overlay, audit."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbandits.cli.options import (
    FILE,
    FOLDER,
    NUMBERS,
    REAL,
    ROWS,
    algorithm,
    algorithm_options,
    an_algorithm,
    arms_of,
    cache_option,
    command,
    format_option,
    given,
    in_project,
    linear_arms_of,
    option,
    play_options,
    seed_option,
    show,
    whole_option,
    workers_option,
)
from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.pipeline.project import Project


@command()
@an_algorithm
@option("--law", help="of the rewards: bernoulli (default), uniform, ...")
@option("--arms", type=NUMBERS, required=True, help="mean or rate of each arm")
@whole_option("--horizon", required=True, help="rounds, as 100000 or 1e5")
@play_options
@format_option
def simulate(law: str | None, arms: Any, form: str, **options: Any) -> None:
    """Simulate and print final regrets with their 95 % intervals, and the mean pulls.

    ALGORITHM is an id (dpbandits list), or a Python file of your own.
    """
    import pandas as pd

    import dpbandits
    from dpbandits.text_tables import aligned

    simulation = dpbandits.simulate(bandit=arms_of(arms, law), **given(options))
    bias = "subtracted" if options["runs"] > 1 else "kept"
    summary = simulation.summary()
    nash = simulation.nash_regret(at=[options["horizon"]], bias=bias).frame()
    nash = nash.rename(columns={"value": "mean"})[["metric", "mean", "low", "high"]]
    table = pd.concat([summary, nash], ignore_index=True)
    lines = [
        aligned(table),
        f"bias of nash_regret: {bias}",
        f"guarantee: {simulation.guarantee.describe()}",
    ]
    show(table, form, "\n".join(lines))


@command()
@an_algorithm
@option("--law", help="of the rewards: uniform (default) or bernoulli")
@option("--features", type=ROWS, required=True, help='a row an arm: "0,1; 0,0.9; 10,0"')
@option("--theta", type=NUMBERS, required=True, help='the parameter of the means: "0.045,0.5"')
@whole_option("--budget", required=True, help="pulls that are allowed")
@play_options
@format_option
def identify(law: str | None, features: Any, theta: Any, form: str, **options: Any) -> None:
    """Name the best arm of a linear bandit by trials; print the share of successes.

    ALGORITHM is an id (dpbandits list), or a Python file of your own.
    """
    import pandas as pd

    import dpbandits
    from dpbandits.metrics.intervals import runs_interval
    from dpbandits.text_tables import aligned

    trials = dpbandits.identify(bandit=linear_arms_of(features, theta, law), **given(options))
    pulls = [
        (f"pulls of arm {arm}", *map(float, runs_interval(each)))
        for arm, each in enumerate(trials.pulls.T)
    ]
    summary = trials.summary()
    table = pd.concat([summary, pd.DataFrame(pulls, columns=summary.columns)], ignore_index=True)
    searches = "exhaustive" if trials.exact.all() else "by exchange where sets are large"
    lines = [
        aligned(table),
        f"most pulls of a trial: {trials.total_pulls.max()}, of a budget of {options['budget']}",
        f"searches for arms to pull: {searches}",
        f"guarantee: {trials.guarantee.describe()}",
    ]
    show(table, form, "\n".join(lines))


@command()
@click.argument("algorithms", nargs=-1, required=True, metavar="ALGORITHM...")
@algorithm_options
@option("--law", help="of the rewards: bernoulli, uniform, ...")
@option("--arms", type=NUMBERS, help="mean or rate of each arm")
@whole_option("--horizon", help="rounds, as 100000 or 1e5")
@option("--features", type=ROWS, help='in place of arms, a row an arm: "0,1; 0,0.9; 10,0"')
@option("--theta", type=NUMBERS, help='the parameter of the means: "0.045,0.5"')
@whole_option("--budget", help="pulls that are allowed, to find the best arm")
@play_options
@format_option
@option("--out", type=FOLDER, help="for the plot and the numbers of every run (default: none)")
def compare(
    algorithms: tuple[str, ...],
    variant: str,
    interpretations: dict[str, str],
    law: str | None,
    arms: Any,
    features: Any,
    theta: Any,
    form: str,
    out: Path | None,
    **options: Any,
) -> None:
    """Compare algorithms on your arms.

    Each ALGORITHM is an id (dpbandits list), or a Python file of your own. The arms are given by
    --arms, or by --features and --theta.
    """
    import dpbandits

    _require_one_instance(arms, features, theta)
    bandit = arms_of(arms, law) if arms else linear_arms_of(features, theta, law)
    chosen = {"variant": variant, "interpretations": interpretations}
    names = [name for text in algorithms for name in text.split(",") if name]
    entries = [{"algorithm": algorithm("ALGORITHM", name), **chosen} for name in names]
    comparison = dpbandits.compare(entries, bandit=bandit, **given(options))
    show(comparison.summary(), form)
    if out is not None:
        _write(comparison, out)


def _require_one_instance(arms: Any, features: Any, theta: Any) -> None:
    """Raise InputError unless there are arms, or features and theta."""
    allowed = "allowed: --arms, or --features and --theta"
    if not arms and not features:
        raise InputError(f"compare: there are no arms; {allowed}")
    for name, value in {"features": features, "theta": theta}.items():
        if arms and value:
            raise InputError(f"compare: --{name} is given beside --arms; {allowed}")
        if not arms and not value:
            raise InputError(f"compare: --{name} is missing; {allowed}")


def _write(comparison: Any, folder: Path) -> None:
    """Write the plot as pdf and png, and the numbers of every run as csv."""
    from dpbandits.engine.provenance import write_atomically, write_text

    figure = comparison.plot().figure
    for suffix in ("pdf", "png"):
        write_atomically(folder / f"comparison.{suffix}", figure.savefig)
    text = comparison.frame().to_csv(index=False, lineterminator="\n")
    write_text(folder / "comparison.csv", str(text))


@command()
@click.argument("file", type=FILE, metavar="FILE.py")
@click.argument("figure")
@algorithm_options
@workers_option
@option("--out", type=FOLDER, help="for the files (default: figures/compare/PAPER)")
@format_option
@in_project
def overlay(
    project: "Project",
    file: Path,
    figure: str,
    params: dict[str, Any],
    workers: int,
    out: Path | None,
    form: str,
    **chosen: Any,
) -> None:
    """Draw an algorithm of your own into a figure of a paper.

    The algorithm is in FILE.py, the FIGURE is one as dp-ts-ucb/fig5, or a panel as dp-ts-ucb/fig5b;
    its results have to be built. A parameter may be the name of a column of the figure.
    """
    import pandas as pd

    from dpbandits.own.loading import load_algorithm
    from dpbandits.pipeline.overlay import UserAlgorithm, overlay_figure

    own = UserAlgorithm(load_algorithm(file), params, **chosen)
    files = [str(each) for each in overlay_figure(project, figure, own, out, workers)]
    show(pd.DataFrame({"file": files}), form, "\n".join(files))


@command()
@an_algorithm
@whole_option("--horizon", required=True, help="rounds, or budget of pulls")
@whole_option("--arms", default=2, help="number of arms (default: 2)")
@option(
    "--notion",
    default="pull table",
    help="neighbours differ in one cell of a 'pull table' (default) or in one 'round'",
)
@option(
    "--x",
    type=ROWS,
    help='rewards of each arm: "0,0;1,1"; the last of a row goes on for ever; without, a pair is '
    "searched for",
)
@option("--x-prime", type=ROWS, help="its neighbour")
@option("--features", type=ROWS, help="of a best-arm algorithm, one row an arm")
@whole_option(
    "--runs", help="per table, half to choose an event and half to certify it (default: 1000000)"
)
@whole_option("--search-runs", help="per table and pair (default: 20000)")
@option("--level", type=REAL, help="of the bound (default: 0.05)")
@seed_option
@workers_option
@cache_option
@format_option
def audit(x: Any, x_prime: Any, form: str, **options: Any) -> None:
    """Bound the privacy loss of an algorithm from below, by runs on neighbouring inputs.

    ALGORITHM is an id (dpbandits list), or a Python file of your own.
    """
    import pandas as pd

    import dpbandits
    from dpbandits.auditing.inputs import audit_pair

    if (x is None) != (x_prime is None):
        raise InputError("--x and --x-prime: one is missing; allowed: both tables, or none")
    pair = None if x is None else audit_pair(x, x_prime, notion=options["notion"])
    found = dpbandits.audit(pair=pair, **given(options))
    row = asdict(found.row) | {"verdict": found.verdict, "p_value": found.p_value}
    show(pd.DataFrame([row]), form, found.describe())
