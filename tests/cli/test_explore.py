"""`geomm explore`: what it opens, and what it says when it cannot."""

import re
import webbrowser
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    Embeddings,
    get_mapper,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.views.explorer import ExplorerServer


@pytest.fixture
def served(monkeypatch):
    """Servers that were started; each ends at once, as by Ctrl-C."""
    servers, opened = [], []

    def open_page(address):
        path = Path(urlparse(address).path)
        opened.append((address, path.stat().st_mode, path.parent.stat().st_mode, path.read_text()))

    def serve(self, poll_interval=0.5):
        servers.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(ExplorerServer, "serve_forever", serve)
    monkeypatch.setattr(webbrowser, "open", open_page)
    return servers, opened


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(0)
    vectors = random.normal(size=(20, 5)).astype(np.float32)
    turned = (vectors @ np.linalg.qr(random.normal(size=(5, 5)))[0]).astype(np.float32)
    embeddings = {
        "en": Embeddings([f"word{n}" for n in range(20)], vectors),
        "es": Embeddings([f"palabra{n}" for n in range(20)], turned),
    }
    pairs = list(zip(embeddings["en"].words, embeddings["es"].words, strict=True))
    for language, value in embeddings.items():
        write_embeddings(value, tmp_path / f"{language}.vec")
    for folder, name in (("one", "procrustes"), ("two", "procrustes"), ("three", "regression")):
        mapper = get_mapper(name).fit(embeddings, {("en", "es"): pairs})
        save_mapper(mapper, tmp_path / folder)
    return tmp_path


def explore(files, *arguments, status=0):
    paths = [str(files / text) if text in ("one", "two", "three") else text for text in arguments]
    both = [f"{language}={files / language}.vec" for language in ("en", "es")]
    result = CliRunner().invoke(group, ["explore", *paths, *both])
    assert result.exit_code == status, result.output
    return result.output


def test_the_address_is_shown_and_opened(served, files):
    output = explore(files, "one")
    servers, opened = served
    (address,) = re.findall(r"http://127\.0\.0\.1:\d+/\S+/", output)
    assert address == servers[0].address
    ((page, mode, mode_of_folder, content),) = opened
    assert page.startswith("file:///") and servers[0].token not in page  # as `ps` shows it
    assert (mode & 0o777, mode_of_folder & 0o777) == (0o600, 0o700)
    assert f'content="0; url={address}"' in content
    assert not Path(urlparse(page).path).parent.exists()
    assert servers[0].explorer.translate(0, "en", 3, "csls")["es"][0]["word"] == "palabra3"


def test_no_browser_opens_none(served, files):
    explore(files, "--no-browser", "one")
    assert served[1] == []


@pytest.mark.parametrize("models", [("one",), ("one", "three"), ("one", "two", "three")])
def test_every_model_is_a_mapper_to_switch_to(served, files, models):
    explore(files, *models)
    shown = served[0][0].explorer.names
    assert len(set(shown)) == len(models)  # two of one kind are told apart by their folders
    assert ["two" in name for name in shown] == [model == "two" for model in models]


def test_without_a_model_the_files_are_taken_as_aligned(served, files):
    explore(files)
    assert served[0][0].explorer.names == ["aligned files"]


def test_without_files_it_says_what_to_give(served):
    result = CliRunner().invoke(group, ["explore"])
    assert result.exit_code == 2 and "--demo" in result.output
    assert served[0] == []


def test_a_port_that_is_taken_is_told(served, files):
    with ExplorerServer(served_explorer()) as other:
        output = explore(files, "--port", str(other.server_port), "one", status=2)
    assert f"Cannot listen on port {other.server_port}" in output


def served_explorer():
    from geomm_plugin import SharedSpace
    from geomm_plugin.views.explorer import Explorer

    return Explorer({"a": SharedSpace({"en": Embeddings(["a"], np.ones((1, 2)))})})
