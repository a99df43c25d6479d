"""MNIST from npz and idx files, fixed and redrawn masks, and files that are damaged."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.studies import load
from imputefree.lab.studies._mnist import IDX
from tests.lab.studies.real import real
from tests.refusals import check_error


@pytest.fixture(scope="module")
def parts():
    """Made images in the shape of MNIST: 200 to learn from, 50 to test on."""
    rng = np.random.default_rng(0)
    made = {}
    for part, n in (("train", 200), ("test", 50)):
        made[f"x_{part}"] = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        made[f"y_{part}"] = rng.permutation(np.arange(n) % 10).astype(np.uint8)
    return made


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """No other place has MNIST."""
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    return tmp_path


def idx(array):
    magic = {1: 2049, 3: 2051}[array.ndim]
    return struct.pack(f">{1 + array.ndim}I", magic, *array.shape) + array.tobytes()


def write_idx(folder, parts, packed=False, dotted=False):
    folder.mkdir(exist_ok=True)
    for part, name in IDX.items():
        name = name.replace("-idx", ".idx") if dotted else name
        content = idx(parts[part])
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


def write_npz(folder, parts):
    np.savez_compressed(folder / "mnist.npz", **parts)
    return folder


def test_npz_and_idx_say_the_same(alone, parts):
    whole = load("mnist", write_npz(alone, parts), rate=0.5)
    assert whole.X.shape == (250, 784)
    assert whole.X.dtype == np.float32
    np.testing.assert_array_equal(whole.split(0).test, np.arange(200, 250))
    for at, form in enumerate([{}, {"packed": True}, {"packed": True, "dotted": True}]):
        folder = write_idx(alone / f"idx{at}", parts, **form)
        other = load("mnist", folder, rate=0.5)
        np.testing.assert_array_equal(whole.X, other.X)
        np.testing.assert_array_equal(whole.y, other.y)


def test_masks_depend_on_seed_rate_and_mechanism_only(alone, parts):
    write_npz(alone, parts)
    hidden = np.isnan(load("mnist", alone, rate=0.7).X)
    assert abs(hidden.mean() - 0.7) < 0.005
    np.testing.assert_array_equal(hidden, np.isnan(load("mnist", alone, rate=0.7).X))
    redrawn = load("mnist", alone, rate=0.7, masks="redrawn")
    np.testing.assert_array_equal(hidden, np.isnan(redrawn.X))
    assert (hidden != np.isnan(load("mnist", alone, rate=0.7, mask_seed=1).X)).mean() > 0.3
    more = np.isnan(load("mnist", alone, rate=0.9).X)
    assert (hidden & ~more).any()  # not the same masks and some more
    complete = load("mnist", alone, rate=0)
    assert complete.missing_rate == 0
    assert complete.notes == ("Complete images, no masks.",)
    np.testing.assert_allclose(complete.X[~hidden], load("mnist", alone, rate=0.7).X[~hidden])


def test_at_random_masks_keep_what_drives_them(alone, parts):
    study = load("mnist", write_npz(alone, parts), mechanism="mar")
    assert 0.1 < study.missing_rate < 0.9
    assert (~np.isnan(study.X)).all(axis=0).any()  # a part is always seen
    assert any("MAR" in note for note in study.notes)


def test_redrawn_masks(alone, parts):
    study = load("mnist", write_npz(alone, parts), rate=0.9, masks="redrawn")
    fixed = load("mnist", alone, rate=0.9)
    assert "Masks are redrawn for each batch of training (masks='redrawn')." in study.notes
    assert "Masks stay the same (masks='fixed')." in fixed.notes
    assert (study.redrawn_rate, fixed.redrawn_rate) == (0.9, 0)
    train, validation, test = study.split(0)
    training = study.for_training(train)
    np.testing.assert_array_equal(training.X[train], study.complete()[train])
    for rows in (validation, test):  # are masked once, whatever happens in training
        np.testing.assert_array_equal(training.X[rows], fixed.X[rows])
    assert fixed.for_training(train) is fixed


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"masks": "new"}, "masks is 'new'. It must be one of 'fixed', 'redrawn'."),
        ({"masks": "redrawn", "mechanism": "mar"}, "masks is 'redrawn' and mechanism 'mar'"),
        ({"mechanism": "magic"}, "mechanism is 'magic'. It must be one of 'mcar', 'mar'."),
        ({"rate": 1.5}, "rate is 1.5. It must be None or a number in [0, 1)."),
        ({"rate": "half"}, "rate is 'half'"),
        ({"mask_seed": -1}, "mask_seed is -1"),
        ({"mask_seed": 0.5}, "mask_seed is 0.5"),
    ],
)
def test_bad_options(options, part):
    check_error(lambda: load("mnist", **options), part, kind=ParameterError)


def test_damaged_npz(alone, parts):
    path = write_npz(alone, parts) / "mnist.npz"
    content = path.read_bytes()
    for broken in (content[: len(content) // 2], b"", b"garbage" * 100):
        path.write_bytes(broken)
        check_error(lambda: load("mnist", alone), f"{path} is truncated or corrupted (")
    flipped = bytearray(content)
    flipped[len(content) // 3] ^= 0xFF
    path.write_bytes(flipped)
    check_error(lambda: load("mnist", alone), f"{path} is truncated or corrupted (")
    np.savez(path, **{name: parts[name] for name in list(parts)[:3]})
    check_error(lambda: load("mnist", alone), "y_test is not a file in the archive")
    np.savez(path, **parts | {"x_test": np.array([{}], dtype=object)})
    check_error(lambda: load("mnist", alone), "is truncated or corrupted (")


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"y_train": np.zeros(199, np.uint8)}, "200 images in x_train but 199 labels in y_train"),
        ({"y_test": np.full(50, 10, np.uint8)}, "holds no labels, or others than 0 to 9"),
        ({"x_test": np.zeros((50, 784), np.uint8)}, "is uint8 of shape (50, 784)"),
        ({"x_test": np.zeros((0, 28, 28), np.uint8), "y_test": np.zeros(0, np.uint8)}, "no label"),
    ],
)
def test_content_that_is_not_mnist(alone, parts, changed, part):
    check_error(lambda: load("mnist", write_npz(alone, parts | changed)), part, "28 × 28")


def test_damaged_idx(alone, parts):
    path = write_idx(alone, parts, packed=True) / f"{IDX['x_train']}.gz"
    content = path.read_bytes()
    for broken in (content[: len(content) // 2], b"", b"garbage"):
        path.write_bytes(broken)
        check_error(lambda: load("mnist", alone), f"{path} ")
    path.write_bytes(gzip.compress(idx(parts["y_train"])))
    check_error(lambda: load("mnist", alone), "it begins with the number 2049, not 2051")
    path.write_bytes(gzip.compress(idx(parts["x_train"])[:-784]))
    check_error(lambda: load("mnist", alone), "array of size 156016 into shape (200,28,28)")
    path.unlink()
    check_error(lambda: load("mnist", alone), "has no train-images-idx3-ubyte. MNIST needs")


@pytest.mark.slow
def test_the_real_images():
    study = load("mnist", real("mnist"), rate=0.9)
    assert study.X.shape == (70_000, 784)
    assert len(study.columns) == 784
    assert abs(study.missing_rate - 0.9) < 0.001
    counts = np.bincount(study.y[:60_000])
    assert counts.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    np.testing.assert_array_equal(study.split(0).test, np.arange(60_000, 70_000))
    assert abs(study.pixels[:60_000].mean() - 33.318) < 0.001
    assert abs(study.pixels[:60_000].std() - 78.567) < 0.001
    assert not study.simulated
