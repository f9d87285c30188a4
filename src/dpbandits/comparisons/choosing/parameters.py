"""Parameters with which a measured algorithm meets the budget of a question."""

from collections.abc import Mapping
from typing import Any

from dpbandits.comparisons.choosing.players import DELTA, NONE
from dpbandits.comparisons.choosing.ranking import Question
from dpbandits.comparisons.equal_privacy.formulas import least_alpha, level
from dpbandits.config import Context
from dpbandits.privacy.thompson import required_c


def parameters_at(row: Mapping[str, Any], question: Question) -> dict[str, float]:
    """Return the parameters of an algorithm at a question.

    Modified TS has the share b K/T of pre-pulls that was tuned, with the c that the budget asks
    for; DP-TS-UCB the alpha that was tuned, or the least that meets the budget if that is more.

    Args:
        row: a row of the table of scores.
        question: what is asked.

    Raises:
        InputError: the algorithm cannot meet the budget.
    """
    algorithm, epsilon = row["algorithm"], float(question.epsilon)
    if algorithm == "m-ts-gaussian":
        share = row["b"] / (row["horizon"] // row["arms"])
        b = int(share * (question.horizon // question.arms))
        return {"b": b, "c": float(required_c(b, level(epsilon), question.horizon))}
    if algorithm == "dp-ts-ucb":
        least = least_alpha(Context({"epsilon": epsilon}, question.horizon, question.arms))
        return {"alpha": max(float(row["alpha"]), least)}
    if algorithm == "dp-bai-gauss":
        return {"epsilon": epsilon, "delta": DELTA}
    return {} if row["class"] == NONE else {"epsilon": epsilon}
