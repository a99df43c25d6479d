"""Moved to `errors`."""

from __future__ import annotations

from ..errors import counted, listed, shorten

__all__ = ["counted", "listed", "shorten"]
