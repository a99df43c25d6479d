"""The documentation builds without a broken link, and says what the command line really has."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmarks import trap_alarms
from benchmarks.mask_audit import RESULTS, documented
from imputefree.cli._app import app
from imputefree.cli._options import ExistingPath

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
OTHERS = re.compile(r"^(\||>|&&|;|2>)")  # where a command ends in a line of a shell


def commands(page):
    """The words of every call of imputefree in the `sh` blocks of a page."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            end = next((i for i, word in enumerate(words) if OTHERS.match(word)), len(words))
            if words[:1] == ["imputefree"]:
                yield words[1:end]


CALLS = [(page.name, words) for page in [*PAGES, ROOT / "README.md"] for words in commands(page)]


def check_call(words):
    """Let the command line read the words, down to the last option, without doing anything.

    Returns the name of the command.
    """
    command, name = app, "imputefree"
    context = command.make_context(name, list(words))
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    return name


def test_there_are_calls_of_every_command_for_your_own_data():
    used = {words[0] for _, words in CALLS}
    assert {"fit", "predict", "evaluate", "explain", "export", "serve"} <= used


@pytest.mark.parametrize(
    ("page", "words"), CALLS, ids=[f"{page}: {' '.join(words)[:50]}" for page, words in CALLS]
)
def test_calls_in_the_documentation_exist(page, words, monkeypatch):
    monkeypatch.setattr(ExistingPath, "convert", lambda self, value, param, context: Path(value))
    assert check_call(words) in words[:2]


@pytest.mark.parametrize("words", [["explian"], ["explain", "m", "d", "--rowz", "1"], ["report"]])
def test_a_call_that_does_not_exist_is_noticed(words):
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        check_call(words)


def test_the_audit_page_has_the_committed_results():
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]
    fix = "run `python -m benchmarks.mask_audit --docs`"
    assert documented(page, runs) == page, fix


def test_the_page_on_traps_has_the_figures_of_the_benchmark():
    page = trap_alarms.PAGE.read_text(encoding="utf-8")
    content = json.loads(trap_alarms.RESULTS.read_text())
    fix = "run `python -m benchmarks.trap_alarms --docs`"
    assert trap_alarms.documented(page, content) == page, fix


def test_the_reference_is_that_of_the_code():
    command = [sys.executable, str(ROOT / "scripts" / "command_reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docs/commands.md drifted: run `make docs` {done.stderr}"


class Links(HTMLParser):
    """What a page loads from elsewhere as it is opened."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag in ("script", "img"):
            self.loaded.append(found.get("src") or "")
        if tag == "link" and found.get("rel") != "canonical":
            self.loaded.append(found.get("href") or "")


@pytest.mark.slow
def test_the_documentation_builds_strictly_and_needs_no_other_host(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert {page.stem for page in PAGES} <= built
    for path in (tmp_path / "site").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "--8<--" not in text, path
        links = Links()
        links.feed(text)
        assert not [one for one in links.loaded if "//" in one], path


def test_figures_of_the_pages_are_generated():
    """No page may hold a score outside a block that a program writes: it would go stale.

    Blocks are compared with committed results here, in test_readme.py and in test_benchmarks.py.
    """
    written = re.compile(
        r"<!-- figures of .*?<!-- end of figures -->|<!-- (\w+): .*?<!-- end of \1 -->", re.DOTALL
    )
    for page in PAGES:
        if page.stem in ("architecture", "decisions", "roadmap", "commands"):
            continue
        text = written.sub("", page.read_text(encoding="utf-8"))
        assert not re.search(r"\b0\.\d{3,}\b", text), page


# Pages whose Python is read from top to bottom: it runs as it stands there.
RUNNING = ["get-started", "tutorial-tables-python", "tutorial-series-python", "lab", "policies"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNNING)
def test_python_of_a_page_runs_and_prints_what_it_promises(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)
    promised = re.search(r"^# (.*?)\Z", blocks[-1], re.DOTALL | re.MULTILINE)
    if promised:
        words = " ".join(promised[1].replace("\n# ", " ").split())
        assert words in capsys.readouterr().out
