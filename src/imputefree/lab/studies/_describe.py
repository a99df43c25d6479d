"""What is missing in a study: how much, where, together with what, and whether the label shows.

Numbers only; `describe_table` prints them and `describe_picture` draws them. Columns whose gaps are
in exactly the same rows (the 2,048 features of an image) count as one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ._study import Study

ROWS = 5000  # rows (or series) looked at for what goes together and for the AUC
STEPS = 20_000  # rows of all series looked at for what goes together
COLUMNS = 100  # columns given to the AUC
PAIRS = 40  # columns compared with each other
FOLDS = 3
FEWEST = 2 * FOLDS  # rows of a class, to be told from the others
MOST_LEVELS = 20  # classes shown one by one


@dataclass(frozen=True, eq=False)
class Description:
    """A study's missingness in numbers.

    study : whose
    missing : share of missing entries
    rows : rows of a table, or steps of all series; complete, empty : shares of them
    lines : a line for columns with the same gaps: column, count, missing, spread (the largest
        difference between the rates of two classes; NaN without classes to compare)
    together : correlation of the gaps of up to 40 such lines, by name, (k, k)
    patterns : how many different sets of gaps rows have (among those looked at)
    lengths : steps of each series, or None for a table
    per_row : share missing in each row, or in each series, (n,)
    by_class : class, count, missing (of all entries of the class); empty without, or with many
    auc : of a logistic regression that sees the mask only, cross-validated; None: nothing to tell
    auc_of : what was told from what, in words; without an AUC, why there is none
    looked_at : what was left out for speed, in words; "" for nothing
    """

    study: Study
    missing: float
    rows: int
    complete: float
    empty: float
    lines: pd.DataFrame
    together: pd.DataFrame
    patterns: int
    lengths: np.ndarray | None
    per_row: np.ndarray
    by_class: pd.DataFrame
    auc: float | None
    auc_of: str
    looked_at: str


def describe(study: Study, report: Callable[[str], None] = lambda step: None) -> Description:
    """All figures of a study; `report` is called as each of the 4 steps begins.

    >>> X = pd.DataFrame({"a": [1.0, None] * 20, "b": [None, 1.0] * 20, "c": [1.0] * 40})
    >>> toy = Study("toy", X, np.array([0, 1] * 20), citation="", licence="", simulated=True)
    >>> found = describe(toy)
    >>> round(found.missing, 3), found.auc, float(found.together.loc["a", "b"])
    (0.333, 1.0, -1.0)
    """
    rng = np.random.default_rng(0)
    report("reading gaps")
    observed = study.observed
    lengths = _lengths(study)
    names = _names(study, observed.shape[1])
    share = _share_seen(study, observed, lengths)
    classes = _classes(study)
    weights = np.ones(len(share)) if lengths is None else lengths
    report("columns")
    first, member = _same_gaps(observed)
    missing = 1 - observed.mean(axis=0)[first]
    lines = pd.DataFrame(
        {
            "column": [_line_name(names, member, at, rate) for at, rate in enumerate(missing)],
            "count": np.bincount(member),
            "missing": missing,
            "spread": _spread(share[:, first], classes, weights),
        }
    )
    report("what goes together")
    some = rng.permutation(len(observed))[: STEPS if study.kind == "series" else ROWS]
    gaps = ~observed[some][:, first]
    patterns = len(np.unique(np.packbits(gaps, axis=1), axis=0))
    report("what the mask says about the label")
    auc, auc_of, cut = _mask_auc(study, share[:, first], lengths, classes, rng)
    seen = observed.sum(axis=1)
    return Description(
        study=study,
        missing=1 - float(observed.mean()),
        rows=len(observed),
        complete=float((seen == observed.shape[1]).mean()),
        empty=float((seen == 0).mean()),
        lines=lines,
        together=_together(gaps, lines),
        patterns=patterns,
        lengths=lengths,
        per_row=1 - share.mean(axis=1),
        by_class=_by_class(share, classes, weights),
        auc=auc,
        auc_of=auc_of,
        looked_at="; ".join(
            part
            for part in (
                f"patterns and what goes together: {len(some):,} of {len(observed):,} rows"
                if len(some) < len(observed)
                else "",
                cut,
            )
            if part
        ),
    )


def _lengths(study: Study) -> np.ndarray | None:
    if study.kind == "table":
        return None
    if isinstance(study.X, list):
        return np.array([len(one) for one in study.X])
    if study.lengths is not None:
        return np.asarray(study.lengths)
    return np.full(len(study.X), study.X.shape[1])


def _names(study: Study, width: int) -> list[str]:
    first = study.X[0] if isinstance(study.X, list) else study.X
    if isinstance(first, pd.DataFrame):
        return [str(name) for name in first.columns]
    return list(study.columns) if study.columns else [str(j) for j in range(width)]


def _share_seen(study: Study, observed: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    """Of each row (series) and column the share that is there, (n, d)."""
    if lengths is None:
        return observed.astype(np.float32)
    ends = np.cumsum(lengths)
    sums = np.concatenate([np.zeros((1, observed.shape[1])), np.cumsum(observed, axis=0)])
    return (sums[ends] - sums[ends - lengths]) / np.maximum(lengths, 1)[:, None]


def _classes(study: Study) -> np.ndarray | None:
    """The label of each row or series as a text; above or below the median for a number."""
    y = np.asarray(study.y)
    if y.ndim != 1:
        return None
    if study.task == "regression":
        y = np.where(y > np.median(y), "above the median", "up to the median")
    return y.astype(str) if len(np.unique(y)) > 1 else None


def _same_gaps(observed: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Columns with the same gaps: the first of each group, and the group of each column."""
    groups: dict[bytes, int] = {}
    packed = np.ascontiguousarray(np.packbits(observed, axis=0).T)
    member = np.array([groups.setdefault(one.tobytes(), len(groups)) for one in packed])
    return [int(np.flatnonzero(member == group)[0]) for group in range(len(groups))], member


