"""Induce a bilingual dictionary and write it as TSV: word, translation, score.

Kept are the pairs that are each other's best by CSLS among the frequent words: few of them are
wrong, and words without a counterpart stay out.

    $ python examples/bilingual_dictionary.py
    2098 pairs; 328 can be checked, 0.99 are right
    solidaridad  solidarietà
    proyecto     progetto
    presencia    presenza
    paquete      pacchetto
    equilibrio   equilibrio
"""

import sys
import tempfile
from pathlib import Path

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo


def mutual_pairs(space, source, target, count):
    """Return (word, translation, score) for words that are each other's best, best score first."""
    best = {}
    for here, there in ((source, target), (target, source)):
        words = space[here].words[:count]
        found = space.translate(words, here, there, k=1)
        best[here] = {word: answers[0] for word, answers in zip(words, found, strict=True)}
    pairs = [
        (word, translation, score)
        for word, (translation, score) in best[source].items()
        if best[target].get(translation, ("", 0))[0] == word
    ]
    return sorted(pairs, key=lambda pair: -pair[2])


def main(path):
    """Make a Spanish-Italian dictionary, although no such dictionary was there to learn from."""
    demo = load_demo()
    space = get_mapper("geomm_multi").fit(demo.embeddings, demo.train).map(demo.embeddings)
    pairs = mutual_pairs(space, "es", "it", count=3000)
    lines = (f"{word}\t{translation}\t{score:.4f}\n" for word, translation, score in pairs)
    path.write_text("".join(lines), encoding="utf-8")

    gold = {}
    for word, translation in demo.test["es", "it"]:
        gold.setdefault(word, set()).add(translation)
    known = [(word, found) for word, found, _ in pairs if word in gold]
    right = sum(found in gold[word] for word, found in known)
    print(f"{len(pairs)} pairs; {len(known)} can be checked, {right / len(known):.2f} are right")
    for word, translation, _ in pairs[:5]:
        print(f"{word:<12} {translation}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "es-it.tsv")
