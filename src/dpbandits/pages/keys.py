"""The keys of figures and tables, as their models describe them."""

import ast
import inspect
import itertools
from collections.abc import Mapping

from dpbandits.config.documents import Spec
from dpbandits.config.figures import (
    AxisSpec,
    ColumnSpec,
    CrossingSpec,
    DifferenceSpec,
    FigureEntry,
    PanelSpec,
    PublishedSpec,
    RowsSpec,
    SeriesSpec,
    TableSpec,
)
from dpbandits.pages.markdown import table

MODELS: Mapping[str, type[Spec]] = {
    "a figure": FigureEntry,
    "a figure or panel": PanelSpec,
    "`x` and `y`": AxisSpec,
    "an entry of `series`": SeriesSpec,
    "`published`": PublishedSpec,
    "an entry of `crossings`": CrossingSpec,
    "a table": TableSpec,
    "an entry of `rows`": RowsSpec,
    "an entry of `columns`": ColumnSpec,
    "`difference_from`": DifferenceSpec,
}
"""Name of an entry -> its model, in the order of the tables in config/README.md."""


def keys_of(model: type[Spec]) -> dict[str, str]:
    """Return the keys that a file may have, each with its meaning: the text below its field."""
    texts: dict[str, str] = {}
    # Pydantic would read the sources of all models whenever they are imported, for this page alone.
    for part in (part for part in model.__mro__ if issubclass(part, Spec)):
        [definition] = ast.parse(inspect.getsource(part)).body
        assert isinstance(definition, ast.ClassDef)
        for statement, below in itertools.pairwise(definition.body):
            match statement, below:
                case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(ast.Constant(str(text))):
                    texts.setdefault(key, text)
    return {key: texts[key] for key in model.model_fields if key in texts}


def key_tables() -> str:
    """Return a table of keys for each model."""
    tables = []
    for name, model in MODELS.items():
        rows = [(f"`{key}`", meaning) for key, meaning in keys_of(model).items()]
        tables.append(table([f"key of {name}", "meaning"], rows, texts=2))
    return "\n\n".join(tables)
