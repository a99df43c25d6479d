"""Names from elsewhere are data: no terminal, spreadsheet or browser obeys them."""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from imputefree.cli._printing import console
from imputefree.io import read_frame, table_output, write_frame

ESCAPE, BELL = "\x1b]0;owned\x07", "\x1b[2J\u202e"
LINK = '=HYPERLINK("http://evil.example","click")'
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")
TINY = ("--model", "network", "--max-iter", 1, "--members", 1)


def hostile(rows=80):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            f"dose{ESCAPE}": rng.normal(size=rows).round(2),
            LINK: rng.normal(size=rows).round(2),
            f"`{SCRIPT}` ``x`` [a](javascript:b)": rng.choice([f"-{SCRIPT}", BELL, "@x"], rows),
            "plain_name": rng.normal(size=rows).round(2),
        }
    )
    frame.loc[::5, LINK] = None
    frame[f"<b>y{BELL}"] = np.where(frame["plain_name"] > 0, LINK, f"{SCRIPT}{ESCAPE}")
    return frame


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a hostile table and its model."""
    from imputefree.cli._app import main

    folder = tmp_path_factory.mktemp("hostile")
    frame = hostile()
    frame.to_csv(folder / "d.csv", index=False)
    words = ["fit", folder / "d.csv", "--target", frame.columns[-1], "--test", 0.5, *TINY]
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in [*words, "-o", folder / "m.model"]])
    assert left.value.code == 0
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["check", "d.csv", "--target", hostile().columns[-1]],
        ["fit", "d.csv", "--target", hostile().columns[-1], "--test", 0.5, *TINY, "-o", "n"],
        ["evaluate", "m.model", "d.csv"],
        ["explain", "m.model", "d.csv", "--rows", "0,1"],
        ["explain", "m.model", "d.csv", "--rows", "all"],
        ["next", "m.model", "d.csv", "--rows", "0", "--background", "d.csv"],
        ["audit", "m.model", "d.csv"],
        ["data", "describe", "d.csv"],
        ["predict", "m.model", f"no{ESCAPE}.csv"],
        ["predict", "m.model", "d.csv", "--keep", ESCAPE],
        ["predict", "m.model", "d.csv", "-o", f"out{ESCAPE}.csv"],
        ["explain", "m.model", "d.csv", "--of", ESCAPE, "--rows", "0"],
        ["fit", "d.csv", "--target", f"no{ESCAPE}", "-o", "n"],
        [f"comm{ESCAPE}and"],
        ["fit", "d.csv", f"--op{ESCAPE}"],
        ["fit", "d.csv", "--target", "y", "-o", "n", "--folds", ESCAPE],
    ],
    ids=lambda words: " ".join(map(str, words))[:20].encode("ascii", "ignore").decode(),
)
def test_no_control_sequence_reaches_the_terminal(run, home, monkeypatch, words):
    words = [home / word if word in ("d.csv", "m.model") else word for word in words]
    _, out, err = run(*words)
    assert out or err
    assert not CONTROLS.search(out + err)
    assert "Traceback" not in err


def test_warnings_are_printable(run, home, tmp_path):
    frame = hostile(10)
    frame.iloc[0, 0] = 1e9  # warned of, with the name of its column
    frame.to_csv(tmp_path / "far.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, out, err = run("predict", home / "m.model", tmp_path / "far.csv", "-o", "out.csv")
    assert "owned" in err
    assert not CONTROLS.search(out + err)


def test_rich_text_keeps_its_own_colours(capsys):
    table = console(force_terminal=True, color_system="standard", highlight=False)
    table.print(f"[bold]head[/bold] {ESCAPE}")
    shown = capsys.readouterr().out
    assert "\x1b[1mhead\x1b[0m" in shown
    assert "\\x1b]0;owned\\x07" in shown


def test_a_table_on_a_terminal_is_printable_and_in_a_pipe_as_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = []
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", stream)
        with table_output("-") as write:
            write(hostile(3))
        shown.append(stream.getvalue())
    assert not CONTROLS.search(shown[0])
    assert ESCAPE in shown[1]


def cells(path):
    """All cells of a CSV file, as a spreadsheet would get them."""
    with path.open(newline="", encoding="utf-8") as file:
        return [cell for line in csv.reader(file) for cell in line]


def is_computed(cell):
    """Whether a spreadsheet would compute it; a plain number is not computed."""
    if cell.startswith(("=", "@", "\t", "\r")):
        return True
    return cell.startswith(("+", "-")) and not re.fullmatch(r"[+-][\d.]+(e[+-]?\d+)?", cell)


def test_no_cell_of_a_written_table_is_a_formula(run, home, tmp_path):
    words = ("predict", home / "m.model", home / "d.csv", "-o", "out.csv")
    assert run(*words, "--keep", LINK, "--coverage", 0.9)[0] == 0
    rows = ("--rows", "all")
    assert run("explain", home / "m.model", home / "d.csv", *rows, "--csv", "why.csv")[0] == 0
    background = ("--background", home / "d.csv", "--csv", "next.csv")
    assert run("next", home / "m.model", home / "d.csv", *rows, *background)[0] == 0
    for name in ("out.csv", "why.csv", "next.csv"):
        actual = cells(tmp_path / name)
        assert any("HYPERLINK" in cell for cell in actual)
        assert [cell for cell in actual if is_computed(cell)] == []
    assert run("evaluate", home / "m.model", "out.csv", "--target", "prediction")[0] in (0, 1)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_whatever_a_cell_begins_with_it_is_read_as_it_was(tmp_path, name):
    labels = [
        "=1+1",
        "-none",
        "'=x",
        "''@",
        "-1",
        "+1.5",
        "'tis",
        "@home",
        "\uff1dx",
        "a=b",
        "-1-1",
    ]
    frame = pd.DataFrame({"=n": labels, "'-m": labels[::-1], "x": np.arange(11.0) - 5})
    write_frame(frame, tmp_path / name)
    pd.testing.assert_frame_equal(read_frame(tmp_path / name).frame, frame, check_dtype=False)


def test_numbers_and_classes_that_are_numbers_stay_as_they_are(tmp_path):
    frame = pd.DataFrame({"prediction": ["-1", "+1", "-1"], "p_-1": [-0.5, 1e-9, -3.0]})
    write_frame(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == ["-1,-0.5", "+1,1e-09", "-1,-3.0"]
    assert pd.read_csv(tmp_path / "t.csv")["prediction"].tolist() == [-1, 1, -1]


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)


def test_a_card_holds_no_tag_or_link_in_any_reader_of_markdown(home):
    markdown = pytest.importorskip("markdown")
    commonmark = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    card = (home / "m.md").read_text()
    assert "plain_name" in card  # names stay readable
    assert not CONTROLS.search(card)
    for page in (markdown.markdown(card, extensions=["tables"]), commonmark.render(card)):
        ours = {"h1", "h2", "p", "code", "pre", "ul", "li", "strong", "em"}
        tables = {"table", "thead", "tbody", "tr", "th", "td"}
        assert Tags(page).tags <= ours | tables
        assert "alert(1)" in page
        assert "plain_name" in page
