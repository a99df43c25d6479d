"""Survey tools and statistics programs."""

from __future__ import annotations

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import (
    AGES,
    DAYS,
    GAP,
    ROWS,
    SIZES,
    comma,
    csv_file,
    dates,
    text_of,
)


def surveys() -> list[Dirty]:
    """Survey tools and statistics programs."""
    likert = ["1 (strongly disagree)", "2", "3", "4", "5 (strongly agree)"]
    body = text_of({"Q1": AGES, "Q2": ["yes", "no"], "Q3": AGES[::-1]}, ",")
    head, _, rest = body.partition("\n")
    asked = "How old are you?,Do you smoke?,Minutes per day?,Group\n"
    asked_ids = ",".join(f'"{{""ImportId"":""QID{i}""}}"' for i in range(4)) + "\n"
    second = ("first row", "Remove the second row")
    return [
        csv_file(
            "labels with codes",
            {"sex": ["1 - Male", "2 - Female"], "smokes": ["1=Yes", "2=No", "2=No"]},
            {"sex": ["1 - Male", "2 - Female"], "smokes": ["1=Yes", "2=No", "2=No"]},
            sep=",",
        ),
        csv_file("ends of a scale", {"q1": likert, "n": AGES}, {"q1": likert, "n": AGES}, sep=","),
        csv_file(
            "system missing",
            {"x": [*map(str, SIZES), "#NULL!", "."]},
            {"x": [*SIZES, GAP, GAP]},
            sep=",",
        ),
        csv_file(
            "extended missing",
            {"x": [*map(str, SIZES), ".a", ".b", ".z"]},
            {"x": [*SIZES, GAP, GAP, GAP]},
            sep=",",
        ),
        csv_file(
            "days of stata",
            {"day": [d.strftime("%d%b%Y").lower() for d in DAYS]},
            dates("day", DAYS),
            sep=",",
        ),
        csv_file(
            "days of sas",
            {"day": [d.strftime("%d%b%Y").upper() for d in DAYS]},
            dates("day", DAYS),
            sep=",",
        ),
        csv_file(
            "redcap",
            {
                "record_id": range(1, 1 + ROWS),
                "redcap_event_name": ["baseline_arm_1"],
                "sym___1": ["Checked", "Unchecked"],
                "age": [*AGES[:7], -999],
            },
            {"sym___1": ["Checked", "Unchecked"], "age": [*AGES[:7], GAP]},
            sep=",",
        ),
        csv_file(
            "a code per column",
            {
                "age": [*AGES[:7], -9],
                "income": [*(v * 37 for v in AGES[:7]), 99999],
                "score": [3, 7, 5, 1, 8, 99, 10, 0],
            },
            {
                "age": [*AGES[:7], GAP],
                "income": [*(v * 37 for v in AGES[:7]), GAP],
                "score": [3, 7, 5, 1, 8, 99, 10, 0],
            },
        ),
        csv_file(
            "code with decimals",
            {
                "temp": [*(comma(round(36 + v / 12, 1)) for v in SIZES[:7]), "99,9"],
                "bmi": [*map(comma, SIZES[:7]), "-99,0"],
            },
            {"temp": [*(round(36 + v / 12, 1) for v in SIZES[:7]), GAP], "bmi": [*SIZES[:7], GAP]},
        ),
        Dirty("questions below.csv", f"{head}\n{asked}{rest}".encode(), refused=second, whole=True),
        Dirty(
            "questions and ids below.csv",
            f"{head}\n{asked}{asked_ids}{rest}".encode(),
            refused=second,
            whole=True,
        ),
        csv_file(
            "response row",
            {"Age": AGES, "Minutes": AGES[::-1]},
            None,
            sep=",",
            refused=second,
            whole=True,
            change=lambda t: t.replace(
                "\n", "\nOpen-Ended Response,Open-Ended Response,Response\n", 1
            ),
        ),
        csv_file(
            "questions as names",
            {"How old\nare you; in years?": AGES, 'Do you "smoke"?': ["yes", "no"]},
            {"How old are you; in years?": AGES, 'Do you "smoke"?': ["yes", "no"]},
        ),
        csv_file(
            "bands",
            {"age": ["0-9", "10-19", "20-29", "30-39", "80+"], "n": AGES},
            {"age": ["0-9", "10-19", "20-29", "30-39", "80+"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "grades",
            {"grade": ["1", "1-", "2+", "2", "3-"], "n": AGES},
            {"grade": ["1", "1-", "2+", "2", "3-"], "n": AGES},
        ),
        csv_file(
            "ordinals",
            {"place": ["1st", "2nd", "3rd", "4th"], "n": AGES},
            {"place": ["1st", "2nd", "3rd", "4th"], "n": AGES},
        ),
        csv_file(
            "versions",
            {"app": ["1.2.3", "1.2.10", "2.0.1", "1.10.2"], "n": AGES},
            {"app": ["1.2.3", "1.2.10", "2.0.1", "1.10.2"], "n": AGES},
        ),
        csv_file(
            "several choices",
            {"symptoms": ["cough;fever", "cough", "fever;pain"], "n": AGES},
            {"symptoms": ["cough;fever", "cough", "fever;pain"], "n": AGES},
            sep=",",
        ),
        csv_file(
            "choices in a name",
            {"age": AGES, "codes (a;b)": [f"A{v};B" for v in (1, 2, 3)], "ward": ["X", "Y"]},
            {"age": AGES, "codes (a;b)": [f"A{v};B" for v in (1, 2, 3)], "ward": ["X", "Y"]},
            sep=",",
        ),
        csv_file(
            "names with commas",
            {"x, mm": [comma(v) for v in SIZES], "y, mm": [comma(v) for v in SIZES[::-1]]},
            {"x, mm": SIZES, "y, mm": SIZES[::-1]},
        ),
    ]
