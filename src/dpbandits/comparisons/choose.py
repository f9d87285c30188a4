"""Which private bandit to take for a question, by the published comparison."""

from pathlib import Path
from typing import TYPE_CHECKING

from dpbandits.engine.arguments import whole_number
from dpbandits.engine.provenance import require_current
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {
    "regret": ("extra-regret", "extra-winners"),
    "success": ("extra-best-arm", "extra-best-arm-winners"),
}
"""Measure -> the tables of the scores and of the winners."""

REQUIRED = {"regret": "horizon", "success": "budget"}


def choose(
    *,
    arms: int,
    epsilon: float,
    horizon: float | None = None,
    budget: float | None = None,
    privacy: str = "pure",
    scale: str | None = None,
    project: str | Path = ".",
) -> "pd.DataFrame":
    """Return which private algorithms are the best for a number of arms, a length and a budget.

    The ranking is that of the published comparison at the nearest setting that was measured, over
    several families of instances (``docs/choosing.md``). What one should know of it is in
    ``attrs["notes"]`` of the frame: the setting, and whether the question is outside of the grid.

    Args:
        arms: number of arms K, at least 2.
        epsilon: privacy budget, above 0.
        horizon: number of rounds T, where regret counts.
        budget: number of pulls, where the best arm is to be found.
        privacy: ``pure`` (epsilon-DP, central), ``approximate`` ((epsilon, 1e-6)-DP, central) or
            ``local`` (epsilon-DP of every reward); stricter algorithms take part.
        scale: ``paper`` or ``quick`` for the tables built in the project's folder; by default the
            published ones.
        project: folder of the project; outside of one the tables that come with the package.

    Returns:
        One row for each algorithm, the best first: place, algorithm, name, variant, verdict
        (``best``, whatever base logarithms have that are not settled, ``best by the default
        logarithms``, ``tied`` with the best, ``behind`` or ``not private``), parameters, regret
        (mean over the families, by default logarithms) or success with its 95 % interval as lo and
        hi, price (regret over the best without privacy), worst (the same in the worst family) and
        worst_instance, guarantee at the question, and the setting. Then what is not shown to be
        private.

    Raises:
        InputError: an argument is not allowed, or no comparison is published there.

    Example:
        >>> import dpbandits
        >>> dpbandits.choose(arms=1, horizon=1000, epsilon=1.0)
        Traceback (most recent call last):
        dpbandits.errors.InputError: arms is 1; allowed: a whole number of at least 2
    """
    # Asked for alone: everything else does without the comparison and without a project.
    from dpbandits.comparisons.choosing.guaranteed import notes, with_guarantees
    from dpbandits.comparisons.choosing.ranking import Question, ranked, read_table
    from dpbandits.comparisons.choosing.scores import full_field

    given = {"horizon": horizon, "budget": budget}
    if (horizon is None) == (budget is None):
        raise InputError(f"choose: horizon is {horizon}, budget {budget}; allowed: one of them")
    measure = "regret" if budget is None else "success"
    length = whole_number(given[REQUIRED[measure]])
    question = Question(whole_number(arms), length, epsilon, privacy)
    paths = [_table_path(Path(project), name, scale) for name in MEASURES[measure]]
    scores, winners = map(read_table, paths)
    table = full_field(scores)
    answer = ranked(table, winners, question, measure)
    answer = with_guarantees(answer, question, measure)
    answer.attrs["notes"] = notes(answer, table, question)
    return answer


def _table_path(folder: Path, name: str, scale: str | None) -> Path:
    """Return the file of a table of the comparison, as published or as built at a scale.

    Raises:
        InputError: the folder is no project, whose tables others have, or the table is stale.
    """
    from dpbandits.comparisons.choosing.players import COMPARISON, TABLES
    from dpbandits.pipeline.project import CONFIG, Project, published_folder
    from dpbandits.pipeline.targets import table_target

    if folder != Path() and not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: a project's folder, or none for the "
            f"published tables"
        )
    if scale is None:
        found = folder if (folder / CONFIG).is_file() else published_folder()
        return found / TABLES / f"{name}.csv"
    target = table_target(Project.load(folder).at(scale=scale), COMPARISON, name)
    require_current(target.files[0], target.depends_on)
    return next(path for path in target.files if path.suffix == ".csv")
