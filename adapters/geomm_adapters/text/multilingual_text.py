"""Text of several languages in one file, such as ConceptNet Numberbatch: keys like `/c/en/dog`.

The lines of one language are picked out of the stream, without what stands before the word, and
handed to the reader of `.vec` text: memory holds that language only.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from geomm_adapters.text.gzip_stream import beginning, opened
from geomm_adapters.text.vec_reader import LONGEST_LINE, VecReader, gathered
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, ParameterError, UnknownNameError
from geomm_plugin.formats import Format

_CHUNK = 2**22
_LONGEST_HEADER = 100
_HEADER = re.compile(rb"(\d{1,18}) \d+ *\r?\n")


class MultilingualText(Format):
    """Numberbatch and other text whose words begin with their language, for reading.

    Parameters
    ----------
    language
        The language to read.
    prefix
        What stands before a word, with {} for the language: "/c/{}/" in ConceptNet's files; "{}:"
        for words such as en:dog.
    """

    name: ClassVar[str] = "multilingual_text"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz", ".vec", ".vec.gz")
    in_utf8: ClassVar[bool] = True

    def __init__(self, language: str | None = None, prefix: str = "/c/{}/"):
        if prefix.count("{}") != 1:
            raise ParameterError(f"prefix must hold {{}} once, for the language; it is {prefix!r}.")
        self.language = language
        self.prefix = prefix

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look at the first word: ConceptNet's begin with /c/ and a language."""
        first = _HEADER.sub(b"", beginning(path, 2 * _LONGEST_HEADER), count=1)
        return re.match(rb"/c/[a-z-]{2,12}/", first) is not None

    def of_language(self, language: str) -> Format:
        """Read the words of one language."""
        return MultilingualText(language, self.prefix)

    def languages(self, path: Path) -> list[str]:
        """Return the languages of a file; all of it is read."""
        before, after = map(re.escape, self.prefix.encode().split(b"{}"))
        key = re.compile(rb"^" + before + rb"([^\s/:]{1,40})" + after, re.MULTILINE)
        names = (name for chunk in _lines(path) for name in dict.fromkeys(key.findall(chunk)))
        return [name.decode("utf-8", "surrogateescape") for name in dict.fromkeys(names)]

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the words of a language, in the order of the file."""
        if self.language is None:
            raise FormatError(
                f"{path} holds words of several languages. Say which: language='en' (on the "
                f"command line en={path.name}), or read_space(path, ['en', 'es'])."
            )
        prefix = self.prefix.format(self.language).encode("utf-8", "surrogateescape")
        with io.BufferedReader(_LinesOf(path, prefix), _CHUNK) as chosen:
            if not chosen.peek(1):
                raise UnknownNameError(
                    f"{path} holds no word that begins with {prefix.decode(errors='replace')!r}. "
                    "Check the code of the language; list them with languages(path)."
                )
            reader = VecReader(path, chosen, max_words)
            embeddings = gathered(reader)
            reader.warn_of_repetitions(stacklevel=6)
        words = list(embeddings.words)
        if max_words is not None and 1 < len(words) == max_words and words == sorted(words):
            warnings.warn(
                f"{path}: words are in the order of the alphabet, so the first {max_words} are not "
                "the most frequent ones.",
                stacklevel=5,
            )
        return embeddings


class _LinesOf(io.RawIOBase):
    """The lines of a file that begin with a prefix, without it, as a stream."""

    def __init__(self, path: Path, prefix: bytes):
        self._lines = _lines(path)
        self._pattern = re.compile(rb"^" + re.escape(prefix) + rb"(.*\n)", re.MULTILINE)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        while not self._rest:
            chunk = next(self._lines, None)
            if chunk is None:
                return 0
            self._rest = memoryview(b"".join(self._pattern.findall(chunk)))
        target = memoryview(buffer)  # type: ignore[arg-type]
        size = min(len(target), len(self._rest))
        target[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _lines(path: Path) -> Iterator[bytes]:
    """Yield chunks of whole lines without the header; a file that is cut off is refused."""
    count = 0
    with opened(path) as stream:
        first = stream.readline(_LONGEST_HEADER)
        header = _HEADER.fullmatch(first)
        promised, rest = (int(header[1]), b"") if header else (None, first)
        while chunk := stream.read(_CHUNK):
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            if len(rest) > LONGEST_LINE:
                raise FormatError(f"{path}: a line has over {LONGEST_LINE} bytes. It is no text.")
            count += whole.count(b"\n") + len(newline)
            yield whole + newline
    if rest.strip():
        count += 1
        yield rest + b"\n"
    if promised is not None and count != promised:
        raise FormatError(
            f"{path}: line 1 promises {promised} words, but the file holds {count}. The file seems "
            "cut off; fetch it again."
        )
