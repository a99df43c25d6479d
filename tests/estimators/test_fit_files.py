"""Learning from files gives the model that the same rows in memory give, in little memory."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks.large_tables import write_parts
from imputefree import GILClassifier, GILRegressor, ImputeFreeClassifier, ImputeFreeRegressor
from imputefree.data import _row_store as row_store
from imputefree.errors import InputError, ParameterError
from imputefree.estimators import _fit_files as fit_files
from imputefree.gil import _training_data as training_data
from tests.refusals import check_error

pytest.importorskip("pyarrow", reason="Parquet needs the extra data")
QUICK = {"random_state": 0, "max_iter": 2, "n_members": 2, "hidden_layer_sizes": (16,)}
FAST = {"random_state": 0, "quality": "fast"}


def table(rows=1500, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=["a", "b", "c", "d"])
    frame["ward"] = rng.choice(["A", "B", "rare"], rows, p=[0.5, 0.497, 0.003])
    frame["beds"] = rng.integers(5, size=rows)
    signal = frame["a"] + (frame["ward"] == "A") * frame["b"]
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    frame["site"], frame["weight"] = rng.integers(60, size=rows), rng.uniform(0.5, 2.0, rows)
    frame["late"] = np.where(signal + rng.normal(size=rows) > 0, "yes", "no")
    frame["minutes"] = signal
    return frame


@pytest.fixture
def folder(tmp_path):
    """A table in three parts, and its inputs."""
    frame = table()
    for number, part in enumerate((frame[:700], frame[700:701], frame[701:])):
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
    return tmp_path


@pytest.fixture
def large(monkeypatch):
    """Tables of more than 600 rows are large ones, and are shuffled in windows."""
    monkeypatch.setattr(row_store, "SAMPLE_ROWS", 600)
    monkeypatch.setattr(row_store, "LEAST_ROWS", 100)
    monkeypatch.setattr(fit_files, "SAMPLE_ROWS", 600)
    monkeypatch.setattr(training_data, "WINDOW", 256)
    monkeypatch.setattr(row_store, "BLOCK", 500)


def output(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


ROLES = {"late": ["minutes"], "minutes": ["late"]}


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    ("model", "target"),
    [
        (GILClassifier(**QUICK), "late"),
        (GILClassifier(**QUICK, policy="meta", hide=0.2, class_weight="balanced"), "late"),
        (GILRegressor(**QUICK), "minutes"),
        (GILClassifier(**QUICK, categorical_features=["beds"], class_weight={"yes": 3}), "late"),
        (ImputeFreeClassifier(**FAST), "late"),
        (ImputeFreeRegressor(**FAST), "minutes"),
    ],
    ids=["network", "meta", "regression", "codes", "trees", "tree regression"],
)
def test_files_and_memory_give_the_same_model(folder, request, size, model, target):
    if size == "large":
        request.getfixturevalue("large")
    frame, drop = table(), ROLES[target]
    X = frame.drop(columns=["late", "minutes", "site", "weight"])
    roles = {"sample_weight": frame["weight"], "groups": frame["site"].astype(str)}
    expected = output(model.fit(X, frame[target], **roles), X)
    names = {"sample_weight": "weight", "groups": "site", "drop": drop}
    model.fit_files(folder, target, **names)
    np.testing.assert_array_equal(output(model, X), expected)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    if target == "late":
        assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.usefixtures("large")
def test_a_blend_of_trees_densities_and_networks(folder):
    frame, drop = table(), ["minutes", "site", "weight"]
    X = frame.drop(columns=[*drop, "late"])
    model = ImputeFreeClassifier(random_state=0, time_limit=None, families=["trees", "density"])
    expected = output(model.fit(X, frame["late"]), X)
    np.testing.assert_array_equal(output(model.fit_files(folder, "late", drop=drop), X), expected)


@pytest.mark.usefixtures("large")
def test_a_large_table_is_learned_as_well_as_a_small_one(folder, monkeypatch):
    """Encodings from a sample, and another order: another model, but no worse one."""
    frame, new = table(), table(seed=1)
    X = frame.drop(columns=["late", "minutes", "site", "weight"])
    settings = QUICK | {"max_iter": 30}
    sampled = GILClassifier(**settings).fit(X, frame["late"])
    monkeypatch.undo()
    whole = GILClassifier(**settings).fit(X, frame["late"])
    scores = [model.score(new[X.columns], new["late"]) for model in (sampled, whole)]
    assert scores[0] > scores[1] - 0.03
    assert scores[0] > 0.7


@pytest.mark.usefixtures("large")
def test_rare_levels_and_gaps_beyond_the_sample_are_known(folder):
    frame = table()
    frame["only"] = 1.0 * np.arange(len(frame))
    X = frame.drop(columns=["late", "minutes", "site", "weight"])
    sample = row_store.read_training_table(X).sample()
    hidden = np.setdiff1d(frame["only"], sample.arrays[-1]).astype(int)
    X.loc[hidden[0], "ward"] = "once"
    X.loc[hidden[1], "only"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a level that training never saw
        model = GILClassifier(**QUICK).fit(X, frame["late"])
        model.predict(X)
    assert "only is missing" in model.encoder_.input_names


@pytest.mark.usefixtures("large")
def test_a_killed_fit_resumes_from_its_checkpoint(folder, tmp_path_factory, monkeypatch):
    from imputefree.gil import Checkpoint

    path = tmp_path_factory.mktemp("state") / "checkpoint"
    drop, settings = ["minutes", "site", "weight"], QUICK | {"max_iter": 4}
    expected = GILClassifier(**settings).fit_files(folder, "late", drop=drop)
    save = Checkpoint.save_if_due

    def save_and_die(self, make_state):
        self._due = 0.0
        save(self, make_state)
        raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
        patch.setattr(Checkpoint, "save_if_due", save_and_die)
        GILClassifier(**settings).fit_files(folder, "late", drop=drop, checkpoint=path)
    assert path.exists()
    resumed = GILClassifier(**settings).fit_files(folder, "late", drop=drop, checkpoint=path)
    for mine, theirs in zip(
        resumed.predictor_.parameters(), expected.predictor_.parameters(), strict=True
    ):
        assert (mine == theirs).all()


@pytest.mark.usefixtures("large")
def test_growing_data(folder):
    """partial_fit and warm_start on large tables, with columns in another order."""
    frame = table()
    X = frame.drop(columns=["late", "minutes", "site", "weight"])
    model = GILClassifier(**QUICK).partial_fit(X, frame["late"])
    before = model.predict_proba(X)
    model.partial_fit(X[X.columns[::-1]], frame["late"])
    assert np.abs(model.predict_proba(X) - before).max() > 0
    warm = GILClassifier(**QUICK, warm_start=True)
    warm.fit_files(folder, "late", drop=["minutes", "site", "weight"])
    first = warm.predict_proba(X)
    warm.fit_files(folder, "late", drop=["minutes", "site", "weight"])
    assert np.abs(warm.predict_proba(X) - first).max() > 0


def test_a_column_to_drop_that_is_not_there_is_named_as_such(folder):
    check_error(
        lambda: GILClassifier(**QUICK).fit_files(folder, "late", drop="wieght"),
        "no column 'wieght' (drop)",
    )


def test_what_needs_memory_is_refused(folder):
    with pytest.raises(ParameterError, match="encoder"):
        GILClassifier(encoder=lambda encoder: encoder).fit_files(folder, "late")


def test_rows_without_a_target_are_left_out_with_a_warning(tmp_path):
    frame = table(100)
    frame.loc[5, "late"] = None
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match="1 row without a target"):
        GILClassifier(**QUICK).fit_files(tmp_path / "a.csv", "late")


def test_a_failed_fit_leaves_the_old_model(folder, tmp_path):
    model = GILClassifier(**QUICK).fit_files(folder, "late")
    before = model.predict_proba(table().iloc[:5][model.feature_names_in_])
    (folder / "9.parquet").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"9\.parquet"):
        model.fit_files(folder, "late")
    after = model.predict_proba(table().iloc[:5][model.feature_names_in_])
    np.testing.assert_array_equal(before, after)


MEMORY = """
import sys
from imputefree import GILClassifier
from imputefree.data import _row_store
from imputefree.estimators import _fit_files
from imputefree.gil import _validation
from benchmarks.large_tables import Peak
_row_store.SAMPLE_ROWS = _fit_files.SAMPLE_ROWS = 20_000
_row_store.BLOCK, _validation.CHUNK_ENTRIES = 2**13, 2**18
settings = {"n_members": 1, "hidden_layer_sizes": (8,), "max_iter": 1, "batch_size": 4096}
with Peak() as peak:
    GILClassifier(**settings, numeric_encoding="rich").fit_files(sys.argv[1], "y")
print(peak.highest)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_hold_the_table(tmp_path):
    """200,000 more rows of 30 numbers are 48 MB as read, and as much as networks see them."""
    peaks = []
    for rows in (50_000, 250_000):
        folder = tmp_path / str(rows)
        write_parts(folder, rows, part=50_000)
        command = [sys.executable, "-c", MEMORY, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 72e6
