"""The Embedding Projector's two files: x.tsv holds the numbers, x.metadata.tsv the words."""

from itertools import islice

import numpy as np

from geomm_plugin import Embeddings, Format, hookimpl
from geomm_plugin.errors import FormatError


class Projector(Format):
    """Tab-separated numbers and words, as projector.tensorflow.org loads them."""

    name = "projector"
    suffixes = (".tsv",)

    def read(self, path, *, max_words=None):
        try:
            with path.with_suffix(".metadata.tsv").open(encoding="utf-8") as file:
                words = [line.rstrip("\n") for line in islice(file, max_words)]
            vectors = np.loadtxt(path, np.float32, delimiter="\t", ndmin=2, max_rows=max_words)
            return Embeddings(words, vectors)
        except (ValueError, FileNotFoundError) as error:
            raise FormatError(f"{path} is not a table with a metadata.tsv: {error}") from error

    def files(self, path):
        return [path, path.with_suffix(".metadata.tsv")]

    def write(self, path, embeddings):
        for word in embeddings.words:
            if not word.isprintable():
                raise FormatError(f"The projector cannot show the word {word!r}. Leave it out.")
        metadata = "".join(f"{word}\n" for word in embeddings.words)
        path.with_suffix(".metadata.tsv").write_text(metadata, encoding="utf-8")
        with path.open("w", encoding="utf-8") as file:
            for block in embeddings.blocks():
                np.savetxt(file, block, "%.9g", delimiter="\t")


@hookimpl
def register_formats():
    return [Projector]
