"""Series of unequal length, with gaps, in whatever format they come: read, checked, labelled."""

from ._container import Panel, first_steps, split_static
from ._panel_fitted import prediction_panel, training_panel
from ._panel_labels import series_labels, step_labels
from ._panel_layout import Layout
from ._panel_reading import read_panel

__all__ = [
    "Layout",
    "Panel",
    "first_steps",
    "prediction_panel",
    "read_panel",
    "series_labels",
    "split_static",
    "step_labels",
    "training_panel",
]
