"""Which rows judge what other rows teach: trusted ones, or those of another group."""

from __future__ import annotations

import numpy as np

from ..errors import InputError

OTHER_GROUP, NOT_A_JUDGE = "other_group", -1


def read_judges(
    trusted: np.ndarray | str, groups: np.ndarray | None, weight: np.ndarray
) -> np.ndarray:
    """A number per row: rows of one number judge together, those of `NOT_A_JUDGE` never do.

    Trusted rows have the number 0. With trusted="other_group", every group has a number.

    trusted : (n,) bool, row numbers, or "other_group"

    Shapes: groups (n,) or None, weight (n,) -> (n,).

    >>> read_judges(np.array([0, 2]), None, np.ones(4))
    array([ 0, -1,  0, -1])
    >>> read_judges("other_group", np.array(["a", "b", "a"]), np.ones(3))
    array([0, 1, 0])
    """
    if isinstance(trusted, str):
        return _judging_groups(trusted, groups, weight)
    n_rows = len(weight)
    rule = "Trusted rows are marked by True in a boolean per row, or listed by their row numbers"
    remedy = "Write trusted=mask or trusted=np.flatnonzero(mask)"
    is_mask = trusted.dtype.kind == "b"
    if trusted.ndim != 1 or not len(trusted) or trusted.dtype.kind not in "bui":
        fact = f"trusted has shape {trusted.shape} and type {trusted.dtype}"
        raise InputError(fact, rule, remedy)
    if is_mask and len(trusted) != n_rows:
        raise InputError(f"trusted has {len(trusted)} booleans for {n_rows} rows", rule, remedy)
    chosen = trusted
    if not is_mask:
        outside = trusted[(trusted < 0) | (trusted >= n_rows)]
        if len(outside):
            fact = f"trusted names row {outside[0]} of {n_rows} rows"
            raise InputError(fact, "Row numbers count from 0", remedy)
        if len(np.unique(trusted)) < len(trusted):
            raise InputError("trusted names a row twice", rule, remedy)
        chosen = np.isin(np.arange(n_rows), trusted)
    n_trusted, n_counting = int((chosen & (weight > 0)).sum()), int((weight > 0).sum())
    if n_trusted in (0, n_counting):
        fact = f"trusted marks {n_trusted} of {n_counting} rows that count"
        rule = "Trusted rows judge what the other rows teach, so there must be both"
        raise InputError(fact, rule, "Mark some rows, or leave trusted out")
    return np.where(chosen, 0, NOT_A_JUDGE)


def _judging_groups(word: str, groups: np.ndarray | None, weight: np.ndarray) -> np.ndarray:
    if word != OTHER_GROUP:
        rule = f"It is a boolean per row, row numbers, or {OTHER_GROUP!r}"
        raise InputError(f"trusted is {word!r}", rule, "Choose one of them")
    n_groups = 0 if groups is None else len(np.unique(groups[weight > 0]))
    if groups is None or n_groups < 2:
        fact = f"trusted is {OTHER_GROUP!r}, and the number of groups is {n_groups}"
        rule = "Rows of one group judge what rows of other groups teach"
        raise InputError(
            fact, rule, "Pass groups= with at least two groups, or the trusted rows themselves"
        )
    return np.unique(groups, return_inverse=True)[1]
