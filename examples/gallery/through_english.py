"""Spanish to Italian, through English.

There is a dictionary for English-Spanish and one for English-Italian, none for Spanish-Italian.
Translating twice loses words at every step; in one space nothing is lost on the way.
"""

# %%
import matplotlib.pyplot as plt

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.evaluation.one_hop import one_hop

demo = load_demo()
test = {("es", "it"): demo.test["es", "it"]}
table = one_hop(demo.embeddings, demo.train, test, mappers=["procrustes", "geomm", "geomm_multi"])
print(table)

# %%
# *Pipeline* translates to English and on to Italian, *composition* multiplies the two maps,
# *joint* learns all three languages at once.
rows = [row for row in table.rows if row.get("p@1") is not None]
labels = [f"{row['mapper']}, {row['method']}" for row in rows]
figure, axis = plt.subplots(figsize=(5, 2.8))
colors = {"composition": "C0", "pipeline": "C1", "joint": "C2"}
found = [row["p@1"] for row in rows]
bars = axis.barh(labels, found, color=[colors[row["method"]] for row in rows])
axis.bar_label(bars, fmt="%.2f", padding=3)
axis.invert_yaxis()
axis.set(xlabel="P@1, es-it", xlim=(0, 1.1))
figure.tight_layout()
plt.show()

# %%
space = get_mapper("geomm_multi").fit(demo.embeddings, demo.train).map(demo.embeddings)
for word in ("agua", "ciudadanos", "pesca"):
    print(word, *(found for found, _ in space.translate(word, "es", "it", k=2)))
