"""Static models of tokens, against model2vec's own writer, reader and encoder."""

import json
import shutil
import sys

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError, UnknownNameError

model2vec = pytest.importorskip("model2vec")
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402

# model2vec before 0.9 leaves its own files open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

TOKENS = ["[PAD]", "[UNK]", "dog", "##s", "house", "##house", "naïve", "d", "##og"]


def wordpiece():
    tokenizer = Tokenizer(
        models.WordPiece({token: n for n, token in enumerate(TOKENS)}, unk_token="[UNK]")
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]"])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def unigram():
    pieces = [("<unk>", 0.0), ("▁dog", -1.0), ("▁house", -1.0), ("s", -2.0), ("▁", -3.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def static_model(tokenizer, dtype=np.float32, **parameters):
    rng = np.random.default_rng(0)
    count = parameters.pop("rows", tokenizer.get_vocab_size())
    vectors = rng.standard_normal((count, 4)).astype(dtype)
    return model2vec.StaticModel(vectors, tokenizer, normalize=False, **parameters)


def change(folder, **parts):
    """Change parts of the description of a tokenizer."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | parts), "utf-8")


@pytest.fixture(params=["plain", "quantized"])
def model(request):
    if request.param == "plain":
        return static_model(wordpiece())
    return static_model(
        wordpiece(),
        rows=3,
        weights=np.linspace(0.1, 2, len(TOKENS)).astype(np.float32),
        token_mapping=np.arange(len(TOKENS)) % 3,
    )


def test_whole_words_have_the_vectors_that_model2vec_encodes(model):
    embeddings = as_embeddings(model)
    assert embeddings.words == ["dog", "house", "naïve", "d"]
    np.testing.assert_allclose(embeddings.vectors, model.encode(embeddings.words), rtol=1e-6)


def test_other_words_are_the_mean_of_their_tokens(model):
    embeddings = as_embeddings(model)
    for word in ("dogs", "doghouse", "dogshouse"):
        assert word not in embeddings
        np.testing.assert_allclose(embeddings.vector(word), model.encode(word), rtol=1e-6)
    with pytest.raises(UnknownNameError, match="no known subword"):
        embeddings.vector("xyz")


def test_padding_and_truncation_of_a_tokenizer_are_not_for_words(tmp_path, model):
    tokenizer = model.tokenizer
    expected = as_embeddings(model).vector("doghouse")
    model.save_pretrained(tmp_path / "model")
    for length in (8, 2**40):
        change(
            tmp_path / "model",
            padding={
                "strategy": {"Fixed": length}, "direction": "Left", "pad_to_multiple_of": None,
                "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
            },
            truncation={
                "direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0
            },
        )  # fmt: skip
        for word in ("dogs", "doghouse", "dogshouse"):
            made = read_embeddings(tmp_path / "model").vector(word)
            np.testing.assert_allclose(made, model.encode(word), rtol=1e-6)
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(1)
    np.testing.assert_array_equal(as_embeddings(model).vector("doghouse"), expected)
    assert tokenizer.padding and tokenizer.truncation, "the model's own tokenizer is left alone"


def test_a_tokenizer_that_fails_is_a_sentence(tmp_path):
    static_model(unigram()).save_pretrained(tmp_path / "model")
    change(tmp_path / "model", normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"})
    with pytest.raises(FormatError, match="tokenizers cannot use it"):
        read_embeddings(tmp_path / "model").vector("dogs")
    description = json.loads((tmp_path / "model" / "tokenizer.json").read_text("utf-8"))
    change(tmp_path / "model", normalizer=None, model=description["model"] | {"unk_id": None})
    with pytest.raises(FormatError, match="tokenizers cannot use it"):
        read_embeddings(tmp_path / "model").vector("xyz")


def test_a_saved_folder_is_read_alike(tmp_path, model):
    model.save_pretrained(tmp_path / "model")
    read, held = read_embeddings(tmp_path / "model"), as_embeddings(model)
    assert read.words == held.words
    np.testing.assert_array_equal(read.vectors, held.vectors)
    np.testing.assert_array_equal(read.vector("doghouse"), held.vector("doghouse"))
    assert read_embeddings(tmp_path / "model", max_words=1).words == ["dog"]


def test_the_layout_of_sentence_transformers_is_read(tmp_path):
    from safetensors.numpy import load_file, save_file

    model = static_model(wordpiece())
    model.save_pretrained(tmp_path / "model")
    nested = tmp_path / "sentence" / "0_StaticEmbedding"
    nested.mkdir(parents=True)
    tensors = load_file(tmp_path / "model/model.safetensors")
    save_file({"embedding.weight": tensors["embeddings"]}, nested / "model.safetensors")
    shutil.copy(tmp_path / "model/tokenizer.json", nested)
    (tmp_path / "sentence/config_sentence_transformers.json").write_text("{}")
    read = read_embeddings(tmp_path / "sentence")
    np.testing.assert_allclose(read.vectors, model.encode(read.words), rtol=1e-6)


def test_pieces_that_begin_a_word_are_words_without_their_mark():
    model = static_model(unigram())
    embeddings = as_embeddings(model)
    assert embeddings.words == ["dog", "house"]
    np.testing.assert_allclose(embeddings.vectors, model.encode(["dog", "house"]), rtol=1e-6)
    np.testing.assert_allclose(embeddings.vector("dogs"), model.encode("dogs"), rtol=1e-6)


def test_half_precision_stays(tmp_path):
    model = static_model(wordpiece(), np.float16)
    assert as_embeddings(model).vectors.dtype == np.float16


def test_without_tokenizers_whole_words_are_still_read(tmp_path, monkeypatch):
    model = static_model(wordpiece())
    model.save_pretrained(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    read = read_embeddings(tmp_path / "model")
    assert read.words == ["dog", "house", "naïve", "d"]
    with pytest.raises(UnknownNameError):
        read.vector("dogs")


def test_other_models_and_damaged_ones_are_refused(tmp_path):
    from safetensors.numpy import save_file

    model = static_model(wordpiece())
    model.save_pretrained(tmp_path / "model")
    save_file({"encoder.weight": np.zeros(3)}, tmp_path / "model/model.safetensors")
    with pytest.raises(FormatError, match=r"encoder\.weight"):
        read_embeddings(tmp_path / "model")
    (tmp_path / "model/tokenizer.json").write_text(json.dumps({})[:-1])
    with pytest.raises(FormatError, match="damaged"):
        read_embeddings(tmp_path / "model")
    with pytest.raises(FormatError, match="holds no"):
        read_embeddings(tmp_path, format="static_model")


def test_a_written_folder_is_a_model_of_model2vec(tmp_path):
    words = ["dog", "[UNK]", "▁cat", "new", "york", "Ġ"]
    vectors = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    write_embeddings(Embeddings(words, vectors), tmp_path / "model", format="static_model")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "model", force_download=False)
    mean = vectors[[0, 3, 4]].mean(axis=0)
    assert np.allclose(model.encode("dog, new zebra york"), mean)
    read = read_embeddings(tmp_path / "model")
    assert list(read.words) == words and np.array_equal(read.vectors, vectors)
    assert list(as_embeddings(model).words) == words
    write_embeddings({"dog": vectors[0], "cat": vectors[1]}, tmp_path / "b", format="static_model")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "b", force_download=False)
    assert np.array_equal(model.encode("DOG"), vectors[0])  # words have no capitals


def test_numbers_that_are_no_numbers_are_averaged_without_a_warning():
    model = static_model(wordpiece(), np.float16)
    bad = np.array([0x7C01, 0x7C00, 0xFC00, 0x7BFF], np.uint16).view(np.float16)  # NaN, inf, huge
    model.embedding[TOKENS.index("dog")], model.embedding[TOKENS.index("##s")] = bad, bad[::-1]
    vector = as_embeddings(model).vector("dogs")
    assert vector.shape == (4,) and not np.isfinite(vector).any()
