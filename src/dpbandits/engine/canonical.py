"""One JSON text, and so one hash, for equal descriptions."""

import hashlib
import json
import math
from typing import Any


def canonical_json(description: Any) -> str:
    """Return the JSON text with sorted keys and no spaces.

    JSON knows no infinity, so that one becomes the text ``infinity``; NaN and minus infinity are
    refused (ValueError).
    """
    try:
        return _json(description)
    except ValueError:
        return _json(_without_infinity(description))


def _json(description: Any) -> str:
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(each) for each in value]
    return "infinity" if isinstance(value, float) and value == math.inf else value


def digest_of(description: Any) -> str:
    """Return the sha256 of the canonical JSON, as 64 hex digits."""
    return hashlib.sha256(canonical_json(description).encode()).hexdigest()
