"""A file of embeddings in another format: read and written in parts, by as many workers as asked.

(path, range of bytes) -> rows on disk,    (rows on disk, rows) -> a part of the new file
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geomm_plugin.alignment.reading import stage_file
from geomm_plugin.alignment.stage import SCRATCH
from geomm_plugin.alignment.workers import Workers, open_workers
from geomm_plugin.alignment.writing import Aligned
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.file_parts import PartwiseFormat
from geomm_plugin.files import disk
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.files.version import replaced_too_often
from geomm_plugin.formats import (
    Format,
    as_path,
    existing,
    files_of,
    find_format,
    read_embeddings,
    refuse_neighbors,
    version_of,
    write_embeddings,
    writing_format,
    written_whole,
)
from geomm_plugin.work import Cluster


@dataclass(frozen=True)
class Converted:
    """What convert() wrote."""

    format: str
    words: int
    dimension: int


def convert(
    source: str | Path,
    target: str | Path,
    *,
    max_words: int | None = None,
    precision: int | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
) -> Converted:
    """Write the embeddings of a file into another one, whose suffix says the format.

    The file is the same for any number of jobs, and on a cluster.
    """
    source, target = as_path(source), as_path(target)
    written = writing_format(target, precision)
    outputs = written.outputs(target)
    refuse_inputs(outputs, files_of(source), "Choose another name for the new file.")
    refuse_neighbors(target, outputs)
    with open_workers(jobs, cluster) as workers:
        chosen = find_format(existing(source))
        if not workers.is_serial and isinstance(chosen, PartwiseFormat) and source.is_file():
            return _in_parts(source, chosen, target, written, max_words, workers)
        embeddings = read_embeddings(source, max_words=max_words)
        written = written.for_embeddings(embeddings)
        write_embeddings(embeddings, target, format=written)
    return Converted(written.name, len(embeddings), embeddings.dimension)


def _in_parts(
    source: Path,
    chosen: PartwiseFormat,
    target: Path,
    written: Format,
    max_words: int | None,
    workers: Workers,
) -> Converted:
    version = version_of([source])
    workers.check_files(version.stamps)
    with written_whole(target, written) as part:
        folder = part.parent / SCRATCH
        disk.make_folder(folder)
        embeddings: Embeddings = stage_file(source, chosen, max_words, folder, workers)
        if not version.is_current():
            raise replaced_too_often(source)
        written = written.for_embeddings(embeddings)
        copy = Aligned(embeddings, (), written, part.name, folder).for_workers(workers)
        tasks = copy.tasks(workers)
        copy.write(part, workers.in_order(tasks), len(tasks))
        disk.remove_tree(folder)
    return Converted(written.name, len(embeddings), embeddings.dimension)
