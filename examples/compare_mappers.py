"""Compare mappers through the registry: the same data for all, and whether a gap is luck.

Names come from the registry, so those of installed plugins will do as well. A row holds P@1, and
how far it is from the first mapper's, in 95 % of resamples of the test words: a range that holds
zero may be luck.

    $ python examples/compare_mappers.py
    procrustes                    cosine  P@1 0.875
    procrustes                    csls    P@1 0.905
    regression                    cosine  P@1 0.878  -0.013 to +0.020
    regression                    csls    P@1 0.910  -0.010 to +0.020
    geomm                         cosine  P@1 0.865  -0.028 to +0.008
    geomm                         csls    P@1 0.893  -0.027 to +0.002
    geomm(regularization=1000)    cosine  P@1 0.878  -0.015 to +0.022
    geomm(regularization=1000)    csls    P@1 0.892  -0.028 to +0.000
"""

from geomm_plugin import CSLS, compare, get_mapper
from geomm_plugin.demo import load_demo


def main():
    """Compare some mappers by name, and one with parameters of its own, on two retrievals."""
    demo = load_demo()
    comparison = compare(
        ["procrustes", "regression", "geomm", get_mapper("geomm", regularization=1000.0)],
        {name: demo.embeddings[name] for name in ("en", "es")},
        {("en", "es"): demo.train["en", "es"]},
        {("en", "es"): demo.test["en", "es"]},
        retrievals=["cosine", CSLS(k=10)],
    )
    for row in comparison.rows:
        line = f"{row['mapper']:<29} {row['retrieval']:<7} P@1 {row['p@1']:.3f}"
        if row["difference"] is not None:
            line += f"  {row['difference_low']:+.3f} to {row['difference_high']:+.3f}"
        print(line)
    # comparison.to_markdown(), .to_csv() and .to_json() give the whole table.


if __name__ == "__main__":
    main()
