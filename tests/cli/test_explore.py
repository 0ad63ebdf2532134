"""`geomm explore`: what it opens, and what it says when it cannot."""

import re
import webbrowser
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest

from geomm_plugin import Embeddings, SharedSpace, get_mapper, save_mapper
from geomm_plugin.testing import make_toy
from geomm_plugin.views.explorer import Explorer, ExplorerServer


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
def explore(geomm, write_toy):
    """Explore two languages with further arguments, such as the mappers "one", "two", "three"."""
    toy = make_toy(words=20, dimension=5)
    files = write_toy(toy)[:2]
    for name, mapper in (("one", "procrustes"), ("two", "procrustes"), ("three", "cca")):
        save_mapper(toy.fit(get_mapper(mapper)), name)
    return lambda *further, status=0: geomm("explore", *further, *files, status=status).output


def test_the_address_is_shown_and_opened(served, explore):
    output = explore("one")
    servers, opened = served
    (address,) = re.findall(r"http://127\.0\.0\.1:\d+/\S+/", output)
    assert address == servers[0].address
    ((page, mode, mode_of_folder, content),) = opened
    assert page.startswith("file:///") and servers[0].token not in page  # as `ps` shows it
    assert (mode & 0o777, mode_of_folder & 0o777) == (0o600, 0o700)
    assert f'content="0; url={address}"' in content
    assert not Path(urlparse(page).path).parent.exists()
    assert servers[0].explorer.translate(0, "en", 3, "csls")["es"][0]["word"] == "es3"


def test_no_browser_opens_none(served, explore):
    explore("--no-browser", "one")
    assert served[1] == []


@pytest.mark.parametrize("models", [("one",), ("one", "three"), ("one", "two", "three")])
def test_every_model_is_a_mapper_to_switch_to(served, explore, models):
    explore(*models)
    shown = served[0][0].explorer.names
    assert len(set(shown)) == len(models)  # two of one kind are told apart by their folders
    assert ["two" in name for name in shown] == [model == "two" for model in models]


def test_without_a_model_the_files_are_taken_as_aligned(served, explore):
    explore()
    assert served[0][0].explorer.names == ["aligned files"]


def test_a_folder_stands_for_its_languages(served, geomm, write_toy):
    geomm("align", *write_toy(make_toy(words=60)), "-m", "procrustes", "-o", "out")
    geomm("explore", "out/", "--no-browser")
    explorer = served[0][0].explorer
    assert explorer.names == ["aligned files"]
    assert explorer.translate(0, "en", 3, "csls")["es"][0]["word"] == "es3"
    told = geomm("explore", "uot/", status=2).stderr
    assert told.startswith("There is no folder uot/. Give one that `geomm align` wrote")


def test_without_files_it_says_what_to_give(served, geomm):
    assert "--demo" in geomm("explore", status=2).stderr
    assert served[0] == []


def test_a_port_that_is_taken_is_told(served, explore):
    space = SharedSpace({"en": Embeddings(["a"], np.ones((1, 2)))})
    with ExplorerServer(Explorer({"a": space})) as other:
        output = explore("--port", str(other.server_port), "one", status=2)
    assert f"Cannot listen on port {other.server_port}" in output
