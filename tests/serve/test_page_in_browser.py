"""The page in a real Chromium: by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import copy
import csv
import io
import threading
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, read_table
from imputefree.inspection import keep_scores, read_rows
from tests.serve.models import SMALL, client, numbers, patients, stays

uvicorn = pytest.importorskip("uvicorn", reason="needs the extra serve")
PATIENCE = 30
pytestmark = pytest.mark.slow


@contextmanager
def serving(model, **options):
    """A server in a thread."""
    from imputefree.serve import address_of, build_app, listen

    bound = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(build_app(model, **options), log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    address = address_of(bound)
    thread.start()
    try:
        yield address
    finally:  # or a failed test would never end
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="module")
def addresses():
    with (
        serving(patients()) as table,
        serving(stays()) as series,
        serving(numbers(), token="s3cret") as guarded,
    ):
        yield {"table": table, "series": series, "guarded": guarded}


class Page:
    """The page, with the actions of the tests."""

    def __init__(self, browser, address):
        self.browser = browser
        self.resize(1280)
        self.prefer("light")
        browser.get(address)

    def resize(self, width):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, theme):
        wanted = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def until(self, ready):
        """Wait for `ready()` to be true, and return it."""
        end = time.monotonic() + PATIENCE
        while not (value := ready()):
            assert time.monotonic() < end, self.find("body").text
            time.sleep(0.05)
        return value

    def field(self, label):
        """A field by its accessible name, as for a screen reader."""
        (field,) = [
            field
            for field in self.all("#form input:not([type=radio]), #form select, #form fieldset")
            if field.accessible_name.removesuffix("most useful next").strip() == label
        ]
        return field

    def choose(self, label, option):
        """Press a button of a field with few values."""
        for choice in self.field(label).find_elements("css selector", "label"):
            if choice.text == option:
                choice.click()

    def value(self):
        return self.find("#value").text

    def settled(self):
        """The prediction, once it is for the present values."""
        self.until(lambda: "old" not in self.find("#result").get_attribute("class"))
        return self.until(lambda: self.value() not in {"", "…"} and self.value())

    def type(self, label, text):
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def read(self, lines):
        """Paste lines, and wait for what the server says of them."""
        self.browser.execute_script(PASTE, lines)
        self.find("#read-paste").click()
        busy = ("", "Reading pasted.csv …")
        self.until(
            lambda: self.find("#preview").is_displayed() or self.find("#many-say").text not in busy
        )

    def predict_all(self):
        self.press("#predict-many")
        self.until(lambda: self.find("#answers").is_displayed())

    def press(self, selector):
        element = self.find(selector)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def cells(self):
        """The table of predictions, row by row."""
        rows = self.all("#many-table tbody tr")
        return [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in rows]

    def focused(self):
        return self.browser.switch_to.active_element

    def keys(self, *keys):
        for key in keys:
            self.focused().send_keys(key)


PASTE = """
document.getElementById("paste-part").open = true;
document.getElementById("paste").value = arguments[0];
document.getElementById("read-paste").scrollIntoView({block: "center"});
"""


@pytest.fixture
def page(browser, addresses):
    opened = []

    def open_page(kind="table"):
        opened.append(Page(browser, addresses[kind]))
        if kind != "guarded":
            opened[0].until(lambda: opened[0].find("#main").is_displayed())
            opened[0].settled()
        return opened[0]

    yield open_page
    assert [line for line in browser.get_log("browser") if "401" not in line["message"]] == []
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    origin = browser.execute_script("return location.origin")
    assert [name for name in loaded if not name.startswith((origin, "data:", "blob:"))] == []


@contextmanager
def page_of(browser, model):
    """The page of a model with a server of its own."""
    with serving(model) as address:
        page = Page(browser, address)
        page.until(lambda: page.find("#main").is_displayed())
        yield page


def probability(**row):
    names = ["age", "sex", "home.dest", "lactate", "grade"]
    frame = pd.DataFrame([{name: row.get(name) for name in names}])
    frame = frame.astype({"age": float, "lactate": float, "grade": float})
    share = patients().predict_proba(frame)[0, 1]
    digits = 1 if 0.001 < share < 0.999 else 2
    return f"{100 * share:.{digits}f} %"


def text(shown):
    return shown.replace("\u00a0", " ")


def test_the_prediction_follows_what_is_typed(page):
    page = page()
    assert page.settled() == "Nothing entered yet"
    assert "50.0" not in page.find("#result").text
    page.type("lactate", "6.5")
    page.until(lambda: text(page.value()) == probability(lactate=6.5))
    assert "Only 1 of 5 values is given" in page.find("#familiar").text
    page.choose("sex", "m")
    page.until(lambda: text(page.value()) == probability(lactate=6.5, sex="m"))
    page.until(lambda: all(name in page.find("#effects").text for name in ("lactate", "sex")))
    page.field("lactate").clear()
    page.field("lactate").send_keys(" ")  # blanks are blank
    page.until(lambda: text(page.value()) == probability(sex="m"))
    page.find("#of").send_keys("ill")
    well = float(probability(sex="m").split()[0])
    page.until(lambda: abs(float(text(page.value()).split()[0]) + well - 100) < 0.11)
    page.press("#clear")
    page.until(lambda: page.value() == "Nothing entered yet")
    assert page.find("#no-effects").is_displayed()


def test_costs_decide_what_to_measure_next(page):
    page = page()
    rows = [button.text for button in page.all("#next-rows button")]
    assert sorted(rows) == ["age", "grade", "home.dest", "lactate", "sex"]
    best, second = rows[:2]
    (marked,) = page.all(".field.best")
    assert best in marked.text
    assert "most useful next" in marked.text
    page.find("#next-rows button").click()
    focused = page.browser.execute_script("return document.activeElement.closest('.field')")
    assert focused == marked
    status = page.find("#status").get_attribute("textContent")
    assert status.startswith("Probability of outcome = well: ")
    assert status.endswith(f"Most useful to measure next: {best}.")
    cost = page.find("#next-rows input")
    cost.clear()  # it cannot be measured
    page.find("#of").click()  # leaves the field
    page.until(lambda: page.find("#next-rows button").text == second)
    assert best not in page.find(".field.best").text
    page.type("age", "31")  # costs stay
    page.until(lambda: "age" not in page.find("#next-rows").text)
    assert page.all("#next-rows button")[-1].text == best


def test_errors_and_notes_are_shown_at_their_field(page):
    page = page()
    page.type("age", "old")
    say = page.find("#value")
    page.until(lambda: say.text == "—")
    field = page.field("age")
    assert field.get_attribute("aria-invalid") == "true"
    words = field.get_attribute("aria-describedby").split()[-1]
    assert page.find(f"#{words}").text == "This is not a number."
    assert "Correct the marked field" in page.find("#trouble").text
    assert page.all(".field.best") == []
    page.type("age", "31,5")
    page.until(lambda: page.find(f"#{words}").text == "This is not a number. Write 31.5.")
    page.type("age", "500")  # outside the range of training
    page.until(lambda: "outside the range of training" in page.find(f"#{words}").text)
    assert field.get_attribute("aria-invalid") is None
    assert text(page.settled()) == probability(age=500)
    assert "far outside training" in page.find("#familiar").text
    assert "far outside training" in page.find("#status").get_attribute("textContent")
    page.type("age", "31")
    page.until(lambda: page.find(f"#{words}").text == "")


def test_the_keyboard_alone_is_enough(page):
    from selenium.webdriver.common.keys import Keys

    page = page()
    page.keys(Keys.TAB)
    assert page.focused().text == "Skip to the form"
    page.keys(Keys.ENTER)
    seen = []
    for _ in range(9):
        page.keys(Keys.TAB)
        seen.append(page.focused().accessible_name)
        assert page.browser.execute_script(OUTLINED), seen
        if seen[-1] == "lactate":
            break
    # Of radio buttons, the chosen one.
    assert seen == ["Fill in an example", "Clear all", "age", "unknown", "unknown", "lactate"]
    page.keys("6.5")
    page.until(lambda: text(page.value()) == probability(lactate=6.5))
    page.keys(Keys.SHIFT + Keys.TAB, Keys.ARROW_LEFT)
    assert page.focused().accessible_name == "there"
    expected = probability(lactate=6.5, **{"home.dest": "there"})
    page.until(lambda: text(page.value()) == expected)
    page.keys(Keys.ENTER)  # sends no form anywhere
    assert text(page.settled()) == expected


OUTLINED = """
const focused = document.activeElement;
const shown = focused.type === "radio" ? focused.nextElementSibling : focused;
return getComputedStyle(shown).outlineStyle !== "none";
"""
LINES = """who,age,sex,lactate,home.dest,grade
"=1+1",31,f,1.5,"no, where",
Bob,NA,m,2,here,1
Cy,40,,,there,3
"""


def test_a_file_is_previewed_predicted_and_offered(page, tmp_path):
    page = page()
    page.read(LINES)
    assert "Not used by the model: who." in page.find("#understood").text
    missing = [
        len(row.find_elements("css selector", ".missing"))
        for row in page.all("#preview-table tbody tr")
    ]
    assert missing == [1, 1, 2]
    page.predict_all()
    assert "3 rows predicted." in page.find("#many-say").text
    cells = page.cells()
    assert [row[0] for row in cells] == ["2", "3", "4"]  # lines
    row = {"age": 31, "sex": "f", "lactate": 1.5, "home.dest": "no, where"}
    assert text(cells[0][3]) == probability(**row)
    saved = list(csv.DictReader(io.StringIO(downloaded(page, tmp_path))))
    assert [row["who"] for row in saved] == ["'=1+1", "Bob", "Cy"]  # not a formula
    share = float(saved[2]["p_well"])
    row = {"age": 40, "grade": 3, "home.dest": "there"}
    assert f"{100 * share:.1f} %" == probability(**row)
    assert saved[0]["home.dest"] == "no, where"
    page.all("#many-table tbody button")[2].click()  # shows the row in the form
    page.until(lambda: text(page.value()) == probability(**row))


def downloaded(page, folder):
    """The file that the link downloads."""
    where = {"behavior": "allow", "downloadPath": str(folder)}
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    page.press("#download")
    path = folder / "predictions.csv"
    page.until(path.exists)
    return path.read_text(encoding="utf-8")


def test_another_sheet_of_a_workbook(page, tmp_path):
    page, path = page(), tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        for sheet, ages in {"north": [31], "south": [40, 52]}.items():
            pd.DataFrame({"age": ages, "sex": "f"}).to_excel(book, sheet_name=sheet, index=False)
    page.find("#file").send_keys(str(path))
    page.until(lambda: "Predict 1 row" in page.find("#predict-many").text)
    page.find("#sheet-part summary").click()
    page.find("#sheet").send_keys("south\t")
    page.until(lambda: "Predict 2 rows" in page.find("#predict-many").text)
    page.predict_all()
    assert "2 rows predicted." in page.find("#many-say").text
    page.find("#sheet").send_keys("west\t")  # south + west
    page.until(lambda: "southwest" in page.find("#many-say").text)
    assert "north" in page.find("#many-say").text
    page.browser.get_log("browser")  # the refusal


def test_a_wrong_file_is_refused_and_a_large_one_predicted_in_parts(page, tmp_path):
    page = page()
    page.read("a,b\n1,2\n")
    page.until(lambda: "None of the model's columns" in page.find("#many-say").text)
    assert not page.find("#preview").is_displayed()
    path = tmp_path / "many.csv"
    path.write_text("age,sex\n" + "31,m\n" * 700)  # more than one request
    page.find("#file").send_keys(str(path))
    page.until(lambda: page.find("#preview").is_displayed())
    assert "Predict 700 rows" in page.find("#predict-many").text
    page.predict_all()
    assert "700 rows predicted." in page.find("#many-say").text
    assert len(page.all("#many-table tbody tr")) == 50
    page.browser.get_log("browser")  # the refusal


def test_series_have_steps_and_charts(page):
    from selenium.webdriver.common.keys import Keys

    page = page("series")
    page.type("pulse, step 1", "140")
    page.press("#add-step")
    page.until(lambda: page.focused().accessible_name == "hour, step 2")
    assert page.focused().get_attribute("value") == "0.5"
    page.keys(Keys.ENTER)
    assert page.focused().accessible_name == "pulse, step 2"
    page.keys("150")
    steps = [{"hour": 0, "pulse": 140}, {"hour": 0.5, "pulse": 150}]
    page.until(lambda: text(page.value()) == shock(steps))
    assert "pulse (2 values)" in page.find("#effects").text
    (chart,) = page.all("#charts button")
    assert chart.accessible_name.startswith("pulse: last 150; 2 of 2 steps measured, 140 to 150")
    assert "rhythm" in page.find("#unmeasured").text
    page.type("hour, step 2", "0")
    page.until(lambda: "not later than the step before" in page.find("#steps").text)
    page.press("#remove-step")
    page.until(lambda: text(page.value()) == shock(steps[:1]))
    page.press("#clear")
    page.until(lambda: page.value() == "Nothing entered yet")


def shock(steps, **static):
    body = {"steps": steps, "static": static}
    answer = client("series").post("/predict", json=body).json()
    return f"{100 * answer['predictions'][0]['probability']['1']:.1f} %"


def test_a_file_of_steps_shows_its_series_with_gaps(page):
    page = page("series")
    page.read("patient,hour,age,pulse\n7,1,40,90\n7,0,40,80\n7,0.5,40,\n8,0,50,70\n8,0,50,\n")
    assert "already has a row at time 0" in page.find("#understood").text
    page.predict_all()
    assert "2 series predicted." in page.find("#many-say").text
    page.find("#many-table tbody button").click()
    steps = [{"hour": 0, "pulse": 80}, {"hour": 0.5}, {"hour": 1, "pulse": 90}]
    page.until(lambda: text(page.value()) == shock(steps, age=40))
    curve = page.find("#charts .curve").get_attribute("d")
    assert curve.count("M") == 2  # two pieces: the gap is a gap
    assert len(page.all("#charts .gap")) == 1
    page.find("#charts button").send_keys("\n")  # by keyboard: the last step
    assert page.focused().accessible_name == "pulse, step 3"


def test_a_card_is_shown_as_a_document_and_never_as_html(browser):
    model = copy.copy(patients())
    model.card_ = (
        "# Card of <b>x</b>\n\nSome `code` and **bold**.\n\n| a\\|b | n |\n| --- | ---: |\n"
        "| <img src=x onerror=alert(1)> | 2 |\n\n- one\n- two\n\n    imputefree fit\n"
    )
    with page_of(browser, model) as page:
        page.press("#card-section summary")
        assert page.find("#card h3").text == "Card of <b>x</b>"
        assert [cell.text for cell in page.all("#card th, #card td")] == [
            *("a|b", "n", "<img src=x onerror=alert(1)>", "2")
        ]
        assert [len(page.all(f"#card {tag}")) for tag in ("li", "code", "strong", "pre")] == [
            *(2, 1, 1, 1)
        ]
        assert page.all("#card img, #card b") == []


def test_the_token_is_asked_for(page):
    from selenium.webdriver.common.keys import Keys

    page = page("guarded")
    page.until(lambda: page.find("#token-form").is_displayed())
    assert not page.find("#main").is_displayed()
    page.keys("wrong", Keys.ENTER)
    page.until(lambda: page.find("#token-say").text == "This token is wrong.")
    page.find("#token").clear()
    page.find("#token").send_keys("s3cret", Keys.ENTER)
    page.until(lambda: page.find("#main").is_displayed())
    assert page.settled() != "—"
    assert not page.find("#token-form").is_displayed()


@pytest.mark.parametrize("kind", ["table", "series"])
@pytest.mark.parametrize("width", [360, 1280])
def test_page_never_scrolls_sideways(page, kind, width):
    page = page(kind)
    page.resize(width)
    page.press("#fill")
    page.settled()
    inside = page.browser.execute_script("return document.documentElement.scrollWidth")
    assert inside <= width


def test_fields_have_names_and_contrast_in_both_themes(page):
    page = page()
    for theme in ("light", "dark"):
        page.prefer(theme)
        faint = page.browser.execute_script(FAINT, "h1, h2, p, label, button, th, td, span, #value")
        assert faint == [], theme
    for element in page.all("input, select, textarea, button"):
        assert element.accessible_name or not element.is_displayed()


FAINT = """
const behind = (node) => {
  const color = getComputedStyle(node).backgroundColor;
  return color === "rgba(0, 0, 0, 0)" && node.parentElement ? behind(node.parentElement) : color;
};
const light = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (node) => { // WCAG's ratio of text to what is behind it
  const pair = [light(getComputedStyle(node).color), light(behind(node))];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
};
const shown = [...document.querySelectorAll(arguments[0])].filter(
  (node) => node.checkVisibility() && node.textContent.trim() && !node.disabled);
