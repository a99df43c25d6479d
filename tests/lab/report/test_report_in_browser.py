"""The results page as a reader has it: real Chromium, a file, no network."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(browser, whole, tmp_path_factory):
    """Whatever tests do, there are no errors and nothing is loaded."""
    path = tmp_path_factory.mktemp("page") / "results.html"
    path.write_text(whole, encoding="utf-8")
    browser.get(path.as_uri())
    yield browser
    assert browser.get_log("browser") == []
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    assert [name for name in loaded if not name.startswith("data:")] == []


def resize(browser, width):
    """A window of this width, as a phone has it where it is narrow."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("width", [360, 1280])
def test_page_never_scrolls_sideways(page, width):
    resize(page, width)
    page.refresh()
    page.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    inside, room = page.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert room == width
    assert inside <= width


def test_contents_lead_to_every_section(page):
    links = page.find_elements("css selector", "#contents a")
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


def test_theme_is_the_systems(page):
    backgrounds = set()
    for theme in ("light", "dark"):
        wanted = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
        backgrounds.add(
            page.execute_script("return getComputedStyle(document.body).backgroundColor")
        )
    assert len(backgrounds) == 2


def test_pictures_are_drawn(page):
    sizes = page.execute_script("return [...document.images].map(image => image.naturalWidth)")
    assert len(sizes) > 20
    assert min(sizes) > 0
