"""Letters' share of an answer.

The retrieval `reranked` adds numbers about spelling, frequency and the dictionary to CSLS. Every
answer can be taken apart: here is what each of them adds for four words.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.fitting import learn_reranking

demo = load_demo()
pair = ("en", "es")
languages = {language: demo.embeddings[language] for language in pair}
mapper = get_mapper("procrustes").fit(languages, {pair: demo.train[pair]})
learn_reranking(mapper, languages, {pair: demo.train[pair]})
space = mapper.map(languages)

# %%
# Two answers to each word, and the shares of their scores.
words = ["parliament", "monday", "billion", "fisheries"]
index = space.index(*pair, "reranked")
queries = space.queries(words, "en")
best = index.search(queries, 2)
labels, shares = [], {}
for n, word in enumerate(words):
    one = index.shares(space.queries([word], "en"), best.indices[n])
    for name, values in one.items():
        shares.setdefault(name, []).extend(np.ravel(values))
    labels += [f"{word} → {space['es'].words[row]}" for row in best.indices[n]]
largest = sorted(shares, key=lambda name: -np.abs(shares[name]).sum())[:5]
shares = {name: np.array(shares[name]) for name in largest} | {
    "the others": sum(np.array(shares[name]) for name in shares if name not in largest)
}

figure, axis = plt.subplots(figsize=(6, 4.2))
ends = {True: np.zeros(len(labels)), False: np.zeros(len(labels))}
for name, values in shares.items():
    left = np.where(values > 0, ends[True], ends[False])
    axis.barh(labels, values, left=left, label="CSLS" if name == "base" else name)
    ends = {sign: ends[sign] + np.where((values > 0) == sign, values, 0) for sign in ends}
axis.axvline(0, color="gray", linewidth=0.8)
axis.invert_yaxis()
axis.set(xlabel="what it adds to the score")
axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
plt.show()
