"""Which columns of a frame, or axes of an array, mean what: said by the user, checked here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from ...errors import InputError, InputTypeError


@dataclass(frozen=True)
class Layout:
    """Which columns of a frame, or axes of an array, mean what.

    Attributes
    ----------
    id : column that says which series a row of a long frame belongs to
    time : column of time stamps, numbers or dates; None takes rows in the order they come
    static : columns that describe the series rather than a step
    variable, value : columns of a long frame of (variable, value) pairs
    axes : "ntd" for arrays (series, time, columns), "ndt" for (series, columns, time)
    apart : columns that are labels, groups or weights, not values
    lengths, times : whether an array came with lengths, and whether times were passed beside the
        series; such data must come with them again
    """

    id: str | None = None
    time: str | None = None
    static: tuple[str, ...] = ()
    variable: str | None = None
    value: str | None = None
    axes: str = "ntd"
    apart: tuple[str, ...] = ()
    lengths: bool = False
    times: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The layout as plain JSON types."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, layout: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        roles: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in layout.items()
        }
        return cls(**roles)

    @property
    def roles(self) -> list[tuple[str, str]]:
        """(role, column) for every column that is named."""
        single = [(role, getattr(self, role)) for role in ("id", "time", "variable", "value")]
        several = [(role, name) for role in ("static", "apart") for name in getattr(self, role)]
        return [(role, name) for role, name in single + several if name is not None]


PLAIN = Layout()


def check_layout(layout: Layout) -> None:
    """Names are texts, each in one role."""
    if not isinstance(layout.axes, str) or layout.axes not in ("ntd", "ndt"):
        raise InputError(
            f"axes is {layout.axes!r}",
            'It must be "ntd" (series, time, columns) or "ndt" (series, columns, time)',
            'Write axes="ntd" or axes="ndt"',
        )
    for role in ("static", "apart"):
        if not isinstance(getattr(layout, role), list | tuple):
            raise InputTypeError(
                f"{role} is {getattr(layout, role)!r}",
                "It must be a tuple of column names",
                f"Write {role}=({getattr(layout, role)!r},) for one column",
            )
    seen: dict[str, str] = {}
    for role, name in layout.roles:
        if not isinstance(name, str):
            raise InputTypeError(
                f"{role} names the column {name!r}, a {type(name).__name__}",
                "Column names must be texts",
                f"Write {str(name)!r}; columns numbered 0, 1, … are called '0', '1', …",
            )
        if name in seen:
            raise InputError(
                f"column {name!r} is named as {seen[name]} and as {role}",
                "A column has one role",
                "Name it once",
            )
        seen[name] = role
