"""Methods around another linear mapper, which is chosen by name, by text or as an object."""

from __future__ import annotations

from dataclasses import dataclass

from geomm_plugin.errors import ParameterError
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.registry import as_mapper


@dataclass(kw_only=True, eq=False, repr=False)
class Wrapper(LinearMapper):
    """Write learn(), with inner() at hand; normalization and `joint` are those of that mapper."""

    normalize: tuple[str, ...] | None = None  # by default the steps of the mapper inside
    mapper: str | Mapper = "procrustes"  # a linear one, e.g. geomm or geomm:regularization=100

    @property
    def joint(self) -> bool:
        """Whether the mapper inside learns many languages at once."""
        return self.inner().joint

    def own_steps(self) -> tuple[str, ...]:
        """Return the steps of the mapper inside."""
        return self.inner().steps()

    def inner(self) -> LinearMapper:
        """Return the mapper inside; it must be linear, to learn from pairs of rows."""
        mapper = as_mapper(self.mapper)
        if not isinstance(mapper, LinearMapper):
            raise ParameterError(
                f"{self.name}: mapper={self.mapper!r} is not possible; it must be a linear mapper, "
                "such as 'procrustes', 'geomm' or 'msf'."
            )
        return mapper
