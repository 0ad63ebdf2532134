"""The Embedding Projector's two files: x.tsv holds the numbers, x.metadata.tsv the words."""

import numpy as np

from geomm_plugin import Embeddings, Format, hookimpl
from geomm_plugin.errors import FormatError


class Projector(Format):
    """Tab-separated numbers and words, as projector.tensorflow.org loads them."""

    name = "projector"
    suffixes = (".tsv",)

    def files(self, path):
        return [path, path.with_suffix(".metadata.tsv")]

    def read(self, path, *, max_words=None):
        numbers, metadata = self.files(path)
        try:
            words = metadata.read_text("utf-8").removesuffix("\n").split("\n")
            rows = np.loadtxt(numbers, np.float32, delimiter="\t", ndmin=2, max_rows=max_words)
            return Embeddings(words[:max_words], rows)
        except (ValueError, FileNotFoundError) as error:
            raise FormatError(f"{path} is not a table with a metadata.tsv: {error}") from error

    def write(self, path, embeddings):
        numbers, metadata = self.files(path)
        if odd := [word for word in embeddings.words if not word.isprintable()]:
            raise FormatError(f"The projector cannot show the word {odd[0]!r}. Leave it out.")
        metadata.write_text("".join(f"{word}\n" for word in embeddings.words), "utf-8")
        with numbers.open("w") as file:
            for block in embeddings.blocks():
                np.savetxt(file, block, "%.9g", delimiter="\t")


@hookimpl
def register_formats():
    return [Projector]
