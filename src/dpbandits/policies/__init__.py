"""Algorithms of one's own in twenty lines: a class with the method ``choose``.

``policy`` makes an ordinary ``Algorithm`` of the class: a kernel that is compiled where the class
compiles, and a reference that plays the methods as they are. Nothing here needs the class's source.
"""

from dpbandits.algorithms.base import fraction, positive, whole
from dpbandits.policies.decorator import policy

__all__ = ["fraction", "policy", "positive", "whole"]