def _line_name(names: list[str], member: np.ndarray, at: int, missing: float) -> str:
    """The columns of a line by name; they need not be neighbours, so it is never a range.

    >>> names, same = list("abcde"), np.array([0, 1, 0, 0, 0])
    >>> _line_name(names, same, 0, 0.5), _line_name(names, same, 1, 0.5)
    ('a, c and 2 more', 'b')
    """
    own = [names[j] for j in np.flatnonzero(member == at)]
    if missing == 0 and len(own) > 1:
        return f"{len(own):,} columns without gaps"
    return ", ".join(own) if len(own) <= 3 else f"{own[0]}, {own[1]} and {len(own) - 2:,} more"


def _rates(
    share: np.ndarray, classes: np.ndarray, kinds: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Missing rate of each class and column, (classes, d).

    Series count by their steps: the rates are those of entries, as the one of the whole study is.
    """
    rates = []
    for kind in kinds:
        own = np.where(classes == kind, weights, 0).astype(share.dtype)
        rates.append(1 - (own @ share).astype(np.float64) / max(float(own.sum()), 1))
    return np.array(rates)


def _spread(share: np.ndarray, classes: np.ndarray | None, weights: np.ndarray) -> np.ndarray:
    """Largest difference between two classes' missing rates, of each column."""
    if classes is None:
        return np.full(share.shape[1], np.nan)
    kinds, counts = np.unique(classes, return_counts=True)
    kept = kinds[counts >= FEWEST]
    if len(kept) < 2:
        return np.full(share.shape[1], np.nan)
    rates = _rates(share, classes, kept, weights)
    return rates.max(axis=0) - rates.min(axis=0)


def _by_class(share: np.ndarray, classes: np.ndarray | None, weights: np.ndarray) -> pd.DataFrame:
    if classes is None or len(np.unique(classes)) > MOST_LEVELS:
        return pd.DataFrame({"class": [], "count": [], "missing": []})
    kinds, counts = np.unique(classes, return_counts=True)
    rates = _rates(share, classes, kinds, weights).mean(axis=1)
    return pd.DataFrame({"class": kinds, "count": counts, "missing": rates})


def _together(gaps: np.ndarray, lines: pd.DataFrame) -> pd.DataFrame:
    """Correlations of gaps; the columns whose gaps vary most, in the order of the study."""
    rate = gaps.mean(axis=0)
    vary = np.sort(np.argsort(-rate * (1 - rate), kind="stable")[:PAIRS])
    vary = vary[(rate[vary] > 0) & (rate[vary] < 1)]
    names = lines["column"].to_numpy()[vary]
    if len(vary) < 2:
        return pd.DataFrame(np.ones((len(vary), len(vary))), names, names)
    return pd.DataFrame(np.corrcoef(gaps[:, vary].T).round(12), names, names)


def _mask_auc(
    study: Study,
    share: np.ndarray,
    lengths: np.ndarray | None,
    classes: np.ndarray | None,
    rng: np.random.Generator,
) -> tuple[float | None, str, str]:
    """How well the mask alone tells the label; what was told, or why not; what was left out."""
    inputs = share[:, share.std(axis=0) > 0]
    if lengths is not None and lengths.std() > 0:
        inputs = np.column_stack([inputs, lengths])
    if classes is None:
        return None, "no label, or the same one everywhere", ""
    if inputs.shape[1] == 0:
        one = "row" if lengths is None else "series"
        return None, f"every {one} has the same gaps" if share.min() < 1 else "no gaps", ""
    kinds, counts = np.unique(classes, return_counts=True)
    common = np.isin(classes, kinds[counts >= FEWEST])
    rows = rng.permutation(np.flatnonzero(common))[:ROWS]
    columns = np.sort(rng.permutation(inputs.shape[1])[:COLUMNS])
    y = classes[rows]
    kinds, counts = np.unique(y, return_counts=True)
    rows, y = rows[np.isin(y, kinds[counts >= FOLDS])], y[np.isin(y, kinds[counts >= FOLDS])]
    kinds = np.unique(y)
    if len(kinds) < 2:
        unit = "rows" if lengths is None else "series"
        return None, f"fewer than two classes have {FEWEST} {unit} or more", ""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    part = inputs[np.ix_(rows, columns)]
    chance = cross_val_predict(model, part, y, cv=folds, method="predict_proba")
    areas = [roc_auc_score(y == kind, chance[:, at]) for at, kind in enumerate(kinds)]
    told = f"{kinds[1]!s} from {kinds[0]!s}"
    if len(kinds) > 2:
        told = f"each of {len(kinds)} classes from the others, mean"
    cut = []
    if len(rows) < common.sum():
        cut.append(f"{len(rows):,} of {len(classes):,} rows")
    if len(columns) < inputs.shape[1]:
        cut.append(f"{len(columns):,} of {inputs.shape[1]:,} columns")
    return float(np.mean(areas)), told, f"AUC: {', '.join(cut)}" if cut else ""
