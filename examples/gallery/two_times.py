"""The same words at two times.

Align two files of one language on the words they share; what is far from itself afterwards is
used differently. Here the second time is made: a turned, noisy copy in which 40 words have moved
half-way to another one.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import Embeddings, drift
from geomm_plugin.demo import load_demo
from geomm_plugin.normalize import unit

old = load_demo().embeddings["en"]
random = np.random.default_rng(0)
vectors = unit(old.vectors)
planted = 300 + random.choice(4000, 40, replace=False)
vectors[planted] = unit(vectors[planted] + vectors[np.roll(planted, 1)])
noise = unit(random.normal(size=vectors.shape)) * np.linspace(0.3, 1.2, len(old))[:, None]
turn, _ = np.linalg.qr(random.normal(size=(old.dimension, old.dimension)))
new = Embeddings(old.words, (vectors + noise) @ turn)

# %%
# Rare words have noisier vectors, so the plain distance grows with the rank. The score compares a
# word with words of its own frequency, and finds those that were moved.
everything = drift(old, new, top=len(old))
score = {word.word: word.score for word in everything.words}
distance = {word.word: word.distance for word in everything.words}
moved = {old.words[row] for row in planted}
figure, axes = plt.subplots(1, 2, figsize=(9, 4))
for axis, value, title in zip(axes, (distance, score), ("distance", "score"), strict=True):
    for words, color, size in ((old.words, "gray", 2), (moved, "C1", 16)):
        known = [word for word in words if word in value]
        axis.scatter(
            [old.row_of[word] for word in known],
            [value[word] for word in known],
            s=size,
            color=color,
        )
    axis.set(title=title, xlabel="rank of the word (orange: moved)")
figure.tight_layout()
plt.show()

# %%
# A null tells what moved from what chance moves: two corpora between which nothing changed. Of the
# words with a q below 0.1, less than a tenth should not have been moved.
again = unit(random.normal(size=noise.shape)) * np.linspace(0.3, 1.2, len(old))[:, None]
null = {"a": old, "b": Embeddings(old.words, unit(old.vectors) + again)}
found = [word for word in drift(old, new, top=60, null=null).words if word.q < 0.1]
print(f"{len(found)} words, {sum(word.word in moved for word in found)} of them moved")

# %%
# Of three times, each word has a score for each step.
later = Embeddings(old.words, unit(new.vectors) + again)
for word in drift({"1990": old, "2000": new, "2010": later}, top=4).words:
    print(f"{word.word:<14}", *(f"until {step.time_new}: {step.score:.1f}" for step in word.steps))

# %%
for word in everything.words[:4]:
    then, now = word.neighbors_old[:3], word.neighbors_new[:3]
    print(f"{word.word:<14}{', '.join(then)}  ->  {', '.join(now)}")