if (shown.length < 20) return ["hardly anything is shown"];
return shown.filter((node) => contrast(node) < 4.5).map((node) => node.outerHTML);
"""


def test_the_set_of_classes_is_shown_with_the_prediction(browser):
    model = copy.copy(patients())
    names = model.encoder_.names
    rows = read_rows(pd.DataFrame(np.ones((40, len(names))), columns=names))
    model.conformal_ = keep_scores(model, rows, np.full((40, 2), 0.5), np.zeros(40, dtype=int))
    with page_of(browser, model) as page:
        page.type("age", "31")
        page.until(lambda: page.find("#within").text.startswith("90 % set: "))
        page.type("age", "old")
        page.until(lambda: page.value() == "—")
        assert not page.find("#within").is_displayed()


PLANTED = '"><img src=x onerror="window.owned=1"><script>window.owned=2</script>'


def planted(name):
    """A string that would run if it were ever read as HTML."""
    return f"{name}{PLANTED}<svg onload=window.owned=3>"


def test_scripts_planted_in_names_and_files_do_not_run(browser, tmp_path):
    """In classes, columns, categories, the target, the card, cells and names of uploaded files."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({planted("age"): rng.normal(50, 9, 80).round()})
    frame[planted("sex")] = rng.choice([planted("f"), planted("m")], 80)
    outcome = np.where(frame.iloc[:, 0] > 50, planted("ill"), planted("well"))
    model = GILClassifier(**SMALL).fit(frame.mask(rng.random(frame.shape) < 0.1), outcome)
    model.about_ = {"task": "classification", "target": planted("outcome"), "data": {}}
    model.card_ = (
        f"# {planted('card')}\n\n- {PLANTED}\n\n| {PLANTED} | b |\n| --- | --- |\n| c | d |\n"
    )
    with page_of(browser, model) as page:
        page.settled()
        page.press("#card-section summary")
        page.press("#fill")
        page.settled()
        page.until(lambda: PLANTED in page.find("#effects").text)
        path = tmp_path / "<img src=x onerror=window.owned=4>.csv"
        frame.head(3).assign(**{planted("more"): planted("cell")}).to_csv(path, index=False)
        page.find("#file").send_keys(str(path))
        page.until(lambda: page.find("#preview").is_displayed())
        page.predict_all()
        assert PLANTED in page.find("#many-table").text
        page.read(f"a,{PLANTED}\n1,2\n")  # refused, with its names
        page.until(lambda: "None of the model's columns" in page.find("#many-say").text)
        assert browser.execute_script("return window.owned") is None
        assert page.all("img[src=x], body script:not([src]), svg[onload]") == []
        page.browser.get_log("browser")  # the refusal


