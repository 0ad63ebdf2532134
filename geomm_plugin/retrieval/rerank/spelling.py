"""Plain spellings: lower case, no accents, Latin letters where a script can be transliterated.

Cyrillic and Greek are written by a table of our own, other alphabets by anyascii if it is there
(the extra `letters`). Chinese characters stay as they are: they have no spelling to compare.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґўђјљњћџѓќѕ",
        "a b v g d e j z i i k l m n o p r s t u f h c ch sh sh . i . e iu ia"
        " i i e g u dj j lj nj c dz g k dz".split(),
        strict=True,
    )
)
GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split(),
        strict=True,
    )
)
LATIN_OF = {letter: latin.strip(".") for letter, latin in (CYRILLIC | GREEK).items()}
IDEOGRAPHS = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))  # Chinese characters


def plain_spellings(words: Iterable[str]) -> list[str]:
    """Return `<word>` for each word, in plain letters."""
    lowered = [f"<{word.lower()}>" for word in words]
    letters = set().union(*lowered) if lowered else set()
    table = str.maketrans(_plain_letters(letter for letter in letters if not letter.isascii()))
    return [word if word.isascii() else word.translate(table) for word in lowered]


def _plain_letters(letters: Iterable[str]) -> dict[str, str]:
    """Return what each letter is written as; what depends on its neighbours is not told apart."""
    transliterate = _transliterator()
    return {letter: _plain_letter(letter, transliterate) for letter in letters}


def _plain_letter(letter: str, transliterate: Callable[[str], str]) -> str:
    base = [c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)]
    if all(c.isascii() or c in LATIN_OF or is_ideograph(c) for c in base):
        return "".join(LATIN_OF.get(c, c) for c in base)
    return transliterate(letter)


def is_ideograph(letter: str) -> bool:
    """Say whether a letter is a Chinese character."""
    return any(first <= ord(letter) <= last for first, last in IDEOGRAPHS)


def _transliterator() -> Callable[[str], str]:
    """Return anyascii, or, where it is not installed, what leaves letters as they are."""
    try:
        from anyascii import anyascii
    except ImportError:
        return str
    return lambda letter: anyascii(letter).lower() or letter
