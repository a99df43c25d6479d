"""Bodies of HTTP requests: JSON and uploads in any state, asked of the application in this process.

The answer is a 200 with finite numbers, one prediction per row, or a 4xx with the one shape of an
error; never a 500, and never slow.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier
from imputefree.serve import Limits as ServedLimits
from imputefree.serve import build_app

from ._bytes import Generator, chance, damaged, pick
from ._frame import Broken, Limits, Target

ROWS, BYTES, MB = 200, 300_000, 2**20
SMALL = {"random_state": 0, "n_members": 1, "max_iter": 2}
JSON, FILE = "application/json", "application/octet-stream"
VALUES: list[Any] = [
    *(None, True, False, 0, -0.0, 1, -1, 31, 1e-320, 1e39, -1e308, 10**25, 10**400, float("inf")),
    *(float("nan"), "", " ", "f", "1", "NaN", "null", "1e5", "\0", "\ud800", "\u202e", "x" * 5000),
    *("<script>alert(1)</script>", "=1+1", "2024-05-31", "2024-05-31T14:00+02:00", "9999-12-31"),
    *([], {}, [1], [[]], {"a": 1}, {"rows": []}, [None] * 30, {"steps": []}, "\U0001f600"),
]
NAMES = [
    "age",
    "AGE",
    "sex",
    "rows",
    "steps",
    "static",
    "hour",
    "time",
    "",
    "\ud800",
    "0",
    "x" * 900,
]
TOKENS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud800", b"null", b"NaN", b"-"),
    *(
        b"Infinity",
        b"-Infinity",
        b"1e999",
        b"9" * 5000,
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"//",
        b"'",
    ),
    *(b"\n", b"tru", b'"age":1,', b'"rows":', b"\xed\xa0\x80", b" " * 100, b"[" * 300),
]
FILES = [
    "a.csv",
    "a.csv.gz",
    "a.parquet",
    "a.xlsx",
    "a.zip",
    "a",
    "",
    "../../a.csv",
    "a.CSV",
    ".gz",
]
FILES += ["a.tsv", "x" * 300 + ".csv", "a\0.csv", "<b>.csv", "a.bz2", "a.xz", "a.zst", "a.tar"]


class Attack(Target):
    """Bodies, and what the application answers."""

    name = "http_bodies"
    full = 5000

    def make(self, rng: Generator) -> dict[str, str]:
        """A model, a path and a body; its bytes as Latin-1."""
        model, upload = pick(rng, ["table", "numbers", "series"]), chance(rng, 0.3)
        kind = FILE if upload else JSON
        case = {"model": model, "path": pick(rng, ["/predict", "/predict", "/explain"])}
        if upload:
            case["path"], body = "/read", _file(rng, model)
            case["name"] = pick(rng, FILES)
        else:
            body = _json(rng, model)
        if case["path"] == "/explain" and chance(rng, 0.3):
            case["of"] = str(pick(rng, ["ill", "", "1", "None", "\0", "x" * 2000, "\u202e"]))
        if chance(rng, 0.04):
            kind = pick(rng, ["", "text/plain", f"{kind}; charset=utf-16", "a" * 3000, JSON, FILE])
        return {**case, "type": kind, "body": body.decode("latin-1")}

    def attack(self, case: Any) -> str:
        """Ask, and check what is answered."""
        body = case["body"].encode("latin-1")
        answer = self.clients[case["model"]].post(
            case["path"],
            params={name: case[name] for name in ("name", "of") if name in case},
            content=body,
            headers={"Content-Type": case["type"]},
        )
        if answer.status_code >= 500:
            raise Broken(f"{answer.status_code}: {answer.text[:300]}")
        told = json.loads(answer.text, parse_constant=_refuse)
        if answer.status_code != 200:
            _check_error(told)
            return "refused"
        if not all(map(math.isfinite, _numbers(told))):
            raise Broken(f"a number that is not finite: {answer.text[:300]}")
        if case["path"] == "/predict":
            sent = json.loads(body)
            count = len(sent["rows"]) if isinstance(sent.get("rows"), list) else 1
            if len(told["predictions"]) != count:
                raise Broken(f"{count} rows, but {len(told['predictions'])} predictions")
        return "answered"

    def limits(self, case: Any) -> Limits:
        return Limits(seconds=5, memory=150 * MB)

    @cached_property
    def clients(self) -> dict[str, Any]:
        """A client for each model."""
        from starlette.testclient import TestClient

        limits = ServedLimits(rows=ROWS, bytes=BYTES)
        models = {"table": _patients(), "numbers": _numbered(), "series": _stays()}
        return {name: TestClient(build_app(model, limits)) for name, model in models.items()}


def _refuse(constant: str) -> Any:
    raise Broken(f"the answer holds {constant}, which is not JSON")


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, float):
        yield value


def _check_error(told: Any) -> None:
    error = told.get("error") if isinstance(told, dict) else None
    if not isinstance(error, dict) or set(error) != {"field", "fact", "rule", "remedy"}:
        raise Broken(f"an error of another shape: {str(told)[:300]}")
    if not error["fact"] or "Traceback" in str(error) or len(str(error)) > 20_000:
        raise Broken(f"an error that says too little or too much: {str(error)[:300]}")


# ---- bodies
def _json(rng: Generator, model: str) -> bytes:
    """A body that is right, wrong in its values, or wrong as JSON."""
    if chance(rng, 0.05):  # deep
        count, opening = int(rng.integers(1, 100_000)), pick(rng, [b"[", b'{"rows":[', b'{"age":'])
        return (opening * count)[: BYTES + 10]
    row = _row(rng, model)
    payload: Any = row if chance(rng, 0.5) else {"rows": [_row(rng, model) for _ in range(3)]}
    if chance(rng, 0.05):
        payload = {"rows": [row] * int(pick(rng, [0, 1, 50, ROWS, ROWS + 1, 5000]))}
    for _ in range(int(rng.integers(0, 4))):
        payload = _changed(rng, payload)
    text = json.dumps(payload, ensure_ascii=chance(rng, 0.8))
    encoding = pick(rng, ["utf-16", "utf-8-sig", "latin-1"]) if chance(rng, 0.04) else "utf-8"
    body = text.encode(encoding, "surrogatepass" if encoding != "latin-1" else "replace")
    return damaged(body, rng, TOKENS) if chance(rng, 0.35) else body


def _row(rng: Generator, model: str) -> dict[str, Any]:
    if model == "numbers":
        return {str(j): float(rng.normal()) for j in range(3) if chance(rng, 0.7)}
    if model == "table":
        values = {"age": 40, "sex": "f", "lactate": 2.5}
        return {name: value for name, value in values.items() if chance(rng, 0.8)}
    steps = [{"hour": i, "pulse": 70 + i} for i in range(int(rng.integers(1, 5)))]
    return {"static": {"age": 50}, "steps": steps}


def _changed(rng: Generator, part: Any) -> Any:
    """With one value or name changed, somewhere."""
    if chance(rng, 0.25) or not isinstance(part, dict | list) or not part:
        return pick(rng, VALUES)
    if isinstance(part, list):
        at = int(rng.integers(len(part)))
        return [*part[:at], _changed(rng, part[at]), *part[at + 1 :]]
    name = pick(rng, list(part))
    if chance(rng, 0.2):
        return {**part, pick(rng, NAMES): pick(rng, VALUES)}
    return {**part, name: _changed(rng, part[name])}


def _file(rng: Generator, model: str) -> bytes:
    """A table as CSV, Parquet or Excel, compressed or not, right or damaged."""
    frame = pd.DataFrame(
        [_row(rng, "numbers" if model == "numbers" else "table") for _ in range(5)]
    )
    if model == "series":
        frame = pd.DataFrame({"who": [1, 1, 2], "hour": [0, 1, 0], "pulse": [70, None, 80]})
    frame["note"] = [pick(rng, ["", "=1+1", "a,b", "\U0001f600", "1"]) for _ in range(len(frame))]
    kind = pick(rng, ["csv", "csv", "csv", "gz", "parquet", "xlsx"])
    content = frame.to_csv(index=False).encode()
    if kind == "gz":
        content = gzip.compress(content * int(pick(rng, [1, 1, 3000])), mtime=0)
    elif kind != "csv":
        buffer = io.BytesIO()
        frame.to_parquet(buffer) if kind == "parquet" else frame.to_excel(buffer, index=False)
        content = buffer.getvalue()
    tokens = [*TOKENS, b'"\n', b";", b"\t", b"\r"]
    return damaged(content, rng, tokens)[: BYTES + 10] if chance(rng, 0.7) else content


# ---- models
def _patients() -> GILClassifier:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 90, 80).astype(float)})
    frame["sex"], frame["lactate"] = rng.choice(["f", "m"], 80), rng.gamma(2.0, 1.0, 80).round(2)
    outcome = np.where(frame["lactate"] > 2, "ill", "well")
    return GILClassifier(**SMALL).fit(frame.mask(rng.random(frame.shape) < 0.2), outcome)


def _numbered() -> GILRegressor:
    X = np.random.default_rng(1).normal(size=(80, 3))
    return GILRegressor(**SMALL).fit(X, X.sum(axis=1))


def _stays() -> GILSequenceClassifier:
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(30), 3)
    frame = pd.DataFrame({"who": who, "hour": np.tile([0.0, 1.0, 2.0], 30)})
    frame["pulse"] = rng.normal(80, 10, len(who)).round()
    frame["age"] = rng.integers(20, 90, 30).astype(float)[who]
    model = GILSequenceClassifier(id="who", time="hour", static=["age"], **SMALL)
    return model.fit(frame, pd.Series(rng.integers(0, 2, 30), index=range(30)))
