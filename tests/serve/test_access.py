"""Who may ask: a token compared byte by byte, the host's own names, and headers on every answer."""

from __future__ import annotations

import pytest

from tests.serve.made import numbers
from tests.serve.test_http_app import client
from tests.serve.test_refusals import refused

TOKEN = "s3cret-Token_+/="


@pytest.fixture(scope="module")
def guarded():
    return client(numbers(), token=TOKEN)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("path", ["/schema", "/openapi.json"])
def test_what_tells_of_the_model_needs_the_token(guarded, path):
    refused(guarded.get(path), 401, "Authorization")
    assert guarded.get(path, headers=bearer(TOKEN)).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        *("Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"),
        *(f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN.lower()}", "Bearer \u00e9\u00ff"),
    ],
)
def test_a_wrong_token_gets_nothing(guarded, given):
    headers = {"Authorization": given.encode("latin-1")}
    answer = guarded.post("/predict", json={}, headers=headers)
    refused(answer, 401, "Authorization")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text


def test_the_token_opens(guarded):
    assert guarded.post("/predict", json={}, headers=bearer(TOKEN)).status_code == 200
    lower = {"authorization": f"bearer {TOKEN}"}
    assert guarded.post("/explain", json={}, headers=lower).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/page/main.js", "/page/style.css"])
def test_the_page_itself_is_open(guarded, path):
    assert guarded.get(path).status_code == 200


def test_openapi_says_that_a_token_is_needed(guarded):
    document = guarded.get("/openapi.json", headers=bearer(TOKEN)).json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "401" in document["paths"]["/predict"]["post"]["responses"]
    assert document["paths"]["/health"]["get"]["security"] == []


def test_other_names_of_the_host_are_refused():
    """A page of another site that points its own name here (DNS rebinding) reads nothing."""
    served = client(numbers(), hosts=["localhost", "127.0.0.1", "[::1]"])
    for host in ("localhost:8000", "127.0.0.1", "LOCALHOST", "[::1]:8000"):
        assert served.get("/schema", headers={"Host": host}).status_code == 200
    for host in ("evil.example", "localhost.evil.example:8000", "", "\u00e9"):
        refused(served.get("/schema", headers={"Host": host.encode("latin-1")}), 400, "Host")


def test_every_answer_has_a_strict_policy(guarded):
    for answer in (guarded.get("/"), guarded.get("/schema"), guarded.get("/nothing")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_the_page_names_nothing_outside(guarded):
    """No address of another host in any of its files, but the name of SVG."""
    from importlib.resources import files

    for file in files("imputefree.serve").joinpath("page").iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "//cdn" not in text
        assert "innerHTML" not in text  # names of columns are data, never markup
