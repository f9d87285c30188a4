"""Files that are either whole or absent: written under another name, then renamed."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from dpbandits.errors import InputError


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it to ``path``.

    Raises:
        InputError: the folder cannot be made or written, or the disk is full.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent
        )
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path}: cannot be written ({reason}); allowed: a writable folder"
        ) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_atomically(path, write)


def write_text(path: Path, content: str) -> None:
    """Write UTF-8 text atomically, line ends as given."""
    write_bytes(path, content.encode())
