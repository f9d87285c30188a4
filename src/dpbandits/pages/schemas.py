"""`workflow/schemas`: JSON schemas of the config files, for editors, from the models."""

import json

from pydantic import BaseModel

from dpbandits.claims.files import ClaimsFile, FindingsFile
from dpbandits.engine.models import Names, Text
from dpbandits.engine.simulation_specs import ExperimentsFile, FigureName, TableName
from dpbandits.pages.errata import ErrataFile
from dpbandits.pages.site.switches import SwitchesFile
from dpbandits.project.config_file import ConfigFile
from dpbandits.project.paper_file import PaperFile
from dpbandits.reporting.specs import DiagramKeys, FigureKeys
from dpbandits.reporting.table_specs import ColumnSpec, TableSpec


class DefaultTable(TableSpec):
    """A table that every paper has; keys that are not given are its default's."""

    caption: Text = "that of the default"
    reads: Names = ("claims",)
    columns: tuple[ColumnSpec, ...] = ()


class _Experiments(ExperimentsFile):
    """config/papers/PAPER/experiments.yaml: what is simulated, drawn and tabulated."""

    figures: dict[FigureName, DiagramKeys | FigureKeys] = {}
    tables: dict[TableName, TableSpec | DefaultTable] = {}


MODELS: dict[str, type[BaseModel]] = {
    "claims": ClaimsFile,
    "config": ConfigFile,
    "errata": ErrataFile,
    "experiments": _Experiments,
    "findings": FindingsFile,
    "paper": PaperFile,
    "switches": SwitchesFile,
}
"""Name of a config file -> its model."""


def schema_text(name: str) -> str:
    """Return the JSON schema of a config file, a definition a line."""
    schema = MODELS[name].model_json_schema()
    definitions = schema.pop("$defs", {})
    head = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in definitions.items()]
    joined = ",\n".join(lines)
    return f'{head[:-1]},\n"$defs": {{\n{joined}\n}}}}\n'
