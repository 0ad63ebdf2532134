"""Reading never moves, deletes or writes anything, whatever lies beside the files."""

import json

import pytest
from click.testing import CliRunner

from geomm_plugin import load_mapper, read_embeddings, save_mapper, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import make_toy

PREFIXES = [".geomm-ready-x", ".geomm-publish-en.vec", ".geomm-publish-align.json", ".geomm-part-x"]


def snapshot(folder):
    return {
        path: (path.lstat()[:4], path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


@pytest.fixture
def home(tmp_path):
    """A folder with files of one's own, embeddings among them."""
    home = tmp_path / "home"
    toy = make_toy()
    write_embeddings(toy.embeddings["en"], home / "en.vec")
    save_mapper(toy.fit(Procrustes()), home / "mapper")
    (home / "Photos").mkdir()
    (home / "Photos" / "one.jpg").write_text("mine")
    (home / ".bashrc").write_text("mine")
    return home


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_planted_folder_does_nothing(home, prefix):
    """As an archive unpacked here could hold it, made for this or for an earlier version."""
    planted = home / prefix
    for kind in (".last", "new", "old"):
        for name in ("Photos", ".bashrc", "en.vec", "mapper"):
            (planted / kind).mkdir(parents=True, exist_ok=True)
            (planted / kind / name).write_text("evil")
    names = {name: [1, (home / name).stat().st_ino] for name in ("Photos", ".bashrc", "en.vec")}
    journal = {"format": 1, "folder": 1, "files": names}
    (planted / "journal.json").write_text(json.dumps(journal))
    before = snapshot(home)
    words = read_embeddings(home / "en.vec").words
    load_mapper(home / "mapper")
    arguments = ["convert", str(home / "en.vec"), str(home.parent / "o.vec")]
    assert CliRunner().invoke(group, arguments).exit_code == 0
    assert snapshot(home) == before
    assert read_embeddings(home.parent / "o.vec").words == words
    # Who writes here removes leftovers by our names at most, and touches nothing else.
    write_embeddings(make_toy().embeddings["es"], home / "en.npy")
    write_embeddings(make_toy().embeddings["es"], home / "en.vec")
    assert (home / "Photos" / "one.jpg").read_text() == "mine"
    assert (home / ".bashrc").read_text() == "mine"


def test_a_folder_that_cannot_be_written_to_is_read(home):
    before = snapshot(home)
    home.chmod(0o555)
    try:
        read_embeddings(home / "en.vec")
        load_mapper(home / "mapper")
    finally:
        home.chmod(0o755)
    assert snapshot(home) == before
