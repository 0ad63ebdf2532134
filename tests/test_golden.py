"""What commands print with --json on the embedded data, compared with the files of tests/golden.

`python tests/test_golden.py` writes the files anew; only do so where numbers are meant to change.
"""

import json
import math
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin import get_mapper, save_mapper
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER, load_demo

GOLDEN = Path(__file__).parent / "golden"
WORDS = 1000
TOLERANCE = 1e-6  # of numbers: other processors round otherwise
OTHERWISE = {"fit_seconds", "peak_memory_mb", "versions", "files"}  # not the same everywhere
# What amplifies the last digits, which the kernels of Haswell and Sandybridge round otherwise.
TOLERANCES = {"score": 1e-4, "singular_value_gap": 1e-4, "cv_accuracy": 0.01}
ALL_WORDS = {"drift"}  # among fewer, two languages share too few words for one answer

FILES = {language: f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es", "it")}
TRAIN = ["-d", f"en-es={FOLDER}/en-es.train.txt", "-d", f"en-it={FOLDER}/en-it.train.txt"]
TEST = ["-t", f"en-es={FOLDER}/en-es.test.txt", "-t", f"en-it={FOLDER}/en-it.test.txt"]
TEXTS = [f"--texts={language}={FOLDER}/sentences.{language}.txt.gz" for language in FILES]
TOPICS = ["--train", f"en={FOLDER}/topics.en.tsv.gz", "--test", f"es={FOLDER}/topics.es.tsv.gz"]
TWO, THREE = [FILES["en"], FILES["es"]], list(FILES.values())
COMMANDS = {
    "compare": [
        *("compare", *THREE, *TRAIN, *TEST, "-m", "procrustes", "-m", "geomm:regularization=100"),
        *("-r", "csls", "-r", "cosine", "--by", "spelling", "--task", "sentences", *TEXTS),
        *("--task", "classify", *TOPICS),
    ],
    "compare_each_pair": [
        *("compare", *THREE, *TRAIN, *TEST, "-m", "procrustes", "-m", "msf", "--each-pair"),
        *("--baseline", "msf", "--oov", "wrong"),
    ],
    "evaluate": ["evaluate", *TWO, "--model", "MODEL", *TEST[:2], "--by", "frequency"],
    "evaluate_sentences": [
        *("evaluate", *TWO, "--model", "MODEL", "--task", "sentences", *TEXTS[:2]),
    ],
    "evaluate_classify": ["evaluate", *TWO, "--model", "MODEL", "--task", "classify", *TOPICS],
    "evaluate_similarity": [
        *("evaluate", *TWO, "--model", "MODEL", "--task", "similarity", "-d", "en-es=SIMILARITY"),
    ],
    "evaluate_analogy": [
        *("evaluate", FILES["en"], "--model", "MODEL", "--task", "analogy", "-d", "en=ANALOGIES"),
    ],
    "diagnose": ["diagnose", *TWO, *TRAIN[:2]],
    "diagnose_without": ["diagnose", *TWO],
    "onehop": [
        *("onehop", *THREE, *TRAIN, "-t", f"es-it={FOLDER}/es-it.test.txt"),
        *("-m", "procrustes", "-m", "geomm:regularization=100"),
    ],
    "drift": ["drift", FILES["en"], FILES["es"], "--top", "8"],
    "paper": ["paper", "table1", "--demo", "--pair", "en-es", "--mapper", "procrustes"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return make_inputs(tmp_path_factory.mktemp("golden"))


def make_inputs(folder):
    """Write a saved mapper, scored pairs and analogies; return what stands for them."""
    demo = load_demo()
    few = {language: demo.embeddings[language].head(WORDS) for language in ("en", "es")}
    mapper = get_mapper("procrustes").fit(few, {("en", "es"): demo.train["en", "es"]})
    save_mapper(mapper, folder / "mapper")
    pairs = list(demo.test["en", "es"])
    others = [(pair[0], pairs[(at + 7) % len(pairs)][1]) for at, pair in enumerate(pairs)]
    scored = [(*pair, 1) for pair in pairs] + [(*pair, 0) for pair in others]
    lines = ["\t".join(map(str, line)) for line in scored]
    (folder / "similarity.txt").write_text("\n".join(lines), encoding="utf-8")
    words = ["country countries", "report reports", "question questions", "year years"]
    questions = [f"{one} {other}" for one in words for other in words if one != other]
    (folder / "analogies.txt").write_text("\n".join([": plurals", *questions]), encoding="utf-8")
    names = {"MODEL": "mapper", "SIMILARITY": "similarity.txt", "ANALOGIES": "analogies.txt"}
    return {name: str(folder / file) for name, file in names.items()}


def run(name, inputs):
    limit = [] if name in ALL_WORDS else ["--max-words", str(WORDS)]
    arguments = [*COMMANDS[name], *limit, "--json", "-q"]
    for word, path in inputs.items():
        arguments = [argument.replace(word, path) for argument in arguments]
    done = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return without(json.loads(done.stdout))


def without(value):
    """Leave out what is not the same on every machine."""
    if isinstance(value, dict):
        return {name: without(each) for name, each in value.items() if name not in OTHERWISE}
    return [without(each) for each in value] if isinstance(value, list) else value


def differences(here, golden, place=""):
    """Yield where two JSON values differ by more than rounding."""
    if isinstance(here, dict) and isinstance(golden, dict):
        if list(here) != list(golden):
            yield f"{place}: {list(here)} instead of {list(golden)}"
        for name in here.keys() & golden.keys():
            yield from differences(here[name], golden[name], f"{place}.{name}")
    elif isinstance(here, list) and isinstance(golden, list):
        if len(here) != len(golden):
            yield f"{place}: {len(here)} instead of {len(golden)} items"
        for number, both in enumerate(zip(here, golden, strict=False)):
            yield from differences(*both, f"{place}[{number}]")
    elif isinstance(here, float) and isinstance(golden, float):
        tolerance = TOLERANCES.get(place.rpartition(".")[2], TOLERANCE)
        if not math.isclose(here, golden, rel_tol=tolerance, abs_tol=tolerance):
            yield f"{place}: {here} instead of {golden}"
    elif here != golden:
        yield f"{place}: {here!r} instead of {golden!r}"


@pytest.mark.parametrize("name", COMMANDS)
def test_json_rows_are_as_they_were(name, inputs):
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert list(differences(run(name, inputs), golden)) == []


def test_differences_are_found():
    golden = [{"p@1": 0.5, "pair": "en-es"}]
    assert not list(differences([{"p@1": 0.5 + 1e-9, "pair": "en-es"}], golden))
    assert list(differences([{"p@1": 0.5 + 1e-4, "pair": "en-es"}], golden))
    assert list(differences([{"pair": "en-es", "p@1": 0.5}], golden))
    assert list(differences([], golden))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        inputs = make_inputs(Path(folder))
        for name in sys.argv[1:] or COMMANDS:
            text = json.dumps(run(name, inputs), ensure_ascii=False, indent=1) + "\n"
            (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
