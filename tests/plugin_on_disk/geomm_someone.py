from geomm_plugin import hookimpl
from geomm_plugin.mappers import Procrustes


class Someone(Procrustes):
    """A mapper that an installed package brings."""

    name = "someone"


@hookimpl
def register_mappers():
    return [Someone]
