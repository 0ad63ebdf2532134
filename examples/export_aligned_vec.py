"""Export aligned .vec files: two files and a dictionary in, two files in one space out.

On the command line the same is

    geomm align en=en.vec.gz es=es.vec.gz --dictionary en-es=en-es.train.txt --output aligned/

    $ python examples/export_aligned_vec.py
    en.vec
    es.vec
    mapper
    P@1 0.893 over 600 words
    freedom    libertad 0.49  expresión 0.22  libertades -0.03
    fisheries  pesquera 0.27  pesca 0.24  pesqueros 0.08
"""

import sys
import tempfile
from pathlib import Path

from geomm_plugin import (
    SharedSpace,
    evaluate,
    get_mapper,
    read_dictionary,
    read_embeddings,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.demo import FOLDER as DATA


def main(output):
    """Align, write, and read the files again as anyone would."""
    embeddings = {name: read_embeddings(DATA / f"{name}.vec.gz") for name in ("en", "es")}
    dictionary = read_dictionary(DATA / "en-es.train.txt")
    mapper = get_mapper("geomm").fit(embeddings, {("en", "es"): dictionary})
    space = mapper.map(embeddings)  # nothing is mapped yet: it happens block by block
    for name in space:
        write_embeddings(space[name], output / f"{name}.vec")
    save_mapper(mapper, output / "mapper")
    for path in sorted(output.iterdir()):
        print(path.name)

    aligned = SharedSpace({name: read_embeddings(output / f"{name}.vec") for name in ("en", "es")})
    score = evaluate(aligned, "en", "es", read_dictionary(DATA / "en-es.test.txt"))
    print(f"P@1 {score.scores['p@1']:.3f} over {score.n_words} words")
    for word in ("freedom", "fisheries"):
        answers = aligned.translate(word, "en", "es", k=3)
        print(f"{word:<10}", "  ".join(f"{answer} {score:.2f}" for answer, score in answers))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
