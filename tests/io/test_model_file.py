"""Model files: the same model comes back or a clear error does, and no file ever runs code."""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from imputefree import GILClassifier, GILRegressor
from imputefree._sealed import CHECKSUM, KEY, checksum
from imputefree.errors import ModelFileError, UnseenCategoryWarning
from imputefree.estimators import GILEstimator
from imputefree.gil._policies import GatePolicy, ObservedPolicy

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
X[rng.random(X.shape) < 0.3] = np.nan
FRAME = pd.DataFrame(X, columns=["a", "b", "größe"]).assign(
    drug=rng.choice(np.array(["x", "y", "ß", None], dtype=object), 40),
    ward=pd.Categorical(rng.choice([1, 2, 3], 40)),
)
CODES = np.arange(40) % 3
SMALL = {"n_members": 2, "max_iter": 2, "hidden_layer_sizes": (6,), "random_state": 0}


class OwnPolicy(ObservedPolicy):
    """A user's own policy, which no file can hold."""


CASES = {
    "text classes": (GILClassifier(**SMALL), X, np.array(["low", "mid", "hïgh"])[CODES]),
    "object classes": (GILClassifier(**SMALL), X, np.array(list("abc"), dtype=object)[CODES]),
    "int classes": (GILClassifier(**SMALL), X, CODES - 1),
    "float classes": (GILClassifier(**SMALL), X, CODES.astype(float)),
    "bool classes": (GILClassifier(**SMALL), X, CODES > 0),
    "one class": (GILClassifier(**SMALL), X, np.zeros(40, dtype=int)),
    "regressor": (GILRegressor(**SMALL), X, CODES * 1e-3 + 7),
    "frame": (GILClassifier(**SMALL), FRAME, CODES),
    "chosen categories": (
        GILRegressor(**SMALL, categorical_features=["ward", "drug"]),
        FRAME,
        CODES,
    ),
    "learned placeholder": (GILClassifier(**SMALL, placeholder="learned"), X, CODES),
    "placeholder": (GILClassifier(**SMALL, placeholder=-2.5, indicator=False), X, CODES),
    "gate": (GILClassifier(**SMALL, policy="gate"), X, CODES),
    "ddpg": (GILClassifier(**SMALL, policy="ddpg"), X, CODES),
    "deep": (
        GILClassifier(**(SMALL | {"hidden_layer_sizes": [5, 4]}), activation="tanh", dropout=0.0),
        X,
        CODES,
    ),
    "class weights": (GILClassifier(**SMALL, class_weight={0: 1, 1: 2.5, 2: 1}), X, CODES),
    "NumPy parameters": (
        GILClassifier(
            n_members=np.int64(2),
            hidden_layer_sizes=(np.int64(6),),
            dropout=np.float32(0.5),
            indicator=np.bool_(True),
            max_iter=np.int64(2),
            random_state=np.int64(0),
        ),
        X,
        CODES,
    ),
}
_fitted: dict[str, GILEstimator] = {}


def fitted(case):
    """The model of a case, fitted once; and the table to predict on."""
    model, table, target = CASES[case]
    if case not in _fitted:
        _fitted[case] = model.fit(table, target)
    return _fitted[case], table


def outputs(model, table):
    """All that a model predicts, as one array."""
    if isinstance(model, GILClassifier):
        return model.predict_proba(table)
    return model.predict(table)


def same(one, other, table):
    return np.array_equal(outputs(one, table), outputs(other, table)) and np.array_equal(
        one.predict(table), other.predict(table)
    )


@pytest.fixture
def path(tmp_path):
    """A file with a good model."""
    fitted("frame")[0].save(tmp_path / "good.model")
    return tmp_path / "good.model"


def check_error(path, *parts, cls=GILClassifier):
    """Loading gives a ModelFileError that names the file and holds the parts in order."""
    with pytest.raises(ModelFileError) as caught:
        cls.load(path)
    message, at = str(caught.value), 0
    for part in (str(path), *parts):
        assert part in message[at:]
        at = message.index(part, at) + len(part)
    assert caught.value.remedy


