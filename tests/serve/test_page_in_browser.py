"""The page in a real Chromium: by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import copy
import csv
import io
import threading
import time
from contextlib import contextmanager

import pytest

from tests.serve.models import client, numbers, patients, stays

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
    yield address
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
            for field in self.all("#form input, #form select")
            if field.accessible_name.removesuffix("most useful next").strip() == label
        ]
        return field

    def value(self):
        return self.find("#value").text

    def settled(self):
        """The prediction, once it is for the present values."""
        self.until(lambda: "old" not in self.find("#result").get_attribute("class"))
        return self.until(lambda: self.value() not in {"", "…"} and self.value())

    def type(self, label, text):
        field = self.field(label)
        if field.tag_name == "input":
            field.clear()
        field.send_keys(text)

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


def probability(**row):
    import pandas as pd

    names = ["age", "sex", "home.dest", "lactate", "grade"]
    frame = pd.DataFrame([{name: row.get(name) for name in names}])
    frame = frame.astype({"age": float, "lactate": float, "grade": float})
    return f"{100 * patients().predict_proba(frame)[0, 1]:.1f}\u00a0%".replace("\u00a0", " ")


def text(shown):
    return shown.replace("\u00a0", " ")


def test_the_prediction_follows_what_is_typed(page):
    page = page()
    assert text(page.settled()) == probability()
    page.type("lactate", "6.5")
    page.until(lambda: text(page.value()) == probability(lactate=6.5))
    page.type("sex", "m")
    page.until(lambda: text(page.value()) == probability(lactate=6.5, sex="m"))
    page.until(lambda: all(name in page.find("#effects").text for name in ("lactate", "sex")))
    page.field("lactate").clear()
    page.field("lactate").send_keys(" ")  # blanks are blank
    page.until(lambda: text(page.value()) == probability(sex="m"))
    page.press("#clear")
    page.until(lambda: text(page.value()) == probability())
    assert page.find("#no-effects").is_displayed()


def test_the_most_useful_field_is_named_marked_and_focused(page):
    page = page()
    best = page.find("#to-next").text
    assert best in {"age", "sex", "home.dest", "lactate", "grade"}
    (marked,) = page.all(".field.best")
    assert best in marked.text
    assert "most useful next" in marked.text
    page.press("#to-next")
    assert page.focused() == page.field(best)
    status = page.find("#status").get_attribute("textContent")
    assert status.startswith("Probability of outcome = well: ")
    assert status.endswith(f"Most useful to measure next: {best}.")


def test_the_class_can_be_chosen(page):
    page = page()
    well = float(text(page.settled()).split()[0])
    page.find("#of").send_keys("ill")
    page.until(lambda: abs(float(text(page.value()).split()[0]) + well - 100) < 0.11)


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
        seen.append(page.focused().accessible_name.removesuffix("most useful next").strip())
        outline = page.focused().value_of_css_property("outline-style")
        assert outline != "none", seen
        if seen[-1] == "lactate":
            break
    assert seen[:2] == ["Fill in an example", "Clear all"]
    assert seen[2:] == ["age", "sex", "home.dest", "lactate"]
    page.keys("6.5")
    page.until(lambda: text(page.value()) == probability(lactate=6.5))
    page.keys(Keys.SHIFT + Keys.TAB)
    page.focused().send_keys("there")
    expected = probability(lactate=6.5, **{"home.dest": "there"})
    page.until(lambda: text(page.value()) == expected)
    page.keys(Keys.ENTER)  # sends no form anywhere
    assert text(page.settled()) == expected


LINES = """who,age,sex,lactate,home.dest,grade
"Ada, L.",31,f,1.5,"no, where",
Bob,old,m,2,here,1
Cy,NA,,,there,3
"""


def test_csv_in_and_out(page, tmp_path):
    page = page()
    page.find("#paste").send_keys(LINES)
    page.press("#predict-many")
    page.until(lambda: page.find("#download").is_displayed())
    summary = page.find("#many-say").text
    assert "2 rows predicted, 1 not" in summary
    assert "Not used by the model: who." in summary
    cells = page.cells()
    assert [row[0] for row in cells] == ["2", "3", "4"]
    assert text(cells[0][3]) == probability(
        age=31, sex="f", lactate=1.5, **{"home.dest": "no, where"}
    )
    assert "age holds “old”, which is not a number." in cells[1]
    saved = list(csv.DictReader(io.StringIO(downloaded(page, tmp_path))))
    assert [row["who"] for row in saved] == ["Ada, L.", "Bob", "Cy"]
    assert saved[1]["prediction"] == ""
    share = float(saved[2]["p_well"])
    assert f"{100 * share:.1f} %" == probability(grade=3, **{"home.dest": "there"})
    assert saved[0]["home.dest"] == "no, where"


def downloaded(page, folder):
    """The file that the link downloads."""
    where = {"behavior": "allow", "downloadPath": str(folder)}
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    page.press("#download")
    path = folder / "predictions.csv"
    page.until(path.exists)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "First choose a file"),
        ("age,sex\n", "at least one more line"),
        ("a,b\n1,2\n", "None of the model's columns"),
        ("age,age\n1,2\n", "two columns named age"),
        ('age,sex\n1,"f\n', "never closed"),
    ],
)
def test_a_wrong_csv_is_refused(page, lines, words):
    page = page()
    page.browser.execute_script("document.getElementById('paste').value = arguments[0]", lines)
    page.press("#predict-many")
    page.until(lambda: words in page.find("#many-say").text)
    assert not page.find("#download").is_displayed()


def test_a_dropped_file_is_predicted(page, tmp_path):
    page = page()
    path = tmp_path / "many.csv"
    path.write_text("age;sex\n" + "31;m\n" * 700)  # more than one request, with semicolons
    page.find("#file").send_keys(str(path))
    page.until(lambda: "700 rows predicted." in page.find("#many-say").text)
    assert len(page.all("#many-table tbody tr")) == 50
    assert "50 of 700" in page.find("#many-table caption").text


def test_series_have_steps(page):
    from selenium.webdriver.common.keys import Keys

    page = page("series")
    first = page.settled()
    page.type("pulse, step 1", "140")
    page.press("#add-step")
    page.until(lambda: page.focused().accessible_name == "hour, step 2")
    assert page.focused().get_attribute("value") == "0.5"
    page.keys(Keys.ENTER)
    assert page.focused().accessible_name == "pulse, step 2"
    page.keys("150")
    expected = shock([{"hour": 0, "pulse": 140}, {"hour": 0.5, "pulse": 150}])
    page.until(lambda: text(page.value()) == expected)
    assert "pulse (2 values)" in page.find("#effects").text
    page.type("hour, step 2", "0")
    page.until(lambda: "not later than the step before" in page.find("#steps").text)
    page.press("#remove-step")
    page.until(lambda: text(page.value()) == shock([{"hour": 0, "pulse": 140}]))
    page.press("#clear")
    page.until(lambda: page.value() == first)


def shock(steps):
    answer = client("series").post("/predict", json={"steps": steps}).json()
    return f"{100 * answer['predictions'][0]['probability']['1']:.1f} %"


def test_csv_of_steps(page):
    page = page("series")
    lines = "patient,hour,age,pulse\n7,0.5,40,90\n7,0,40,80\n8,0,50,\n8,0,50,\n9,x,1,1\n"
    page.browser.execute_script("document.getElementById('paste').value = arguments[0]", lines)
    page.press("#predict-many")
    page.until(lambda: "1 series predicted, 2 not" in page.find("#many-say").text)
    cells = page.cells()
    assert [row[0] for row in cells] == ["7", "8", "9"]
    assert "two lines at hour 0" in cells[1][-1]
    assert "is not a time" in cells[2][-1]


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
    import numpy as np
    import pandas as pd

    from imputefree.inspection import keep_scores, read_rows

    model = copy.copy(patients())
    names = model.encoder_.names
    rows = read_rows(pd.DataFrame(np.ones((40, len(names))), columns=names))
    model.conformal_ = keep_scores(model, rows, np.full((40, 2), 0.5), np.zeros(40, dtype=int))
    with serving(model) as address:
        page = Page(browser, address)
        page.settled()
        assert page.find("#within").text.startswith("90 % set: ")
        page.type("age", "old")
        page.until(lambda: page.value() == "—")
        assert not page.find("#within").is_displayed()
