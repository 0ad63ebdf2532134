"""Hubs under cosine and CSLS.

In many dimensions some words are near to everything, and as nearest neighbours they would
translate everything. CSLS takes off how near a word is to the other language on average.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo

demo = load_demo()
pair = ("en", "es")
languages = {language: demo.embeddings[language] for language in pair}
space = get_mapper("procrustes").fit(languages, {pair: demo.train[pair]}).map(languages)

# %%
# Translate all 6,000 English words. How often is each Spanish word the first answer?
figure, axis = plt.subplots(figsize=(5, 3.6))
for retrieval in ("cosine", "csls"):
    answers = space.translate(space["en"].words, "en", "es", k=1, retrieval=retrieval)
    rows = [space["es"].row_of[found[0][0]] for found in answers]
    times = np.bincount(rows, minlength=len(space["es"]))
    never, hub = np.mean(times == 0), space["es"].words[times.argmax()]
    print(f"{retrieval:<6} {never:.0%} of the words answer nothing; {hub} answers {times.max()}")
    axis.loglog(np.arange(1, len(times) + 1), np.sort(times)[::-1], label=retrieval)
axis.set(xlabel="Spanish words, the most frequent answer first", ylabel="times the first answer")
axis.legend()
plt.show()
