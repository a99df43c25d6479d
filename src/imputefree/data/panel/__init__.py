"""Series of unequal length, with gaps, in whatever format they come: read, checked, labelled."""

from .labels import series_labels, step_labels
from .layout import Layout
from .panel import Panel
from .reading import read_panel

__all__ = ["Layout", "Panel", "read_panel", "series_labels", "step_labels"]
