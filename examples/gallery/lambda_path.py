"""The lambda path.

How strongly GeoMM is regularized decides how much it trusts the dictionary. Each value is tried
on words that were held out; the mapper takes the best and remembers the others.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo

demo = load_demo()
mapper = get_mapper("geomm").fit(demo.embeddings, demo.train)
for pair, choice in mapper.report_.regularization.items():
    print(f"{pair}: lambda = {choice.value:g}, chosen among {len(choice.scores)}")

# %%
# Left, what was tried. Right, what lambda does to the map: the larger it is, the fewer directions
# of the latent space count. A rotation would be a flat line.
figure, (path, metric) = plt.subplots(1, 2, figsize=(9, 4))
for n, (pair, choice) in enumerate(mapper.report_.regularization.items()):
    tried = sorted(choice.scores.items())
    path.semilogx(*zip(*tried, strict=True), "o-", color=f"C{n}", label=pair)
    path.axvline(choice.value, color=f"C{n}", linestyle=":")
path.set(xlabel="lambda (dotted: chosen)", ylabel="P@1 on held-out words")
path.legend()
pair = ("en", "es")
for value in (0.1, 10, 1000):
    one = get_mapper("geomm", regularization=value)
    W = one.fit({lang: demo.embeddings[lang] for lang in pair}, {pair: demo.train[pair]}).W(*pair)
    weights = np.linalg.svd(W, compute_uv=False)
    metric.plot(weights / weights.mean(), label=f"lambda = {value:g}")
metric.set(xlabel="direction of the latent space", ylabel="its weight")
metric.legend()
figure.tight_layout()
plt.show()
