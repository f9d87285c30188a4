"""One JSON text, and so one hash, for equal descriptions."""

import hashlib
import json
from typing import Any


def canonical_json(description: Any) -> str:
    """Return the JSON text with sorted keys and no spaces; NaN and infinities are refused."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(description: Any) -> str:
    """Return the sha256 of the canonical JSON, as 64 hex digits."""
    return hashlib.sha256(canonical_json(description).encode()).hexdigest()
