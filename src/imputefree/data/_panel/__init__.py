"""Series of unequal length, with gaps, in whatever format they come: read, checked, labelled."""

from ._container import Panel, first_steps
from ._panel_labels import series_labels, step_labels
from ._panel_layout import Layout
from ._panel_reading import read_panel

__all__ = ["Layout", "Panel", "first_steps", "read_panel", "series_labels", "step_labels"]
