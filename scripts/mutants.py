"""Would the tests notice? Small faults, put into the code one at a time: python -m scripts.mutants

Each mutant changes one comparison, sign, number or condition of a function in gil/, data/,
families/ or what reads and writes files, chosen by a fixed seed; what is only said (messages), only
typed or only a matter of speed is left alone.

The quick tests are collected once. Each runs alone in a forked process, which notes the lines that
it touches and its CPU time (kept in build/mutants, and noted again when a file changes). Then for
each mutant a forked process puts the fault into the function's code and runs the tests that touch
the line, the quickest first, up to 20 seconds in all. A mutant is killed by a test that fails, or
takes ten times as long, alone with the fault, and passes without it. Results are appended to the
JSON lines file as they come, and a second run goes on with the rest; `--again` tries the survivors
again.

    python -m scripts.mutants [--count 160] [--seed 0] [--results FILE.jsonl] [--again]

Prints the share that was killed and the survivors; exits 1 below 95 %. Those of which nothing can
be observed are in scripts/equivalent_mutants.json with the reason; they count as survivors.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

from benchmarks.measuring import commit

ROOT = Path(__file__).parents[1]
HOME = ROOT / "src" / "imputefree"
RESULTS = ROOT / "benchmarks" / "results" / "mutants.jsonl"
RECORD = ROOT / "build" / "mutants" / "touched.jsonl"
PACKAGES = ("gil", "data", "families")
FILES = ("_files.py", "_sealed.py", "io/_model_file.py", "lab/runs/_results.py")
FILES += ("workflow/_partial.py",)
TESTS = [f"tests/{name}" for name in (*PACKAGES, "io", "estimators", "workflow", "lab/runs")]
TESTS += ["tests/test_files.py", "tests/test_docstrings.py"]
LIMIT = 0.95
SECONDS = 20  # of CPU, for the tests of one mutant
MEMORY = 8 << 30  # bytes
SWAPS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min", "sum": "max", "argmax": "argmin"}
SPEED = ("warn", "slice", "range", "ascontiguousarray", "astype", "chunks", "empty")


class Mutant(NamedTuple):
    """A change of one place."""

    file: str  # from src/imputefree on
    line: int  # of the statement
    column: int
    code: str  # what is changed, of a number what it stands in
    change: str


class Places(ast.NodeVisitor):
    """Where a function could be wrong, and how."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.tree = ast.parse((HOME / file).read_text(encoding="utf-8"))
        self.places: dict[Mutant, Any] = {}
        self.depth = self.line = 0
        self.above: list[ast.AST] = []
        self.visit(self.tree)

    def add(self, node: Any, change: str) -> None:
        if self.depth:
            code = ast.unparse(self.above[-2] if isinstance(node, ast.Constant) else node)
            self.places[Mutant(self.file, self.line, node.col_offset, code, change)] = node

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.line = node.lineno
        self.above.append(node)
        super().visit(node)
        self.above.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.depth += 1
        for part in node.body:
            self.visit(part)
        self.depth -= 1

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is raised, and what it says, is left alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """So is what is said elsewhere."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in SPEED or name.startswith("_check"):
            return
        if name in NAMES:
            self.add(node, f"{name} -> {NAMES[name]}")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
            self.add(node, _swap(node.ops[0]))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.add(node, _swap(node.op))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in SWAPS:
            self.add(node, _swap(node.op))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self.add(node, f"without {type(node.op).__name__}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) in (int, float) and abs(node.value) <= 2:
            self.add(node, f"{node.value} -> {node.value + 1}")


class Touch(ast.NodeTransformer):
    """Each statement of a function says first that it was touched."""

    def __init__(self, file: str) -> None:
        self.file = file

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, ast.Module | ast.ClassDef):
                told = (
                    (ast.parse(f"__touch__({(self.file, part.lineno)})"), part) for part in block
                )
                setattr(node, name, [part for say, line in told for part in (*say.body, line)])
        return node


def _swap(operator: ast.AST) -> str:
    return f"{type(operator).__name__} -> {SWAPS[type(operator)].__name__}"


def files() -> list[str]:
    paths = [path for package in PACKAGES for path in sorted((HOME / package).glob("_*.py"))]
    return [*(path.relative_to(HOME).as_posix() for path in paths), *FILES]


def mutants(count: int, seed: int) -> list[Mutant]:
    """Chosen at random among all places of all files."""
    return random.Random(seed).sample([m for file in files() for m in Places(file).places], count)


def with_fault(mutant: Mutant) -> ast.Module:
    """The file with its fault."""
    places = Places(mutant.file)
    node = places.places[mutant]
    if isinstance(node, ast.Compare):
        node.ops = [SWAPS[type(node.ops[0])]()]
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value += 1
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        setattr(node.func, "attr" if isinstance(node.func, ast.Attribute) else "id", NAMES[name])
    elif isinstance(node.op, ast.Not):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    else:
        node.op = ast.UAdd()
    return places.tree


def functions_of(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from functions_of(part)


class Trials:
    """A plugin of pytest that runs tests in forked processes, with or without a fault."""

    def __init__(self, asked: list[Mutant], options: argparse.Namespace) -> None:
        self.asked, self.options = asked, options
        self.failed = self.passed = False
        self.commit = commit()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed
        self.passed |= report.when == "call" and report.passed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for file in files():
            importlib.import_module("imputefree." + file.removesuffix(".py").replace("/", "."))
        importlib.import_module("torch._dynamo")  # two seconds that Adam's first step would take
        self.functions = [f for f in gc.get_objects() if type(f) is FunctionType]
        gc.freeze()  # or each forked process would copy what it only looks at
        self.items = {item.nodeid: item for item in session.items}
        self.record()
        for mutant in self.asked:
            known = read(self.options.results)
            if mutant in known and not (self.options.again and known[mutant] is None):
                continue
            head = {"seed": self.options.seed, "commit": self.commit, **mutant._asdict()}
            line = {**head, "killed_by": self.killer(mutant)}
            with self.options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(line["killed_by"] or "SURVIVES", *mutant, flush=True)
        return True

    def changed(self, file: str, tree: ast.Module) -> list[tuple[FunctionType, CodeType]]:
        """The functions of a file whose code is another one in this tree, with that code."""
        path = str(HOME / file)
        codes = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        new = {(code.co_qualname, code.co_firstlineno): code for code in functions_of(codes)}
        old = ((f, f.__code__) for f in self.functions if f.__code__.co_filename == path)
        both = [(f, code, new.get((code.co_qualname, code.co_firstlineno))) for f, code in old]
        return [(f, after) for f, before, after in both if after is not None and after != before]

    def record(self) -> None:
        """Note which lines each test touches, for those of which that is not known."""
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        lines = RECORD.read_text().splitlines() if RECORD.exists() else []
        self.records = {line["test"]: line for line in map(json.loads, lines)}
        told = [
            pair
            for file in files()
            for pair in self.changed(file, Touch(file).visit(Places(file).tree))
        ]
        touched: set[tuple[str, int]] = set()
        vars(builtins)["__touch__"] = touched.add
        found = RECORD.with_name("found.json")

        def note(item: pytest.Item) -> None:
            signal.setitimer(signal.ITIMER_PROF, SECONDS / 2)
            signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS)
            self.runs([item], told)
            found.write_text(json.dumps([self.passed and not self.failed, sorted(touched)]))

        for name, item in self.items.items():
            if name in self.records and self.records[name]["digest"] == digest(self.records[name]):
                continue
            found.write_text("[false, []]")
            _, seconds = forked(lambda item=item: note(item))
            passed, places = json.loads(found.read_text())
            record = {
                "test": name,
                "passed": passed,
                "seconds": round(seconds, 3),
                "touched": places,
            }
            self.records[name] = {**record, "digest": digest(record)}
            with RECORD.open("a") as file:
                file.write(json.dumps(self.records[name]) + "\n")
        self.records = {
            name: self.records[name] for name in self.items if self.records[name]["passed"]
        }
        print(f"{len(self.records)} of {len(self.items)} tests pass, each alone")

    def runs(
        self, items: list[pytest.Item], faults: list[tuple[FunctionType, CodeType]], pipe: int = 0
    ) -> bool:
        """Whether tests pass; a byte goes into the pipe before each."""
        for function, code in faults:
            function.__code__ = code
        for item, following in zip(items, [*items[1:], None], strict=True):
            if pipe:
                os.write(pipe, b".")
                limit = 5 + 10 * self.records[item.nodeid]["seconds"]
                signal.setitimer(signal.ITIMER_PROF, limit)
                signal.setitimer(signal.ITIMER_REAL, 20 * limit)  # the machine may be busy
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return False
        return True

    def failure(
        self, items: list[pytest.Item], faults: list[tuple[FunctionType, CodeType]]
    ) -> int | None:
        """The number of the first test that fails, in a forked process."""
        reader, writer = os.pipe()
        code, _ = forked(lambda: self.runs(items, faults, writer))
        os.close(writer)
        with open(reader, "rb") as pipe:
            return len(pipe.read()) - 1 if code else None

    def killer(self, mutant: Mutant) -> str | None:
        """The quickest test that notices the fault."""
        faults = self.changed(mutant.file, with_fault(mutant))
        if not faults:
            sys.exit(f"the code of no function is changed by {mutant}")
        touching = [r for r in self.records.values() if [mutant.file, mutant.line] in r["touched"]]
        items, seconds = [], 0.0
        for record in sorted(touching, key=lambda record: record["seconds"]):
            seconds += record["seconds"]
            if seconds < SECONDS:
                items.append(self.items[record["test"]])
        while items and (number := self.failure(items, faults)) is not None:
            suspect = items[number]
            if self.failure([suspect], faults) is not None and self.failure([suspect], []) is None:
                return suspect.nodeid
            items = items[number + 1 :]
        return None


def forked(work: Callable[[], object]) -> tuple[int, float]:
    """Exit code (0 if `work` returns something true) and CPU seconds of a process that works."""
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            code = int(not work())
        os._exit(code)
    _, status, usage = os.wait4(child, 0)
    with suppress(ProcessLookupError):  # what it may have started
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def digest(record: dict[str, Any]) -> str:
    """Of the test's file, and of the files that it touched."""
    paths = {HOME / file for file, _ in record["touched"]} | {ROOT / record["test"].split("::")[0]}
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files or folders")
    options = parser.parse_args()
    os.chdir(ROOT)
    asked = mutants(options.count, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        quiet = [
            *("-s", "-m", "not slow"),
            "-p",
            "no:cacheprovider",
            "--hypothesis-seed=0",
            f"--basetemp={folder}/tests",
        ]
        if pytest.main([*options.tests, *quiet], plugins=[Trials(asked, options)]):
            return 1
    known = read(options.results)
    alive = [mutant for mutant in asked if known[mutant] is None]
    share = 1 - len(alive) / len(asked)
    print(f"{len(asked)} mutants, {share:.1%} killed (at least {LIMIT:.0%})")
    for mutant in alive:
        print(f"  survives: {mutant.file}:{mutant.line} {mutant.code}: {mutant.change}")
    return int(share < LIMIT)


def read(path: Path) -> dict[Mutant, str | None]:
    """By which test each mutant was killed when it was tried last."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines() if path.exists() else [])
    return {Mutant(*(line[name] for name in Mutant._fields)): line["killed_by"] for line in lines}


if __name__ == "__main__":
    sys.exit(main())
