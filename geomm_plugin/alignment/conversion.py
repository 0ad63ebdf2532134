"""[export] A file of embeddings in another format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from geomm_plugin.alignment.space import write_space
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.formats import (
    Format,
    as_path,
    existing,
    files_of,
    read_embeddings,
    read_languages,
    refuse_neighbors,
    write_embeddings,
    writing_format,
)
from geomm_plugin.work import Cluster, Job, job_count, process_pool


@dataclass(frozen=True)
class Converted:
    """What convert() wrote."""

    format: str
    words: int
    dimension: int


def convert(
    source: str | Path | Mapping[str, str | Path],
    target: str | Path,
    *,
    max_words: int | None = None,
    precision: int | None = None,
    encoding: str | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
) -> Converted:
    """Write the embeddings of a file into another one, whose suffix says the format.

    One file is one job, so that more `jobs` are not faster; on a cluster, a worker does it.

    Parameters
    ----------
    source
        A file, or several by language, which go together into one file that holds them all.
    encoding
        The encoding of the words, e.g. "latin-1"; by default UTF-8.
    """
    files = source if isinstance(source, Mapping) else {"": source}
    paths, target = {name: existing(as_path(file)) for name, file in files.items()}, as_path(target)
    written = writing_format(target, precision)
    outputs = written.outputs(target)
    inputs = [part for path in paths.values() for part in files_of(path)]
    refuse_inputs(outputs, inputs, "Choose another name for the new file.")
    refuse_neighbors(target, outputs)
    if isinstance(source, Mapping):
        read = read_languages(paths, max_words=max_words, encoding=encoding)
        write_space(read, target)
        words, dimension = sum(map(len, read.values())), next(iter(read.values())).dimension
        return Converted(written.name, words, dimension)
    path = paths[""]
    job_count(jobs)  # an impossible number is an error
    with process_pool(None if cluster is None else jobs, cluster) as pool:
        pool.check_files(inputs)
        places = (path.absolute(), target.absolute()) if pool.client else (path, target)
        job = Job(f"Converting {path}", _convert, (*places, written, max_words, encoding))
        (converted,) = pool.in_order([job])
    return converted


def _convert(
    source: Path, target: Path, written: Format, max_words: int | None, encoding: str | None
) -> Converted:
    embeddings = read_embeddings(source, max_words=max_words, encoding=encoding)
    written = written.for_embeddings(embeddings)
    write_embeddings(embeddings, target, format=written)
    return Converted(written.name, len(embeddings), embeddings.dimension)
