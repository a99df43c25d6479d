"""Lines of results for tests of the page. MADE UP: no method ever ran to give these figures."""

from __future__ import annotations

import zlib
from base64 import b64encode

import numpy as np

COMMAND = "python -m imputefree bench --made-up 'by tests/lab/made_up_results.py'"
VERSIONS = {"python": "3.11.7", "imputefree": "0.1.0", "torch": "2.13.0+cpu", "numpy": "2.4.6"}
METHODS = {  # name -> made-up accuracy with nothing missing
    "gil": 0.985,
    "gil-d": 0.984,
    "gil-h": 0.98,
    "network": 0.983,
    "zero+network": 0.975,
    "mean+network": 0.97,
    "gain+network": 0.965,
    "miwae+network": 0.972,
    "mixture_per_class": 0.96,
    "mask_only": 0.3,
}
IMPUTERS = ("zero+network", "mean+network", "gain+network", "miwae+network")
TABLES = ("colic", "hepatitis", "pima", "mammographic", "cleveland", "bands", "soybean", "adult")
CHANNELS = ("heart rate", "systolic pressure", "respiratory rate, breaths a minute", "SpO2", "pH")


def everything():
    """All that the page can show: every study, every picture, failures and warnings."""
    lines = [*mnist(), *ophthalmic(), *icu(), *tables()]
    lines.append(failed("mnist", "gpvae+network", "ran out of memory at 12.1 GB", rate=0.9))
    return lines


def line(study, method, scores, *, mask_seed=0, split_seed=0, simulated=False, **options):
    """A run that was done."""
    return {
        "study": study,
        "method": method,
        "options": options,
        "setting": {},
        "grid": {},
        "mask_seed": mask_seed,
        "split_seed": split_seed,
        "status": "done",
        "rows": [700, 100, 200],
        "chosen": {},
        "tried": [],
        "ignored": [],
        "scores": scores,
        "cost": {"fit_seconds": 12.0 + len(method), "peak_memory_mb": 600.0},
        "simulated": simulated,
        "missing_rate": options.get("rate", 0.4),
        "notes": ["MADE UP for a test."],
        "warnings": ["early stopping never began"] if method == "gil-d" else [],
        "seconds": 14.5 + mask_seed,
        "finished": f"2026-03-0{1 + mask_seed}T10:20:30+00:00",
        "versions": VERSIONS,
        "command": COMMAND,
    }


def failed(study, method, why, **options):
    """A run that was not done: no scores, no cost, no rows."""
    made = line(study, method, {}, **options)
    for key in ("rows", "chosen", "tried", "ignored", "scores", "cost"):
        del made[key]
    return made | {"status": "failed", "error": why}


def mnist():
    """Two rates and MAR, two masks each, with every kind of picture."""
    rng = np.random.default_rng(0)
    places = [{"rate": 0.5}, {"rate": 0.9}, {"mechanism": "mar"}]
    lines = []
    for options in places:
        lost = {0.5: 0.03, 0.9: 0.2}.get(options.get("rate"), 0.05)
        for mask_seed in (0, 1):
            truth, labels, seen = _digits(mask_seed, options.get("rate", 0.4))
            for at, (method, whole) in enumerate(METHODS.items()):
                lower = whole - lost * (1 + 0.06 * at)
                accuracy = max(lower, 0.11) + rng.normal(0, 0.003)
                made = line("mnist", method, _scores(accuracy), mask_seed=mask_seed, **options)
                features = {"features": _features(labels, rng, 3 + at)}
                made["pictures"] = features if at < 4 else {}  # more would take long to draw
                if method in IMPUTERS:
                    made["scores"]["imputation_mse"] = 0.02 + 0.01 * at + 0.1 * lost
                    filled = np.where(seen, truth, rng.integers(0, 40 + 40 * at, truth.shape))
                    made["pictures"]["digits"] = _packed(truth, seen, filled)
                if method in ("gil", "network"):
                    made["pictures"]["curves"] = _curves(rng, 60)
                    made["pictures"]["importance"] = _pixels(rng, at)
                lines.append(made)
    return lines


