"""The kernel that all policies share; numba compiles it anew for the settings of each."""

import sys
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.extending import overload

from dpbandits.policies.compiled import NotCompiledError, compiled_play
from dpbandits.policies.loop import no_update, rounds
from dpbandits.policies.rule import Rule


def play(settings, state, arms, generator, out):  # type: ignore[no-untyped-def]
    """Play rounds in plain Python; arguments and result are those of a kernel."""
    rule: Rule = settings.rule
    me = rule.load(settings, state.own)
    if state.clock[0] == 0:
        rule.start(me, arms.laws.size, settings.horizon, generator)
    choose, update = rule.policy.choose, getattr(rule.policy, "update", no_update)  # type: ignore[attr-defined]
    written = rounds(rule.id, me, choose, update, settings.horizon, state, arms, generator, out)
    rule.store(me, settings, state.own)
    return written


WHY_NOT: "WeakKeyDictionary[Rule, str]" = WeakKeyDictionary()
"""Why a policy does not compile, or an empty text where it does."""


def why_not(rule: Rule) -> str:
    """Return why a policy does not compile, or an empty text; it is said when it is found out."""
    if rule not in WHY_NOT:
        try:
            compiled_play(rule, numba.typeof(rule.state(2)), numba.typeof(np.random.default_rng()))
            WHY_NOT[rule] = ""
        except NotCompiledError as error:
            WHY_NOT[rule] = str(error)
            print(
                f"{rule.id}: does not compile and is played in plain Python, about a hundred times "
                f"slower ({error})",
                file=sys.stderr,
            )
    return WHY_NOT[rule]


@overload(play)
def _typed(settings, state, arms, generator, out):  # type: ignore[no-untyped-def]
    rule = settings.instance_class.rule
    return _in_python if why_not(rule) else compiled_play(rule, state, generator)


def _in_python(settings, state, arms, generator, out):  # type: ignore[no-untyped-def]
    with numba.objmode(written="int64"):
        written = play(settings, state, arms, generator, out)
    return written


@numba.njit(nogil=True)
def advance(settings, state, arms, generator, out):  # type: ignore[no-untyped-def]
    """Play rounds until the horizon or until ``out`` is full; return how many are written."""
    return play(settings, state, arms, generator, out)
