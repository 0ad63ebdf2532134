"""fastText's models: files, and objects of the package `fasttext`, with vectors from subwords.

Files are mapped into memory by our own reader, which gives the vectors of fastText's own. A word's
vector is the mean of rows r_1 ... r_k, its own and those of its n-grams. An affine map f can be
done to the rows themselves,

    f(mean(r_1 ... r_k)) = mean(f(r_1) ... f(r_k)),

so the mapped model that is written gives the mapped vector of *any* word. Unit length and then
centering are not affine; then only a list of words can be exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.fasttext.model import (
    COUNT,
    MAGIC,
    MATRIX,
    PARAMETERS,
    QUANTIZED,
    SIGNATURE,
    SIZES,
    VERSIONS,
    FastTextModel,
    is_fasttext_model,
    read_fasttext_model,
)
from geomm_plugin import progress
from geomm_plugin.arrays import BLOCK_ROWS, Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.formats import Format, finite_blocks, finite_rows, word_bytes
from geomm_plugin.mapper import LanguageMap, LinearMapper
from geomm_plugin.normalize import unit
from geomm_plugin.rows import RowFunction

_SOFTMAX, _CBOW, _ALL_BUCKETS = 3, 1, -1
_NO_MODEL = (
    "A fastText model cannot hold these vectors: {}. Export words alone with the suffix .vec "
    "(.word2vec.bin for word2vec's binary form){}."
)


def from_fasttext(model: Any, max_words: int | None = None) -> Embeddings:
    """Take the words of a model, most frequent first; any other word is made from its subwords.

    The model's own matrix is used, not a copy.
    """
    if model.is_quantized():
        raise FormatError(f"This {QUANTIZED}")
    words, counts = model.get_words(include_freq=True, on_unicode_error="surrogateescape")
    settings = model.f.getArgs()
    found = FastTextModel(
        [word.encode("utf-8", "surrogateescape") for word in words],
        np.asarray(counts, np.int64),
        np.asarray(model.f.getInputMatrix()),
        settings.minn,
        settings.maxn,
        settings.bucket if settings.maxn > 0 else 0,
    )
    return found.embeddings(max_words)


class FastTextBin(Format):
    """A fastText model: words, counts and subwords.

    Mapped embeddings that come from a fastText model are written as a model, subwords and all, if
    that is exact; all others as a model without subwords.
    """

    name: ClassVar[str] = "fasttext_bin"
    suffixes: ClassVar[tuple[str, ...]] = (".bin",)

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look at the first bytes: word2vec's binary files have the same suffix."""
        return path.is_file() and is_fasttext_model(path)

    @classmethod
    def takes(cls, embeddings: Embeddings) -> bool:
        """Take what comes from fastText; word2vec's binary files have the same suffix."""
        return isinstance(embeddings.subwords, FastTextModel)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the vectors of the first max_words words; all others are made from subwords."""
        if not is_fasttext_model(path):
            raise FormatError(
                f"{path} does not begin as fastText's models do. If it is a file of word2vec, "
                "name the format 'word2vec_bin'."
            )
        return read_fasttext_model(path).embeddings(max_words)

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a model: with the subwords of the model that the embeddings come from, if any."""
        model = embeddings.subwords
        if isinstance(model, FastTextModel):
            _write_mapped(path, model, embeddings)
        else:
            _write_words(path, embeddings)


def _write_mapped(path: Path, model: FastTextModel, embeddings: Embeddings) -> None:
    """Map every row of a model as its embeddings were; the output matrix is left out."""
    if not model.head:
        raise FormatError(
            "A fastText model in memory is not written as a model. Save it with "
            "model.save_model(path), and give the path of that file in its place."
        )
    row_map, matrix = _affine_map(embeddings), model.matrix
    if model.is_classifier:
        raise FormatError(_NO_MODEL.format("a classifier is not mapped", ""))
    if row_map is None and len(embeddings) < len(model.words):
        raise FormatError(
            f"A fastText model is written whole, with its {len(model.words)} words; the first "
            f"{len(embeddings)} alone go into a .vec file, or a .word2vec.bin."
        )

    def blocks() -> Iterator[Matrix]:
        with progress.task(f"Writing {path.name}", len(matrix), "rows") as advance:
            for start in range(0, len(matrix), BLOCK_ROWS):
                rows = np.asarray(matrix[start : start + BLOCK_ROWS])
                mapped = rows if row_map is None else row_map(rows)
                yield finite_rows([f"row {start + i}" for i in range(len(rows))], mapped, "<f4")
                advance(len(rows))

    head = bytearray(model.head)
    _, *others = PARAMETERS.unpack_from(head, SIGNATURE.size)
    PARAMETERS.pack_into(head, SIGNATURE.size, embeddings.dimension, *others)
    shape = len(matrix), embeddings.dimension
    _write(path, bytes(head), model.words, model.counts, shape, blocks())


