"""Which private bandit to take, by the published comparison or by one that is built."""

from pathlib import Path

import pandas as pd

from dpbandits.algorithms.base import LARGEST_INTEGER, positive
from dpbandits.comparisons.field import APPROXIMATE, COMPARISON, DELTA, LOCAL, PUBLISHED, PURE
from dpbandits.comparisons.ranking import AskedSetting, answer_to
from dpbandits.config.project import CONFIG
from dpbandits.errors import InputError, require_count
from dpbandits.pipeline.project import Project, published_folder
from dpbandits.pipeline.targets import table_target

TEXTS = (
    *("variant", "interpretation", "logarithm", "tied", "as_ranked", "otherwise", "unplayed"),
    *("worst_on", "floor"),
)
"""Text columns of the tables, which may be empty."""

ASKED = {("central", 0.0): PURE, ("central", DELTA): APPROXIMATE, ("local", 0.0): LOCAL}
"""Trust and delta -> the class of privacy that is asked for."""


def read_scores(path: Path) -> pd.DataFrame:
    """Read a table of scores or of winners."""
    if not path.is_file():
        raise InputError(
            f"{path}: does not exist; allowed: a project with the comparison, built by snakemake "
            f"extras (--scale) or published"
        )
    frame = pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str))
    if "algorithm" in frame and path.parent.name == COMPARISON and "constant" not in frame:
        raise InputError(
            f"{path}: has no column constant, being of an older version; allowed: a table that "
            f"snakemake extras builds and dpbandits publish copies"
        )
    return frame.fillna({name: "" for name in TEXTS if name in frame})


MEASURES = {
    True: ("extra-regret", "extra-winners"),
    False: ("extra-best-arm", "extra-best-arm-winners"),
}
"""Whether regret is asked about -> the tables of the scores and of the winners."""


def choose(
    *,
    arms: int,
    epsilon: float,
    horizon: float | None = None,
    budget: float | None = None,
    trust: str = "central",
    delta: float = 0.0,
    dimensions: int | None = None,
    scale: str | None = None,
    project: str | Path = "",
) -> pd.DataFrame:
    """Rank the private algorithms for a number of arms, a horizon and a privacy budget.

    The ranking is that of the project's published comparison (``docs/choosing.md``) at the nearest
    setting, once with printed and once with tuned constants. Parameters and guarantees are those at
    the setting that you ask for.

    Args:
        arms: number of arms K, at least 2.
        epsilon: privacy budget, above 0.
        horizon: number of rounds T, where regret counts.
        budget: number of pulls, where the best arm is to be found.
        trust: ``central`` (one trusted learner sees the rewards) or ``local`` (every reward is made
            private before anyone sees it).
        delta: 0 for epsilon-DP, or 1e-6 for (epsilon, delta)-DP, with central trust.
        dimensions: of the arms' features, where the best arm is to be found; by default one an arm.
        scale: ``paper`` or ``quick`` for the tables built in the project's folder; by default the
            published ones.
        project: folder of the project; outside of one the tables that come with the package.

    Returns:
        One row for each answer (``as printed``, ``tuned``) and algorithm, the best first: place,
        algorithm, name, variant, verdict (``best``, ``best by these logarithms``, ``tied`` with the
        best, ``behind`` or ``meets no budget that is asked``), parameters, constant, price (regret
        over the non-private floor, geometric mean over the drawn instances) with its 95 % interval
        as lo and hi, least and most of the instances by design, tail (the ratio that one run in ten
        exceeds), worst (of all instances) and regret (mean); or success (share of trials) with its
        interval over trials. Then the guarantee at what you ask for, and the measured setting.
        ``attrs`` has the notes, and the lines of the answer.

    Raises:
        InputError: an argument is not allowed, or no comparison is published there.

    Example:
        >>> import dpbandits
        >>> dpbandits.choose(arms=1, horizon=1000, epsilon=1.0)
        Traceback (most recent call last):
        dpbandits.errors.InputError: arms is 1; allowed: a whole number from 2 to 9007199254740992
    """
    if (horizon is None) == (budget is None):
        raise InputError(f"choose: horizon is {horizon}, budget {budget}; allowed: one of them")
    if (trust, delta) not in ASKED:
        if trust not in ("central", "local"):
            raise InputError.unknown("trust", trust, ("central", "local"))
        allowed = f"0 or {DELTA:g}" if trust == "central" else "0 with local trust"
        raise InputError(f"delta is {delta!r}; allowed: {allowed}")
    is_regret = budget is None
    if is_regret and dimensions is not None:
        raise InputError(f"dimensions is {dimensions!r}; allowed: with a budget alone")
    length = "horizon" if is_regret else "budget"
    count = require_count("arms", arms, 2, LARGEST_INTEGER)
    asked = AskedSetting(
        count,
        require_count(length, horizon if is_regret else budget, 1, LARGEST_INTEGER),
        positive.require("choose", "epsilon", epsilon),
        ASKED[trust, delta],
        None if is_regret else require_count("dimensions", dimensions or count, 1, LARGEST_INTEGER),
    )
    table, winners = (
        read_scores(_table_path(Path(project), n, scale)) for n in MEASURES[is_regret]
    )
    return answer_to(table, winners, asked)


def _table_path(folder: Path, name: str, scale: str | None) -> Path:
    """Return the file of a table of the comparison, as published or as built at a scale."""
    is_project = (folder / CONFIG).is_file()
    if folder != Path() and not is_project:
        raise InputError(
            f"{folder / CONFIG}: does not exist; allowed: a project's folder, or none for the "
            f"published tables"
        )
    if scale is None:
        return (folder if is_project else published_folder()) / PUBLISHED / f"{name}.csv"
    target = table_target(Project.load(folder).at(scale=scale), COMPARISON, name)
    return next(path for path in target.current_files() if path.suffix == ".csv")
