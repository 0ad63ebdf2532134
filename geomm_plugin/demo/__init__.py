"""The embedded demo data: three languages, two training and three test dictionaries.

fastText vectors of the 6,000 most frequent words of the proceedings of the European Parliament,
1999-2012 (re-use allowed, source acknowledged), at 100 dimensions; dictionaries from aligned text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.formats import read_embeddings

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Demo:
    """Embeddings by language, and dictionaries by pair of languages."""

    embeddings: dict[str, Embeddings]
    train: dict[tuple[str, str], Dictionary]
    test: dict[tuple[str, str], Dictionary]  # es-it has no training dictionary: it goes through en


def load_demo() -> Demo:
    """Read the demo data that comes with the package."""
    return Demo(
        {
            language: read_embeddings(FOLDER / f"{language}.vec.gz")
            for language in ("en", "es", "it")
        },
        {pair: _dictionary(pair, "train") for pair in (("en", "es"), ("en", "it"))},
        {pair: _dictionary(pair, "test") for pair in (("en", "es"), ("en", "it"), ("es", "it"))},
    )


def _dictionary(pair: tuple[str, str], part: str) -> Dictionary:
    return read_dictionary(FOLDER / f"{'-'.join(pair)}.{part}.txt")
