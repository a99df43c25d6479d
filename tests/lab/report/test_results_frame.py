from __future__ import annotations

import numpy as np
import pytest

from imputefree.lab.report._paper_figures import FIGURES
from imputefree.lab.report._results_frame import frame_of, setting_name
from imputefree.lab.report._stats import compare, summary
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._run import attempt, failed


@pytest.mark.parametrize(
    ("study", "options", "name"),
    [
        ("mnist", {"rate": 0.7}, "mcar-70"),
        ("mnist", {"rate": 0.7, "mechanism": "mcar", "masks": "fixed"}, "mcar-70"),
        ("mnist", {"mechanism": "mar"}, "mar"),
        ("ophthalmic", {"rate": 0.25}, "rate-25"),
        ("mimic3", {}, "variable"),
        ("mimic3", {"form": "fixed"}, "fixed"),
        ("physionet2012", {"form": "hourly"}, "natural"),
    ],
)
def test_settings_of_the_paper_have_its_names(study, options, name):
    assert setting_name(study, options) == name
    assert (study, name) in {(figure.study, figure.setting) for figure in FIGURES}


@pytest.mark.parametrize(
    ("study", "options", "name"),
    [
        ("mnist", {"mechanism": "mar", "rate": 0.4}, "mar-40"),
        ("mnist", {"rate": 0.125}, "mcar-12.5"),
        ("mnist", {"rate": 0}, "mcar-0"),
        ("mnist", {"rate": "abc"}, "mcar-abc"),
        ("mnist", {"rate": [0.5]}, "mcar-[0.5]"),
        ("ophthalmic", {"rate": 10**400}, f"rate-{10**400}"),
        ("ophthalmic", {}, "natural"),
        ("ophthalmic-simulated", {"rate": 0.25, "seed": 3}, "rate-25, seed 3"),
        ("physionet2012", {"form": "raw"}, "natural, form raw"),
        ("table:colic", {}, "natural"),
    ],
)
def test_other_settings_are_written_out(study, options, name):
    assert setting_name(study, options) == name


def test_real_lines_done_and_failed_go_through_the_statistics():
    options = {"n_series": 60}
    runs = [Run("icu", "mask_only", options=options, split_seed=seed) for seed in range(2)]
    records = [attempt(run) for run in runs]
    records += [failed(Run("icu", "gil", options=options, split_seed=0), "out of memory")]
    frame = frame_of(records)
    assert frame["status"].tolist() == ["done", "done", "failed"]
    assert frame["setting"].tolist() == ["variable, n_series 60"] * 3
    done = frame[:2]
    assert (done["n_train"] + done["n_test"] == 60).all()
    found = summary(frame, "auc").set_index("method")
    assert found["runs"].to_dict() == {"mask_only": 2, "gil": 0}
    assert found.loc["mask_only", "mean"] == np.mean([r["scores"]["auc"] for r in records[:2]])
    pairs = compare(frame, "auc", "mask_only")
    assert pairs[["pairs", "dropped"]].to_numpy().tolist() == [[0, 2]]


def test_imputation_error_is_scaled_but_for_pixels():
    scores = {"imputation_mse": 9.0, "imputation_mse_scaled": 0.5}
    lines = [failed(Run(name, "gil"), "") | {"scores": scores} for name in ("mnist", "icu")]
    assert frame_of(lines)["imputation_error"].tolist() == [9.0, 0.5]
    assert "imputation_error" not in frame_of([failed(Run("icu", "gil"), "")])
