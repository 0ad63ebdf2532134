"""What can go wrong, one class per kind; messages give the rule, the values and the next step."""

from collections.abc import Iterable
from difflib import get_close_matches


class GeommError(Exception):
    """Every error of this package that its user can fix."""


class UnknownNameError(GeommError, LookupError):
    """A name that nothing is registered under, or a word or language that is not there."""


class NotFittedError(GeommError, ValueError, AttributeError):
    """A mapper was used before fit()."""


class LanguagesError(GeommError, ValueError):
    """The languages, dictionaries and dimensions given do not fit together."""


class DictionaryError(GeommError, ValueError):
    """A dictionary that cannot be read, or that holds no usable pair."""


class FormatError(GeommError, ValueError):
    """A file of vectors, or a saved mapper, that is not what it should be."""


class ParameterError(GeommError, ValueError):
    """A parameter that does not exist, or a value that it cannot take."""


class FitError(GeommError, ValueError):
    """A fit whose held-out words find no translations."""


class UnsupervisedError(FitError):
    """A fit without a dictionary that found no translations, as far as it can know."""


class FileError(GeommError, OSError):
    """A file that is missing, or a place that cannot be written to."""


class MissingExtraError(GeommError, ImportError):
    """An optional package is needed; the message holds the line that installs it."""


class WorkError(GeommError, RuntimeError):
    """Work that another process or a cluster was given and could not do."""


class PluginError(GeommError, ValueError):
    """A plugin that contradicts another one or the hooks."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'procrustes'?" where a known name is close, else nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Say that `what` needs an optional package, and how to install it."""
    return MissingExtraError(
        f"{what} needs the extra '{extra}'. Install it with: pip install "
        f'"geomm-plugin[{extra}]"; from a checkout: pip install ".[{extra}]"'
    )
