"""Check a user-defined algorithm in the manner of scikit-learn's ``check_estimator``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpbandits.algorithms import Definition, find_definition
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm
from dpbandits.algorithms.guarantees import stated_guarantee
from dpbandits.engine.kernel_checks import KERNEL_CHECKS, Subject
from dpbandits.engine.progress import progress
from dpbandits.engine.trial_checks import TRIAL_CHECKS
from dpbandits.engine.user_code import place_of
from dpbandits.errors import InputError

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was checked.
        status: ``passed``, ``failed`` or ``skipped``.
        detail: what is wrong, or why it was skipped; empty where it passed.
    """

    name: str
    status: str
    detail: str = ""

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.status}: {self.name}" + (f": {self.detail}" if self.detail else "")


def check_algorithm(
    algorithm: str | Definition,
    *,
    params: Mapping[str, Any] | None = None,
    interpretations: Mapping[str, str] | None = None,
    variant: str = "as-written",
    on_fail: str | None = "raise",
) -> list[Check]:
    """Return the result of every check of an algorithm.

    Kernel and reference are compared on 100 seeds, decision for decision. The same decisions are
    expected when a run is played again and with small buffers. Horizons of 1, 2 and K - 1 rounds
    and every order of the arms are played, and every batch of segments is checked.

    Args:
        algorithm: an ``Algorithm`` or ``IdentificationAlgorithm`` of your own, or an id.
        params: its parameters; by default its ``example``.
        interpretations: named interpretations that depart from their defaults.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        on_fail: ``raise`` an InputError with the first failure, or None for the list alone.

    Raises:
        InputError: a check failed.

    Example:
        >>> import dpbandits
        >>> {check.status for check in dpbandits.check_algorithm("ucb1")}
        {'passed'}
    """
    if on_fail not in ("raise", None):
        raise InputError(f"on_fail is {on_fail!r}; allowed: 'raise', None")
    definition = find_definition(algorithm)
    given = definition.example if params is None else params
    subjects: list[Subject] = []

    def valid() -> None:
        subjects.append(_subject(definition, given, interpretations or {}, variant))

    checks = [_result("parameters and guarantee are valid", valid)]
    if subjects:
        identifies = isinstance(definition, IdentificationAlgorithm)
        chosen = TRIAL_CHECKS if identifies else KERNEL_CHECKS
        for name, function in progress(chosen.items(), len(chosen), f"checking {definition.id}"):
            checks.append(_checked(name, function, subjects[0]))
    failed = [check for check in checks if check.status == FAILED]
    if failed and on_fail == "raise":
        raise InputError(f"{failed[0].name}: {failed[0].detail} ({_summary(checks)})")
    return checks


def require_passed(checks: list[Check]) -> None:
    """Raise InputError where a check failed."""
    if any(check.status == FAILED for check in checks):
        raise InputError(_summary(checks))


def _summary(checks: list[Check]) -> str:
    failed = sum(check.status == FAILED for check in checks)
    return f"{failed} of {len(checks)} checks failed"


def _subject(
    definition: Definition,
    params: Mapping[str, Any],
    interpretations: Mapping[str, str],
    variant: str,
) -> Subject:
    """Return what is checked; InputError where its parameters or its guarantee are not valid."""
    place = place_of(definition.id)
    parameters = definition.parameters_from(params)
    values = definition.interpretations_from(interpretations, definition.require_variant(variant))
    stated_guarantee(definition, parameters, 100)
    if isinstance(definition, Algorithm) and not callable(definition.advance):
        raise InputError(f"{place}: advance is {definition.advance!r}; allowed: a function")
    return Subject(definition, parameters, values)


def _checked(name: str, function: Callable[[Subject], None], subject: Subject) -> Check:
    """Return the result of a check; one that needs a reference is skipped where there is none."""
    if "reference" not in name:
        return _result(name, lambda: function(subject))
    if not callable(getattr(subject.definition, "reference", None)):
        return Check(name, SKIPPED, "there is no reference")
    result = _result(name, lambda: function(subject))
    if ": reference raises NotImplementedError" in result.detail:
        return Check(name, SKIPPED, "the reference is not implemented")
    return result


def _result(name: str, function: Callable[[], None]) -> Check:
    try:
        function()
    except InputError as error:
        return Check(name, FAILED, str(error))
    return Check(name, PASSED)
