"""A run of `geomm align`: what replaces older files stays aside until all of it is there.

    OUTPUT/.geomm-unfinished/{mapper, en.vec, es.vec}   ->   OUTPUT/{mapper, en.vec, es.vec}

So the files of one run are all in the space of its mapper, whenever it is stopped. What an earlier
run wrote under other names stays; `stale` lists it. A run that replaces nothing writes into the
folder itself. Where a run is stopped, the next one with --resume goes on from what is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from geomm_plugin.alignment.record import MAPPER, AlignRecord
from geomm_plugin.files.atomic import move_up
from geomm_plugin.mapper import Mapper

UNFINISHED = ".geomm-unfinished"  # what a killed run had written to replace older files


class AlignRun:
    """What earlier runs left that need not be made again, and where the rest is written."""

    def __init__(self, output: Path, fingerprints: Mapping[str, str], resume: bool):
        """Look at what is there.

        Parameters
        ----------
        fingerprints
            Of the mapper and of every file that is to be there at the end, by name.
        """
        self.fingerprints = fingerprints
        self.aside = output / UNFINISHED
        if self.aside.is_symlink():  # not ours: it may lead anywhere
            self.aside.unlink()
        before = AlignRecord.read(output)
        self.stale = _stale(before, fingerprints)
        self.done = before if resume else AlignRecord(output)
        self.begun = AlignRecord.read(self.aside) if resume else AlignRecord(self.aside)
        if not all(self._fits(self.begun, name) for name in self.begun.files):
            self.begun = AlignRecord(self.aside)
        fit = fingerprints[MAPPER]
        self.fitted: Mapper | None = self.done.mapper(fit) or self.begun.mapper(fit)
        if self.fitted is None:
            self.done, self.begun = AlignRecord(output), AlignRecord(self.aside)
        if not self.begun.files:
            shutil.rmtree(self.aside, ignore_errors=True)
        self.done.files = {name: known for name, known in self.done.files.items() if self.has(name)}
        new = fingerprints.keys() - self.done.files.keys()
        self.replaces = any((output / name).exists() for name in new)

    @property
    def record(self) -> AlignRecord:
        """The record of the folder that is written to."""
        return self.begun if self.replaces else self.done

    def has(self, name: str) -> bool:
        """Tell whether a file need not be written again."""
        return self._fits(self.done, name) or self._fits(self.begun, name)

    def _fits(self, record: AlignRecord, name: str) -> bool:
        return record.holds(name, self.fingerprints.get(name, ""))

    def add(self, name: str) -> None:
        """Note that a file was written."""
        self.record.add(name, self.fingerprints[name])

    @contextmanager
    def writing(self) -> Iterator[Path]:
        """Give the folder to write to; at the end all is in its place, or the old as it was."""
        try:
            yield self.record.folder
            if self.begun.files:
                self.begun.files = self.done.files | self.begun.files
                self.begun.write()
                move_up(self.aside)
        finally:
            shutil.rmtree(self.aside, ignore_errors=True)


def _stale(before: AlignRecord, fingerprints: Mapping[str, str]) -> list[Path]:
    """List the files of an earlier run that stay, but are in the space of another mapper."""
    if before.files.get(MAPPER, {}).get("from") == fingerprints[MAPPER]:
        return []
    places = (before.folder / name for name in before.files if name not in fingerprints)
    return sorted(place for place in places if place.parent == before.folder and place.exists())
