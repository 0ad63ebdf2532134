"""fastText's model file, written: a mapped model with its subwords, or words without subwords.

A word's vector is the mean of rows r_1 ... r_k, its own and those of its n-grams. An affine map f
can be done to the rows themselves,

    f(mean(r_1 ... r_k)) = mean(f(r_1) ... f(r_k)),

so the mapped model gives the mapped vector of *any* word. Unit length and then centering are not
affine; then only a list of words can be exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct

import numpy as np
import numpy.typing as npt

from geomm_adapters.fasttext.model import MAGIC, PARAMETERS, SIZES, VERSIONS, FastTextModel
from geomm_adapters.fasttext.quantized import QuantizedMatrix
from geomm_plugin import progress
from geomm_plugin.arrays import BLOCK_ROWS, Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.formats import finite_blocks, finite_rows, word_bytes
from geomm_plugin.mapper import LanguageMap, LinearMapper
from geomm_plugin.normalize import unit
from geomm_plugin.rows import RowFunction

_SIGNATURE, _MATRIX, _COUNT = Struct("<2i"), Struct("<?2q"), Struct("<q")
_SOFTMAX, _CBOW, _ALL_BUCKETS = 3, 1, -1
_NO_MODEL = (
    "A fastText model cannot hold these vectors: {}. Export words alone with the suffix .vec "
    "(.word2vec.bin for word2vec's binary form){}."
)


def write_mapped_model(path: Path, model: FastTextModel, embeddings: Embeddings) -> None:
    """Map every row of a model as its embeddings were; the output matrix is left out."""
    row_map = affine_map(embeddings)
    matrix = model.matrix
    is_pruned = model.stored_buckets is not None
    if model.is_classifier or is_pruned or isinstance(matrix, QuantizedMatrix):
        raise FormatError(_NO_MODEL.format("a classifier or a quantized model is not mapped", ""))
    if row_map is None and len(embeddings) < len(model.words):
        raise FormatError(
            f"A fastText model is written whole, with its {len(model.words)} words; the first "
            f"{len(embeddings)} alone go into a .vec file, or a .word2vec.bin."
        )

    def blocks() -> Iterator[Matrix]:
        for start in range(0, len(matrix), BLOCK_ROWS):
            rows = np.asarray(matrix[start : start + BLOCK_ROWS])
            mapped = rows if row_map is None else row_map(rows)
            yield finite_rows([f"row {start + i}" for i in range(len(rows))], mapped, "<f4")

    head = bytearray(model.head)
    PARAMETERS.pack_into(
        head,
        _SIGNATURE.size,
        embeddings.dimension,
        *PARAMETERS.unpack_from(head, _SIGNATURE.size)[1:],
    )
    shape = len(matrix), embeddings.dimension
    _write(path, bytes(head), model.words, model.counts, shape, blocks())


def write_words(path: Path, embeddings: Embeddings) -> None:
    """Write a model that knows its words only: no n-grams."""
    count, dimension = len(embeddings), embeddings.dimension
    counts = embeddings.attributes.get("count", np.arange(count, 0, -1))
    sizes = SIZES.pack(count, count, 0, int(counts.sum()), _ALL_BUCKETS)
    numbers = (dimension, 5, 5, 1, 5, 1, _SOFTMAX, _CBOW, 0, 0, 0, 100, 1e-4)
    head = _SIGNATURE.pack(MAGIC, VERSIONS[-1]) + PARAMETERS.pack(*numbers) + sizes
    words = [_word(word) for word in embeddings.words]
    blocks = (rows for _, rows in finite_blocks(embeddings, path, "<f4"))
    _write(path, head, words, counts, (count, dimension), blocks)


def affine_map(embeddings: Embeddings) -> RowFunction | None:
    """Return the affine map behind mapped embeddings, None for raw ones; others are refused.

    Vectors that are exported at unit length are told by their direction: the model's have lengths
    of their own.
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
    with (
        disk.create(path) as stream,
        progress.task(f"Writing {path.name}", total=shape[0]) as advance,
    ):
        stream.write(head)
        entries = zip(words, counts.tolist(), strict=True)
        stream.writelines(word + b"\0" + _COUNT.pack(count) + b"\0" for word, count in entries)
        stream.write(_MATRIX.pack(False, *shape))
        for rows in blocks:
            stream.write(rows.tobytes())
            advance(len(rows))
        stream.write(_MATRIX.pack(False, 0, shape[1]))  # an output matrix without rows


def _word(word: str) -> bytes:
    written = word_bytes(word)
    if b"\0" in written:
        raise FormatError(
            f"fastText's models cannot hold the word {word!r}: a zero byte ends a word. Rename the "
            "word, or write a .safetensors file."
        )
    return written
