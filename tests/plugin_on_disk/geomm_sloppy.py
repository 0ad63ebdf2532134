from geomm_plugin import Format, Metric, hookimpl
from geomm_plugin.errors import FormatError
from geomm_plugin.evaluation import Task
from geomm_plugin.mappers import Procrustes


class Sloppy(Procrustes):
    """Changes what it is given."""

    name = "sloppy"

    def fit(self, embeddings, dictionaries):
        for each in embeddings.values():
            each.vectors[:] = each.vectors * 2
        return super().fit(embeddings, dictionaries)


class Reader(Format):
    """Only reads."""

    name = "reader"
    suffixes = (".reader",)

    def read(self, path, *, max_words=None):
        raise FormatError("It reads nothing.")


class Picky(Task):
    """Reads no file of anybody."""

    name = "picky"

    @classmethod
    def from_files(cls, files, retrievals=()):
        raise FormatError("Nothing will do.")

    def score(self, space):
        return []


class Silent(Picky):
    """Gives no score."""

    name = "silent"

    @classmethod
    def from_files(cls, files, retrievals=()):
        return cls()


@hookimpl
def register_mappers():
    return [Sloppy, object]


@hookimpl
def register_formats():
    return [Reader]


@hookimpl
def register_tasks():
    return [Picky, Silent]


@hookimpl
def register_metrics():
    return [Metric("half", lambda ranks: ranks / 2)]
