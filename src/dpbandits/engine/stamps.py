"""The fingerprint that a file of results carries."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

METADATA = b"dpbandits"
"""Key of the metadata of a file of results: its fingerprint and the digest of its values."""


def results_stamp(path: Path) -> str | None:
    """Return the fingerprint that a file of results carries; None where it is damaged."""
    try:
        stamp = json.loads((pq.read_schema(path).metadata or {})[METADATA])
        return str(stamp["fingerprint"])
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        return None
