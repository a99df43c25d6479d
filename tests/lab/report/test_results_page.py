"""The results page: sound HTML that loads nothing, complete, and whole whatever a file holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from matplotlib.figure import Figure

from imputefree.lab.report._page_pictures import draw_digits, drawn, rate_charts, training_curves
from imputefree.lab.report._result_lines import runs_frame, tidy_lines, unpacked_digits
from imputefree.lab.report._results_page import report
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._run import attempt
from tests.lab.made_up_results import METHODS, failed, line, mnist

EMPTY = frozenset({"meta", "input", "img", "link", "wbr"})  # elements without an end tag
HOSTILE = "</script><script>alert('x')</script><img src=x onerror=\"alert(1)\">\x00\ud800"


class Reader(HTMLParser):
    """Elements with their attributes, and all text; fails on unbalanced tags."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(page.replace("<wbr>", ""))
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in EMPTY:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    def all(self, name):
        return [attributes for found, attributes in self.elements if found == name]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def test_page_is_sound_html_that_loads_nothing(whole):
    page = Reader(whole)
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(ids) == len(set(ids))
    links = [found["href"] for found in page.all("a")]
    assert len(links) > 15
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert all(found["src"].startswith("data:image/png") for found in page.all("img"))
    assert all(found["alt"] for found in page.all("img"))
    assert not page.all("script")
    assert not any(key.startswith("on") for _, found in page.elements for key in found)
    assert not re.search(r"""(src|href)=["']?(https?:)?//|url\(|@import""", whole)
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )


