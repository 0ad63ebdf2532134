"""fastText's `.vec` text format, plain or gzipped."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import orjson

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.formats import Format


class FastTextVec(Format):
    """A header `words dimensions`, then a word and its numbers on each line."""

    name: ClassVar[str] = "fasttext_vec"
    suffixes: ClassVar[tuple[str, ...]] = (".vec", ".vec.gz")

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words of a file, or all."""
        opener = gzip.open if path.name.endswith(".gz") else open
        words, blocks = [], []
        with opener(path, "rb") as stream:
            stream.readline()
            lines = islice(stream, max_words)
            while chunk := list(islice(lines, 4096)):
                parts = [line.rstrip().split(b" ", 1) for line in chunk]
                words += [word.decode("utf-8", "surrogateescape") for word, _ in parts]
                rows = b"[[" + b"],[".join(n.replace(b" ", b",") for _, n in parts) + b"]]"
                blocks.append(np.array(orjson.loads(rows), np.float32))
        return Embeddings(words, np.concatenate(blocks))

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a file."""
        opener = gzip.open if path.name.endswith(".gz") else open
        words = iter(embeddings.words)
        with opener(path, "wb") as stream:
            stream.write(f"{len(embeddings)} {embeddings.dimension}\n".encode())
            for block in embeddings.blocks():
                for row in np.ascontiguousarray(block, np.float32):
                    numbers = orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY)
                    word = next(words).encode("utf-8", "surrogateescape")
                    stream.write(word + b" " + numbers[1:-1].replace(b",", b" ") + b"\n")
