"""GloVe's text: a word and its numbers a line, without a first line of sizes."""

from __future__ import annotations

from typing import ClassVar

from geomm_adapters.text.fasttext_vec import FastTextVec


class GloveText(FastTextVec):
    """As `.vec`, but written without `words dimension` at the top; both are read as either."""

    name: ClassVar[str] = "glove"
    suffixes: ClassVar[tuple[str, ...]] = (".glove", ".glove.gz", ".glove.txt", ".glove.txt.gz")
    has_header: ClassVar[bool] = False
