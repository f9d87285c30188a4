"""The guarantee of what a cell plays."""

from dpbandits.engine.cells import Cell
from dpbandits.errors import InputError
from dpbandits.privacy.guarantee import Guarantee


def guarantee_of(cell: Cell) -> Guarantee:
    """Return what is guaranteed for a cell's variant, interpretations, horizon and instance.

    Raises:
        InputError: an algorithm of the user's own has a function ``guarantee`` that fails, or
            returns something else.
    """
    definition = cell.definition
    try:
        guarantee = definition.guarantee(
            cell.parameters,
            cell.horizon,
            variant=cell.variant,
            interpretations=dict(cell.interpretations),
            bandit=cell.bandit,
        )
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{definition.id}: guarantee fails: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(guarantee, Guarantee):
        raise InputError(f"{definition.id}: guarantee is {guarantee!r}; allowed: a Guarantee")
    return guarantee
