"""Search documents of other languages: the query in English, the documents in Spanish and Italian.

A text is the weighted mean of its words' vectors in the shared space; rare words weigh more, by
a / (a + p) with p the word's share of all text, which Zipf's law tells from its rank.

    $ python examples/cross_lingual_search.py
    reduce greenhouse gas emissions
        0.79 it  Il cambiamento climatico richiede una riduzione delle emissioni di gas.
    help for dairy farmers
        0.81 it  Gli agricoltori chiedono aiuti per affrontare la crisi del latte.
    equal pay for women
        0.80 es  Las mujeres ganan menos que los hombres por el mismo trabajo.
    ships and fish
        0.67 es  La política pesquera debe proteger los recursos del mar y a los pescadores.
    journalists and democracy
        0.66 it  La libertà di stampa e i diritti umani sono valori fondamentali.
    airline passengers
        0.87 it  I passeggeri dei voli cancellati hanno diritto a un rimborso dalle compagnie aeree.
"""

import re

import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.demo import load_demo

DOCUMENTS = [
    ("es", "La política pesquera debe proteger los recursos del mar y a los pescadores."),
    ("es", "El presupuesto para el próximo año financiará la investigación y la educación."),
    ("es", "Condenamos los atentados terroristas y la violencia contra la población civil."),
    ("es", "Las mujeres ganan menos que los hombres por el mismo trabajo."),
    ("it", "Gli agricoltori chiedono aiuti per affrontare la crisi del latte."),
    ("it", "Il cambiamento climatico richiede una riduzione delle emissioni di gas."),
    ("it", "La libertà di stampa e i diritti umani sono valori fondamentali."),
    ("it", "I passeggeri dei voli cancellati hanno diritto a un rimborso dalle compagnie aeree."),
]
QUERIES = [
    "reduce greenhouse gas emissions",
    "help for dairy farmers",
    "equal pay for women",
    "ships and fish",
    "journalists and democracy",
    "airline passengers",
]


def embed(space, language, text, common=1e-3):
    """Return the weighted mean of the vectors of a text's words, at length 1."""
    row_of, unit_vectors = space[language].row_of, space.unit_vectors(language)
    rows = np.array([row_of[w] for w in re.findall(r"\w+", text.lower()) if w in row_of])
    share = 1 / ((rows + 1) * np.log(len(row_of)))  # Zipf: a word's share falls with its rank
    mean = (common / (common + share)) @ unit_vectors[rows]
    return mean / np.linalg.norm(mean)


def main():
    """Show the best document for each query."""
    demo = load_demo()
    space = get_mapper("geomm_multi").fit(demo.embeddings, demo.train).map(demo.embeddings)
    index = np.stack([embed(space, language, text) for language, text in DOCUMENTS])
    for query in QUERIES:
        scores = index @ embed(space, "en", query)
        best = int(np.argmax(scores))
        language, text = DOCUMENTS[best]
        print(f"{query}\n    {scores[best]:.2f} {language}  {text}")


if __name__ == "__main__":
    main()
