"""Made-up results of the comparison that ranks private bandits."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.comparisons.field import AS_PRINTED, CONSTANTS, NONE, PLAYERS, SETTING, TUNED

INSTANCES = tuple(f"drawn-{number}" for number in range(1, 13))
DESIGNED = ("linear", "near-ties")
RUNS = 2
ORDER = SETTING[1:]
"""Keys of a setting that results have as tags."""


def tagged(algorithms: Iterable[str], instances: Iterable[str], **tags: Any) -> pd.DataFrame:
    """A row for each algorithm and instance; without a budget where nothing is private."""
    table = pd.DataFrame(product(algorithms, instances), columns=["algorithm", "instance"])
    table = table.assign(variant="as-written", interpretation="", **tags)
    is_private = [PLAYERS[name][1] != NONE for name in table["algorithm"]]
    return table.assign(epsilon=table["epsilon"].where(is_private))


def rows_of(scores: dict[str, float], spread: float, seed: int, **setting: Any) -> pd.DataFrame:
    """Results of algorithms: two runs on each instance, log-normal about these regrets."""
    tags = {"arms": 5, "horizon": 10_000, "epsilon": 1.0, "metric": "pseudo_regret"} | setting
    instances = tags.pop("instances", (*INSTANCES, *DESIGNED))
    tags |= {"answer": AS_PRINTED} if "answer" not in tags else {}
    table = tagged(scores, instances, **tags, **dict.fromkeys(("constant", "b", "c"), np.nan))
    noise = np.random.default_rng(seed).standard_normal((RUNS, len(table)))
    level = table["algorithm"].map(scores)
    return pd.concat(
        [
            table.assign(value=level * np.exp(spread * each), run=run)
            for run, each in enumerate(noise)
        ]
    )


def grid_rows(answer: str = AS_PRINTED) -> pd.DataFrame:
    """Results on a small grid.

    As printed AdaP-UCB wins at epsilon 0.2, LDP-UCB-L at 1, and 5 is a tie. Tuned Lazy-DP-TS wins,
    with a quarter of the regret, but for LDP-UCB-L in the local model. Arms that pay no 0 or 1 are
    as the others.
    """
    parts = []
    grid = enumerate([(5, 10_000), (20, 10_000), (20, 100_000)])
    is_tuned = answer == TUNED
    for (number, (arms, horizon)), epsilon in product(grid, (0.2, 1.0, 5.0)):
        scores = {"adap-ucb": 80.0, "lazy-dp-ts": 80.0 if epsilon == 5.0 else 100.0}
        scores |= {"dp-se": 160.0, "ldp-ucb-l": 60.0 if epsilon == 1.0 else 300.0}
        scores |= {"ldp-ncb": 400.0}
        # They have no budget: once for each number of arms and horizon.
        free = {"ucb1": 40.0, "kl-ucb": 30.0} if epsilon == 1.0 else {}
        if is_tuned:
            scores = scores | {"lazy-dp-ts": 25.0, "ldp-ucb-l": 60.0, "m-ts-gaussian": 150.0}
            free = dict.fromkeys(free, 18.0)
        elif free:
            free["ts-beta"] = 20.0
        setting = {"arms": arms, "horizon": horizon, "epsilon": epsilon, "answer": answer}
        seed = 10 * number + int(epsilon) + 1000 * is_tuned
        parts.append(rows_of(scores | free, 0.05, seed, **setting))
        if (arms, horizon) == (5, 10_000):
            others = [f"{law}-{n}" for law in ("uniform", "exponential") for n in range(1, 4)]
            parts.append(rows_of(scores | free, 0.05, seed, **setting, instances=others))
    rows = pd.concat(parts, ignore_index=True)
    # As printed Lazy-DP-TS has base 2.
    rows.loc[rows["algorithm"] == "lazy-dp-ts", "interpretation"] = "log=base2"
    if is_tuned:
        chosen = rows["algorithm"].map({"lazy-dp-ts": 0.375, "adap-ucb": 0.775, "kl-ucb": 0.5})
        rows["constant"] = chosen
        rows.loc[rows["algorithm"] == "m-ts-gaussian", ["b", "c"]] = [50.0, 9.0]
    return rows


def printed_rows() -> pd.DataFrame:
    """As printed, and Lazy-DP-TS with the natural logarithm, as good as AdaP-UCB on twenty arms."""
    rows = grid_rows()
    settings = rows[rows["epsilon"].notna()][ORDER].drop_duplicates().to_dict("records")
    scores = {5: {"lazy-dp-ts": 120.0}, 20: {"lazy-dp-ts": 80.0}}
    parts = [
        rows_of(scores[each["arms"]], 0.05, 7, **each, instances=INSTANCES) for each in settings
    ]
    return pd.concat([rows, *parts], ignore_index=True)


def constant_rows(answer: str, instances: Iterable[str], horizon: int = 100_000) -> pd.DataFrame:
    """Results of a few constants: 1/8 of the printed one is the best, on every other one 1/4."""
    parts = []
    for name, factor in product(("lazy-dp-ts", "adap-ucb"), (1.0, 0.5, 0.25, 0.125, 0.0625)):
        distance = abs(np.log2(factor / 0.125))
        for arms, epsilon in product((5, 20), (0.2, 1.0, 5.0)):
            rows = rows_of(
                {name: 50.0 * 1.5**distance},
                0.0,
                1,
                arms=arms,
                epsilon=epsilon,
                horizon=horizon,
                answer=answer,
                instances=tuple(instances),
            )
            parts.append(rows.assign(constant=factor * CONSTANTS[name]))
    return pd.concat(parts, ignore_index=True)


def trial_rows() -> pd.DataFrame:
    """Trials that find the best arm: DP-BAI leads in two dimensions, ties with an axis an arm."""
    parts = []
    tags = {"arms": 20, "horizon": 1000, "epsilon": 1.0, "trials": 1000, "metric": "success"}
    hits = {"dp-bai": 840, "dp-od": 820, "baseline": 130, "dp-bai-gauss": 850, "od-linbai": 950}
    tied = {"many-1": 720, "many-2": 740}
    few = tagged(hits, ("few-1", "few-2"), **tags, dimensions=2)
    parts.append(few.assign(value=few["algorithm"].map(hits)))
    many = tagged(hits, tied, **tags, dimensions=20)
    parts.append(many.assign(value=many["instance"].map(tied)))
    table = pd.concat(parts, ignore_index=True)
    norm = np.where(table["algorithm"] == "dp-od", "norm=l1", "")
    return table.assign(interpretation=norm)


def frames_of(reads: Any) -> dict[str, pd.DataFrame]:
    """Results of what a figure or table of the experiments file reads."""
    tuned_on = [f"tuning-{number}" for number in range(1, 5)]
    made = {
        "printed": printed_rows,
        "tuned": lambda: grid_rows(TUNED),
        "tuning": lambda: constant_rows("tuning", tuned_on),
        "grid": lambda: constant_rows("grid", INSTANCES),
        "check": lambda: constant_rows("check", tuned_on, 1_000_000).query(
            "arms == 20 and epsilon == 1.0"
        ),
        "best-arm": trial_rows,
    }
    return {name: made[name]() for name in ([reads] if isinstance(reads, str) else reads)}
