"""Induce a bilingual dictionary and write it as TSV: word, translation, score.

Kept are the pairs that are each other's best by CSLS among the frequent words: few of them are
wrong, and words without a counterpart stay out.

    $ python examples/bilingual_dictionary.py
    2246 pairs; 333 can be checked, 0.98 are right
    solidaridad  solidarietà
    intereses    interessi
    ii           ii
    flexibilidad flessibilità
    premio       premio
"""

import sys
import tempfile
from pathlib import Path

from geomm_plugin import get_mapper, write_dictionary
from geomm_plugin.demo import load_demo


def main(path):
    """Make a Spanish-Italian dictionary, although no such dictionary was there to learn from."""
    demo = load_demo()
    space = get_mapper("geomm_multi").fit(demo.embeddings, demo.train).map(demo.embeddings)
    pairs = space.dictionary("es", "it", max_words=3000)
    pairs.sort(key=lambda pair: -pair[2])  # the best score first
    write_dictionary(pairs, path)

    gold = set(demo.test["es", "it"])
    known_words = {word for word, _ in gold}
    known = [(word, translation) for word, translation, _ in pairs if word in known_words]
    correct = sum(pair in gold for pair in known)
    print(f"{len(pairs)} pairs; {len(known)} can be checked, {correct / len(known):.2f} are right")
    for word, translation, _ in pairs[:5]:
        print(f"{word:<12} {translation}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "es-it.tsv")
