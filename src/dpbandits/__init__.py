"""Reference replication of papers on differentially private bandits.

Each package may import those before it: `bandits`, `metrics` and `privacy`; `algorithms`; `engine`
plays and keeps them; `own` is users' code; `config` reads what is to be played; `reporting` draws,
`claims` judges; `auditing` and `play` (Python's functions); `papers`; `comparisons`; `pipeline`,
`pages` and `cli` build, write and ask. Below all of them are `kernels`,
`text_tables`, `_cache_folder` and `errors`. `__init__.pyi` has the public names.
"""

import warnings

import lazy_loader

__version__ = "1.1.0"

# joblib says it when it is imported, whether there are worker processes to be or not.
warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")

# All at once would take over a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
