"""`geomm align` with every mapper: `python tests/every_alignment.py FOLDER WORDS [MAPPER...]`."""

import sys
from pathlib import Path

from geomm_plugin import registry
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER


def main(folder, words, *names):
    files = [f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es")]
    dictionary = f"en-es={FOLDER / 'en-es.train.txt'}"
    for name in names or registry.mappers:
        options = ["-m", name, "--max-words", words, "-qo", str(Path(folder) / name)]
        group(["align", *files, "-d", dictionary, *options], standalone_mode=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
