"""Rival methods by name: what people use instead of this package."""

from ._methods import make_method

__all__ = [
    "make_method",
]
