"""Sentences across languages.

The weighted mean of its words' vectors is a vector of a sentence, whatever its language. In the
matrix, row and column n are translations of each other: aligned, the diagonal lights up.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import SharedSpace, get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.texts import text_vectors

demo = load_demo()
aligned = get_mapper("geomm_multi").fit(demo.embeddings, demo.train).map(demo.embeddings)
spaces = {"not aligned": SharedSpace(demo.embeddings), "aligned": aligned}

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4))
for axis, (name, space) in zip(axes, spaces.items(), strict=True):
    english, spanish = (
        text_vectors(space, language, demo.sentences[language]) for language in ("en", "es")
    )
    scores = english @ spanish.T
    first = np.mean(scores.argmax(axis=1) == np.arange(len(scores)))
    axis.imshow(scores[:30, :30], cmap="viridis")
    axis.set(
        title=f"{name}: {first:.0%} of 1,000 find theirs",
        xlabel="Spanish sentence",
        ylabel="English sentence",
    )
plt.show()

# %%
# Ask a question in English, among Spanish and Italian sentences.
both = [(language, text) for language in ("es", "it") for text in demo.sentences[language]]
index = np.concatenate(
    [text_vectors(aligned, language, demo.sentences[language]) for language in ("es", "it")]
)
asked = text_vectors(aligned, "en", ["The fishing industry needs help", "human rights in prisons"])
for row in (asked @ index.T).argsort(axis=1)[:, ::-1][:, :2]:
    for place in row:
        print(*both[place])
