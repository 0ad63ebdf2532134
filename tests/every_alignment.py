"""`geomm align` with every mapper: `python tests/every_alignment.py FOLDER WORDS [MAPPER...]`."""

import sys
from pathlib import Path

from geomm_plugin import get_mapper, registry
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER


def main(folder, words, *names):
    files = [f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es")]
    dictionary = ["-d", f"en-es={FOLDER / 'en-es.train.txt'}"]
    for name in names or [name for name in registry.mappers if name != "adv_refine"]:
        options = ["-m", name, "--max-words", words, "-qo", str(Path(folder) / name)]
        # A few hundred words tell nothing without a dictionary; the same nothing, all the same.
        given = dictionary if get_mapper(name).needs_dictionary else ["-s", "on_failure=warn"]
        group(["align", *files, *given, *options], standalone_mode=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
