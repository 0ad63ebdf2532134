"""Whether a file, a saved mapper or a folder of aligned files is whole, and what it claims.

    a file of embeddings    can be read, every number is finite, no word repeats; the means that
                            CSLS finds beside it (.neighborhoods) are whole, and of its vectors
    a saved mapper          its checksums hold, its arrays are those of its mapper
    a folder of align()     each file has the size and hash that align.json names, is whole in
                            itself; the mapper is; no run was stopped

Nothing is changed. For people who move files between machines, and before long work.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geomm_plugin.alignment.record import MAPPER, NAME, UNFINISHED, changed, parse_record
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import GeommError
from geomm_plugin.formats import existing, find_format, read_embeddings
from geomm_plugin.retrieval.neighborhood_file import SUFFIX, means_beside, read_means
from geomm_plugin.retrieval.unit_rows import LanguageRows
from geomm_plugin.storage import CARD, JSON_NAME, is_changed_card, load_mapper


@dataclass(frozen=True)
class Finding:
    """What was found out about a file or folder; without a problem it is whole."""

    path: str
    kind: str  # "embeddings", "mapper", "aligned files", "neighborhoods"
    problem: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.problem or f'whole ({self.kind})'}"

    def row(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return asdict(self)


def check(*paths: str | Path) -> list[Finding]:
    """Check that files and folders are whole: one finding for each, or one for each problem."""
    return [finding for path in paths for finding in _check(Path(path))]


def _check(path: Path) -> list[Finding]:
    if os.path.lexists(path / NAME) and path.is_dir():
        return _findings(path, "aligned files", _aligned_problems(path))
    if os.path.lexists(path / JSON_NAME) and path.is_dir():
        return _findings(path, "mapper", _mapper_problems(path))
    if path.name.endswith(SUFFIX):
        return _findings(path, "neighborhoods", _means_problems(path))
    return _findings(path, "embeddings", _embeddings_problems(path))


def _findings(path: Path, kind: str, problems: Iterable[tuple[Path, str]]) -> list[Finding]:
    """Return a finding for each problem, or one that says that there is none."""
    findings = [Finding(str(place), kind, problem) for place, problem in problems]
    return findings or [Finding(str(path), kind)]


def _mapper_problems(path: Path) -> Iterator[tuple[Path, str]]:
    try:
        load_mapper(path)
    except GeommError as error:
        yield path, str(error)
    yield from _card_problems(path)


def _card_problems(path: Path) -> Iterator[tuple[Path, str]]:
    if is_changed_card(path / CARD):
        yield path / CARD, "it was changed; delete its first line if it is your own now"


def _embeddings_problems(path: Path) -> Iterator[tuple[Path, str]]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            place = existing(path)
            several: list[str | None] = [*find_format(place).languages(place)]
            for language in several or [None]:
                yield from _language_problems(path, read_embeddings(path, language=language))
        except GeommError as error:
            yield path, str(error)
    yield from ((path, str(warning.message)) for warning in warned)


def _language_problems(path: Path, embeddings: Embeddings) -> Iterator[tuple[Path, str]]:
    start = 0
    for block in embeddings.blocks():
        is_finite = np.isfinite(block).all(axis=1)
        if not is_finite.all():
            word = embeddings.words[start + int(np.argmin(is_finite))]
            yield path, f"the vector of {word!r} holds NaN or infinity"
            return
        start += len(block)
    if beside := means_beside(path):
        yield from _means_problems(beside, embeddings)


def _means_problems(path: Path, embeddings: Embeddings | None = None) -> Iterator[tuple[Path, str]]:
    """Read means; they may be of the first words only (--max-words)."""
    try:
        means = read_means(path)
        counts = {len(array) for array in means.values()}
        if embeddings is not None and not any(_are_of(means, embeddings, n) for n in counts):
            read_means(path, LanguageRows(embeddings, path.name))  # says why
    except GeommError as error:
        yield path, str(error)
    except OSError as error:
        yield path, f"it cannot be read: {error.strerror or error}"


def _are_of(means: Iterable[str], embeddings: Embeddings, count: int) -> bool:
    if count > len(embeddings):
        return False
    digest = LanguageRows(embeddings.head(count), "").content_hash
    return any(name.startswith(digest) for name in means)


def _aligned_problems(path: Path) -> Iterator[tuple[Path, str]]:
    left = path / UNFINISHED
    if os.path.lexists(left):
        yield left, "a run into this folder was stopped, or still goes on; run it again with resume"
    try:
        files = parse_record(path / NAME)["files"]
    except (GeommError, OSError, RuntimeError, ValueError) as error:
        yield path / NAME, f"not the record of aligned files ({error})"
        return
    if MAPPER not in files:
        yield path / NAME, "it lists no mapper"
    for name, entry in files.items():
        problems = changed(path, entry)
        yield from ((path / place, problem) for place, problem in problems)
        if not problems and name != MAPPER:
            yield from _embeddings_problems(path / name)
    if not changed(path, files.get(MAPPER, {})) and MAPPER in files:
        yield from _mapper_problems(path / MAPPER)
    yield from _card_problems(path)
