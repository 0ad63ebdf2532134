"""fastText's models: files, and objects of the package `fasttext`, with vectors from subwords.

Files are mapped into memory by our own reader, which gives the vectors of fastText's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from geomm_adapters.fasttext.model import FastTextModel, is_fasttext_model, read_fasttext_model
from geomm_adapters.fasttext.model_writer import write_mapped_model, write_words
from geomm_plugin import progress
from geomm_plugin.arrays import Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.formats import Format


@dataclass(frozen=True)
class FastTextObject:
    """Makes the vectors of words by a model of that package."""

    model: Any

    def __call__(self, word: str) -> Vector | None:
        """Make the vector of any word; None where it has no known part."""
        vector: Vector = self.model.get_word_vector(word.encode("utf-8", "surrogateescape"))
        return vector if vector.any() else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the model to another process as the file that the package makes of it."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.bin")
            self.model.save_model(str(path))
            return _loaded, (path.read_bytes(),)


def _loaded(content: bytes) -> FastTextObject:
    """Return what another process sent."""
    import fasttext

    with TemporaryDirectory() as folder:
        path = Path(folder, "model.bin")
        path.write_bytes(content)
        return FastTextObject(fasttext.load_model(str(path)))


def from_fasttext(model: Any, max_words: int | None = None) -> Embeddings:
    """Take the words of a model, most frequent first; any other word is made from its subwords."""
    words, counts = model.get_words(include_freq=True, on_unicode_error="surrogateescape")
    words = words[:max_words]
    vectors = np.empty((len(words), model.get_dimension()), np.float32)
    with progress.task(f"Making {len(words)} vectors from subwords", total=len(words)) as advance:
        for row, word in enumerate(words):
            vectors[row] = model.get_word_vector(word.encode("utf-8", "surrogateescape"))
            advance(1)
    attributes = {"count": np.asarray(counts)[: len(words)]}
    return Embeddings(words, vectors, attributes, subwords=FastTextObject(model))


class FastTextBin(Format):
    """A fastText model: words, counts and subwords.

    Mapped embeddings that come from a fastText model are written as a model, subwords and all, if
    that is exact; all others as a model without subwords.
    """

    name: ClassVar[str] = "fasttext_bin"
    suffixes: ClassVar[tuple[str, ...]] = (".bin", ".ftz")

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look at the first bytes: word2vec's binary files have the same suffix."""
        return path.is_file() and is_fasttext_model(path)

    @classmethod
    def takes(cls, embeddings: Embeddings) -> bool:
        """Take what comes from fastText; word2vec's binary files have the same suffix."""
        return isinstance(embeddings.subwords, (FastTextModel, FastTextObject))

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the vectors of the first max_words words; all others are made from subwords."""
        if not is_fasttext_model(path):
            raise FormatError(
                f"{path} does not begin as fastText's models do. If it is a file of word2vec, "
                "name the format 'word2vec_bin'."
            )
        model = read_fasttext_model(path)
        count = len(model.words) if max_words is None else min(max_words, len(model.words))
        return Embeddings(
            [word.decode("utf-8", "surrogateescape") for word in model.words[:count]],
            model.vectors(count),
            {"count": model.counts[:count]},
            subwords=model,
        )

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a model: with the subwords of the model that the embeddings come from, if any."""
        subwords = embeddings.subwords
        if isinstance(subwords, FastTextModel):
            write_mapped_model(path, subwords, embeddings)
        elif isinstance(subwords, FastTextObject):
            raise FormatError(
                "A fastText model in memory is not written as a model. Save it with "
                "model.save_model(path), and give the path of that file in its place."
            )
        else:
            write_words(path, embeddings)
