"""Completion in the shell: what Tab offers, also in a real bash."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from geomm_plugin import registry
from geomm_plugin.cli import COMMANDS, group

HERE = ["wiki.en.vec", "cc.es.300.bin", "notes.txt", "en-es.txt"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in HERE:
        Path(name).touch()
    Path("aligned").mkdir()
    Path("aligned", "it.vec").touch()


def offered(*words):
    *before, incomplete = words
    complete = ShellComplete(group, {}, "geomm", "_GEOMM_COMPLETE")
    return [item.value for item in complete.get_completions(list(before), incomplete)]


def test_commands_and_options():
    assert offered("") == list(COMMANDS)
    assert offered("di") == ["diagnose"]
    assert "--max-words" in offered("align", "--m")


def test_names_of_what_is_registered():
    assert offered("align", "--mapper", "geomm_p") == ["geomm_plus"]
    assert set(offered("compare", "--mapper", "")) == {"all", *registry.mappers}
    assert offered("translate", "-r", "cs") == ["csls"]
    assert offered("evaluate", "--metric", "mr") == ["mrr"]
    assert ".vec" in offered("align", "--suffix", ".v")


def test_languages_of_a_folder_and_paths_behind_an_equals_sign():
    assert offered("align", "en") == ["en-es.txt", "en=wiki.en.vec"]
    assert "es=cc.es.300.bin" in offered("align", "")
    assert offered("align", "it=al") == ["it=aligned/"]
    assert offered("align", "it=aligned/") == ["it=aligned/it.vec"]
    assert offered("align", "it=nowhere/") == []


def test_pairs_of_the_languages_that_are_typed():
    typed = ["align", "en=wiki.en.vec", "es=cc.es.300.bin"]
    assert offered(*typed, "--identical", "e") == ["en-es", "es-en"]
    assert offered(*typed, "--dictionary", "en-") == ["en-es.txt", "en-es="]
    assert offered(*typed, "--dictionary", "en-es=en") == ["en-es=en-es.txt"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
def test_in_a_real_bash(tmp_path):
    program = tmp_path / "bin" / "geomm"
    program.parent.mkdir()
    code = f"import sys; sys.path[:0] = {sys.path!r}; from geomm_plugin.cli import main; main()"
    start = shlex.join([sys.executable, "-c", code])
    program.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    program.chmod(0o755)
    script = f"""
    PATH={program.parent}:$PATH
    eval "$(_GEOMM_COMPLETE=bash_source geomm)"
    try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _geomm_completion geomm
             echo "${{COMPREPLY[@]}}"; }}
    try geomm conv
    try geomm align --mapper geomm_p
    try geomm align en = wiki
    try geomm align en = wiki.en.vec es = cc.es.300.bin --identical es
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["convert", "geomm_plus", "wiki.en.vec", "es-en"], (
        done.stderr
    )
