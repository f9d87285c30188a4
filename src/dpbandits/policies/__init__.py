"""Algorithms of one's own in twenty lines: a class with the method ``choose``.

``policy`` makes an ordinary ``Algorithm`` of the class: a kernel that is compiled where the class
compiles, and a reference that plays the methods as they are. Nothing here needs the class's source.
"""

from dpbandits.policies.decorator import policy
from dpbandits.policies.kinds import fraction, positive, whole

__all__ = ["fraction", "policy", "positive", "whole"]