def _write_words(path: Path, embeddings: Embeddings) -> None:
    """Write a model that knows its words only: no n-grams."""
    count, dimension = len(embeddings), embeddings.dimension
    counts = np.asarray(embeddings.attributes.get("count", np.arange(count, 0, -1)))
    tokens = sum(counts.tolist()) if counts.dtype.kind in "iu" else -1
    if not 0 <= tokens < 2**63:
        raise FormatError(
            "fastText's models hold how often each word occurs, as whole numbers; the attribute "
            f"'count' of these embeddings is {counts.dtype}. Leave it out, or round its numbers."
        )
    sizes = SIZES.pack(count, count, 0, tokens, _ALL_BUCKETS)
    numbers = (dimension, 5, 5, 1, 5, 1, _SOFTMAX, _CBOW, 0, 0, 0, 100, 1e-4)
    head = SIGNATURE.pack(MAGIC, VERSIONS[-1]) + PARAMETERS.pack(*numbers) + sizes
    for word in embeddings.words:
        if "\0" in word:
            raise FormatError(
                f"fastText's models cannot hold the word {word!r}: a zero byte ends a word. Rename "
                "the word, or write a .safetensors file."
            )
    words = [word_bytes(word) for word in embeddings.words]
    blocks = (rows for _, rows in finite_blocks(embeddings, path, "<f4"))
    _write(path, head, words, counts, (count, dimension), blocks)


def _affine_map(embeddings: Embeddings) -> RowFunction | None:
    """Return the affine map behind mapped embeddings, None for raw ones; others are refused.

    Vectors that are exported at unit length are recognized by their direction: the model's have
    lengths of their own.
    """
    functions = embeddings.rows.functions
    if not functions:
        return None
    keeps_length = functions[-1] is not unit
    maps = [function for function in functions if function is not unit]
    (only,) = maps if len(maps) == 1 else (None,)
    if not isinstance(only, LanguageMap) or not isinstance(only.mapper, LinearMapper):
        raise FormatError(_NO_MODEL.format("they were not mapped by one linear mapper", ""))
    mapper, language = only.mapper, only.language
    normalizer, matrix = mapper.normalizer_, mapper.matrices_[language]
    if not normalizer.has_affine_directions:
        raise FormatError(
            _NO_MODEL.format(
                f"{mapper.name} normalizes by {', '.join(normalizer.steps)}, and a mean that is "
                "subtracted after unit length does not carry over from n-grams to words",
                ", or fit with normalize=unit (or normalize=center), which does",
            )
        )
    if keeps_length and "unit" in normalizer.steps:
        raise FormatError(
            _NO_MODEL.format(
                "its words come with lengths of their own, not with those after unit length",
                ", or leave --keep-length out; directions are the same",
            )
        )
    return lambda rows: normalizer.directions(language, rows) @ matrix.astype(np.float32)


def _write(
    path: Path,
    head: bytes,
    words: Sequence[bytes],
    counts: npt.NDArray[np.int64],
    shape: tuple[int, int],
    blocks: Iterable[Matrix],
) -> None:
    with disk.create(path) as stream:
        stream.write(head)
        entries = zip(words, counts.tolist(), strict=True)
        stream.writelines(word + b"\0" + COUNT.pack(count) + b"\0" for word, count in entries)
        stream.write(MATRIX.pack(False, *shape))
        for rows in blocks:
            stream.write(rows.data)
        stream.write(MATRIX.pack(False, 0, shape[1]))  # an output matrix without rows
