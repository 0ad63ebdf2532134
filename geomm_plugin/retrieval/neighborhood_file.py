"""The CSLS means of a language beside its file, so that the first answer need not wait for them.

    es.vec                  embeddings
    es.vec.neighborhoods    r(z) of every row z: the mean cosine with its k nearest rows of another
                            language, in float64; for each language and k one array (safetensors)

An array is found by what it was computed from: the hashes of both languages' unit rows, and k. So
one of other vectors is never used, also after files were moved or replaced.
The file may be damaged: nothing but plain numbers between -1 and 1 is taken from it. One of another
user than the files' own, in a folder that all may write to, is not used: its numbers may be wrong.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import TILES, Tiles, Vector
from geomm_plugin.errors import FileError, FormatError, GeommError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file, check_writable
from geomm_plugin.files.outputs import LONGEST_NAME, refuse_folder
from geomm_plugin.files.stamps import sha256_of_arrays
from geomm_plugin.files.trust import is_trusted, read_arrays
from geomm_plugin.retrieval.unit_rows import UnitRows

SUFFIX = ".neighborhoods"
FORMAT = "geomm_plugin neighborhoods 1"
LARGEST = 1 + 1e-3  # of a mean cosine of unit rows, with what float32 rounds
MOST_ARRAYS = 1000  # in a file; a larger one is not read


def saved_means(rows: UnitRows, others: UnitRows, k: int) -> Vector | None:
    """Return the saved mean cosine of each row with its k nearest others; None if there is none.

    A file that cannot be used is ignored, with a warning.
    """
    if rows.file is None:
        return None
    path = means_beside(rows.file.path)
    if path is None:
        return None
    try:
        means = read_means(path, rows)
    except (GeommError, OSError) as error:
        warnings.warn(f"{error} The search goes on without it.", stacklevel=2)
        return None
    array = means.get(_key(rows, others, k))
    return array if array is not None and array.shape == (len(rows),) else None


def read_means(path: Path, rows: UnitRows | None = None) -> dict[str, Vector]:
    """Read all means of a file; an error says why it cannot be used, with these rows if given."""
    means = _read(path, None if rows is None else len(rows))
    if rows is None or rows.file is None:
        return means
    place = Path(rows.file.path)
    if not is_trusted(path, place):
        raise FileError(f"{path} belongs to another user than {place}.")
    if not any(name.startswith(rows.content_hash) for name in means):
        raise FormatError(
            f"{path} was computed from other vectors than these {len(rows)} of {place}; `geomm "
            "neighborhoods` computes it again."
        )
    return means


def save_means(languages: Mapping[str, UnitRows], k: int = 10, tiles: Tiles = TILES) -> list[Path]:
    """Compute the means of every two languages, and write them beside the languages' files.

    Nothing is done where all of them are there. Returns the files, in the order of the languages;
    a file that holds several of them has one.
    """
    paths = {name: neighborhoods_path(_file(rows, name)) for name, rows in languages.items()}
    if len(languages) < 2:
        raise ParameterError(
            f"Neighbourhoods are of words in another language; there is only "
            f"{', '.join(languages) or 'none'}. Give at least two languages."
        )
    if _all_saved(languages, k):
        return list(dict.fromkeys(paths.values()))
    for path in paths.values():
        refuse_folder(path)
        check_writable(path.parent)
    means = all_means(languages, k, tiles)
    by_path: dict[Path, dict[str, Vector]] = {path: {} for path in paths.values()}
    for name, path in paths.items():
        by_path[path] |= means[name]  # a file may hold several languages
    for path, content in by_path.items():
        with atomic_file(path, follow_links=False) as part:  # nor does who reads them
            disk.write_file(part, to_bytes(content))
    return list(by_path)


def all_means(
    languages: Mapping[str, UnitRows], k: int = 10, tiles: Tiles = TILES
) -> dict[str, dict[str, Vector]]:
    """Return by language the means with every other one, as they are found in a file."""
    from geomm_plugin.retrieval.both_ways import neighborhoods  # not needed where means are read

    means: dict[str, dict[str, Vector]] = {name: {} for name in languages}
    for here, there in combinations(languages, 2):
        with progress.task(f"Comparing {here} and {there}"):
            x, z = languages[here], languages[there]
            of_x, of_z = neighborhoods(x.all(), z.all(), k, tiles)
            means[here][_key(x, z, k)] = of_x
            means[there][_key(z, x, k)] = of_z
    return means


def to_bytes(means: Mapping[str, Vector]) -> bytes:
    """Return the content of a file."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in means.items()}
    # One entry: the library writes several in any order, and equal means give equal files.
    content: bytes = save(arrays, {"format": f"{FORMAT} {sha256_of_arrays(arrays)}"})
    return content


def neighborhoods_path(path: str | Path) -> Path:
    """Return where the means of a file of embeddings are kept."""
    path = Path(path)
    return path.with_name(path.name + SUFFIX)


def means_beside(path: str | Path) -> Path | None:
    """Return where the means of a file of embeddings are read; None if there are none."""
    beside = neighborhoods_path(path)
    if len(os.fsencode(beside.name)) > LONGEST_NAME:
        return None
    return beside if os.path.lexists(beside) else None


def _key(rows: UnitRows, others: UnitRows, k: int) -> str:
    return f"{rows.content_hash} {others.content_hash} {k}"


def _read(path: Path, count: int | None) -> dict[str, Vector]:
    """Read a plain file of the folder itself, and check every number."""
    if path.resolve().parent != path.parent.resolve():
        raise FormatError(f"{path} is a link that leads out of its folder, and is not followed.")
    if not path.is_file():
        raise FormatError(f"{path} is no plain file.")
    if count is not None and path.stat().st_size > MOST_ARRAYS * (8 * count + 1000):
        raise FormatError(f"{path} is too large for the means of {count} words.")
    metadata, arrays = read_arrays(path)
    described = metadata.get("format", "")
    if not described.startswith(f"{FORMAT} "):
        raise FormatError(f"{path} holds no neighbourhoods that this version reads.")
    if described != f"{FORMAT} {sha256_of_arrays(arrays)}":
        raise FormatError(f"{path} is damaged: its checksum differs from what it holds.")
    for array in arrays.values():
        # A comparison with NaN is false, so that this also finds what is not finite.
        if array.dtype != np.float64 or array.ndim != 1 or not (np.abs(array) <= LARGEST).all():
            raise FormatError(f"{path} holds other things than mean cosines.")
    return arrays


def _file(rows: UnitRows, language: str) -> str:
    if rows.file is None:
        raise ParameterError(
            f"The vectors of {language} were not read from a file as they are, so that there is no "
            "place beside it. Write them with `geomm align` or write_embeddings, and read them."
        )
    return rows.file.path


def _all_saved(languages: Mapping[str, UnitRows], k: int) -> bool:
    pairs = permutations(languages.values(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cannot be used is computed again
        return all(saved_means(rows, others, k) is not None for rows, others in pairs)
