"""Many blocks in one file: compressed frames with their length and checksum, one after the other.

A file is appended to by one process, which made it: no lock is needed, also where many machines
share the folder. A frame that is cut off at the end was being written, or its writer was killed;
one that is damaged is passed over, and reading goes on at the next one.
"""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from dpbandits.engine.files import write_bytes

SUFFIX = ".pack"
MAGIC = b"dpbandits frame 1\n"
_DIGEST, _LENGTH = 32, 8
_HEAD = len(MAGIC) + _DIGEST + _LENGTH + _DIGEST
_LEVEL = 4
"""Of zlib: the next levels take longer, and make next to nothing smaller."""


@dataclass(frozen=True)
class Frame:
    """A frame in a file.

    Attributes:
        key: of its block, 64 hexadecimal digits.
        body: the compressed block.
        begin: its first byte in the file.
        end: the byte after its last one.
    """

    key: str
    body: bytes
    begin: int
    end: int

    def content(self) -> bytes:
        """Return the block as it was before it was compressed."""
        return zlib.decompress(self.body)

    def beginning(self, size: int) -> bytes:
        """Return the first bytes of the block."""
        return zlib.decompressobj().decompress(self.body, size)


def framed(key: str, content: bytes) -> bytes:
    """Return the bytes of a frame."""
    body = zlib.compress(content, _LEVEL)
    head = bytes.fromhex(key) + len(body).to_bytes(_LENGTH, "big")
    return MAGIC + head + hashlib.sha256(head + body).digest() + body


def frames_in(content: bytes) -> tuple[list[Frame], bool]:
    """Return the whole frames of a file, and whether something between or after them is damaged."""
    frames: list[Frame] = []
    is_damaged, at = False, 0
    while at < len(content):
        frame = _frame_at(content, at)
        if frame is not None:
            frames.append(frame)
            at = frame.end
            continue
        following = content.find(MAGIC, at + 1)
        if following < 0:
            return frames, is_damaged or not _is_cut_off(content[at:])
        is_damaged, at = True, following
    return frames, is_damaged


def _frame_at(content: bytes, at: int) -> Frame | None:
    if not content.startswith(MAGIC, at) or at + _HEAD > len(content):
        return None
    first = at + len(MAGIC)
    head = content[first : first + _DIGEST + _LENGTH]
    begin, end = at + _HEAD, at + _HEAD + _length(head)
    body = content[begin:end]
    seal = content[begin - _DIGEST : begin]
    if len(body) != end - begin or hashlib.sha256(head + body).digest() != seal:
        return None
    return Frame(head[:_DIGEST].hex(), body, at, end)


def _length(head: bytes) -> int:
    return int.from_bytes(head[_DIGEST:], "big")


def _is_cut_off(rest: bytes) -> bool:
    """Return whether bytes are the beginning of a frame that goes on."""
    if len(rest) < _HEAD:
        return rest.startswith(MAGIC) or MAGIC.startswith(rest)
    head = rest[len(MAGIC) : len(MAGIC) + _DIGEST + _LENGTH]
    return rest.startswith(MAGIC) and _HEAD + _length(head) > len(rest)


def new_pack(folder: Path) -> Path:
    """Make a file of one's own in a folder.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=SUFFIX, dir=folder)
    os.close(handle)
    Path(name).chmod(0o644)
    return Path(name)


def append(path: Path, frame: bytes) -> None:
    """Append a frame; where that fails, what was written of it is taken away.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        begin = file.tell()
        try:
            if file.write(frame) != len(frame):
                raise OSError(None, "the disk is full")
        except OSError:
            file.truncate(begin)
            raise


def remove_frames(path: Path, keys: Collection[str]) -> None:
    """Write a file again without some of its frames, atomically; remove one without any left.

    Raises:
        InputError: it cannot be written.
    """
    content = path.read_bytes()
    kept = [each for each in frames_in(content)[0] if each.key not in keys]
    if kept:
        write_bytes(path, b"".join(content[each.begin : each.end] for each in kept))
    else:
        path.unlink()
