"""Errors by frequency.

Are rare words harder? Not here: frequent words have more forms and meanings, of which the
dictionary knows one. The same words by two retrievals, in groups by their rank in the English
vocabulary.
"""

# %%
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.demo import load_demo

demo = load_demo()
pair = ("en", "es")
languages = {language: demo.embeddings[language] for language in pair}
space = get_mapper("geomm_plus").fit(languages, {pair: demo.train[pair]}).map(languages)
found = {
    retrieval: evaluate(space, *pair, demo.test[pair], retrieval, answers=1)
    for retrieval in ("csls", "reranked")
}

# %%
edges = np.array([0, 500, 1000, 1500, 2000, 3000, 6000])
figure, axis = plt.subplots(figsize=(5, 3.6))
for retrieval, result in found.items():
    rank = np.array([word.row for word in result.words])
    wrong = np.array([word.rank > 1 for word in result.words])
    groups = [wrong[(rank >= low) & (rank < high)] for low, high in pairwise(edges)]
    share = np.array([group.mean() for group in groups])
    error = 1.96 * np.sqrt(share * (1 - share) / [len(group) for group in groups])
    axis.errorbar(edges[1:], share, error, fmt="o-", capsize=3, label=retrieval)
axis.set(
    xlabel="rank in the English vocabulary, up to",
    ylabel="share of wrong first answers (95 % intervals)",
)
axis.set_ylim(bottom=0)
axis.legend()
plt.show()

# %%
# What do errors look like? Often another form of the right word, or a word of the same field.
for word in [word for word in found["reranked"].words if word.rank > 1][:6]:
    print(f"{word.word:<12} is {', '.join(word.gold):<12} answered: {word.answers[0][0]}")
