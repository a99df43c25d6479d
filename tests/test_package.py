"""The package as others meet it: built, installed, typed, and shown in a notebook."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import imputefree

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and the wheel that is built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = zipfile.ZipFile(built[1]).namelist()
    assert "imputefree/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"imputefree"}
    sources = {str(p.relative_to(ROOT / "src")) for p in (ROOT / "src").rglob("*.py")}
    assert sources <= set(names)


@pytest.mark.slow
def test_the_sdist_holds_what_its_tests_need(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = (
        "README.md LICENSE CHANGES.md CITATION.cff constraints.txt Makefile tests/test_package.py"
    )
    assert set(wanted.split()) <= names
    assert not [name for name in names if name.startswith((".venv", "build/"))]


@pytest.mark.slow
def test_the_installed_wheel_works_apart_from_the_sources(built, tmp_path):
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target",
        str(tmp_path / "site"), str(built[1]))  # fmt: skip
    program = "import imputefree; print(imputefree.__file__); imputefree.ImputeFreeClassifier()"
    environment = {"PYTHONPATH": str(tmp_path / "site"), "PATH": ""}
    where = run(sys.executable, "-c", program, cwd=tmp_path, env=environment)
    assert where.startswith(str(tmp_path))
    command = [sys.executable, "-m", "imputefree", "--version"]
    assert imputefree.__version__ in run(*command, cwd=tmp_path, env=environment)


USER = """
import numpy as np
from imputefree import ImputeFreeClassifier, measure_next

model: ImputeFreeClassifier = ImputeFreeClassifier(quality="fast").fit(np.ones((3, 1)), [0, 1, 0])
probability: np.ndarray = model.predict_proba(np.ones((3, 1)))
model.save(3)  # wrong
measure_next(model)  # wrong
"""
SKIP = "[mypy]\n[mypy-torch.*]\nfollow_imports = skip\n"  # PyTorch takes most of the time


@pytest.mark.slow
def test_a_users_type_checker_knows_the_estimators(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "mypy.ini").write_text(SKIP)
    cache = ROOT / ".mypy_cache" / "user"
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(cache), "user.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    wrong = [n for n, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")]
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert sorted({int(line.split(":")[1]) for line in errors}) == wrong, done.stdout


def test_version_and_authors_are_said_once_and_alike():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["version"] == imputefree.__version__ == cited["version"]
    assert PROJECT["authors"] == cited["authors"]
    assert f"version = {{{PROJECT['version']}}}" in (ROOT / "docs/cite.md").read_text("utf-8")


def test_all_brings_every_extra_for_users():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = everything.removeprefix("imputefree[").rstrip("]").split(",")
    assert sorted(named) == sorted(set(extras) - {"all", "dev", "docs"})
    page = (ROOT / "docs/get-started.md").read_text(encoding="utf-8")
    for name in [*named, "all"]:
        assert f"`'.[{name}]'`" in page, name


@pytest.mark.parametrize(
    "model",
    [
        imputefree.ImputeFreeClassifier(quality="fast"),
        imputefree.GILClassifier(n_members=1, max_iter=1),
        imputefree.MaskConformalClassifier(imputefree.ImputeFreeClassifier(quality="fast")),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_notebook_shows_parameters_and_whether_it_is_fitted(model):
    shown = make_pipeline(StandardScaler(), model)._repr_html_()
    assert type(model).__name__ in shown
    before = model._repr_html_()
    assert "Parameters" in before
    rng = np.random.default_rng(0)
    after = model.fit(rng.normal(size=(60, 2)), rng.integers(0, 2, 60))._repr_html_()
    assert "fitted" in after
    assert "Fitted attributes" in after
    assert "Fitted attributes" not in before
