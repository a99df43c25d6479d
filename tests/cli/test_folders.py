"""`imputefree fit` and `predict` on folders of parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree import ImputeFreeClassifier, read_table
from imputefree.workflow import load_model
from tests.workflow.made import long_table, sequence_classifier

pytest.importorskip("pyarrow", reason="Parquet needs the extra data")


def table(rows=240):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["a", "b"])
    frame["late"] = np.where(frame["a"] > 0, "yes", "no")
    frame["ward"] = rng.choice(["A", "B"], rows)
    frame.loc[::7, "a"] = np.nan
    frame["id"] = np.arange(rows)
    return frame


@pytest.fixture
def parts(tmp_path):
    """A folder of three parts, one of them empty."""
    folder, frame = tmp_path / "parts", table()
    folder.mkdir()
    for number, part in enumerate((frame[:100], frame[:0], frame[100:])):
        part.to_parquet(folder / f"{number}.parquet", index=False)
    return folder


def test_fit_and_predict_a_folder(run, parts, tmp_path):
    code, out, err = run("fit", parts, "--target", "late", "--drop", "id", "-o", "m.imputefree")
    assert code == 0, err
    assert "AUC" in out
    model, frame = load_model(tmp_path / "m.imputefree"), table()
    X = frame[["a", "b", "ward"]]
    expected = ImputeFreeClassifier(quality="fast", random_state=0).fit(X, frame["late"])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    about = model.about_
    assert about["target"] == "late"
    assert about["data"]["rows"] == 240
    assert about["data"]["target"]["classes"] == frame["late"].value_counts().to_dict()
    assert about["data"]["missing"]["a"] == pytest.approx(frame["a"].isna().mean())
    assert "--larger-than-memory" in about["made"]["command"]
    assert "# Model card" in (tmp_path / "m.md").read_text()

    code, _, err = run("predict", "m.imputefree", parts, "-o", "all.csv", "--keep", "id")
    assert code == 0, err
    together = pd.read_csv(tmp_path / "all.csv")
    assert together["id"].tolist() == frame["id"].tolist()
    np.testing.assert_allclose(together["p_yes"], model.predict_proba(X)[:, 1])

    (tmp_path / "out").mkdir()
    code, _, err = run("predict", "m.imputefree", parts, "-o", "out", "--keep", "id")
    assert code == 0, err
    written = [pd.read_parquet(path) for path in sorted((tmp_path / "out").iterdir())]
    assert [len(part) for part in written] == [100, 0, 140]
    np.testing.assert_allclose(pd.concat([written[0], written[2]])["p_yes"], together["p_yes"])


def test_a_file_and_a_network_larger_than_memory(run, tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    words = ["--target", "b", "--model", "network", "--max-iter", 1, "--larger-than-memory"]
    code, _, err = run("fit", "a.csv", *words, "-o", "m.imputefree")
    assert code == 0, err
    assert load_model(tmp_path / "m.imputefree").about_["task"] == "regression"


@pytest.mark.parametrize("words", [["--resume"], ["--test", "0.2"], ["--id", "id"]])
def test_options_that_need_memory_are_refused(run, parts, words):
    code, _, err = run("fit", parts, "--target", "late", *words, "-o", "m.imputefree")
    assert code == 1
    assert words[0] in err


def test_dirty_parts_are_understood_and_the_model_remembers(run, tmp_path):
    frame = table().assign(day=pd.date_range("2026-01-01", periods=240).strftime("%d.%m.%Y"))
    frame["a"] = frame["a"].round(3).map("{:g} mmHg".format).str.replace("nan mmHg", "unknown")
    frame.loc[::9, "b"] = -999
    (tmp_path / "parts").mkdir()
    how = {"index": False, "sep": ";", "decimal": ",", "encoding": "latin-1"}
    frame["a"] = frame["a"].str.replace(".", ",")
    frame[:100].to_csv(tmp_path / "parts" / "1.csv", **how)
    frame[100:].to_csv(tmp_path / "parts" / "2.csv", **how)
    frame.to_csv(tmp_path / "whole.csv", **how)
    code, _, err = run("fit", "parts", "--target", "late", "-o", "m.imputefree")
    assert code == 0, err
    assert "-999 was read as a gap in 'b'" in err
    model = load_model(tmp_path / "m.imputefree")
    whole, _ = read_table(tmp_path / "whole.csv", target="late")
    assert model.feature_names_in_.tolist() == [name for name in whole if name != "late"]
    expected = ImputeFreeClassifier(quality="fast", random_state=0)
    expected.fit(whole.drop(columns="late"), whole["late"])
    for source in ("parts", "whole.csv"):
        code, _, err = run("predict", "m.imputefree", source, "-o", "p.csv")
        assert code == 0, err
        shares = expected.predict_proba(whole.drop(columns="late"))[:, 1]
        np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv")["p_yes"], shares, rtol=1e-5)


def test_a_damaged_part_leaves_no_model(run, parts, tmp_path):
    (parts / "3.parquet").write_bytes(b"damaged")
    code, _, err = run("fit", parts, "--target", "late", "-o", "m.imputefree")
    assert code == 1
    assert "3.parquet" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]


def test_series_are_predicted_one_file_at_a_time(run, tmp_path):
    series, folder = long_table(), tmp_path / "parts"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        series.to_csv(folder / name, index=False)
    sequence_classifier(series).save(tmp_path / "m.imputefree")
    code, _, err = run("predict", "m.imputefree", folder)
    assert code == 1
    assert "series" in err
