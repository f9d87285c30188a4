"""What tests of figures share."""

import pytest

from synthetic_results import Drawn


@pytest.fixture(scope="session")
def drawn() -> Drawn:
    """Return the files of every figure, drawn from made-up results."""
    return Drawn()
