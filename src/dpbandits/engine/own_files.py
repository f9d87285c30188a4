"""Files of the user's own, read once: what is played is what was read, and workers get the same."""

import ast
import builtins
import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from dpbandits.engine.identity import GUARANTEES, PACKAGE, fingerprint, path_of
from dpbandits.engine.installed import is_installed

PREFIX = "dpbandits_own_"
"""How the names of modules begin that were loaded from files of the user's."""


@dataclass(frozen=True)
class Bundle:
    """A file and the files beside it that it imports, transitively, as they were read.

    Attributes:
        name: of the package that its modules are loaded into, which no other bundle has.
        folder: where the files stand.
        main: module name of the file itself, within the bundle.
        sources: module name within the bundle -> (path from the folder, source).
    """

    name: str
    folder: Path
    main: str
    sources: dict[str, tuple[str, bytes]]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the sources and of what they import of this package."""
        digest = hashlib.sha256()
        packaged: dict[str, None] = {}
        for name, (_, source) in sorted(self.sources.items()):
            digest.update(name.encode() + b"\0" + hashlib.sha256(source).digest())
            imported = _imports_of(source)
            packaged |= dict.fromkeys(each for each in imported if each.split(".")[0] == PACKAGE)
        digest.update(fingerprint(*packaged, without=GUARANTEES).encode())
        return digest.hexdigest()[:16]

    @property
    def main_module(self) -> str:
        """Full name of the module of the file itself."""
        return f"{self.name}.{self.main}"


def _imports_of(source: bytes) -> Iterator[str]:
    """Yield the modules that a source imports, in its functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if path_of(name) else node.module for name in submodules)


def read_bundle(path: Path) -> Bundle:
    """Read a file and the files beside it that it imports; the bundle gets a name of its own.

    Raises:
        OSError: a file cannot be read.
        SyntaxError: a file is no Python.
    """
    file = path.resolve()
    folder, found = file.parent, {}
    waiting = [(file.stem.replace(".", "_"), file)]
    while waiting:
        name, each = waiting.pop()
        if name not in found:
            found[name] = each.relative_to(folder).as_posix(), each.read_bytes()
            for module in _imports_of(found[name][1]):
                waiting += _beside(folder, module.split(".")[0])
    content = hashlib.sha256(repr((str(file), sorted(found.items()))).encode()).hexdigest()[:16]
    number = sum(name.startswith(f"{PREFIX}{content}") for name in _BUNDLES)
    return Bundle(f"{PREFIX}{content}_{number}", folder, file.stem.replace(".", "_"), found)


def _beside(folder: Path, top: str) -> Iterator[tuple[str, Path]]:
    """Yield module names and files of what is imported from the folder; of a package all files."""
    if top == PACKAGE or top in sys.stdlib_module_names or is_installed(folder):
        return
    if (folder / f"{top}.py").is_file():
        yield top, folder / f"{top}.py"
    elif (folder / top).is_dir():
        for path in sorted((folder / top).rglob("*.py")):
            yield ".".join(path.relative_to(folder).with_suffix("").parts), path


_BUNDLES: dict[str, Bundle] = {}


def bundle_of(module: str | None) -> Bundle | None:
    """Return the bundle that a module was loaded from, or None for any other module."""
    return _BUNDLES.get(module.split(".")[0]) if module else None


def bundles_in(pickled: bytes) -> list[Bundle]:
    """Return the bundles that a pickle needs where it is read."""
    return [each for name, each in _BUNDLES.items() if name.encode() in pickled]


def install(bundle: Bundle) -> None:
    """Let the modules of a bundle be imported under its name; files are not looked at again."""
    _BUNDLES.setdefault(bundle.name, bundle)
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def execute(bundle: Bundle) -> ModuleType:
    """Install a bundle, execute its file and return its module."""
    install(bundle)
    return importlib.import_module(bundle.main_module)


def remove(bundle: Bundle) -> None:
    """Forget a bundle and its modules."""
    _BUNDLES.pop(bundle.name, None)
    for name in [each for each in sys.modules if each.split(".")[0] == bundle.name]:
        del sys.modules[name]


class _Finder(MetaPathFinder):
    """Finds the modules of bundles."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        bundle = bundle_of(fullname)
        if bundle is None:
            return None
        inner = fullname.partition(".")[2]
        is_package = any(
            not inner or name == f"{inner}.__init__" or name.startswith(f"{inner}.")
            for name in bundle.sources
        )
        if not is_package and inner not in bundle.sources:
            return None
        return ModuleSpec(fullname, _Loader(bundle, inner), is_package=is_package)


class _Loader(Loader):
    """Executes what was read."""

    def __init__(self, bundle: Bundle, inner: str) -> None:
        self.bundle = bundle
        self.inner = inner

    def exec_module(self, module: ModuleType) -> None:
        sources = self.bundle.sources
        found = sources.get(f"{self.inner}.__init__") or sources.get(self.inner)
        if found is None:
            return
        path = str(self.bundle.folder / found[0])
        module.__file__ = path
        own = {"__import__": _import_within(self.bundle)}
        vars(module)["__builtins__"] = {**vars(builtins), **own}
        exec(compile(found[1], path, "exec", dont_inherit=True), vars(module))


def _import_within(bundle: Bundle) -> Any:
    """Return what the import statements of a bundle call: its own modules come first."""
    tops = {name.split(".")[0] for name in bundle.sources}

    def own_import(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level or name.split(".")[0] not in tops:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = importlib.import_module(f"{bundle.name}.{name}")
        if fromlist:
            return builtins.__import__(f"{bundle.name}.{name}", globals, locals, fromlist, 0)
        return found if "." not in name else sys.modules[f"{bundle.name}.{name.split('.')[0]}"]

    return own_import