def open_up(path):
    """Metadata and weights of a file."""
    with safe_open(path, framework="pt") as file:
        return dict(file.metadata()), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def reseal(path, change):
    """Change the content of a file and give it a fitting checksum, as a forger would."""
    metadata, weights = open_up(path)
    content = json.loads(metadata[KEY])
    content = change(content) or content
    text = json.dumps(content)
    digest = checksum(text, weights)
    save_file(weights, path, {KEY: text, CHECKSUM: digest})


# The same model comes back


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_model_predicts_bit_for_bit_the_same(case, tmp_path):
    model, table = fitted(case)
    model.save(tmp_path / "model")
    assert same(type(model).load(tmp_path / "model"), model, table)


@pytest.mark.parametrize("case", CASES)
def test_parameters_and_fitted_attributes_come_back_equal(case, tmp_path):
    model, _ = fitted(case)
    model.save(str(tmp_path / "model"))  # a text is as good as a Path
    loaded = type(model).load(str(tmp_path / "model"))
    assert loaded.get_params() == model.get_params()
    assert (loaded.n_features_in_, loaded.n_iter_) == (model.n_features_in_, model.n_iter_)
    assert loaded.history_ == model.history_
    assert loaded.encoder_.input_names == model.encoder_.input_names
    for name in ("classes_", "feature_names_in_"):
        assert hasattr(loaded, name) == hasattr(model, name)
        if hasattr(model, name):
            assert getattr(loaded, name).dtype == getattr(model, name).dtype
            assert getattr(loaded, name).tolist() == getattr(model, name).tolist()


