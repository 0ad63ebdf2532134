"""A numpy array and a vocabulary beside it: `x.npy` or `x.vectors`, and `x.vocab`.

The vocabulary is text, one word a line. xling-eval's is a pickled dict {word: row} instead: it is
read opcode by opcode, as a list of texts and numbers, so that no code in it can run.
"""

from __future__ import annotations

import pickletools
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.vec_reader import BYTE_ORDER_MARK
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, FormatError
from geomm_plugin.files import disk
from geomm_plugin.formats import Format, finite_blocks, word_bytes
from geomm_plugin.registry.parameters import plain_number

_VOCABULARIES = (".vocab", ".vocab.txt", ".words", ".txt")  # looked for in this order
_PICKLE_BEGINS = b"\x80"  # the first byte of protocols 2 and above; no text in UTF-8 begins so
_LINES_CHECKED = 20  # to decide whether a vocabulary holds words or words with vectors
_NUMPY_BEGINS = b"\x93NUMPY"
_ENCODING = ("utf-8", "surrogateescape")


class NpyVectors(Format):
    """Vectors mapped into memory from `.npy`, words from the file of that stem beside it."""

    name: ClassVar[str] = "npy"
    suffixes: ClassVar[tuple[str, ...]] = (".npy", ".vectors")

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Map the array into memory and read the words."""
        vectors = mapped_array(path)
        vocabulary = _find_vocabulary(path)
        words = _read_words(vocabulary)
        if vectors.ndim != 2 or len(words) != len(vectors) or not vectors.shape[1]:
            raise FormatError(
                f"{path} has the shape {vectors.shape}, but {vocabulary} has {len(words)} words; "
                "one row is needed for each word."
            )
        if _are_vectors(words, vectors.shape[1]):
            raise FormatError(
                f"{vocabulary} holds vectors, not words alone: its lines end in "
                f"{vectors.shape[1]} numbers. Read it instead, or put the words of {path}, one a "
                f"line, into {path.with_suffix(_VOCABULARIES[0])}."
            )
        return Embeddings(words[:max_words], vectors[:max_words])

    def files(self, path: Path) -> list[Path]:
        """Return the array and its vocabulary."""
        return [path, _find_vocabulary(path)]

    def neighbors(self, path: Path) -> list[Path]:
        """Return the names that a vocabulary is looked for under, down to the one that is there."""
        names = [path.with_suffix(suffix) for suffix in _VOCABULARIES]
        present = [name.is_file() for name in names]
        return names[: present.index(True) + 1] if any(present) else names

    def outputs(self, path: Path) -> list[Path]:
        """Return the array and its vocabulary."""
        return [path, path.with_suffix(_VOCABULARIES[0])]

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write the array and, beside it, the words."""
        for word in embeddings.words:
            if "\n" in word or "\r" in word:
                raise FormatError(
                    f"The word {word!r} holds a line break, which a vocabulary of one word a line "
                    "cannot hold. Rename the word, or write a .safetensors file."
                )
        text = b"".join(word_bytes(word) + b"\n" for word in embeddings.words)
        if text.startswith((BYTE_ORDER_MARK, _PICKLE_BEGINS)):
            raise FormatError(
                f"The first word {embeddings.words[0]!r} begins with a byte order mark, or as a "
                "pickle does: it would be read as another one. Rename the word, write it further "
                "down, or write a .safetensors file."
            )
        disk.write_file(path.with_suffix(_VOCABULARIES[0]), text)
        shape = (len(embeddings), embeddings.dimension)
        dtype = embeddings.rows.dtype.newbyteorder("<")
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        with disk.create(path) as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            for _, rows in finite_blocks(embeddings, path, dtype):
                stream.write(rows.data)


def mapped_array(path: Path) -> npt.NDArray[Any]:
    """Map a `.npy` file of numbers into memory; nothing is read or reserved until it is used."""
    with path.open("rb") as stream:
        begin = stream.read(len(_NUMPY_BEGINS))
    if begin != _NUMPY_BEGINS:
        archive = "an archive (.npz), not " if begin.startswith(b"PK") else "not "
        raise FormatError(
            f"{path} is {archive}a numpy array. Save one array with numpy.save, or name the format."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # about files of Python 2, and about types that are refused below
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except (
        Exception
    ) as error:  # numpy parses its header as a Python literal: anything may be raised
        raise FormatError(
            f"{path} is not a whole numpy array ({error}). Fetch it again, or write it again."
        ) from error
    if array.dtype.kind not in "fiu":
        raise FormatError(f"{path} holds {array.dtype}, not numbers. Vectors are needed.")
    numbers: npt.NDArray[Any] = array
    return numbers


def _find_vocabulary(path: Path) -> Path:
    candidates = [path.with_suffix(suffix) for suffix in _VOCABULARIES]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileError(
        f"There is no vocabulary for {path}. Put the words, one a line, into {candidates[0]}."
    )


def _are_vectors(lines: list[str], dimension: int) -> bool:
    """True if lines are words with their vectors, such as GloVe's `.txt` beside an array."""
    first = [line.split() for line in lines[:_LINES_CHECKED]]
    return bool(first) and all(
        len(columns) > dimension > 1 and all(plain_number(c) is not None for c in columns[1:])
        for columns in first
    )


def _read_words(path: Path) -> list[str]:
    content = path.read_bytes()
    if content.startswith(_PICKLE_BEGINS):
        return _words_in_order(path, content)
    lines = content.removeprefix(BYTE_ORDER_MARK).decode(*_ENCODING).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _words_in_order(path: Path, content: bytes) -> list[str]:
    try:
        row_of = _plain_dict(content)
    except ValueError as error:
        raise FormatError(
            f"{path} is a pickle of something else than {{word: row}} ({error}), and is not "
            "opened. Write the words into it, one a line."
        ) from error
    words = sorted(row_of, key=lambda word: row_of[word])
    if [row_of[word] for word in words] != list(range(len(words))):
        raise FormatError(f"{path}: the rows of its words are not 0, 1, 2, ...")
    return words


def _plain_dict(content: bytes) -> dict[str, int]:
    """Read a pickled dict of texts and whole numbers; anything else is a ValueError.

    Only opcodes that push values and fill one dict are allowed; nothing is imported or called.
    """
    items: list[Any] = []
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"):
            items.append(argument)
        elif opcode.name in ("BININT", "BININT1", "BININT2", "LONG1"):
            items.append(argument)
        elif opcode.name not in _HARMLESS:
            raise ValueError(f"it holds {opcode.name}")
    words, rows = items[::2], items[1::2]
    if not all(type(w) is str for w in words) or not all(type(r) is int for r in rows):
        raise ValueError("its items are not words and whole numbers in turn")
    return dict(zip(words, rows, strict=True))


_HARMLESS = {
    *("PROTO", "FRAME", "EMPTY_DICT", "MARK", "SETITEM", "SETITEMS", "STOP"),
    *("BINPUT", "LONG_BINPUT", "MEMOIZE"),
}
