"""The contract of a file format, as a test: for plugin authors and for us.

from geomm_plugin.testing import check_format

def test_contract():
    check_format(MyFormat)
"""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, GeommError
from geomm_plugin.formats import Format, read_embeddings, write_embeddings

PLAIN_WORDS = ["dog", "naïve", "日本語", "1", "0.5", "nan"]  # which every format must hold
# What vocabularies hold, too: odd spaces and signs, line breaks, bytes that were not UTF-8.
ODD_WORDS = [
    "#",
    '"',
    "</s>",
    "a\u00a0b",
    "\u2028",
    "\udce9",
    "two words",
    "1 2",
    "\n",
    "\t",
    " ",
    "",
]


def check_format(
    format_class: type[Format],
    *,
    sample: Path | str | None = None,
    tolerance: float = 0.0,
    **params: Any,
) -> None:
    """Check that a format keeps the contract; an AssertionError says which part it breaks.

    Parameters
    ----------
    sample
        A file to read, for formats that cannot be written.
    tolerance
        How far numbers may be from those written, for formats that round.
    params
        Parameters to make the format with.
    """
    chosen = format_class(**params)
    assert isinstance(chosen.name, str) and chosen.name, "A format needs a text `name`."
    assert inspect.getdoc(format_class), "A format needs a docstring: its first line is shown."
    assert isinstance(chosen.suffixes, tuple), "`suffixes` is a tuple of texts."
    for suffix in chosen.suffixes:
        assert suffix.startswith(".") and suffix == suffix.lower(), "A suffix is like '.vec'."
    with tempfile.TemporaryDirectory() as folder:
        if type(chosen).write is Format.write:
            assert sample is not None, "A format that cannot be written needs a sample to read."
            check_reading(chosen, Path(sample))
            check_refusals(chosen, Path(folder))
            return
        check_there_and_back(chosen, Path(folder), tolerance)
        check_odd_words(chosen, Path(folder))
        check_reading(chosen, _write(chosen, Path(folder), _embeddings(PLAIN_WORDS)))
        check_refusals(chosen, Path(folder))


def check_there_and_back(chosen: Format, folder: Path, tolerance: float) -> None:
    """What is written is read back, also from vectors that are made block by block."""
    large = [f"word{number}" for number in range(BLOCK_ROWS + 3)]
    for words, dimension in ((PLAIN_WORDS, 5), (["alone"], 1), (large, 2)):
        embeddings = _embeddings(words, dimension)
        before = embeddings.vectors.copy()
        lazy = embeddings.map(lambda rows: rows)
        for given in (embeddings, lazy):
            path = _write(chosen, folder, given)
            read = chosen.read(path)
            assert isinstance(read, Embeddings), "read returns Embeddings."
            assert list(read.words) == words, "Words are not read back as they were written."
            assert read.vectors.shape == before.shape, "Vectors changed their shape."
            assert np.allclose(read.vectors, before, rtol=0, atol=tolerance), "Numbers changed."
            assert np.array_equal(embeddings.vectors, before), "write changed its argument."


def check_odd_words(chosen: Format, folder: Path) -> None:
    """A word is read back as it was written, or refused with a FormatError that names it."""
    for word in ODD_WORDS:
        embeddings = _embeddings(["before", word, "after"])
        try:
            path = _write(chosen, folder / "odd", embeddings)
        except FormatError as error:
            assert repr(word) in str(error), f"The refusal of {word!r} does not name the word."
            names = [entry.name for entry in (folder / "odd").iterdir()]
            assert all(name.startswith("x") for name in names), "A refusal left files behind."
            continue
        assert list(chosen.read(path).words) == ["before", word, "after"], (
            f"The word {word!r} is written, but another one is read."
        )


def check_reading(chosen: Format, path: Path) -> None:
    """max_words gives the first words; reading changes no file and gives the same twice."""
    before = _contents(path)
    whole = read_embeddings(path, format=chosen)
    assert np.isfinite(np.asarray(whole.vectors, np.float64)).all(), "Numbers must be finite."
    for count in (1, 3, len(whole), len(whole) + 10):
        part = read_embeddings(path, max_words=count, format=chosen)
        assert list(part.words) == list(whole.words[:count]), "max_words gives other words."
        assert np.array_equal(part.vectors, whole.vectors[:count]), "max_words changes vectors."
    assert _contents(path) == before, "Reading changed the file."


def check_refusals(chosen: Format, folder: Path) -> None:
    """Files that are empty or of another kind end in a GeommError, not in another error."""
    for content in (b"", b"\x00\xff\xfe nonsense \x80" * 50):
        path = folder / f"broken{_suffix(chosen)}"
        path.write_bytes(content)
        try:
            read_embeddings(path, format=chosen)
        except GeommError:
            continue
        raise AssertionError(f"A file that begins with {content[:9]!r} must be a FormatError.")


def _embeddings(words: list[str], dimension: int = 5) -> Embeddings:
    random = np.random.default_rng(0)
    return Embeddings(words, random.normal(size=(len(words), dimension)).astype(np.float32))


def _write(chosen: Format, folder: Path, embeddings: Embeddings) -> Path:
    path = folder / f"x{_suffix(chosen)}"
    write_embeddings(embeddings, path, format=chosen)
    return path


def _suffix(chosen: Format) -> str:
    return chosen.suffixes[0] if chosen.suffixes else ""


def _contents(path: Path) -> dict[Path, bytes]:
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.stem}*")
    return {file: file.read_bytes() for file in files if file.is_file()}
