"""The ophthalmic study: files in its authors' form, the simulated cohort, and rates by vector."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from imputefree.errors import ParameterError
from imputefree.lab.studies import load
from imputefree.lab.studies._ophthalmic import VECTOR, WIDTH, entries, raise_rate, simulate
from tests.refusals import check_error


@pytest.fixture(scope="module")
def cohort():
    return simulate(0)


def auc(X, y):
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1e-3, max_iter=300))
    guess = cross_val_predict(model, np.nan_to_num(X), y, cv=3, method="predict_proba")
    return roc_auc_score(y, guess[:, 1])


def test_the_simulated_cohort_has_the_papers_shape(cohort):
    assert cohort.X.shape == (1148, 4101)
    seen = entries(cohort.X)
    assert seen.shape == (1148, 7)
    assert 1 - seen.mean() == pytest.approx(0.17, abs=1e-4)
    assert seen[:, :2].any(axis=1).all()  # at most one image missing
    assert cohort.y.mean() == pytest.approx(0.45, abs=0.001)
    images = cohort.truth[:, : 2 * VECTOR]
    assert (images >= 0).all()
    assert 0.4 < (images == 0).mean() < 0.7
    there = ~np.isnan(cohort.X)
    np.testing.assert_array_equal(cohort.X[there], cohort.truth[there])
    whole = np.isnan(cohort.X[:, :VECTOR])
    assert (whole.all(axis=1) == whole.any(axis=1)).all()  # a vector goes as a whole


def test_it_is_hard_but_not_too_hard(cohort):
    assert 0.87 < auc(cohort.truth, cohort.y) < 0.94
    assert 0.85 < auc(cohort.X, cohort.y) < 0.92
    assert 0.5 < auc(entries(cohort.X), cohort.y) < 0.65  # the mask alone says little


def test_images_go_by_what_is_seen_of_the_record(cohort):
    lost = ~entries(cohort.X)[:, :2].all(axis=1)
    years = cohort.X[:, 2 * VECTOR + 2]
    assert np.nanmean(years[lost]) < np.nanmean(years[~lost]) - 1


def test_the_simulated_study():
    study, again = (load("ophthalmic-simulated", seed=1) for _ in range(2))
    np.testing.assert_array_equal(study.X, again.X)
    assert study.simulated
    assert study.name == "ophthalmic-simulated"
    assert "SIMULATED" in study.notes[0]
    assert "not patient data" in study.citation
    assert "17.0% of the entries missing" in study.notes[1]
    split = study.split(0)
    assert len(split.test) == 114
    assert study.y[split.test].mean() == 0.5
    assert len(study.columns) == WIDTH
    check_error(lambda: load("ophthalmic-simulated", seed="x"), "seed is 'x'", kind=ParameterError)


@pytest.mark.parametrize("rate", [0.25, 0.35])
def test_raised_rates(cohort, rate):
    before = entries(cohort.X)
    masks = [entries(raise_rate(cohort.X, rate, seed)) for seed in (0, 1, 2, 0)]
    for seen in masks:
        assert 1 - seen.mean() == pytest.approx(rate, abs=1e-4)
        assert not (seen & ~before).any()
        assert not seen[:, :2].any(axis=1).all()  # now both images may be missing
    np.testing.assert_array_equal(masks[0], masks[3])
    assert (masks[0] != masks[1]).any()
    note = load("ophthalmic-simulated", rate=rate, mask_seed=2).notes[1]
    assert "raised from 17.0% with mask seed 2" in note


def test_rates_that_cannot_be(cohort):
    np.testing.assert_array_equal(raise_rate(cohort.X, 0.17, 0), cohort.X)
    for rate in (0.1, 1.0, "much"):
        check_error(
            lambda r=rate: raise_rate(cohort.X, r, 0),
            f"rate is {rate!r}. It must be a number from the natural rate, 0.170",
            kind=ParameterError,
        )
    check_error(lambda: raise_rate(cohort.X, 0.3, -1), "mask_seed is -1", kind=ParameterError)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("IMPUTEFREE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    rng = np.random.default_rng(0)
    X = rng.random((8, WIDTH)).round(3)
    X[0, :VECTOR] = X[1, -1] = np.nan
    np.savetxt(tmp_path / "train_x.txt", X[:6], fmt="%.3f")
    np.savetxt(tmp_path / "test_x.csv", X[6:], fmt="%.3f", delimiter=",")
    (tmp_path / "train_y.txt").write_text("0\n1\n0\n1\n0\n1\n")
    (tmp_path / "test_y.txt.gz").write_bytes(gzip.compress(b"1.0 0.0\n"))
    return tmp_path


def test_the_authors_four_matrices(folder):
    study = load("ophthalmic", folder)
    assert study.X.shape == (8, WIDTH)
    assert study.y.tolist() == [0, 1, 0, 1, 0, 1, 1, 0]
    assert not study.simulated
    np.testing.assert_array_equal(study.split(0).test, [6, 7])
    assert (~entries(study.X)).sum() == 2
    assert load("ophthalmic", folder, rate=0.25).missing_rate > study.missing_rate


def test_the_authors_names_tell_the_label(folder, monkeypatch):
    same = load("ophthalmic", folder)
    for name in ("train_x.txt", "test_x.csv", "train_y.txt", "test_y.txt.gz"):
        (folder / name).unlink()
    tests = np.isin(np.arange(8), same.split(0).test)
    for part, rows in (("train", ~tests), ("test", tests)):
        for y, label in enumerate(("normal", "abnormal")):
            path = folder / f"{label}_{part}_all_35_missing.txt"
            np.savetxt(path, same.X[rows & (same.y == y)], fmt="%.3f")
    study = load("ophthalmic", folder)
    assert study.y.tolist() == [0, 0, 0, 1, 1, 1, 0, 1]
    np.testing.assert_array_equal(study.split(0).test, [6, 7])
    np.testing.assert_array_equal(study.X[study.y == 1], same.X[same.y == 1])


def test_nobody_has_the_files(folder):
    (folder / "test_x.csv").unlink()
    check_error(
        lambda: load("ophthalmic", folder),
        f"{folder} has no test_x.txt. The ophthalmic study needs train_x.txt (or train_x.csv)",
        "It is not public: ask its authors, or load 'ophthalmic-simulated'",
    )


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("train_x.txt", b"", "is empty"),
        ("train_x.txt", b"1 2 3\n4 5\n", "cannot be read (the number of columns changed"),
        ("train_x.txt", b"1 2 3\n4 5 6\n", "has 3 columns"),
        ("train_x.txt", b"\xff\xfe\x00\x01" * 50, "cannot be read ("),
        ("train_y.txt", b"a b c\n", "cannot be read (could not convert string"),
        ("train_y.txt", b"0 1\n", "has 6 subjects but train_y.txt has 2 labels"),
        ("train_y.txt", b"0 1 2 0 1 2\n", "holds labels other than 0 and 1"),
        ("test_y.txt.gz", gzip.compress(b"0 1", mtime=0)[:15], "cannot be read ("),
    ],
)
def test_damaged_matrices(folder, name, content, part):
    (folder / name).write_bytes(content)
    check_error(lambda: load("ophthalmic", folder), name if "subjects" not in part else "", part)
