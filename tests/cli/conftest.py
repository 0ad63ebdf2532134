"""The command line as users type it, and toy languages in a folder to work in."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin import write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.testing import make_toy


@pytest.fixture(scope="session")
def geomm():
    """Run a command, which ends as expected; return what it printed."""

    def run(*line, status=0, **settings):
        words = [str(word) for word in line]
        done = CliRunner().invoke(group, words, prog_name="geomm", **settings)
        assert done.exit_code == status, (done.output, done.exception)
        assert "Traceback" not in done.output
        return done

    return run


@pytest.fixture
def write_toy(tmp_path, monkeypatch):
    """Write a toy's files into a folder to work in; return them as arguments and options."""
    monkeypatch.chdir(tmp_path)

    def write(toy=None, **settings):
        toy = toy or make_toy(**settings)
        arguments = []
        for language, embeddings in toy.embeddings.items():
            write_embeddings(embeddings, f"{language}.vec")
            arguments.append(f"{language}={language}.vec")
        for (source, target), pairs in toy.dictionaries.items():
            lines = "".join(f"{one}\t{other}\n" for one, other in pairs)
            Path(f"{source}-{target}.txt").write_text(lines, encoding="utf-8")
            arguments += ["-d", f"{source}-{target}={source}-{target}.txt"]
        return arguments

    return write
