"""The embedded demo data: three languages, their dictionaries, aligned sentences, labelled texts.

Made from the proceedings of the European Parliament, 1999-2012 (re-use allowed, source
acknowledged): fastText vectors of the 6,000 most frequent words at 100 dimensions; dictionaries
from aligned text; 1,000 sentences in three languages; speeches with one of ten topics each, 600 in
English, 300 in Spanish and in Italian, none of which is there in two languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.evaluation.texts import LabelledTexts, read_labelled_texts, read_texts
from geomm_plugin.formats import read_embeddings

FOLDER = Path(__file__).parent / "data"
LANGUAGES = ("en", "es", "it")


@dataclass(frozen=True, repr=False)
class Demo:
    """Embeddings by language, dictionaries by pair of languages; texts are read when asked for."""

    embeddings: dict[str, Embeddings]
    train: dict[tuple[str, str], Dictionary]
    test: dict[tuple[str, str], Dictionary]  # es-it has no training dictionary: it goes through en

    @cached_property
    def sentences(self) -> dict[str, list[str]]:
        """The same 1,000 sentences in each language, line by line."""
        return {name: read_texts(FOLDER / f"sentences.{name}.txt.gz") for name in LANGUAGES}

    @cached_property
    def topics(self) -> dict[str, LabelledTexts]:
        """Speeches by language, each labelled with one of ten topics."""
        return {name: read_labelled_texts(FOLDER / f"topics.{name}.tsv.gz") for name in LANGUAGES}

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {len(value)}" for name, value in self.embeddings.items())
        pairs = [
            ", ".join(f"{source}-{target} {len(part[source, target])}" for source, target in part)
            for part in (self.train, self.test)
        ]
        return f"<Demo: words {words}; train {pairs[0]}; test {pairs[1]}; sentences, topics>"


def load_demo() -> Demo:
    """Read the demo data that comes with the package."""
    return Demo(
        {language: read_embeddings(FOLDER / f"{language}.vec.gz") for language in LANGUAGES},
        {pair: _dictionary(pair, "train") for pair in (("en", "es"), ("en", "it"))},
        {pair: _dictionary(pair, "test") for pair in (("en", "es"), ("en", "it"), ("es", "it"))},
    )


def _dictionary(pair: tuple[str, str], part: str) -> Dictionary:
    return read_dictionary(FOLDER / f"{'-'.join(pair)}.{part}.txt")