def test_a_date_is_one_field(browser, tmp_path):
    """Days, month and weekday of a date are computed from it, and shown as a date again."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-03") + pd.to_timedelta(rng.permutation(200)[:80], unit="D")
    frame, understood = read_table(
        pd.DataFrame({"admitted": days.strftime("%d.%m.%Y"), "age": rng.normal(60, 9, 80)})
    )
    model = GILClassifier(**SMALL).fit(frame, np.where(frame["age"] > 60, "ill", "well"))
    model.about_ = {"target": "outcome", "reading": understood.to_dict()}
    with page_of(browser, model) as page:
        field = page.field("admitted")
        assert len(page.all("#fields .field")) == 2
        browser.execute_script(
            "arguments[0].value = '2024-05-11';"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}));",
            field,
        )
        page.settled()
        page.until(lambda: "admitted: days = 2024-05-11" in page.find("#effects").text)
        assert "admitted: month = May" in page.find("#effects").text
        assert "admitted: weekday = Saturday" in page.find("#effects").text
        path = tmp_path / "new.csv"
        path.write_text("admitted;age\n31.03.2024;70\n")
        page.find("#file").send_keys(str(path))
        page.until(lambda: page.find("#preview").is_displayed())
        assert "2024-03-31" in page.find("#preview-table").text
