"""Move an index of documents to a new embedding model without embedding all of it again.

Speeches and sentences lie in an index as the old model embedded them: means of 100-dimensional word
vectors. The new model, here latent semantic analysis in 128 dimensions, embeds the queries. Some
documents are embedded by both models; a mapper learns from these pairs of rows, and moves the old
index. Documents need no words: their numbers, or any other names, pair them.

Recall@10: how many of the ten documents are found that the new model would find if it embedded the
whole index. To keep the old model for queries, too, finds few of them: the two models disagree
about what is alike. If the 100 best of the moved index are embedded anew for each query, and ranked
by that, most of the ten are found. `migrate` says so before the index is moved, from pairs that it
holds out; here, the new model then embeds everything, 1,000 documents that no map has seen.

    $ python examples/new_embedding_model.py
    keep the old model: 0.13
    moved by 100 documents: verdict 0.10, then 0.13; 100 best embedded anew: verdict 0.45, then 0.51
    moved by 200 documents: verdict 0.13, then 0.17; 100 best embedded anew: verdict 0.52, then 0.58
    moved by 400 documents: verdict 0.14, then 0.21; 100 best embedded anew: verdict 0.54, then 0.63
"""

import numpy as np
from scipy.sparse.linalg import svds

from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.texts import idf, text_vectors, word_counts
from geomm_plugin.migration import migrate
from geomm_plugin.normalize import unit

QUERIES, PAIRED, BEST = 200, 400, 10


def two_models(demo):
    """Return the vectors of all texts by the old and by the new model."""
    texts = [*demo.topics["en"].texts, *demo.sentences["en"]]
    old = text_vectors(SharedSpace({"en": demo.embeddings["en"]}), "en", texts)
    counts = word_counts(texts, demo.embeddings["en"])
    weighted = (counts * idf(counts)).tocsr().astype(np.float64)
    _, _, directions = svds(weighted, k=128, v0=np.ones(min(weighted.shape)))
    return old, unit(weighted @ directions.T)


def move(rows, adapter):
    """Apply an adapter by numpy alone, as the README.md beside its file says."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    moved = (rows - adapter["mean_in"]) @ adapter["W"]
    moved = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return moved * adapter["length"] + adapter["mean_out"]


def nearest(queries, index, count=BEST):
    return np.argsort(-(queries @ index.T), axis=1)[:, :count]


def recall(found, truth):
    return np.mean(
        [len(set(one) & set(other)) / BEST for one, other in zip(found, truth, strict=True)]
    )


def main():
    """Print what the verdict says for more and more pairs, and what is found then."""
    old, new = two_models(load_demo())
    order = np.random.default_rng(0).permutation(len(old))
    queries, paired, index = np.split(order, [QUERIES, QUERIES + PAIRED])
    truth = nearest(new[queries], new[index])
    print(f"keep the old model: {recall(nearest(old[queries], old[index]), truth):.2f}")
    for count in (100, 200, 400):
        both = paired[:count]
        rows = np.concatenate([both, index])
        found = migrate(
            Embeddings(list(map(str, rows)), old[rows]),
            Embeddings(list(map(str, both)), new[both]),
        )
        verdict = [row for row in found.rows if row["way"] == "index to new"][-1]
        moved = move(old[index], found.adapters["index to new"])
        best = nearest(new[queries], unit(moved), 100)
        print(
            f"moved by {count} documents: verdict {verdict['recall@10']:.2f}, "
            f"then {recall(best[:, :BEST], truth):.2f}; 100 best embedded anew: "
            f"verdict {verdict['anew']:.2f}, then {recall(best, truth):.2f}"
        )


if __name__ == "__main__":
    main()