def test_headings_do_not_skip_a_level(whole):
    levels = [int(name[1]) for name, _ in Reader(whole).elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_our_figures_stand_beside_the_papers():
    page = report([line("mnist", name, {"accuracy": 0.5}, rate=0.9) for name in ("gil", "gate")])
    row = re.search(r'<th scope="row">gil</th>(.*?)</tr>', page)[1]
    assert re.findall(r">([\d.± ]+)<", row) == ["50.00", "78.47 ± 0.39"]
    best = report(
        [line("mnist", n, {"accuracy": a}, rate=0.9) for n, a in (("gil", 0.8), ("linear", 0.7))]
    )
    assert "<b>80.00</b>" in best
    assert "<b>70.00</b>" not in best


def test_simulated_studies_say_so_in_headings_and_captions(whole):
    for study in ("mnist", "ophthalmic-simulated", "icu"):
        section = rf'<section id="{study}" class="level2">.*?(?=<section [^>]*level2)'
        part = re.search(section, whole, re.DOTALL)[0]
        headings = re.findall(r"<h([23])[^>]*>(.*?)</h\1>", part)
        captions = re.findall(r"<figcaption><strong>.*?</figcaption>", part, re.DOTALL)
        assert len(headings) > 2
        assert captions
        marked = ["SIMULATED" in words for words in (*(words for _, words in headings), *captions)]
        assert set(marked) == {study != "mnist"}


def test_comparison_needs_two_runs():
    two = [
        line("mnist", name, {"accuracy": level + seed / 100}, mask_seed=seed)
        for name, level in (("gil", 0.9), ("linear", 0.8))
        for seed in (0, 1)
    ]
    two[0]["scores"]["accuracy"] += 0.004
    page = Reader(report(two)).text
    assert "Ours against the best rival" in page
    assert "+10.20" in page
    assert "95 % interval" in page
    assert "Ours against the best rival" not in Reader(report(two[::2])).text


@pytest.mark.parametrize(
    ("study", "auc", "words"),
    [
        ("mnist", True, "accuracy"),  # its plan has no other
        ("physionet2012", True, "area under the ROC curve"),  # 87 % are of one class
        ("physionet2012", False, "accuracy"),  # no run has AUC
        ("a study of mine", True, "accuracy"),
    ],
)
def test_comparison_is_by_auc_where_the_plan_has_it_and_says_so(study, auc, words):
    lines = [
        line(
            study,
            name,
            {"accuracy": 0.8, **({"auc": level + gain * seed} if auc else {})},
            split_seed=seed,
        )
        for name, level, gain in (("gil", 0.7, 0.01), ("linear", 0.6, 0.02))
        for seed in (0, 1, 2)
    ]
    text = Reader(report(lines)).text
    assert f"Compared by {words}." in text
    assert ("+9.00" in text) == (words != "accuracy")
    assert "p < 0.05, two-sided, not corrected for the number of comparisons" in text


def test_all_tables_are_in_one_section_with_ranks(whole):
    text = Reader(whole).text
    assert "colic hepatitis pima mammographic cleveland bands soybean adult mean rank" in text
    assert "1 is the best of the 4 methods that finished every table" in text
    assert re.search(r"\d better, \d equal, \d worse", text)


def test_charts_of_rates_tell_every_point(whole):
    (about,) = re.findall(
        r'alt="(mnist, accuracy in per cent by missing rate \(MCAR\)[^"]*)"', whole
    )
    for method in METHODS:
        shown = re.findall(
            rf"(?<= ){re.escape(method)}: \d\d\.\d at 50 %, \d\d\.\d at 90 %;", about
        )
        assert len(shown) == (0 if method == "mask_only" else 2)  # accuracy and AUC
    assert "Below all others and left out: mask_only." in whole
    assert 'alt="icu, accuracy' not in whole  # one setting is not a line


def test_a_control_that_is_not_below_all_others_is_drawn():
    records = [
        line("mnist", name, {"accuracy": level - rate / 10}, rate=rate)
        for name, level in (("gil", 0.8), ("mask_only", 0.79), ("linear", 0.7))
        for rate in (0.5, 0.9)
    ]
    block = rate_charts(runs_frame(records), "mnist")
    assert "mask_only: 74.0 at 50 %, 70.0 at 90 %;" in block["about"]
    assert len(block["captions"]) == 1


def test_curves_of_a_setting_are_side_by_side():
    records = [one for one in mnist() if one["options"].get("rate") == 0.9]
    (panel,) = training_curves(tidy_lines(records))["panels"]
    assert panel["name"] == "mcar-90, mask 0, split 0"
    (block,) = panel["blocks"]
    methods = [one["method"] for one in records if one["pictures"].get("curves")]
    assert len(set(methods)) == 2
    assert block["about"].count("validation loss of ") == 2


def test_at_most_thirty_columns_are_shown_as_bars(whole):
    assert whole.count("Shown are the 30 farthest from the mean of ") == 4  # two methods, two rates


def test_digits_are_those_of_the_record():
    digits = next(one for one in mnist() if one["method"] == "zero+network")["pictures"]["digits"]
    truth, seen = Figure().subplots(2)
    draw_digits(truth, digits, "truth")
    draw_digits(seen, digits, "seen")
    pixels = truth.images[0].get_array()
    first = unpacked_digits(digits, "truth")[0]
    assert (pixels[:, :28, 0] == 1 - first / 255).all()
    hidden = unpacked_digits(digits, "observed")[0] == 0
    assert ((seen.images[0].get_array()[:, :28] != pixels[:, :28]).any(-1) == hidden).all()


def test_failures_and_warnings_are_listed(whole):
    text = Reader(whole).text
    assert "3 runs failed" in text
    assert "column 'work <class>' holds +inf in 3 rows" in text
    assert "early stopping never began" in text


def test_every_table_says_how_it_was_made(whole):
    page = Reader(whole)
    tables = sum(found.get("class") == "figures" for found in page.all("table"))
    assert page.text.count("How these figures were produced") == tables
    assert "made_up_results.py" in page.text
    assert "torch 2.13.0+cpu" in page.text
    assert "mcar-50, mcar-90, mar defaults 0, 1 0 14.5 to 15.5" in page.text


def test_strings_of_records_are_never_markup():
    record = line(f"table:{HOSTILE}", HOSTILE, {"accuracy": 0.5, "auc": 0.5, HOSTILE: 1.0})
    record |= {"notes": [HOSTILE], "warnings": [HOSTILE], "command": HOSTILE}
    record |= {"versions": {HOSTILE: HOSTILE}, "setting": {HOSTILE: HOSTILE}, "finished": HOSTILE}
    record["pictures"] = {
        "curves": {HOSTILE: [1, 2]},
        "importance": {"columns": [HOSTILE], "observed": [1.0], "missing": [None]},
        "features": {"x": [1, 2], "y": [1, 2], "label": [HOSTILE, "b"]},
    }
    image = json.loads(json.dumps(record)) | {"study": HOSTILE, "method": "b"}
    lost = failed(HOSTILE, HOSTILE, HOSTILE) | {"mask_seed": HOSTILE}
    page = report([record, image, lost], title=HOSTILE)
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "\x00" not in page
    Reader(page)
    page.encode()


@pytest.mark.parametrize("key", ["rows", "scores", "status", "options", "everything"])
def test_a_record_without_a_key_does_not_break_the_page(key):
    records = [
        line("mnist", name, {"accuracy": 0.5, "auc": 0.5 + seed / 10}, mask_seed=seed)
        for name in ("gil", "linear")
        for seed in (0, 1)
    ]
    for record in records[::2]:
        for name in list(record) if key == "everything" else [key]:
            del record[name]
    Reader(report(records))


@pytest.mark.parametrize(
    "pictures",
    [
        "none",
        {"curves": {"loss": []}, "importance": {}, "digits": {}, "features": {}},
        {"curves": {"loss": [None, None], "q": [1, "x"], "reward": 3}},
        {"curves": {"loss": [float("nan"), 1.0, float("inf")]}},
        {"importance": {"columns": ["a"], "observed": [1, 2], "missing": [None, None]}},
        {"importance": {"columns": ["a"], "observed": [None], "missing": [None]}},
        {"importance": {"columns": ["a"], "observed": [1.0], "missing": [1.0], "shape": [28, 28]}},
        {"importance": {"columns": ["a", "b"], "steps": 1, "mean": [[None, None]]}},
        {"importance": {"columns": ["a"], "steps": 2, "mean": [[1], [1, 2]]}},
        {"digits": {"shape": [28, 28], "labels": ["1"], "truth": "AAA", "observed": "!"}},
        {"importance": {"columns": ["a"], "observed": [1.0], "shape": [10**9, 10**9]}},
        {"importance": {"columns": ["a"], "observed": [1.0], "shape": [10**30, 1]}},
        {"digits": {"shape": [10**9, 10**9], "labels": [], "truth": "AAAA", "observed": "AAAA"}},
        {"digits": {"shape": [10**30, 1], "labels": [], "truth": "AAAA", "observed": "AAAA"}},
        {"features": {"x": [1], "y": [1, 2], "label": ["a"]}},
        {"features": {"x": [None], "y": [1], "label": ["a"]}},
    ],
)
def test_an_odd_picture_does_not_break_the_page(pictures):
    page = report([line("mnist", "gil", {"accuracy": 0.9}) | {"pictures": pictures}])
    assert "90.00" in Reader(page).text


@pytest.mark.parametrize("error", [OverflowError("too large"), MemoryError("9 EB")])
def test_a_picture_of_absurd_size_is_a_sentence(error):
    def make():
        raise error

    assert "The map cannot be drawn from this file" in drawn("The map", make)["text"]


def test_all_runs_failed_and_infinite_scores():
    page = Reader(report([failed("mnist", "gil", "it is late")]))
    assert "No run of this study was finished" in page.text
    assert "it is late" in page.text
    page = Reader(report([line("mnist", "gil", {"accuracy": float("inf")})]))
    assert "No run of this study was finished" in page.text


def test_regression_has_tables_too():
    records = [
        line("table:prices", name, {"r2": level, "rmse": 1 - level}, split_seed=seed)
        for name, level in (("gil", 0.8), ("ridge", 0.7))
        for seed in (0, 1)
    ]
    assert "0.8 ± 0" in Reader(report(records)).text
    for one in records:
        one["study"] = "prices"
    text = Reader(report(records)).text
    assert "prices: R²" in text
    assert "prices: Root mean squared error" in text


def test_real_runs_make_a_page():
    runs = [Run("icu", name, {"n_series": 60}) for name in ("mask_only", "linear")]
    text = Reader(report([attempt(run) | {"command": "a test"} for run in runs])).text
    assert "variable, n_series 60 Acc." in text
    assert "a score on it says nothing about patients" in text
