"""Every benchmark starts, prints its figures, judges and records them (few rows and steps)."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

from benchmarks import mask_coverage, random_curves
from benchmarks.best_default import main
from benchmarks.mask_audit import markdown as audit_table
from benchmarks.serve_soak import SLOPE_MB, flatness
from benchmarks.table_tasks import FLIGHTS, TWELVE, MadeWorld, task
from benchmarks.trusted_rows import SHORTCUTS, make_split
from benchmarks.trusted_rows import markdown as trusted_table
from imputefree.lab.runs import ResultsFile, Run, read_results

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def real(folder):
    if not (Path(os.environ.get("IMPUTEFREE_DATA", "")) / folder).is_dir():
        pytest.skip(f"needs the real files: set IMPUTEFREE_DATA to the folder that holds {folder}/")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a benchmark; its exit code, what it prints, and its record."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # not `python -m pytest`

    def run(script, *options):
        out = tmp_path / "out.json"
        words = [f"benchmarks/{script}.py", *map(str, options), "--json", str(out)]
        if script == "ddpg_memory":  # measures the memory of its whole process
            command = [sys.executable, *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            code, printed = done.returncode, done.stdout + done.stderr
        else:
            monkeypatch.setattr(sys, "argv", words)
            code = runpy.run_path(words[0])["main"]() or 0
            printed = capsys.readouterr().out
        record = json.loads(out.read_text())
        assert record["command"].startswith(f"python benchmarks/{script}.py")
        assert set(record["versions"]) >= {"python", "imputefree"}
        return code, printed, record

    return run


def test_missing_codes(run):
    real("tabular")
    _, printed, record = run("missing_codes", "--tables", "hepatitis")
    assert "false alarms" in printed
    line = record["tables"]["hepatitis"]
    assert line["planted"]["-999"] == line["found"]["-999"] > 5
    assert record["found"] > 0.9


def test_step_cost(run):
    code, printed, record = run("step_cost", "--rounds", 1)
    assert "x of a plain step (limit 1.1)" in printed
    assert set(record["ratios"]) >= {"none", "ddpg", "meta"}
    assert code == int("OVER" in printed)


def test_sequence_step_cost(run):
    """Memory has its real limit; costs are judged by the script, over more rounds."""
    options = ("--rounds", 1, "--memory-steps", 8, "--small-only")
    code, printed, record = run("sequence_step_cost", *options)
    assert "x of a plain step (limit 1.15)" in printed
    assert max(record["memory_growth_mb"].values()) < 20
    assert code == int("OVER" in printed)


def test_ddpg_memory_stays_under_its_limit(run):
    """Memory does not depend on who else uses the machine: the real limit, fewer steps."""
    code, printed, record = run("ddpg_memory", "--steps", 8)
    assert code == 0, printed
    assert record["peak_gb"] < 1.5


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads figures of Linux")
def test_serve_soak(run):
    """A second of it: answers are judged, memory hardly."""
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    code, printed, record = run("serve_soak", "--minutes", 0.03, "--connections", 4)
    assert record["wrong"] == 0, printed
    assert set(record["statuses"]) >= {"200", "400", "422", "left"}
    assert len(record["readings"]) >= 4
    assert code == int("OVER" in printed)


@pytest.mark.parametrize(("growth", "flat"), [(0.0, True), (0.5, True), (2.0, False)])
def test_the_soak_judges_memory_by_its_slope_after_the_warm_up(growth, flat):
    """Noise, a step at the beginning and a single high reading do not count; growth does."""
    rng = np.random.default_rng(0)
    readings = [
        {
            "requests": 2000 * i,
            "memory_mb": 400 + 30 * (i > 5) + growth * 0.2 * i + 50 * (i == 40) + rng.normal() / 9,
        }
        for i in range(60)
    ]
    assert (flatness(readings) < SLOPE_MB) == flat
    assert flatness(readings) == pytest.approx(growth, abs=0.2)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads figures of Linux")
def test_predict_memory(run):
    code, printed, record = run(
        "predict_memory", "--rows", 3000, "--members", 1, "--format", "parquet"
    )
    assert code == 0, printed
    assert record["rows"] == 3000
    assert 100 < record["peak_mb"] < record["bound_mb"]


def test_mimic3_memory(run):
    pytest.importorskip("duckdb", reason="MIMIC-III needs the extra data")
    code, printed, record = run("mimic3_memory", "--rows", 100_000)
    assert code == 0, printed
    assert record["cohort_mb"] < 900


def test_predict_cost(run):
    code, printed, record = run("predict_cost", "--rounds", 1, "--train-rows", 200, "--rows", 50)
    assert "x the time of the bare network (limit 1.1)" in printed
    speeds = record["by_rows_at_a_time"]["50"]["rows_per_second"]
    assert set(speeds) == {"estimator", "bare", "knn", "mice"}
    assert code == int("SHORT" in printed or "OVER" in printed)


def test_served_row(run):
    pytest.importorskip("uvicorn", reason="a server needs the extra serve")
    code, printed, record = run("served_row", "--tables", "made 100x4", "--rows", 5)
    assert "ms per call (limit 2)" in printed
    kinds = {"call", "fastest_tenth", "http_cpu", "http_answer"}
    assert set(record["milliseconds"]["made 100x4"]) == kinds
    assert code == int("OVER" in printed)


def test_ranks_cost(run):
    code, printed, record = run("ranks_cost", "--rows", 1000, "--epochs", 1, "--rounds", 1)
    assert "training" in printed
    assert len(record["rows_per_second"]) == 2
    assert code == int("SHORT" in printed)


def test_trusted_rows(run):
    real("tabular")
    table = "pima_zeros_as_missing"
    options = ("--tables", table, "--seeds", 0, "--methods", "none", "trusted rows only")
    code, printed, record = run("trusted_rows", *options)
    assert code == 1  # a table and two methods do not reach the target
    assert "MISSED" in printed
    assert [run["method"] for run in record["runs"]] == ["none", "trusted rows only"]


def test_shortcuts_tell_the_label_of_misled_rows_only():
    real("tabular")
    split = make_split("pima_zeros_as_missing", 1)
    assert split.trusted.sum() == 100
    misled = ~split.trusted
    for name in SHORTCUTS:
        hint = split.X[name].isna() if name.startswith("gap") else split.X[name]
        new = split.X_test[name].isna() if name.startswith("gap") else split.X_test[name]
        assert roc_auc_score(split.y[misled], hint[misled]) > 0.65
        assert abs(roc_auc_score(split.y[split.trusted], hint[split.trusted]) - 0.5) < 0.2
        assert abs(roc_auc_score(split.y_test, new) - 0.5) < 0.1


def test_the_page_shows_the_committed_figures():
    record = json.loads((ROOT / "benchmarks/results/trusted_rows.json").read_text())
    page = (ROOT / "docs/trusted-rows.md").read_text()
    assert trusted_table(record["runs"]) in page


def test_misleading_columns(run):
    code, printed, record = run("misleading_columns", "--policies", "none", "random", "--seeds", 0)
    assert code == 0, printed
    runs = {run["policy"]: run for run in record["runs"]}
    assert set(runs) == {"none", "random"}
    assert runs["random"]["misleading"] == pytest.approx(0.5, abs=0.05)


def test_trap_alarms(run):
    real("tabular")
    code, printed, record = run("trap_alarms", "--tables", "titanic3", "--seeds", 0)
    assert code == 0
    actual = {(alarm["kind"], *alarm["columns"]) for alarm in record["runs"][0]["real"]}
    assert actual >= {("afterwards", "boat"), ("afterwards", "body")}
    assert record["runs"][0]["clean"] == []
    assert "| found |" in printed


def test_mask_audit(run):
    options = ("--tasks", "leak", "--methods", "fast", "boosting", "--folds", 1)
    code, printed, record = run("mask_audit", *options)
    assert code == 0, printed
    ours, boosting = record["runs"]
    assert ours["differences"]["gain of ignoring, gaps of others"][1] > 0
    assert ours["differences"]["the mask's, use"][0] > 0.1
    assert abs(ours["differences"]["the mask's, ignore"][0]) < 0.03
    assert boosting["telling"][0] == "late"
    assert "leak (simulated) | fast" in audit_table(record["runs"])


def test_acquisition(run, tmp_path):
    real("tabular")
    words = ("--tables", "mammographic_masses", "made", "--models", "boosting", "--splits", 2)
    code, printed, record = run("acquisition", *words, "--draw", tmp_path / "curves.png")
    assert "one row" in printed
    assert code == 1  # one table is not four
    assert len(record["runs"]) == 4
    assert (tmp_path / "curves.png").stat().st_size > 1000
    area = {
        policy: np.mean([np.mean(r["unit"][policy]["accuracy"]) for r in record["runs"]])
        for policy in ("next", "random")
    }
    assert area["next"] > area["random"]
    assert run("acquisition", *words)[2]["runs"] == record["runs"]  # nothing is run twice


@pytest.fixture
def best_default(tmp_path, monkeypatch, capsys):
    """Runs best_default.py; the lines of its results file, and what it prints."""

    def run(*words):
        path = tmp_path / "results.jsonl"
        monkeypatch.setattr(sys, "argv", ["best_default.py", *words, "--results", str(path)])
        assert main() == 0
        return [json.loads(line) for line in path.read_text().splitlines()], capsys.readouterr().out

    return run


def test_best_default_does_not_repeat_a_run_of_the_same_version(best_default, tmp_path):
    rivals = ["HistGradientBoosting defaults", "linear validated"]
    run = ("run", "--tasks", "made 400x20", "--methods", *rivals)
    lines, printed = best_default(*run)
    assert [line["method"] for line in lines] == rivals
    assert all(0.55 < line["scores"]["auc"] < 0.9 for line in lines)
    assert all(line["rows"] == [400, 50_000] for line in lines)
    assert all(set(line["versions"]) >= {"python", "imputefree", "lightgbm"} for line in lines)
    assert printed.count("made 400x20 0 ") == 2
    assert best_default(*run)[0] == lines
    plain = "".join(json.dumps(line) + "\n" for line in read_results(tmp_path / "results.jsonl"))
    old = plain.replace('"scikit-learn 1', '"scikit-learn 0', 1)
    (tmp_path / "results.jsonl").write_text(old)
    again, _ = best_default(*run)
    assert [line["method"] for line in again] == [*rivals, rivals[0]]
    assert again[-1]["scores"] == lines[0]["scores"]  # the seed is the part's


def test_best_default_collects_new_lines(best_default, tmp_path):
    parts = {"a": [0, 1], "b": [1, 2]}
    for name, folds in parts.items():
        with ResultsFile(tmp_path / name) as results:
            for fold in folds:
                scores, command = {"auc": 0.9, "log_loss": 0.1}, f"run --results {name} --tasks x"
                record = {"version": "1", "scores": scores, "cost": {}, "command": command}
                results.append({**vars(Run("adult", "blend", split_seed=fold)), **record})
    lines, _ = best_default("collect", *(str(tmp_path / name) for name in parts))
    assert [line["split_seed"] for line in lines] == [0, 1, 2]
    assert {line["command"] for line in lines} == {"run --tasks x"}


def test_best_default_summary(best_default, tmp_path):
    """Made-up scores: the blend is 0.01 above LightGBM on eleven tables, 0.05 below on one."""
    methods = {"blend": 0.9, "network": 0.87, "LightGBM validated": 0.89, "linear validated": 0.8}
    with ResultsFile(tmp_path / "results.jsonl") as results:
        for method, base in methods.items():
            for table in TWELVE:
                for fold in range(5):
                    lost = 0.06 * (method == "blend" and table == "soybean")
                    scores = {"log_loss": 1 - base, "calibration_error": 0.05}
                    scores["auc"] = base - lost + 0.01 * fold - 0.02
                    cost = {"fit_cpu_seconds": 1.0}
                    record = {"version": "1", "rows": [80, 20], "scores": scores, "cost": cost}
                    results.append({**vars(Run(table, method, split_seed=fold)), **record})
        record["scores"] = {"auc": 0.99, "log_loss": 0.1, "calibration_error": 0.01}
        for fold in range(5):  # a rival that has been run on one table, and on a part of another
            results.append(
                {**vars(Run("hepatitis", "CatBoost defaults", split_seed=fold)), **record}
            )
        results.append({**vars(Run("titanic3", "CatBoost defaults")), **record})
    _, printed = best_default("summary")
    assert "| CatBoost defaults | 1 of 12 tables |" in printed
    assert "| hepatitis | 0.9000 | 0.8700 | 0.9900 (CatBoost defaults) | -0.0900 |" in printed
    assert "| titanic3 | 0.9000 | 0.8700 | 0.8900 (LightGBM validated) | +0.0100 |" in printed
    assert "| **blend** | 0.8950 | 11 | 1.08 | 0.1000 | 0.0500 |  |" in printed
    assert "| LightGBM validated | 0.8900 | 1 | 1.92 |" in printed
    assert (
        "| soybean | 0.8400 | 0.8700 | 0.8900 (LightGBM validated) | -0.0500 | -0.0200 |" in printed
    )
    assert "-0.0900 (at least -0.0080) SHORT blend - best rival, worst table (hepatitis)" in printed
    assert "+0.8950 (at least +0.8800) blend, mean score of the twelve" in printed
    assert "+0.8700 (at least +0.8760) SHORT network, mean score of the twelve" in printed


def test_fit_cost(run):
    pytest.importorskip("catboost", reason="its time is the measure")
    code, printed, record = run("fit_cost", "--tables", "made 300x5")
    assert set(record["cpu_seconds"]["made 300x5"]) == {"blend", "CatBoost", "fast", "LightGBM"}
    assert "of 1 tables (at least 1)" in printed
    assert code == int("OVER" in printed)


def test_the_made_task_is_what_it_says():
    world = MadeWorld(20)
    X, y = world.draw(60_000, stream=0)
    beginning, _ = world.draw(1000, stream=0)
    other, _ = world.draw(1000, stream=1)
    np.testing.assert_array_equal(X[:1000], beginning)
    assert not np.array_equal(np.nan_to_num(other), np.nan_to_num(beginning))
    assert np.isnan(X).mean() == pytest.approx(0.2, abs=0.002)
    assert y.mean() == pytest.approx(0.5, abs=0.1)
    z = world._latent(np.random.default_rng(1), 50_000)
    np.testing.assert_allclose(z.std(0), 1, atol=0.02)
    parts = (world._effects(z) - world.mean) / world.sd
    np.testing.assert_allclose(parts.std(1), 1, atol=0.02)


def test_flights_are_split_by_time_or_by_whole_days():
    real("tabular")
    by_time, by_days = (task(name).part(0) for name in FLIGHTS)
    assert by_time.X["month"].max() == 9
    assert by_time.X_test["month"].min() == 10
    days = [set(zip(X["month"], X["day"], strict=True)) for X in (by_days.X, by_days.X_test)]
    assert not days[0] & days[1]
    assert len(days[1]) / (len(days[0]) + len(days[1])) == pytest.approx(0.25, abs=0.005)


def test_physionet2012(run):
    real("physionet2012")
    methods = ["mask-only", "without recurrence", "quick look", "ImputeFreeSequenceClassifier()"]
    options = ("--stays", 200, "--splits", 0, "--methods", *methods)
    code, printed, record = run("physionet2012", *options)
    assert code == 0, printed
    assert {run["method"] for run in record["runs"]} >= {*methods, "its trees", "its network"}
    assert all(0 < run["auroc"] <= 1 for run in record["runs"])
    code, printed, again = run("physionet2012", *options)  # everything is there already
    assert again["runs"] == record["runs"]


def test_physionet2019(run):
    real("physionet2019")
    code, printed, record = run(
        "physionet2019", "--stays", 400, "--splits", 0, "--methods", "mask-only"
    )
    assert code == 0, printed
    assert [run["method"] for run in record["runs"]] == ["mask-only"]


def test_few_series(run):
    real("physionet2012")
    words = ("--studies", "physionet2012", "--sizes", 60, "--seeds", 1)
    code, printed, record = run("few_series", *words)
    assert code == 0, printed
    assert len({run["method"] for run in record["runs"]}) == len(record["runs"]) == 3
    assert all(0.4 < run["auroc"] <= 1 for run in record["runs"])


def test_table_imputers(run):
    methods = ["mean", "EM", "MICE, a draw"]
    code, printed, record = run(
        *("table_imputers", "--tables", "breast", "--seeds", 0, "--methods", *methods)
    )
    assert code == 0, printed
    assert [run["method"] for run in record["runs"]] == methods
    mean, em, draw = (run["rmse"] for run in record["runs"])
    assert em < draw < mean


def test_mnist_imputers(run):
    real("mnist")
    options = ("--rows", 300, "--methods", "GAIN", "--max-steps", 100)
    code, printed, record = run("mnist_imputers", *options)
    assert code == 0, printed
    assert [run["method"] for run in record["runs"]] == ["mean", "GAIN"]
    assert record["runs"][1]["ratio_to_mean"] < 1


def test_mnist_mixture(run):
    real("mnist")
    options = ("--rows", 1000, "--rates", 0.5, "--components", 2, 5, "--smoothing", 1)
    code, printed, record = run("mnist_mixture", *options, "--members", 2)
    assert code == 0, printed
    (run,) = record["runs"]
    accuracies = {fit["n_components"]: fit["validation_accuracy"] for fit in run["tried"]}
    assert set(accuracies) == {2, 5}
    assert run["chosen"]["n_components"] == max(accuracies, key=lambda n: accuracies[n])
    # 1,000 images: naive Bayes knows two digits in three, a mixture more.
    assert run["accuracy"] > run["naive_bayes_accuracy"] > 0.6
    assert f"test accuracy {run['accuracy']:.4f}" in printed


def test_mnist_blend(run):
    real("mnist")
    options = ("--rates", 0.5, "--rows", 600, "--judge", "validation")
    code, printed, record = run("mnist_blend", *options)
    (figures,) = record["runs"]
    assert set(figures["weights"]) == {"density", "factors"}
    assert figures["accuracy"] > 0.6
    assert code == 0
    assert "calibration_error" in printed
    _, again, _ = run("mnist_blend", *options)  # nothing is left to do
    assert not again


def test_large_tables(tmp_path):
    """In processes of their own, whose figures are added to the file one after the other."""
    out = tmp_path / "out.json"
    words = ["--rows", "3000", "--methods", "fast", "one epoch", "--files", "2000"]
    command = [sys.executable, "-m", "benchmarks.large_tables", *words, "--json", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    results = json.loads(out.read_text())["results"]
    models = [(result["where"], result["model"]) for result in results]
    memory = [("memory", name) for name in ("lightgbm", "fast", "one epoch")]
    assert models == [*memory, ("files", "network"), ("files", "trees")], done.stderr
    assert all(result["cpu_seconds"] > 0 and result["commit"] for result in results)
    assert done.returncode == int(any(result.get("over") for result in results))


def test_cost_growth(run, tmp_path):
    picture = tmp_path / "growth.svg"
    sizes = ["--rows", 300, 1000, "--columns", 3, 6]
    code, printed, record = run("cost_growth", *sizes, "--picture", picture)
    assert len(record["results"]) == 8
    assert "slopes" in printed
    assert code == int("OVER" in printed)
    assert picture.read_text().count("<svg") == 1


def test_mask_coverage(run, tmp_path):
    real("tabular")
    picture = tmp_path / "coverage.svg"
    options = ("--tasks", "titanic3", "communities_crime", "--splits", 1, "--rows", 200)
    code, printed, record = run(
        "mask_coverage", *options, "--base", "boosting", "--picture", picture
    )
    assert code == int("mask covers" in printed or "never falls" in printed)
    assert [run["task"] for run in record["runs"]] == ["titanic3", "communities_crime"]
    cells = record["runs"][0]["figures"]["mask"]
    assert sum(cells[name][0] for name in ("fewest gaps", "middle", "most gaps")) == 200
    assert picture.read_text().startswith("<?xml")
    again = run("mask_coverage", *options, "--base", "boosting")[2]
    assert again["runs"] == record["runs"]  # nothing is repeated


def test_the_page_on_intervals_has_the_committed_figures(tmp_path, monkeypatch):
    page = tmp_path / "intervals.md"
    page.write_text((ROOT / "docs" / "intervals.md").read_text())
    monkeypatch.setattr(sys, "argv", ["mask_coverage.py", "--show", "--docs", str(page)])
    mask_coverage.main()
    assert page.read_text() == (ROOT / "docs" / "intervals.md").read_text()


def test_mask_cost(run):
    real("tabular")
    code, printed, record = run("mask_cost", "--rows", 20, "--quality", "fast")
    assert code == int("OVER" in printed)
    assert record["masks"] == 20


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("shape", [(60, 4), (30, 50)])
def test_coefficients_are_those_of_penalised_regression(n_classes, shape, monkeypatch):
    monkeypatch.setattr(random_curves, "STEPS", 3000)
    monkeypatch.setattr(random_curves, "PENALTIES", [3.0])
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=shape)
    inputs -= inputs.mean(0)
    y = rng.integers(n_classes, size=len(inputs)) if n_classes else rng.normal(size=len(inputs))
    n_outputs = n_classes if n_classes > 2 else 1
    ((slope, level),) = random_curves.coefficients(inputs, y, n_classes, n_outputs)
    predicted = random_curves.probabilities(inputs @ slope + level, n_classes)
    if n_classes:
        model = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=10_000).fit(inputs, y)
        np.testing.assert_allclose(predicted, model.predict_proba(inputs), atol=1e-5)
    else:
        model = Ridge(alpha=3.0).fit(inputs, y)
        np.testing.assert_allclose(predicted[:, 0], model.predict(inputs), atol=1e-10)
