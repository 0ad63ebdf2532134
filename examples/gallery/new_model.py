"""An old and a new embedding model.

Learn the map from an old model to a new one from documents embedded by both, and move an old
index. How much of what the new model would find does it find?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import svds

from geomm_plugin import SharedSpace, get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.texts import idf, text_vectors, word_counts
from geomm_plugin.normalize import unit

# %%
# Two models of 1,600 speeches and sentences: means of word vectors (100 numbers), and latent
# semantic analysis (128).
demo = load_demo()
texts = [*demo.topics["en"].texts, *demo.sentences["en"]]
old = text_vectors(SharedSpace({"en": demo.embeddings["en"]}), "en", texts)
counts = word_counts(texts, demo.embeddings["en"])
weighted = (counts * idf(counts)).tocsr().astype(np.float64)
new = unit(weighted @ svds(weighted, k=128, v0=np.ones(min(weighted.shape)))[2].T)

order = np.random.default_rng(0).permutation(len(old))
queries, index = order[:200], order[200:]


def nearest(asked, rows, count):
    return np.argsort(-(asked @ rows.T), axis=1)[:, :count]


def recall(found, truth):
    return np.mean(
        [len(set(one) & set(other)) / 10 for one, other in zip(found, truth, strict=True)]
    )


truth = nearest(new[queries], new[index], 10)

# %%
names, sizes = [str(row) for row in index], (100, 200, 400, 800)
plain, anew = [], []
for size in sizes:
    models = {"old": (names, old[index]), "new": (names[:size], new[index[:size]])}
    pairs = {("old", "new"): [(name, name) for name in names[:size]]}
    mapper = get_mapper("regression").fit(models, pairs)
    asked, moved = mapper.transform("new", new[queries]), mapper.transform("old", old[index])
    found = nearest(unit(asked), unit(moved), 100)
    plain.append(recall(found[:, :10], truth))
    anew.append(recall(found, truth))

figure, axis = plt.subplots(figsize=(5, 3.6))
axis.plot(sizes, anew, "o-", label="moved, the 100 best embedded anew")
axis.plot(sizes, plain, "s-", label="moved")
axis.axhline(
    recall(nearest(old[queries], old[index], 10), truth),
    color="gray",
    linestyle=":",
    label="old model kept",
)
axis.set(
    xlabel="documents embedded by both models", ylabel="recall@10 of the new model", ylim=(0, 1)
)
axis.legend()
plt.show()
