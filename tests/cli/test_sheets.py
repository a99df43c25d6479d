"""`--sheet`: every command that reads a workbook reads the sheet that is named."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from imputefree import read_table
from tests.workflow.made import classifier, table

pytest.importorskip("openpyxl", reason="needs the extra excel")


@pytest.fixture
def book(tmp_path):
    """A workbook of a short and a long sheet, next to a model of its columns."""
    frame = table()
    classifier(frame).save(tmp_path / "m.imputefree")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as sheets:
        for title, rows in (("2023", frame[:40]), ("2024", frame)):
            rows.to_excel(sheets, sheet_name=title, index=False)
    return path


FIT = ["fit", "book.xlsx", "--target", "y", "-o", "new.imputefree", "--model", "trees"]
COMMANDS = {
    "check": ["check", "book.xlsx", "--target", "y"],
    "fit": [*FIT, "--no-estimate"],
    "larger": [*FIT, "--larger-than-memory"],
    "predict": ["predict", "m.imputefree", "book.xlsx"],
    "evaluate": ["evaluate", "m.imputefree", "book.xlsx", "--target", "y"],
    "explain": ["explain", "m.imputefree", "book.xlsx", "--rows", "0"],
    "next": ["next", "m.imputefree", "book.xlsx", "--rows", "0", "--background", "book.xlsx"],
    "audit": ["audit", "m.imputefree", "book.xlsx", "--target", "y", "--repeats", "1"],
    "describe": ["data", "describe", "book.xlsx", "--target", "y", "--no-picture"],
    "bench": ["bench", "table:book.xlsx", "--target", "y", "--methods", "lightgbm", "--jobs", "1"],
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_an_unknown_sheet_is_refused_with_the_names_of_all(run, book, words):
    code, _, err = run(*words, "--sheet", "2042")
    assert code == 1
    assert "no sheet '2042'. Its sheets are '2023', '2024'." in err


def test_predictions_are_of_the_sheet(run, book):
    first, named = (run("predict", "m.imputefree", book, *o) for o in ([], ["--sheet", "2024"]))
    assert [len(out.splitlines()) for _, out, _ in (first, named)] == [41, 61]
    assert "'2024'" in first[2]  # what was not read is said
    assert not named[2]


def test_a_model_does_not_say_which_other_sheets_there_were(run, book):
    assert run(*FIT, "--no-estimate")[0] == 0
    assert b"2024" not in book.with_name("new.imputefree").read_bytes()


def test_copies_of_rows_are_looked_for_in_the_same_sheet(run, book):
    code, out, _ = run("check", book, "--target", "y", "--sheet", "2024", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 60)


def test_a_hidden_sheet_is_read_if_it_is_named(book):
    import openpyxl

    workbook = openpyxl.load_workbook(book)
    workbook["2024"].sheet_state = "hidden"
    workbook.save(book)
    assert len(read_table(book, sheet="2024")[0]) == 60
