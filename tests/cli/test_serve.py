"""`imputefree serve`: options that cannot be are one sentence, before anything listens."""

from __future__ import annotations

import socket

import pytest

from imputefree import GILRegressor
from imputefree.cli._app import main
from imputefree.cli._serve import read_token
from imputefree.errors import ParameterError

pytest.importorskip("uvicorn", reason="needs the extra serve")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.imputefree"
    GILRegressor(n_members=1, max_iter=1).fit([[1.0], [2.0], [3.0], [4.0]], [1, 2, 3, 4]).save(path)
    return path


@pytest.fixture
def serve(capsys, monkeypatch):
    monkeypatch.delenv("IMPUTEFREE_TOKEN", raising=False)

    def call(*words):
        with pytest.raises(SystemExit) as left:
            main(["serve", *map(str, words)])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return call


def one_sentence(left, *parts):
    code, out, err = left
    assert code == 1
    assert out == ""
    assert err.startswith("imputefree: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_other_machines_need_a_token_or_a_word(serve, model):
    left = serve(model, "--host", "0.0.0.0", "--port", 0)
    one_sentence(left, "there is no token", "--token-file", "--open")


def test_a_port_in_use_is_reported(serve, model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        one_sentence(serve(model, "--port", port), f"port {port}", "in use", "--port")


def test_what_is_not_a_host_is_reported(serve, model):
    one_sentence(serve(model, "--host", "no such host.invalid"), "not an address of this machine")
    one_sentence(serve(model, "--host", "192.0.2.1", "--open"), "192.0.2.1")


def test_only_model_files_are_loaded(serve, tmp_path):
    one_sentence(serve(tmp_path / "none"), "does not exist")
    odd = tmp_path / "model.pkl"
    odd.write_bytes(b"cos\nsystem\n(S'exit 3'\ntR.")
    one_sentence(serve(odd), "not a model file")


def test_the_extra_is_named_where_it_is_missing(serve, model, monkeypatch):
    monkeypatch.setattr("imputefree.errors.find_spec", lambda _: None)
    words = "starlette and pydantic and uvicorn"
    one_sentence(serve(model), words, "pip install 'imputefree[serve]'")


def test_the_token_of_a_file_comes_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("IMPUTEFREE_TOKEN", "from-outside")
    assert read_token(None) == "from-outside"
    path = tmp_path / "token"
    path.write_text("  from-file\n")
    assert read_token(path) == "from-file"
    monkeypatch.delenv("IMPUTEFREE_TOKEN")
    assert read_token(None) is None


@pytest.mark.parametrize("text", ["", " \n", "two words", "schlüssel", "a\nb"])
def test_a_token_is_one_word(tmp_path, text):
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match="one word"):
        read_token(path)


def test_a_token_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        read_token(tmp_path / "none")
    (tmp_path / "odd").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParameterError, match="it is not text"):
        read_token(tmp_path / "odd")
