"""Eleven ways in which version 0.1.0 broke a promise, tried on the version that is installed.

    python scripts/findings.py [NAME …]

Each is a function that returns what went wrong, or None. Only what both versions have is used, so
that the same file shows them on 0.1.0 (PYTHONPATH=../version-0.1.0/src) and gone today. Exits 1 if
a promise is broken.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import imputefree
from imputefree import GILClassifier, GILSequenceClassifier
from imputefree.errors import ImputefreeError

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2
TINY: dict[str, Any] = {
    "n_members": 1,
    "max_iter": 3,
    "hidden_layer_sizes": (4,),
    "random_state": 0,
}
LINK = '=HYPERLINK("http://evil.example","click")'
Promise = Callable[[Path], str | None]
PROMISES: dict[str, Promise] = {}


def promise(function: Promise) -> Promise:
    """Adds it to the list."""
    PROMISES[function.__name__] = function
    return function


def error_of(call: Callable[[], Any]) -> Exception | None:
    """The exception that a call ends with."""
    try:
        call()
    except Exception as error:
        return error
    return None


def foreign(call: Callable[[], Any]) -> str | None:
    """What went wrong, if a call ends with an exception that is not the package's own."""
    error = error_of(call)
    refused = error is None or isinstance(error, ImputefreeError)
    return None if refused else f"{type(error).__name__}: {error}"


def command(*words: str, folder: Path, stdout: int = subprocess.DEVNULL) -> Any:
    """A command of the package, under way."""
    whole = [sys.executable, "-m", "imputefree", *words]
    return subprocess.Popen(whole, cwd=folder, stdout=stdout, stderr=subprocess.DEVNULL)


def peak_megabytes(*words: str, folder: Path) -> int:
    """The most memory that a run of Python with these words takes.

    A new process counts what its parent had before it was replaced, so a small process starts it.
    """
    starter = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, *sys.argv[1:]], stdout=2)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    )
    whole = [sys.executable, "-c", starter, *words]
    done = subprocess.run(whole, cwd=folder, check=True, capture_output=True, text=True)
    return int(done.stdout)


# ---- checkpoints
def left_checkpoint(folder: Path) -> Path:
    """What a training that is killed leaves at its path."""
    path, kept, replace = folder / "fit", folder / "kept", os.replace

    def copy_too(source: Any, target: Any) -> None:
        replace(source, target)
        if Path(target) == path and not kept.exists():
            shutil.copy(target, kept)

    late = iter(range(0, 10**9, 1000))
    with patch("os.replace", copy_too), patch("time.monotonic", lambda: float(next(late))):
        GILClassifier(**TINY).fit(X, y, checkpoint=path)
    return shutil.copy(kept, path)


@promise
def damaged_checkpoint(folder: Path) -> str | None:
    """A flipped bit of a checkpoint leads to an error or to the same model."""
    path = left_checkpoint(folder)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    whole = GILClassifier(**TINY).fit(X, y).predict_proba(X)
    changed = 0
    for place in rng.integers(0, len(content), 150):
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        model = GILClassifier(**TINY)
        error = error_of(lambda model=model: model.fit(X, y, checkpoint=path))  # type: ignore[misc]
        changed += error is None and not np.array_equal(model.predict_proba(X), whole)
    return f"{changed} of 150 flipped bits led to another model" if changed else None


@promise
def crafted_checkpoint(folder: Path) -> str | None:
    """A checkpoint without content is refused."""
    path = left_checkpoint(folder)
    try:
        content = torch.load(path, weights_only=True)
        torch.save(content | {"state": {}, "kept": {}}, path)
    except Exception:
        from imputefree._sealed import read_sealed, write_sealed
        from imputefree.gil._checkpoint import CHECKPOINT

        known, tensors = read_sealed(path, CHECKPOINT)
        write_sealed(path, CHECKPOINT, known | {"state": [{}]}, tensors)
    return foreign(lambda: GILClassifier(**TINY).fit(X, y, checkpoint=path))


# ---- model files
def forged(folder: Path, change: Callable[[Any, Any], None]) -> Path:
    """A model file after a change, with a fitting checksum."""
    path = folder / "model"
    GILClassifier(**TINY).fit(X, y).save(path)
    raw = path.read_bytes()
    content = json.loads(
        json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])["__metadata__"]["imputefree"]
    )
    tensors = load_file(path)
    change(content, tensors)
    text = json.dumps(content)
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    save_file(tensors, path, {"imputefree": text, "sha256": digest.hexdigest()})
    return path


@promise
def bomb(folder: Path) -> str | None:
    """A small model file does not take gigabytes."""
    wide = {"array": ["a", "b"], "dtype": "<U300000000"}
    path = forged(folder, lambda content, _: content["fitted"].update(classes_=wide))
    megabytes = peak_megabytes(__file__, "--load", str(path), folder=folder)
    return f"{path.stat().st_size // 1024} kB took {megabytes} MB" if megabytes > 1500 else None


@promise
def incomplete_model(folder: Path) -> str | None:
    """A model with a weight that is not a number is refused."""
    path = forged(folder, lambda _, tensors: tensors[min(tensors)].fill_(float("nan")))
    return "it was loaded" if error_of(lambda: GILClassifier.load(path)) is None else None


