"""[export] Fitted mappers on disk: a folder with mapper.json and its arrays, never pickle.

The arrays are named after their checksum and written first; mapper.json, which names the checksum,
then replaces its predecessor in one step. So a folder holds the old mapper or the new one, whole.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from geomm_plugin import registry
from geomm_plugin.atomic import make_folder, written_beside
from geomm_plugin.embeddings import Matrix
from geomm_plugin.errors import FileError, FormatError, UnknownNameError
from geomm_plugin.lock import held
from geomm_plugin.mapper import TIME, Mapper
from geomm_plugin.registry import get_mapper

FORMAT = 1  # raised when a newer layout could not be read by older versions
JSON_NAME = "mapper.json"
ATTEMPTS = 5  # to read a folder: another run may save a new mapper there between its two files
ARRAYS_NAME = "arrays-{}.safetensors"  # of the first sixteen digits of their checksum


def save_mapper(mapper: Mapper, path: str | Path) -> None:
    """Save a fitted mapper to a folder, which appears whole or not at all."""
    from safetensors.numpy import save

    path = Path(path)
    arrays = save({name: np.ascontiguousarray(array) for name, array in mapper.state().items()})
    checksum = hashlib.sha256(arrays).hexdigest()
    text = describe_mapper(mapper, sha256=checksum)
    if path.is_file():
        raise FileError(f"{path} is a file; a mapper is saved to a folder. Choose another name.")
    make_folder(path)
    arrays_path = _arrays_path(path, checksum)
    with held(path):  # two runs that save here do so one after the other
        with written_beside(arrays_path) as part:
            part.write_bytes(arrays)
        with written_beside(path / JSON_NAME) as part:
            part.write_text(text + "\n", encoding="utf-8")
        for old in path.glob(ARRAYS_NAME.format("*")):
            if old != arrays_path:
                old.unlink(missing_ok=True)


def describe_mapper(mapper: Mapper, **further: Any) -> str:
    """Return all of a mapper but its arrays, as JSON."""
    known = registry.mappers.get(mapper.name) is type(mapper)
    description = {
        "format": FORMAT,
        "mapper": mapper.name,
        "package": str(registry.mappers.origin(mapper.name)) if known else "not registered",
        "params": mapper.get_params(),
        "report": _without_times(getattr(mapper, "report_", {})),
    }
    return json.dumps(description | further, indent=2, ensure_ascii=False, default=_plain)


def load_mapper(path: str | Path) -> Mapper:
    """Load a mapper that save_mapper wrote; its class is found in the registry."""
    for _ in range(ATTEMPTS - 1):
        with suppress(FileError):
            return _load_mapper(path)
    return _load_mapper(path)


def _load_mapper(path: str | Path) -> Mapper:
    from safetensors.numpy import load

    path = Path(path)
    description = _description(path)
    checksum = description["sha256"]
    mapper = unfitted_mapper(description, path)
    arrays_path = _arrays_path(path, checksum)
    arrays = _read(arrays_path)
    if hashlib.sha256(arrays).hexdigest() != checksum:
        raise FormatError(
            f"{arrays_path}: the checksum differs from the one in {JSON_NAME}. The file is "
            "damaged; copy the folder again, or fit and save again."
        )
    restore_mapper(mapper, description, load(arrays), arrays_path)
    return mapper


def unfitted_mapper(description: Mapping[str, Any], path: Path) -> Mapper:
    """Make the mapper that a description tells of, with its parameters."""
    name = description["mapper"]
    if name not in registry.mappers:
        raise UnknownNameError(
            f"{path} was saved by the mapper {name!r} of {description.get('package', 'unknown')}, "
            "which is not installed. Install that package. "
            f"Registered: {', '.join(registry.mappers)}."
        )
    return get_mapper(name, **{n: _tuples(v) for n, v in description["params"].items()})


def restore_mapper(
    mapper: Mapper, description: Mapping[str, Any], arrays: Mapping[str, Matrix], path: Path
) -> None:
    """Give a mapper back what it had learnt."""
    try:
        mapper.restore(arrays)
    except Exception as error:
        raise FormatError(f"{path}: not the arrays of a {mapper.name} mapper ({error}).") from error
    mapper.report_ = description.get("report", {})  # type: ignore[attr-defined]


def _arrays_path(path: Path, checksum: str) -> Path:
    return path / ARRAYS_NAME.format(checksum[:16])


def _description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(_read(path / JSON_NAME))
    except ValueError as error:
        raise FormatError(
            f"{path / JSON_NAME}: not JSON ({error}). The file is damaged."
        ) from error
    if not isinstance(description, dict) or not isinstance(description.get("params"), dict):
        raise FormatError(f"{path / JSON_NAME}: not the description of a mapper.")
    if description.get("format") != FORMAT:
        raise FormatError(
            f"{path / JSON_NAME}: the format is {description.get('format')!r}; this version reads "
            f"{FORMAT}. Update geomm-plugin, or save the mapper again."
        )
    checksum = str(description.get("sha256"))
    if not isinstance(description.get("mapper"), str) or not re.fullmatch("[0-9a-f]{64}", checksum):
        raise FormatError(f"{path / JSON_NAME}: it names no mapper, or no checksum of its arrays.")
    return description


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(
            f"Cannot read {path}: {error.strerror}. A saved mapper is a folder that holds "
            f"{JSON_NAME} and its arrays."
        ) from error


def _without_times(report: Any) -> Any:
    """Leave out of a report what differs between two equal fits."""
    if isinstance(report, dict):
        return {name: _without_times(value) for name, value in report.items() if name != TIME}
    return [_without_times(item) for item in report] if isinstance(report, list) else report


def _plain(value: object) -> object:
    """Turn numpy's numbers and tuples into JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise FormatError(f"A mapper's parameters must be plain values to be saved; one is {value!r}.")


def _tuples(value: Any) -> Any:
    """JSON turns tuples into lists: turn them back."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
