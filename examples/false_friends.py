"""Compare two varieties of a language, or two close languages: the same words, used differently.

Spanish and Italian spell 733 of their 6,000 most frequent words alike. Aligned on these words,
those that are far from themselves are false friends (cercano: near, they seek; dio: gave, god;
siete: seven, you are), and foreign words in the text of one of them. Two dialects, or the
newspapers and the medical journals of one language, are compared in the same way.

    $ python examples/false_friends.py
    cercano        20.3   vecino, convertirá, puente  |  cerca, vogliono, vorrebbero
    pro            20.1   democracia, incondicional, defendemos  |  capite, pil, 0
    dio            14.6   tuvo, inició, llegó  |  bella, sente, slogan
    consistente    14.5   encaminada, pretende, sugiere  |  considerevole, quota, importo
    ve             14.3   verá, vea, encuentra  |  so, vi, voi
    procede        13.0   conformidad, b, orden  |  ritmo, rotta, procedendo
    cerca          12.0   llegando, haciéndolo, creciendo  |  tenta, cercano, riesce
    comparto       11.7   comparte, expresado, expresada  |  settore, agricolo, automobilistico
    mai            11.2   care, trebuie, că  |  nemmeno, neanche, allora
    concretamente  10.3   particular, concreto, específicamente  |  realmente, concreto, impegnarci
    de             10.1   la, y, del  |  palacio, rossa, den
    siete          10.1   cinco, ocho, nueve  |  voi, saremmo, eravamo
    larga           9.4   corta, duración, distancia  |  banda, vasta, ampia
    banda           2.3   ancha, digital, conexión  |  larga, digitale, internet
    parlamento     -0.2   consejo, europeo, unánimemente  |  consiglio, europeo, assemblea
    cultura        -0.8   cultural, lingüística, deporte  |  culturale, gioventù, sport
    733 words in common
"""

from geomm_plugin import drift
from geomm_plugin.demo import load_demo


def main():
    """Print the words that differ most, and some that do not."""
    demo = load_demo()
    two = demo.embeddings["es"], demo.embeddings["it"]
    differing = drift(*two, top=12, neighbors=3, names=("es", "it"))
    steady = drift(*two, words=["parlamento", "cultura", "banda", "larga"], neighbors=3)
    for word in (*differing.words, *steady.words):
        spanish, italian = ", ".join(word.neighbors_old), ", ".join(word.neighbors_new)
        print(f"{word.word:<14}{word.score:5.1f}   {spanish}  |  {italian}")
    print(f"{differing.common} words in common")


if __name__ == "__main__":
    main()
