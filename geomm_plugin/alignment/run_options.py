"""The options of a run, as `geomm align --config` reads them: kept in align.json.

Paths are relative to the output folder, so that equal inputs at equal places give equal records.
Options that change no file (resume, the number of processes) are not among them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geomm_plugin import registry
from geomm_plugin.alignment.inputs import Inputs
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry.parameters import choice_text


def run_options(
    output: Path,
    inputs: Inputs,
    mapper: Mapper,
    extra_words: Mapping[str, object],
    others: Mapping[str, Any],
) -> dict[str, Any] | None:
    """Return the options by name; None if the run was given what no file holds.

    Parameters
    ----------
    others
        Further options; those that are None or False are left out.
    """
    lists = [value for value in extra_words.values() if not isinstance(value, (str, Path))]
    from_memory = inputs.objects or lists or not all(d.files for d in inputs.pairs.values())
    from_memory = from_memory or others.get("format") is not None  # the suffix does not tell it
    if from_memory or registry.mappers.get(mapper.name) is not type(mapper):
        return None
    folder = os.path.realpath(output)

    def relative(path: str | Path) -> str:
        place = Path(path)  # a link to a file keeps its own name, which tells the format
        return os.path.relpath(Path(os.path.realpath(place.parent), place.name), folder)

    options = {
        "output": ".",
        "mapper": choice_text(mapper),
        "vectors": {language: relative(path) for language, path in inputs.paths.items()},
        "dictionary": {
            "-".join(pair): [relative(file.path) for file in dictionary.files]
            for pair, dictionary in inputs.pairs.items()
        },
        "identical": ["-".join(pair) for pair in inputs.identical],
        "cognates": ["-".join(pair) for pair in inputs.cognates],
        "extra-words": {language: relative(str(path)) for language, path in extra_words.items()},
        "max-words": inputs.max_words,
        **others,
    }
    return {name: value for name, value in options.items() if value not in (None, False, {}, [])}
