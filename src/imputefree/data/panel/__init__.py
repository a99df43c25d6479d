"""Series of unequal length, with gaps, in whatever format they come: read, checked, labelled."""

from .labels import series_labels, step_labels
from .layout import Layout
from .panel import Panel, first_steps
from .reading import read_panel

__all__ = ["Layout", "Panel", "first_steps", "read_panel", "series_labels", "step_labels"]
