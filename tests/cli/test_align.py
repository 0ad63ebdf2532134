"""`geomm align`: what it refuses before anything is written."""

import pytest
from click.testing import CliRunner

from geomm_plugin import write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.testing import make_toy


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Run an align of en.vec and es.vec with further arguments; return why it is refused."""
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy().embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")

    def run(*further):
        before = sorted(tmp_path.rglob("*"))
        done = CliRunner().invoke(group, ["align", *further, "-o", "out"])
        assert done.exit_code == 2, (done.output, done.exception)
        assert sorted(tmp_path.rglob("*")) == before
        return done.output

    return run


@pytest.mark.parametrize("name", ["../evil", "a/b", "/tmp/evil", "new\nline"])
def test_a_language_does_not_lead_out_of_the_folder(refused, name):
    told = refused(f"{name}=en.vec", "es=es.vec", "--identical", f"{name}-es")
    assert "no name of a file" in told


def test_a_suffix_does_not_lead_out_of_the_folder(refused):
    told = refused("en=en.vec", "es=es.vec", "--identical", "en-es", "--suffix", "/../x.vec")
    assert "no name of a file" in told


def test_without_a_dictionary_it_says_how_to_give_one(refused):
    assert "--dictionary LANG-LANG=FILE" in refused("en=en.vec", "es=es.vec")