def ophthalmic():
    """A simulated study at two rates, with importance by column."""
    rng = np.random.default_rng(1)
    columns = [f"measurement {at} of the left eye" if at % 5 == 0 else f"x{at}" for at in range(45)]
    lines = []
    for rate in (0.25, 0.35):
        for mask_seed in (0, 1, 2):
            for at, method in enumerate(("gil", "gil-h", "gate", "zero+network", "lightgbm")):
                accuracy = 0.9 - rate / 4 - 0.01 * at + rng.normal(0, 0.01)
                made = line(
                    "ophthalmic-simulated",
                    method,
                    _scores(accuracy),
                    mask_seed=mask_seed,
                    simulated=True,
                    rate=rate,
                )
                if method.startswith("gil"):
                    values = rng.normal(0.5, 0.1, (2, len(columns))).round(4).tolist()
                    values[1][3] = None
                    found = {"columns": columns, "observed": values[0], "missing": values[1]}
                    made["pictures"] = {"importance": found, "curves": _curves(rng, 12)}
                lines.append(made)
    return lines


def icu():
    """A simulated study of series, with importance by channel and time."""
    rng = np.random.default_rng(2)
    lines = []
    for split_seed in (0, 1):
        for method in ("gil", "gil-h", "brits", "lightgbm"):
            scores = _scores(0.85 + rng.normal(0, 0.02))
            made = line("icu", method, scores, split_seed=split_seed, simulated=True)
            if method.startswith("gil"):
                mean = rng.random((24, len(CHANNELS))).round(4).tolist()
                mean[0][2] = None
                found = {"columns": list(CHANNELS), "steps": 24, "from": "end", "mean": mean}
                made["pictures"] = {"importance": found}
            lines.append(made)
    return lines


def tables():
    """Eight small tables; one method fails on one of them."""
    rng = np.random.default_rng(3)
    lines = []
    for name in TABLES:
        for split_seed in (0, 1):
            for method in ("gil", "network", "lightgbm", "mean+network", "mask_only"):
                if (name, method) == ("adult", "mean+network"):
                    why = "column 'work <class>' holds +inf in 3 rows"
                    lines.append(failed("table:adult", method, why, split_seed=split_seed))
                    continue
                base = 0.6 if method == "mask_only" else 0.85
                scores = _scores(base + rng.normal(0, 0.02))
                lines.append(line(f"table:{name}", method, scores, split_seed=split_seed))
    return lines


def _scores(accuracy):
    return {
        "accuracy": accuracy,
        "auc": min(0.999, accuracy + 0.05),
        "average_precision": accuracy - 0.02,
        "log_loss": 2 * (1 - accuracy),
        "calibration_error": (1 - accuracy) / 3,
    }


def _curves(rng, epochs):
    falling = np.exp(-np.arange(epochs) / 10)
    noise = rng.normal(0, 0.01, (4, epochs))
    return {
        "loss": (2 * falling + 0.1 + noise[0]).round(5).tolist(),
        "validation_loss": (1.8 * falling + 0.25 + noise[1]).round(5).tolist(),
        "reward": (-falling + noise[2]).round(5).tolist(),
        "q": (0.5 * (1 - falling) + noise[3]).round(5).tolist(),
    }


def _pixels(rng, at):
    rows, columns = np.mgrid[-1:1:28j, -1:1:28j]
    blob = np.exp(-3 * ((rows - 0.1 * at) ** 2 + columns**2))
    observed = (0.2 + 0.7 * blob + rng.normal(0, 0.02, blob.shape)).round(4).ravel().tolist()
    missing = (0.1 + 0.4 * blob + rng.normal(0, 0.02, blob.shape)).round(4).ravel().tolist()
    missing[0] = None  # a pixel that was never missing
    names = [f"pixel_{number}" for number in range(784)]
    return {"columns": names, "observed": observed, "missing": missing, "shape": [28, 28]}


def _digits(seed, rate):
    """Ten ring-like shapes, labels of 300 points, and what is seen of the shapes."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[-1:1:28j, -1:1:28j]
    shapes = []
    for digit in range(10):
        ring = np.hypot(rows, columns * (1 + 0.15 * digit)) - 0.6
        shapes.append(255 * np.exp(-60 * ring**2))
    truth = np.array(shapes).round().astype(np.uint8)
    return truth, rng.integers(0, 10, 300), rng.random(truth.shape) > rate


def _packed(truth, seen, filled):
    def text(values):
        return b64encode(zlib.compress(np.asarray(values, dtype=np.uint8).tobytes())).decode()

    return {
        "shape": [28, 28],
        "labels": [str(digit) for digit in range(10)],
        "truth": text(truth),
        "observed": text(seen),
        "filled": text(filled),
    }


def _features(labels, rng, spread):
    angle = 2 * np.pi * labels / 10
    x = 20 * np.cos(angle) + rng.normal(0, spread, len(labels))
    y = 20 * np.sin(angle) + rng.normal(0, spread, len(labels))
    return {"x": x.round(2).tolist(), "y": y.round(2).tolist(), "label": [str(n) for n in labels]}
