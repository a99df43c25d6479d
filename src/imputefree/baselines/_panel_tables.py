"""Series held to the columns of training, whatever form they come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..data import Panel, prediction_panel
from ..errors import InputError
from ._plain_tables import PlainEncoder


def read_like_training(
    X: Any, layout: Mapping[str, Any], steps: PlainEncoder, statics: PlainEncoder | None
) -> Panel:
    """Series for a prediction: columns, their order and kinds as `steps` and `statics` learned.

    layout : that of training
    """
    names = steps.names if steps.named else None
    panel = prediction_panel(X, layout, None, names, statics.names if statics else ())
    return arranged(panel, steps, statics)


def arranged(panel: Panel, steps: PlainEncoder, statics: PlainEncoder | None) -> Panel:
    """The panel with the columns of training, in their order."""
    panel = replace(panel, steps=steps.arranged(panel.steps))
    if statics is not None and panel.statics is not None:
        return replace(panel, statics=statics.arranged(panel.statics))
    if statics is not None:
        raise InputError(
            f"no static columns are given, but training had {statics.names[0]!r}",
            "Series must come with the columns of training",
            "Pass static=, with NaN for what is unknown",
        )
    if panel.statics is not None:
        raise InputError(
            f"static columns are given ({panel.statics.names[0]!r}, …), but training had none",
            "Series must come with the columns of training",
            "Leave static= out, or train with it",
        )
    return panel
