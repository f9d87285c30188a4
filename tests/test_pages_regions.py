"""Regions of documents that are computed."""

import pytest

from dpbandits.errors import InputError
from dpbandits.pages.render import with_region


def test_a_region_without_its_marks_is_refused() -> None:
    marks = "<!-- begin one -->\nold\n<!-- end one -->"
    assert with_region(f"head\n{marks}\nrest", "one", "new") == f"head\n{marks}\nrest".replace(
        "old", "new"
    )
    for text in ("# Errata\n", marks + marks):
        with pytest.raises(InputError, match=r"marks <!-- begin one --> .* are missing or double"):
            with_region(text, "one", "new")
