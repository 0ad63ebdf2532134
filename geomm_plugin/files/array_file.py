"""[read/export] Named arrays in safetensors files, which are not trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from geomm_plugin.errors import FormatError

Arrays = dict[str, npt.NDArray[Any]]


def load_arrays(content: bytes, path: Path) -> Arrays:
    """Take the arrays from the bytes of a file."""
    from safetensors.numpy import load

    try:
        return load(content)
    except Exception as error:  # raised by the library, or by numpy for types that numpy lacks
        raise _damaged(path, error) from error


def read_arrays(path: Path) -> tuple[dict[str, str], Arrays]:
    """Read the metadata of a file and its arrays."""
    from safetensors import safe_open

    try:
        with safe_open(path, "numpy") as stream:
            return stream.metadata() or {}, {n: stream.get_tensor(n) for n in stream.keys()}
    except OSError:
        raise
    except Exception as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> FormatError:
    return FormatError(f"{path}: not arrays ({error}). The file is damaged; make it again.")
