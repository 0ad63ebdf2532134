"""Before and after.

Two languages whose vectors were trained apart share no direction: before, their words lie in two
heaps. A rotation learnt from a dictionary brings translations together, also those that the
dictionary does not hold.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.normalize import unit

demo = load_demo()
pair = ("en", "es")
before = {language: demo.embeddings[language] for language in pair}
mapper = get_mapper("procrustes").fit(before, {pair: demo.train[pair]})
after = mapper.map(before)

# %%
# Eight words of the *test* dictionary and their translations, in the two main directions of these
# sixteen words.
shown = ["military", "family", "five", "price", "blue", "unemployment", "street", "training"]
first = dict(reversed(list(demo.test[pair])))
pairs = [(word, first[word]) for word in shown]
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4))
for axis, space, title in zip(axes, (before, after), ("before", "after"), strict=True):
    rows = unit(np.array([[space["en"][x], space["es"][z]] for x, z in pairs]).reshape(16, -1))
    rows = rows - rows.mean(axis=0)
    flat = (rows @ np.linalg.svd(rows, full_matrices=False)[2][:2].T).reshape(8, 2, 2)
    for places, words in zip(flat, pairs, strict=True):
        axis.plot(*places.T, color="gray", linewidth=0.8, zorder=0)
        for place, word, color, side in zip(places, words, ("C0", "C1"), (-1, 1), strict=True):
            axis.scatter(*place, color=color, s=18)
            beside = {"textcoords": "offset points", "ha": "right" if side < 0 else "left"}
            axis.annotate(word, place, (6 * side, -3), color=color, fontsize=9, **beside)
    axis.set(title=title, xticks=[], yticks=[])
    axis.margins(0.3, 0.1)
plt.show()
