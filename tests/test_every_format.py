"""Every registered format keeps the contract; and what breaks it is told."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, Format, registry
from geomm_plugin.errors import FormatError
from geomm_plugin.testing import check_format

WRITTEN = [name for name, known in registry.formats.items() if known.write is not Format.write]
NEEDS = {"spacy": "spacy"}


@pytest.mark.parametrize("name", WRITTEN)
def test_formats_that_are_written(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    check_format(registry.formats[name])


def test_formats_that_are_only_read():
    assert set(registry.formats) - set(WRITTEN) == {"fasttext_bin", "static_model"}
    utils = pytest.importorskip("gensim.test.utils")
    check_format(registry.formats["fasttext_bin"], sample=utils.datapath("lee_fasttext_new.bin"))


class Plain(Format):
    """Words by line, numbers in npy."""

    name = "plain"
    suffixes = (".plain",)

    def read(self, path, *, max_words=None):
        try:
            words = path.with_suffix(".w").read_text("utf-8", "surrogateescape").split("\n")[:-1]
            with path.open("rb") as stream:
                return Embeddings(words[:max_words], np.load(stream)[:max_words])
        except (OSError, ValueError, EOFError) as error:
            raise FormatError(str(error)) from error

    def write(self, path, embeddings):
        for word in embeddings.words:
            if "\n" in word or "\r" in word:
                raise FormatError(f"Not {word!r}.")
        text = "".join(f"{word}\n" for word in embeddings.words)
        path.with_suffix(".w").write_text(text, "utf-8", "surrogateescape")
        with path.open("wb") as stream:
            np.save(stream, embeddings.vectors)


class Rounds(Plain):
    """Changes numbers."""

    def write(self, path, embeddings):
        super().write(path, Embeddings(embeddings.words, np.round(embeddings.vectors, 3)))


class Lowers(Plain):
    """Changes words."""

    def read(self, path, *, max_words=None):
        read = super().read(path, max_words=max_words)
        return Embeddings([word.strip() for word in read.words], read.vectors)


class IgnoresMaxWords(Plain):
    """Reads everything."""

    def read(self, path, *, max_words=None):
        return super().read(path)


class Raises(Plain):
    """Lets numpy's errors out."""

    def read(self, path, *, max_words=None):
        with path.open("rb") as stream:
            vectors = np.load(stream)
        return Embeddings(super().read(path).words[:max_words], vectors[:max_words])


class Scales(Plain):
    """Changes what it was given."""

    def write(self, path, embeddings):
        super().write(path, embeddings)
        vectors = embeddings.vectors
        vectors *= 2


class OnlyReads(Format):
    """Cannot be written."""

    name = "only_reads"
    suffixes = (".x",)

    def read(self, path, *, max_words=None):
        raise FormatError("no")


def test_a_format_that_keeps_the_contract():
    check_format(Plain)
    check_format(Rounds, tolerance=1e-3)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (Rounds, "Numbers changed"),
        (Lowers, "another one is read"),
        (IgnoresMaxWords, "max_words gives other words"),
        (Scales, "changed its argument"),
        (OnlyReads, "needs a sample"),
    ],
)
def test_a_broken_contract_is_told(broken, told):
    with pytest.raises(AssertionError, match=told):
        check_format(broken)


def test_errors_of_other_libraries_are_not_the_format_s():
    with pytest.raises((ValueError, EOFError)) as caught:
        check_format(Raises)
    assert not isinstance(caught.value, FormatError)
