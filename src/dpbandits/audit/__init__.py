"""The privacy audit: certified lower bounds on what each algorithm leaks.

``dpbandits.audit(...)`` audits an algorithm as a black box; the modules here compute exact bounds
(``gaussian``, ``releases``, ``reports``, ``support``) and bounds from runs (``blackbox``).
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that is also the function of its name, whichever is imported first."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from dpbandits.audit.run import audit

        return audit(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