@pytest.mark.slow
def test_another_process_predicts_the_same(tmp_path):
    cases = ["text classes", "regressor", "frame", "learned placeholder", "gate"]
    for case in cases:
        model, table = fitted(case)
        model.save(tmp_path / f"{case}.model")
        pd.DataFrame(table).to_pickle(tmp_path / f"{case}.table")
        np.save(tmp_path / f"{case}.npy", outputs(model, table))
    script = """
import sys
from pathlib import Path
import numpy as np, pandas as pd
from imputefree.estimators import GILEstimator
import imputefree
for path in Path(sys.argv[1]).glob("*.model"):
    model, table = GILEstimator.load(path), pd.read_pickle(path.with_suffix(".table"))
    table = table if hasattr(model, "feature_names_in_") else table.to_numpy()
    predict = getattr(model, "predict_proba", model.predict)
    assert np.array_equal(predict(table), np.load(path.with_suffix(".npy"))), path
    print(path.stem)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(cases)


def test_a_loaded_model_still_knows_names_and_categories(path):
    loaded = GILClassifier.load(path)
    assert np.array_equal(loaded.predict(FRAME[FRAME.columns[::-1]]), loaded.predict(FRAME))
    with pytest.warns(UnseenCategoryWarning, match="'drug': 'new'"):
        loaded.predict(FRAME.assign(drug="new"))


def test_a_loaded_model_can_be_fitted_saved_and_trained_on(path):
    loaded = GILClassifier.load(path)
    loaded.save(path)
    assert same(GILClassifier.load(path), loaded, FRAME)
    before = outputs(loaded, FRAME)
    assert not np.array_equal(outputs(loaded.partial_fit(FRAME, CODES), FRAME), before)
    assert same(loaded.fit(FRAME, CODES), fitted("frame")[0], FRAME)  # same seed, same model


def test_the_common_base_loads_whatever_a_file_holds(tmp_path):
    for case in ("frame", "regressor"):
        model, table = fitted(case)
        model.save(tmp_path / "model")
        loaded = GILEstimator.load(tmp_path / "model")
        assert type(loaded) is type(model)
        assert same(loaded, model, table)


@pytest.mark.parametrize("kind", [list, np.array, pd.Index])
def test_a_list_of_columns_of_any_kind_is_kept(kind, tmp_path):
    model = GILClassifier(**SMALL, categorical_features=kind([1, 0])).fit(X, CODES)
    model.save(tmp_path / "model")
    assert GILClassifier.load(tmp_path / "model").categorical_features == [1, 0]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"policy": OwnPolicy()}, "policy"),
        ({"policy": GatePolicy(hidden_sizes=(3,))}, "policy"),
        ({"random_state": np.random.RandomState(0)}, "random_state"),
    ],
)
def test_what_no_file_can_hold_is_dropped_with_a_warning(settings, name, tmp_path):
    model = GILClassifier(**(SMALL | settings)).fit(X, CODES)
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match=f"could not keep the parameter {name}="):
        loaded = GILClassifier.load(tmp_path / "model")
    assert getattr(loaded, name) == getattr(GILClassifier(), name)
    assert same(loaded, model, X)


def test_dicts_in_hundreds_of_levels_are_dropped_with_a_warning(tmp_path):
    model = GILClassifier(**SMALL).fit(X, CODES)
    for _ in range(900):
        model.class_weight = {"deeper": model.class_weight}
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match="could not keep the parameter class_weight="):
        loaded = GILClassifier.load(tmp_path / "model")
    assert loaded.class_weight is None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("case", ["frame", "regressor", "learned placeholder", "gate", "ddpg"])
def test_copies_and_pickles_predict_the_same(case, copied):
    model, table = fitted(case)
    assert same(copied(model), model, table)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_in_the_middle_of_partial_fits_go_on_the_same(copied):
    model = GILClassifier(**SMALL).partial_fit(X, CODES)
    other = copied(model)
    assert same(other.partial_fit(X, CODES), model.partial_fit(X, CODES), X)


# Writing


@pytest.mark.parametrize("target", ["no such folder/model", "file/model", ""])
def test_a_path_that_cannot_be_written_is_named(target, tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(ModelFileError) as caught:
        fitted("frame")[0].save(tmp_path / target)
    message = str(caught.value)
    assert f"{tmp_path / target} cannot be written (" in message
    assert "into an existing, writable folder" in message
    assert "Choose another path" in message
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}.*"))


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(where, path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    monkeypatch.setattr(f"imputefree._files.os.{where}", fail)
    with pytest.raises(ModelFileError, match="No space left"):
        fitted("regressor")[0].save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_saved_file_has_the_permissions_of_any_new_file(path):
    other = path.with_name("other")
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_saving_again_replaces_the_file(path):
    model, table = fitted("regressor")
    model.save(path)
    assert same(GILRegressor.load(path), model, table)
    assert list(path.parent.iterdir()) == [path]


# Reading what is not a model


def test_missing_files_and_folders_are_named(tmp_path):
    check_error(tmp_path / "none", "does not exist", "Check the path")
    check_error(tmp_path, "is a folder", "Check the path")
    (tmp_path / "file").touch()
    check_error(tmp_path / "file" / "model", "", "Check")


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.005, 0.2, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(share, path):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    check_error(path, "truncated or not a model file", "Copy it again")


@pytest.mark.parametrize("cut", [1, 4])
def test_files_without_their_last_bytes_are_refused(cut, path):
    path.write_bytes(path.read_bytes()[:-cut])
    check_error(path, "truncated or not a model file")


def test_files_with_something_after_the_end_are_refused(path):
    path.write_bytes(path.read_bytes() + b"\0\0\0\0")
    check_error(path, "truncated or not a model file")


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("model", "x" * 100)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        np.random.default_rng(0).bytes(5000),
        b"\0" * 100,
        b"a,b\n1,2\n",
        b"{}",
        zipped(),
        pickle.dumps({"model": 1}),
        (2).to_bytes(8, "little") + b"[]",
        (10**15).to_bytes(8, "little") + b"{}",
    ],
)
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "foreign").write_bytes(content)
    check_error(tmp_path / "foreign", "not a model file", "save the model again")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"format": "pt"},
        {KEY: "no JSON"},
        {KEY: "[]"},
        {KEY: "7"},
        {KEY: "{}"},
        {KEY: "[" * 100_000},
    ],
)
def test_other_safetensors_files_are_refused(metadata, tmp_path):
    save_file({"w": torch.zeros(3)}, tmp_path / "other", metadata)
    check_error(tmp_path / "other", "from elsewhere")


@pytest.mark.parametrize("position", [-1, -100])
def test_a_changed_weight_is_noticed(position, path):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    check_error(path, "was changed after it was saved", "imputefree estimator wrote")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'\\"n_members\\": 2', b'\\"n_members\\": 3'),
        (b'\\"drug\\"', b'\\"drag\\"'),
        (b'"F32"', b'"I32"'),  # the same bytes, read as whole numbers
    ],
)
def test_a_changed_header_is_noticed(old, new, path):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    check_error(path, "was changed after it was saved", "imputefree estimator wrote")


@pytest.mark.parametrize("version", [4, 99, 2, 0, -5, "3", None, 3.5, True])
def test_other_formats_are_refused(version, path):
    reseal(path, lambda content: content | {"format": version})
    check_error(path, f"has format {version}, which", "reads formats 3 to 3", "make it again")


def test_a_file_resealed_without_a_change_loads(path):
    reseal(path, lambda content: None)  # shows that the forgeries below get past the checksum
    assert same(GILClassifier.load(path), fitted("frame")[0], FRAME)


@pytest.mark.parametrize("part", ["parameters", "encoder", "network", "fitted"])
@pytest.mark.parametrize("value", ["gone", None, 3, []])
def test_forged_files_that_describe_no_model_are_refused(part, value, path):
    def forge(content):
        if value == "gone":
            del content[part]
        else:
            content[part] = value

    reseal(path, forge)
    check_error(path, "does not describe a whole model", "estimator wrote", "save the model")


@pytest.mark.parametrize("change", [{"hidden": []}, {"activation": "evil"}, {"members": 3}])
def test_forged_networks_are_refused(change, path):
    reseal(path, lambda content: content["network"].update(change))
    check_error(path, "does not describe a whole model")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["encoder"]["plans"].pop(),
        lambda content: content["fitted"].pop("classes_"),
        lambda content: content["fitted"]["classes_"]["array"].pop(),
    ],
)
def test_forged_files_whose_parts_do_not_fit_together_are_refused(change, path):
    reseal(path, lambda content: change(content) and None)
    check_error(path, "does not describe a whole model")


@pytest.mark.parametrize("kind", ["OtherModel", None, ["GILClassifier"]])
def test_unknown_estimators_are_refused(kind, path):
    reseal(path, lambda content: content | {"estimator": kind})
    check_error(path, f"holds the estimator {kind}", "GILClassifier.load reads GILClassifier")


def test_a_file_cannot_set_what_is_no_fitted_attribute(path):
    reseal(path, lambda content: content["fitted"].update(predict={"value": "x"}))
    assert callable(GILClassifier.load(path).predict)


def test_the_wrong_class_is_told_the_right_one(path, tmp_path):
    check_error(
        path,
        "holds the estimator GILClassifier",
        "GILRegressor.load reads GILRegressor",
        "Call GILClassifier.load",
        cls=GILRegressor,
    )
    fitted("regressor")[0].save(tmp_path / "regressor")
    check_error(
        tmp_path / "regressor", "holds the estimator GILRegressor", "Call GILRegressor.load"
    )


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


@pytest.mark.parametrize("dump", [pickle.dump, torch.save])
def test_loading_executes_nothing(dump, tmp_path):
    marker, bomb = tmp_path / "executed", tmp_path / "bomb"
    with open(bomb, "wb") as file:
        dump(Bomb(marker), file)
    check_error(bomb, "not a model file")
    assert not marker.exists()
    torch.load(bomb, weights_only=False) if dump is torch.save else pickle.loads(bomb.read_bytes())
    assert marker.exists()  # the bomb was a live one


def test_a_file_holds_no_pickle(path):
    metadata, weights = open_up(path)
    json.loads(metadata[KEY])
    assert all(isinstance(weight, torch.Tensor) for weight in weights.values())
    header = int.from_bytes(path.read_bytes()[:8], "little")
    held = sum(weight.nbytes for weight in weights.values())
    assert path.stat().st_size == 8 + header + held  # nothing beside header and weights


def test_a_file_that_asks_for_a_huge_network_takes_no_memory(path):
    reseal(path, lambda content: content["network"].update(hidden=[2**40]))
    check_error(path, "does not describe a whole model")
