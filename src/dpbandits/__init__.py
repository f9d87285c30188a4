"""Reference replication of papers on differentially private bandits.

Each package may import those before it: `bandits`, `metrics` and `privacy`; `algorithms`; `engine`
plays and keeps them; `own` is users' code; `config` reads what is to be played; `reporting` draws,
`claims` judges; `auditing` and `play` (Python's functions); `papers`; `comparisons`; `pipeline`,
`pages` and `cli` build, write and ask. Below all of them are `kernels`,
`text_tables`, `_cache_folder` and `errors`; `api` has the public names.
"""

import ast
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbandits.api import *  # noqa: F403

__version__ = "1.1.0"

# joblib says it when it is imported, whether there are worker processes to be or not.
warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")


@cache
def _public() -> dict[str, tuple[str, str]]:
    """Return the module of each public name and its name there, as ``api.py`` imports it."""
    source = Path(__file__).with_name("api.py").read_text(encoding="utf-8")
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def __getattr__(name: str) -> Any:
    """Return a public name, whose own module is imported alone: all take over a second."""
    if name == "__all__":
        return sorted(_public())
    if name.startswith("__") or name not in _public():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, its_name = _public()[name]
    if module == __name__:
        return import_module(f"{module}.{its_name}")
    return getattr(import_module(module), its_name)


def __dir__() -> list[str]:
    """Return the public names."""
    return ["__version__", *sorted(_public())]
