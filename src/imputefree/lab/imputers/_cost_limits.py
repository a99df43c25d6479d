"""What is refused before any work is done: tasks that would take hours, or all memory."""

from __future__ import annotations

from ...errors import ParameterError

SECONDS = 30 * 60  # by estimate, on one core
BYTES = 4 * 2**30


def refuse_slow(
    what: str, *, seconds: float, remedy: str, allowed: bool, n_bytes: float = 0.0
) -> None:
    """Raise a ParameterError if `what` is estimated to take over half an hour, or over 4 GiB.

    >>> refuse_slow("kNN on 60 x 8", seconds=0.1, remedy="Use 'mean'", allowed=False)
    >>> refuse_slow("kNN on 60,000 x 784", seconds=9e4, remedy="Use 'mean'", allowed=False)
    Traceback (most recent call last):
    imputefree.errors.ParameterError: kNN on 60,000 x 784 would take about 25 hours. What takes \
over 30 minutes or 4 GiB by estimate is not started. Use 'mean', or pass allow_slow=True.
    """
    if allowed or (seconds <= SECONDS and n_bytes <= BYTES):
        return
    needs = []
    if seconds > SECONDS:
        needs.append(f"about {_duration(seconds)}")
    if n_bytes > BYTES:
        needs.append(f"about {n_bytes / 2**30:,.0f} GiB of memory")
    raise ParameterError(
        f"{what} would take {' and '.join(needs)}",
        f"What takes over {SECONDS // 60} minutes or {BYTES // 2**30} GiB by estimate is not"
        " started",
        f"{remedy}, or pass allow_slow=True",
    )


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 60:,.0f} minutes"
