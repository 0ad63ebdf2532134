"""Move an index of documents to a new embedding model without embedding all of it again.

1,400 speeches and sentences lie in an index as the old model embedded them: means of
100-dimensional word vectors. The new model, here latent semantic analysis in 128 dimensions, embeds
the queries. Some documents are embedded by both models; a mapper learns from these pairs of rows,
and moves the old index. Documents need no words: their numbers, or any other names, pair them.

Recall@10: how many of the ten documents are found that the new model would find if it embedded the
whole index. To keep the old model for queries, too, finds few of them: the two models disagree
about what is alike. If the 100 best of the moved index are embedded anew for each query, and ranked
by that, most of the ten are found.

    $ python examples/new_embedding_model.py
    keep the old model: 0.12
    moved by 200 documents: 0.21, with the 100 best embedded anew: 0.61
    moved by 400 documents: 0.26, with the 100 best embedded anew: 0.70
    moved by 800 documents: 0.32, with the 100 best embedded anew: 0.80
"""

import numpy as np
from scipy.sparse.linalg import svds

from geomm_plugin import SharedSpace, get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.texts import idf, text_vectors, word_counts
from geomm_plugin.normalize import unit

QUERIES, BEST = 200, 10


def two_models(demo):
    """Return the vectors of all texts by the old and by the new model."""
    texts = [*demo.topics["en"].texts, *demo.sentences["en"]]
    old = text_vectors(SharedSpace({"en": demo.embeddings["en"]}), "en", texts)
    counts = word_counts(texts, demo.embeddings["en"])
    weighted = (counts * idf(counts)).tocsr().astype(np.float64)
    _, _, directions = svds(weighted, k=128, v0=np.ones(min(weighted.shape)))
    return old, unit(weighted @ directions.T)


def nearest(queries, index, count=BEST):
    return np.argsort(-(queries @ index.T), axis=1)[:, :count]


def recall(found, truth):
    return np.mean(
        [len(set(one) & set(other)) / BEST for one, other in zip(found, truth, strict=True)]
    )


def main():
    """Print recall@10 for more and more documents that both models embedded."""
    old, new = two_models(load_demo())
    order = np.random.default_rng(0).permutation(len(old))
    queries, index = order[:QUERIES], order[QUERIES:]
    truth = nearest(new[queries], new[index])
    print(f"keep the old model: {recall(nearest(old[queries], old[index]), truth):.2f}")
    for count in (200, 400, 800):
        paired = index[:count]
        models = {
            "old": (list(map(str, index)), old[index]),
            "new": (list(map(str, paired)), new[paired]),
        }
        pairs = {("old", "new"): [(name, name) for name in map(str, paired)]}
        mapper = get_mapper("regression").fit(models, pairs)
        asked, moved = mapper.transform("new", new[queries]), mapper.transform("old", old[index])
        found = nearest(unit(asked), unit(moved), 100)
        print(
            f"moved by {count} documents: {recall(found[:, :BEST], truth):.2f}, "
            f"with the 100 best embedded anew: {recall(found, truth):.2f}"
        )


if __name__ == "__main__":
    main()
