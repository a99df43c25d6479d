"""Which number is explained: the probability of one class, or the predicted number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from ..data import shorten
from ..errors import ParameterError


@dataclass(frozen=True)
class Outcome:
    """Turns what the members say into the number that is explained.

    code : (n,) per row the number of its class; None for a regression
    """

    model: Any
    code: np.ndarray | None

    @classmethod
    def choose(cls, model: Any, members: Tensor, of: Any) -> Outcome:
        """From the predictions as they are, (K, n, O): `of`, the second of two, the likeliest."""
        classes = getattr(model, "classes_", None)
        if classes is None:
            if of is not None:
                raise ParameterError(
                    f"of is {of!r}, but this model predicts a number",
                    "Only a classifier has a class to explain",
                    "Leave it out",
                )
            return cls(model, None)
        n = members.shape[1]
        if of is not None:
            return cls(model, np.full(n, class_number(classes, of)))
        if len(classes) <= 2:
            return cls(model, np.full(n, len(classes) - 1))
        return cls(model, members.mean(0).numpy().argmax(1))

    @property
    def of(self) -> np.ndarray | None:
        """The classes by name; (n,)."""
        return None if self.code is None else self.model.classes_[self.code]

    def read(self, members: Tensor, rows: np.ndarray) -> np.ndarray:
        """(K, m, O) for variants of these rows -> (m,)."""
        if self.code is None:
            return self.model._unscaled(members)
        return members.mean(0).numpy()[np.arange(len(rows)), self.code[rows]]


def class_number(classes: np.ndarray, of: Any) -> int:
    """Where a class is; a text finds classes of any kind, as a command line gives texts.

    >>> class_number(np.array([0.0, 1.0]), "1"), class_number(np.array(["no", "yes"]), "yes")
    (1, 1)
    """
    known = classes.tolist()
    exact = [i for i, one in enumerate(known) if one == of and isinstance(one, str | type(of))]
    texts = [_texts(one) for one in known]
    for i in exact or [i for i, words in enumerate(texts) if str(of) in words]:
        return i
    raise ParameterError(
        f"of is {of!r}, which is no class",
        f"The classes are {shorten([str(one) for one in known])}",
        "Name one of them",
    )


def _texts(label: Any) -> set[str]:
    """How a class may be written."""
    words = {str(label)}
    if isinstance(label, float) and label.is_integer():
        words.add(str(int(label)))
    return words
