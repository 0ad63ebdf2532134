"""Mappers on translation, sentences and topics of one pair of languages, a JSON row for each.

    python benchmarks/tasks.py FOLDER en es --mapper procrustes --mapper geomm >> rows.jsonl

FOLDER holds LANG.vec.gz, en-es.train.txt, en-es.test.txt, sentences.LANG.txt.gz (line by line) and
topics.LANG.tsv.gz (label<TAB>text). The pair is fitted alone.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from geomm_plugin import evaluate, read_dictionary, read_embeddings, registry
from geomm_plugin.errors import GeommError
from geomm_plugin.evaluation.texts import Classify, Sentences, read_labelled_texts, read_texts


def main() -> None:
    """Read the data once, then fit and score every mapper."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--mapper", action="append", help="by default every registered one")
    parser.add_argument("--vectors", default="{}.vec.gz", help="names of files, e.g. wiki.{}.vec")
    chosen = parser.parse_args()
    folder, pair = chosen.folder, (chosen.source, chosen.target)
    embeddings = {name: read_embeddings(folder / chosen.vectors.format(name)) for name in pair}
    train, test = (read_dictionary(folder / f"{'-'.join(pair)}.{p}.txt") for p in ("train", "test"))
    sentences = Sentences({n: read_texts(folder / f"sentences.{n}.txt.gz") for n in pair})
    topics = {name: read_labelled_texts(folder / f"topics.{name}.tsv.gz") for name in pair}
    classify = Classify({pair[0]: topics[pair[0]]}, {pair[1]: topics[pair[1]]})
    for name in chosen.mapper or registry.mappers:
        start = time.perf_counter()
        mapper = registry.as_mapper(name)
        try:
            mapper.fit(embeddings, {pair: train} if mapper.needs_dictionary else {})
        except GeommError as error:  # a mapper without a dictionary may find out that it failed
            print(json.dumps({"mapper": name, "pair": "-".join(pair), "error": str(error)}))
            continue
        seconds = time.perf_counter() - start
        space = mapper.map(embeddings)
        words = evaluate(space, *pair, test, metrics=["p@1"]).scores["p@1"]
        rows = [score.row() for task in (sentences, classify) for score in task.score(space)]
        row = {"mapper": name, "pair": "-".join(pair), "words": words, "seconds": seconds}
        print(json.dumps(row | {"rows": rows}), flush=True)


if __name__ == "__main__":
    main()
