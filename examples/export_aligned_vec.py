"""Export aligned .vec files: two files and a dictionary in, two files in one space out.

On the command line the same is

    geomm align en=en.vec.gz es=es.vec.gz --dictionary en-es=en-es.train.txt --output aligned/

    $ python examples/export_aligned_vec.py
    en.vec es.vec
    en-es: 1987 pairs, 0 missing in en, 0 missing in es
    P@1 0.893 over 600 words
    freedom    libertad 0.49  expresión 0.22  libertades -0.03
    fisheries  pesquera 0.27  pesca 0.24  pesqueros 0.08
"""

import sys
import tempfile

from geomm_plugin import SharedSpace, align, evaluate, read_dictionary, read_embeddings
from geomm_plugin.demo import FOLDER as DATA


def main(output):
    """Align, write, and read the files again as anyone would."""
    result = align(
        {name: DATA / f"{name}.vec.gz" for name in ("en", "es")},
        {("en", "es"): DATA / "en-es.train.txt"},
        mapper="geomm",
        output=output,
    )
    print(*(path.name for path in result.paths.values()))
    print(f"en-es: {result.report.pairs['en-es']}")

    aligned = SharedSpace({name: read_embeddings(path) for name, path in result.paths.items()})
    score = evaluate(aligned, "en", "es", read_dictionary(DATA / "en-es.test.txt"))
    print(f"P@1 {score.scores['p@1']:.3f} over {score.n_words} words")
    for word in ("freedom", "fisheries"):
        answers = aligned.translate(word, "en", "es", k=3)
        print(f"{word:<10}", "  ".join(f"{answer} {score:.2f}" for answer, score in answers))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(folder)