# ---- numbers and inputs
@promise
def finite_predictions(_: Path) -> str | None:
    """Whatever is predicted is finite."""
    model = GILClassifier(**TINY, numeric_encoding="unscaled").fit(X, y)
    answers: list[Any] = []
    error = error_of(lambda: answers.append(model.predict_proba(np.full((1, 3), 1e39))))
    finite = isinstance(error, ImputefreeError) or np.isfinite(answers).all()
    return None if finite else f"it predicts {answers}"


@promise
def mixed_times(_: Path) -> str | None:
    """Numbers beside dates in `times` are refused."""
    series = [X[:2], X[2:4]]
    times = [np.array([0.0, 1.0]), np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")]
    if "times" in signature(GILSequenceClassifier.fit).parameters:
        return foreign(lambda: GILSequenceClassifier(**TINY).fit(series, [0, 1], times=times))
    return foreign(lambda: imputefree.Panel.from_list(series, times=times))


@promise
def unclosed_quote(folder: Path) -> str | None:
    """A small compressed file of one endless cell is refused at little cost."""
    path = folder / "big.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b'a,y\n"')
        for _ in range(60):
            file.write(b"a" * 10_000_000)
    words = ["-m", "imputefree", "fit", path.name, "--target", "y", "-o", "m"]
    megabytes = peak_megabytes(*words, folder=folder)
    return f"600 MB in one cell took {megabytes} MB" if megabytes > 900 else None


# ---- output, signals, server, results
def fitted(folder: Path, label: str) -> Path:
    """A model made by the command line."""
    rows = [f"{a:.3f},{b:.3f},{label if a > 0 else 'well'}" for a, b in X[:, :2]]
    quoted = [row.replace(label, '"' + label.replace('"', '""') + '"') for row in rows]
    (folder / "d.csv").write_text("\n".join(["a,b,y", *quoted]) + "\n")
    words = ["fit", "d.csv", "--target", "y", "--no-estimate", "-o", "m.imputefree"]
    if command(*words, folder=folder).wait():
        raise RuntimeError("imputefree fit failed")
    return folder / "m.imputefree"


@promise
def formula_in_output(folder: Path) -> str | None:
    """No cell of a CSV file is a formula."""
    model = fitted(folder, LINK)
    command("predict", str(model), "d.csv", "-o", "out.csv", folder=folder).wait()
    with (folder / "out.csv").open() as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    return next((f"a cell is {cell}" for cell in cells if cell.startswith("=")), None)


@promise
def stopped_prediction(folder: Path) -> str | None:
    """SIGTERM during a prediction leaves nothing behind."""
    model = fitted(folder, "ill")
    (folder / "many.csv").write_text("a,b\n" + "0.5,0.25\n" * 3_000_000)
    before = {*os.listdir(folder)}
    child = command("predict", str(model), "many.csv", "-o", "out.csv", folder=folder)
    end = time.monotonic() + 120
    while {*os.listdir(folder)} == before and child.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    child.wait(60)
    left = {*os.listdir(folder)} - before - {"out.csv"}
    return f"it leaves {sorted(left)}" if left else None


@promise
def foreign_host(folder: Path) -> str | None:
    """A server on loopback answers only to its own names."""
    model = fitted(folder, "ill")
    server = command("serve", str(model), "--port", "0", folder=folder, stdout=subprocess.PIPE)
    assert server.stdout is not None
    try:
        said = next(line for line in server.stdout if b"http://" in line).decode()
        port = int(re.findall(r"127\.0\.0\.1:(\d+)", said)[0])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(
                b"GET /schema HTTP/1.1\r\nHost: [::1].evil\r\nConnection: close\r\n\r\n"
            )
            answer = connection.recv(100)
    finally:
        server.terminate()
        server.wait(60)
    return f"it answers {answer[:15]!r}" if b" 200 " in answer[:15] else None


@promise
def damaged_result(folder: Path) -> str | None:
    """A flipped bit in a line of results is noticed."""
    try:
        from imputefree.lab.runs import ResultsFile, Run, read_results
    except ImportError:
        from imputefree.bench.protocol import Run
        from imputefree.bench.results import ResultsFile, read_results
    path = folder / "results.jsonl"
    record = {**asdict(Run("icu", "gil")), "scores": {"auc": 0.75}}
    with ResultsFile(path) as file:
        file.append(record)
    changed = path.read_bytes().replace(b"0.75", b"0.95")
    path.write_bytes(changed)
    error = error_of(lambda: read_results(path))
    return "an AUC of 0.75 became 0.95" if error is None else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PROMISES])
    parser.add_argument("--load", type=Path, help="only load a model, for the memory that it takes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.load:
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        error_of(lambda: GILClassifier.load(options.load))
        return 0
    print(f"imputefree {imputefree.__version__}, {Path(imputefree.__file__).parent}")
    broken = 0
    for name, attempt in PROMISES.items():
        if options.names and name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            fact = attempt(Path(folder))
        broken += fact is not None
        print(f"{name}: {'held' if fact is None else 'BROKEN: ' + fact}", flush=True)
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
