"""The results page as a reader has it: real Chromium, a file, no network."""

from __future__ import annotations

import re

import pytest

from imputefree.lab.report._results_page import report
from tests.lab.made_up_results import everything

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "results.html"
    path.write_text(report(everything(), title="Made up"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    """Opened anew; whatever a test does, there are no errors and nothing is loaded."""
    resize(browser, 1280)
    prefer(browser, "light")
    if not browser.current_url.startswith(address):
        browser.get(address)
    else:
        browser.execute_script("localStorage.clear(); history.replaceState(null, '', ' ')")
        browser.refresh()
    yield browser
    assert browser.get_log("browser") == []
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(one => one.name)"
    )
    assert [name for name in loaded if not name.startswith("data:")] == []


def resize(browser, width):
    """A window of this width, as a phone has it where it is narrow."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser, theme):
    wanted = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)


def find(browser, selector):
    return browser.find_element("css selector", selector)


def find_all(browser, selector):
    return browser.find_elements("css selector", selector)


def markup(browser, selector):
    return find(browser, selector).get_attribute("innerHTML")


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def press(browser, element):
    """A click by hand needs the element in sight."""
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


@pytest.mark.parametrize("width", [360, 1280])
def test_page_never_scrolls_sideways(page, width):
    resize(page, width)
    page.refresh()
    page.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    # All panels too, chosen or not.
    page.execute_script(
        "for (const one of document.querySelectorAll('[data-panel]')) one.hidden = false"
    )
    inside, room = page.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert room == width
    assert inside <= width


def test_text_is_large_enough_on_a_phone(page):
    resize(page, 360)
    page.refresh()
    # An SVG is scaled as a whole: what its letters measure on the screen.
    smallest = page.execute_script(
        "return Math.min(...[...document.querySelectorAll('svg.chart, svg.heat, svg.scatter')]"
        ".filter(one => one.getBoundingClientRect().width && one.querySelector('text'))"
        ".flatMap(one => [...one.querySelectorAll('text')].map(text =>"
        " parseFloat(getComputedStyle(text).fontSize) * one.getBoundingClientRect().width"
        " / one.viewBox.baseVal.width)))"
    )
    assert smallest >= 9


def test_contents_lead_to_every_section(page):
    links = find_all(page, "#contents a")
    assert len(links) > 15
    for link in links:
        link.click()
        target = link.get_attribute("href").partition("#")[2]
        top = page.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top", target
        )
        bottom = page.execute_script(
            "return document.documentElement.scrollHeight - scrollY - innerHeight"
        )
        assert 0 <= top < 80 or (bottom < 2 and top < 800)


def test_theme_follows_the_system_and_the_button(page):
    light = background(page)
    press(page, find(page, "#theme"))
    dark = background(page)
    assert dark != light
    page.refresh()
    assert background(page) == dark  # kept
    press(page, find(page, "#theme"))
    assert background(page) == light
    page.execute_script("localStorage.clear()")
    prefer(page, "dark")
    page.refresh()
    assert background(page) == dark
    assert find(page, "#theme").text == "Light"


def test_a_line_is_hidden_and_the_axis_fits_the_rest(page):
    chart = find(page, "svg[aria-label^='mnist, accuracy']")

    def is_shown(name):  # charts are redrawn, so look anew
        return chart.find_element("css selector", f"[data-series='{name}']").is_displayed()

    ticks = "return [...arguments[0].querySelectorAll('.ticks-y text')].map(one => one.textContent)"
    box = find(page, "#mnist-by-missing-rate input[value='mask_only']")
    assert not box.is_selected()  # below all others, it begins hidden
    assert not is_shown("mask_only")
    before = page.execute_script(ticks, chart)
    press(page, box)
    assert is_shown("mask_only")
    after = page.execute_script(ticks, chart)
    assert min(map(float, after)) < 25 < min(map(float, before))
    press(page, find(page, "#mnist-by-missing-rate input[value='gil']"))
    assert not is_shown("gil")
    press(page, find(page, "#mnist-by-missing-rate button[data-all='on']"))
    assert is_shown("gil")
    assert page.execute_script(ticks, chart) == after


def test_a_fitted_axis_is_the_one_drawn_at_first(page):
    """All lines off and on again give the first chart; one hidden gives a chart much like it."""
    place = "svg[aria-label^='ophthalmic-simulated, accuracy']"
    before = markup(page, place)
    for which in ("off", "on"):
        press(page, find(page, f"#ophthalmic-simulated-by-missing-rate button[data-all='{which}']"))
    assert markup(page, place) == before
    press(page, find(page, "#ophthalmic-simulated-by-missing-rate input[value='gate']"))
    whole, fitted = (
        re.findall(r'<use [^>]* y="([\d.]+)"', text) for text in (before, markup(page, place))
    )
    assert [float(y) for y in fitted] == pytest.approx([float(y) for y in whole], abs=12)


def test_choosing_a_run_shows_its_curves(page):
    section = find(page, "#mnist-training-curves")
    choose = section.find_element("css selector", "select")
    panels = section.find_elements("css selector", "[data-panel]")
    shown = [panel.is_displayed() for panel in panels]
    assert shown == [True] + [False] * (len(panels) - 1)
    names = [one.text for one in choose.find_elements("css selector", "option")]
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", choose)
    choose.send_keys(names[-1])  # by keyboard
    assert choose.get_attribute("value") == str(len(panels) - 1)
    assert panels[-1].is_displayed()
    assert not panels[0].is_displayed()
    label = panels[-1].find_element("css selector", "svg.chart").get_attribute("aria-label")
    assert label.startswith(names[-1])


def test_how_figures_were_made_opens(page):
    details = find(page, "#mnist-results figure > details")
    table = details.find_element("css selector", "table")
    assert not table.is_displayed()
    press(page, details.find_element("css selector", "summary"))
    assert table.is_displayed()
    assert "made_up_results.py" in details.text


def test_pictures_are_drawn(page):
    sizes = page.execute_script("return [...document.images].map(one => one.naturalWidth)")
    assert len(sizes) > 30
    assert min(sizes) > 0
    for kind in ("digits", "scatter", "heat", "bars", "pair"):
        assert find(page, f".{kind}").is_displayed()
