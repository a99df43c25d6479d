"""`fit_files`: learn from files that need not fit into memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from sklearn.base import is_classifier

from ..data import SAMPLE_ROWS, ClassCodes
from ..errors import ParameterError
from ..io import StoredRows, stored_rows


class FilesInputs:
    """Reads files of any size; for estimators of tables."""

    about_: Any

    def fit_files(
        self,
        path: str | os.PathLike[str],
        target: str,
        *,
        sample_weight: str | None = None,
        groups: str | None = None,
        drop: str | Sequence[str] = (),
        store: str | os.PathLike[str] | None = None,
        checkpoint: Any = None,
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        missing: Any = None,
        columns: Any = None,
    ) -> Self:
        """Learn from a CSV or Parquet file, or a folder of such parts, that need not fit in memory.

        Files are read as `read_table` reads them; what columns hold is detected from 20,000 rows of
        all parts. Then rows are read once, into a temporary file of 8 bytes per cell, from which
        training reads. The model is the same as that of `fit` on the same rows in the same order.
        Above 262,144 rows, both learn scales and bins from a sample of rows (levels and gaps from
        all of them).

        Parameters
        ----------
        path : a file, or a folder whose tables, sorted by name, have the same columns
            Cells that do not fit what was detected are an error that names part and line.
        target : column to predict
            Rows without a target are left out, with a warning.
        sample_weight, groups : column or None
            As for `fit`.
        drop : column or columns to leave out
        store : folder for the temporary file; default: that of the system
            It has no name, and disappears at the end of the call, or of the process.
        checkpoint : as for `fit`
        sep, decimal, encoding, sheet, missing, columns : as for `read_table`

        Examples
        --------
        >>> import tempfile, pandas as pd
        >>> from imputefree import GILClassifier
        >>> table = pd.DataFrame({"x": [1.0, None, 3.0, 4.0] * 10, "late": ["no", "yes"] * 20})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table[:20].to_csv(f"{folder}/part-0.csv", index=False)
        ...     table[20:].to_csv(f"{folder}/part-1.csv", index=False)
        ...     model = GILClassifier(max_iter=1).fit_files(folder, target="late")
        >>> model.classes_.tolist(), model.feature_names_in_.tolist()
        (['no', 'yes'], ['x'])
        """
        if getattr(self, "encoder", None) is not None:
            rule = "A custom encoder reads tables in memory"
            raise ParameterError("encoder is given", rule, "Leave it out, or call fit(X, y)")
        task = "classification" if is_classifier(self) else "regression"
        with stored_rows(
            Path(path),
            target,
            task=task,
            weight=sample_weight,
            groups=groups,
            drop=[drop] if isinstance(drop, str) else drop,
            folder=None if store is None else Path(store),
            sep=sep,
            decimal=decimal,
            encoding=encoding,
            sheet=sheet,
            missing=missing,
            columns=columns,
        ) as rows:
            for note in rows.notes:
                warnings.warn(note, stacklevel=2)
            model: Self = fit_stored(self, rows, checkpoint)
            model.about_ = {"target": target, "reading": rows.understood.to_dict()}
            return model


def fit_stored(model: Any, rows: StoredRows, checkpoint: Any = None) -> Any:
    """Fit an estimator of tables to the rows of files; those of few rows are read into memory."""
    X: Any = rows.store if rows.store.n_rows > SAMPLE_ROWS else rows.store.whole()
    y: Any = rows.target if rows.classes is None else ClassCodes(rows.target, rows.classes)
    return model.fit(X, y, rows.weight, rows.groups, checkpoint=checkpoint)
