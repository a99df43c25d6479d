"""Numbers as people write them: what is read, and what is not a number."""

import pytest

from imputefree.io._quantities import LONGEST, decimal_marks, read_quantity


@pytest.mark.parametrize(
    ("text", "value", "unit", "bound"),
    [
        ("(1,200)", -1200.0, "", False),  # a loss, as accountants write it
        ("($1,200)", -1200.0, "$", False),
        ("$-5", -5.0, "$", False),
        ("-$5", -5.0, "$", False),
        ("+5", 5.0, "", False),
        ("−5", -5.0, "", False),
        ("–5 kg", -5.0, "kg", False),
        (".5", 0.5, "", False),
        ("5.", 5.0, "", False),
        ("1e−3", 0.001, "", False),
        ("3+", 3.0, "", True),
        ("≥3 mg", 3.0, "mg", True),
        ("1 200 300", 1200300.0, "", False),
        ("1'200.5", 1200.5, "", False),
        ("123,456", 123456.0, "", False),
        ("1,23,456", 123456.0, "", False),  # lakh: groups of two above the last three
        ("7" * LONGEST, float("7" * LONGEST), "", False),
    ],
)
def test_read(text, value, unit, bound):
    assert read_quantity(text) == (value, unit, bound)
    assert read_quantity(f"  {text} ") == (value, unit, bound)


@pytest.mark.parametrize(
    "text",
    [
        *("(5", "5)", "(-5)", "($-5)", "(<5)", "(5 kg)"),  # half or too much of a loss
        *("--5", "-$-5"),
        *("12,34", "1234,567", ",123,456.", "1,23,45", "1,2345"),  # groups of three
        *("1,234'567", "1.2.3", "1.2,345", "", "kg", "7" * (LONGEST + 1)),
    ],
)
def test_not_read(text):
    assert read_quantity(text) is None


@pytest.mark.parametrize(
    ("strings", "shown", "either"),
    [
        (["1,234.5"], {"."}, None),
        (["1.234,5"], {","}, None),
        (["1.234.567"], {","}, None),
        (["3.5", "4,5"], {".", ","}, None),
        (["0,123"], {","}, None),  # no thousands begin with 0
        (["1234,567"], {","}, None),
        (["1,2345"], {","}, None),
        ([",5"], {","}, None),
        (["1'234,5"], {","}, None),
        (["12'34,5"], set(), None),  # groups of two
        (["5."], set(), None),
        (["1,2,3.4"], set(), None),
        (["007"], set(), None),
        (["12.345"], set(), "12.345"),
        (["1,234", "880", "730"], set(), "1,234"),  # two whole numbers are too few
        (["1,234", "880", "730", "99"], {"."}, None),
        (["1,234", "88", "73", "99"], set(), "1,234"),  # none of three digits
        (["1,234", "100", "73", "99"], {"."}, None),
        (["1,234", "1000", "730", "99"], set(), "1,234"),  # one of four has no mark
        (["1,234", "880", "730", "99", "3,5"], {","}, None),
        (["a", "12", "9" * (LONGEST + 1)], set(), None),
    ],
)
def test_which_mark_is_before_decimals(strings, shown, either):
    assert decimal_marks(strings) == (shown, either)
