"""fastText's `.bin` models, with vectors for words outside the vocabulary from subwords.

Three readers give the same vectors: our own, which maps the file into memory and needs nothing
else; the package `fasttext`; and gensim, which cannot read quantized `.ftz` models.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from geomm_adapters.fasttext.model import FastTextModel, is_fasttext_model, read_fasttext_model
from geomm_adapters.fasttext.model_writer import write_mapped_model, write_words
from geomm_adapters.fasttext.package import FastTextObject, from_fasttext
from geomm_adapters.fasttext.quantized import QuantizedMatrix
from geomm_adapters.gensim.keyed_vectors import from_keyedvectors
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, ParameterError, missing_extra
from geomm_plugin.formats import Format

Reader = Literal["mapped", "fasttext", "gensim"]


class FastTextBin(Format):
    """A fastText model: words, counts and subwords.

    Mapped embeddings that come from a fastText model are written as a model, subwords and all, if
    that is exact; all others as a model without subwords.

    Parameters
    ----------
    reader
        "mapped" (the default) reads the file itself, row by row as it is used; "fasttext" and
        "gensim" leave it to these packages, which read all of it into memory. fastText's own is
        native code that does not check a file: use it only for files from people you trust.
    """

    name: ClassVar[str] = "fasttext_bin"
    suffixes: ClassVar[tuple[str, ...]] = (".bin", ".ftz")

    def __init__(self, reader: Reader = "mapped"):
        if reader not in get_args(Reader):
            raise ParameterError(
                f"There is no reader {reader!r} of fastText models. Choose one of "
                f"{', '.join(get_args(Reader))}."
            )
        self.reader = reader

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
        model = read_fasttext_model(path)  # with every reader: finds files that are cut off
        if self.reader == "gensim" and isinstance(model.matrix, QuantizedMatrix):
            raise FormatError(f"{path} is quantized, which gensim cannot read. Use another reader.")
        if self.reader == "gensim":
            return _read_with_gensim(path, max_words)
        if self.reader == "fasttext":
            return _read_with_fasttext(path, max_words)
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


def _read_with_fasttext(path: Path, max_words: int | None) -> Embeddings:
    try:
        import fasttext
    except ImportError:
        raise missing_extra("The reader 'fasttext'", "fasttext") from None
    try:
        model = fasttext.load_model(str(path))
    except Exception as error:
        raise FormatError(f"{path} cannot be read by fastText: {error}. Fetch it again.") from error
    return from_fasttext(model, max_words)


def _read_with_gensim(path: Path, max_words: int | None) -> Embeddings:
    try:
        from gensim.models.fasttext import load_facebook_vectors
    except ImportError:
        raise missing_extra("The reader 'gensim'", "gensim") from None
    try:
        keyed_vectors: Any = load_facebook_vectors(str(path))
    except Exception as error:  # e.g. a classifier; a parser may raise anything
        raise FormatError(
            f"{path} cannot be read by gensim: {error}. Use another reader."
        ) from error
    row = keyed_vectors.key_to_index.get("</s>")
    if row is not None:  # gensim adds n-grams to </s>, which in fastText has none
        keyed_vectors.vectors[row] = keyed_vectors.vectors_vocab[row]
    embeddings = from_keyedvectors(keyed_vectors)
    return embeddings if max_words is None else embeddings.head(max_words)
