"""A loaded model that answers the values of requests; it is only ever read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ImputefreeError
from ._bodies import read_json, shown
from ._explaining import explained
from ._limits import Limits
from ._model_inputs import STEPS, Inputs
from ._refusals import RequestError
from ._request_rows import Notes, read_rows, table_frame
from ._request_series import series_frames


class Served:
    """Answers /predict and /explain, from the bytes of a body to plain JSON.

    Both methods may run in several threads at a time.

    >>> from imputefree import GILClassifier
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0]] * 10)
    >>> model = GILClassifier(max_iter=1, random_state=0).fit(X, ["ill", "well"] * 10)
    >>> answer = Served(model).predict(b'{"rows": [{"0": 1.5, "1": null}, {}]}')
    >>> len(answer["predictions"]), sorted(answer["predictions"][0]["probability"])
    (2, ['ill', 'well'])
    """

    def __init__(self, model: Any, limits: Limits | None = None) -> None:
        self.model, self.limits = model, limits or Limits()
        self.inputs = Inputs.of(model)

    def predict(self, body: bytes) -> dict[str, Any]:
        """What the model says of one row or many."""
        X, notes = self._read(body)
        return {"predictions": self._predictions(X), "notes": notes.listed()}

    def explain(self, body: bytes, of: str | None = None) -> dict[str, Any]:
        """What it says of one row, and why; `of`: the class whose probability is explained."""
        chosen = self._class(of)
        X, notes = self._read(body)
        if len(X) > 1:
            raise RequestError(
                422,
                "rows",
                f"the body has {len(X)} rows",
                "One row is explained at a time",
                "Send them one by one",
            )
        prediction = self._predictions(X)[0]
        try:
            why = explained(self.model, self.inputs, X, chosen)
        except ImputefreeError as error:
            raise _refused(error) from None
        return {"prediction": prediction, **why, "notes": notes.listed()}

    def _read(self, body: bytes) -> tuple[Any, Notes]:
        given, notes = read_json(body), Notes()
        rows, batch = read_rows(given, self.inputs, self.limits.rows)
        if not self.inputs.series:
            return table_frame(rows, batch, self.inputs, notes), notes
        return series_frames(rows, batch, self.inputs, notes, self.limits.rows), notes

    def _predictions(self, X: Any) -> list[dict[str, Any]]:
        classes = self.inputs.classes
        try:
            found = self.model.predict_proba(X) if classes else self.model.predict(X)
        except ImputefreeError as error:  # what the checks of a request let through
            raise _refused(error) from None
        if self.inputs.per_step:
            return [{STEPS: [self._said(step) for step in one]} for one in found]
        return [self._said(one) for one in found]

    def _said(self, found: Any) -> dict[str, Any]:
        """One prediction as plain JSON: a number, or a class and all probabilities."""
        if not np.isfinite(found).all():
            raise RequestError(
                422,
                None,
                "the prediction is no finite number",
                "Values must be of a size that training could have seen",
                "Check the largest values; GET /schema has the ranges of training",
            )
        classes = self.inputs.classes
        if not classes:
            return {"prediction": float(found)}
        return {
            "prediction": classes[int(np.argmax(found))],
            "probability": dict(zip(map(str, classes), map(float, found), strict=True)),
        }

    def _class(self, of: str | None) -> Any:
        """The class that a text means; None for the model's own choice."""
        if of is None:
            return None
        for label in self.inputs.classes:
            if str(label) == of:
                return label
        rule = "The model predicts a number, not classes"
        if self.inputs.classes:
            rule = f"The classes are {', '.join(map(str, self.inputs.classes))}"
        raise RequestError(422, "of", f"of is {shown(of)}", rule, "Correct it, or leave it out")


def _refused(error: ImputefreeError) -> RequestError:
    return RequestError(422, None, error.fact, error.rule, error.remedy)
