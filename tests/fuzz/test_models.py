"""Saved mappers: whatever stands in their files, they load as they were or are refused."""

import hashlib
import json

import numpy as np
import pytest
from hostile import answer, anything, changed_json, fuzzed
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from geomm_adapters import TranslationMatrix
from geomm_plugin import get_mapper, load_mapper, save_mapper
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import GeommError
from geomm_plugin.files.stamps import sha256_of_arrays
from geomm_plugin.files.trust import read_arrays
from geomm_plugin.fit_report import FitReport
from geomm_plugin.storage import _checksum
from geomm_plugin.testing import make_toy

TOY = make_toy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    save_mapper(TOY.fit(get_mapper("geomm", regularization=1.0)), place / "good")
    (arrays,) = (place / "good").glob("arrays-*")
    return place, (place / "good" / "mapper.json").read_bytes(), arrays.read_bytes()


def saved(place, description, arrays):
    """Write a folder; nothing of an earlier one is left."""
    folder = place / "hostile"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / "mapper.json").write_bytes(description)
    number = hashlib.sha256(arrays).hexdigest()[:16]
    (folder / f"arrays-{number}.safetensors").write_bytes(arrays)
    return folder


def check_mapper(found):
    """What was loaded maps what it should, or says why not."""
    for language, embeddings in TOY.embeddings.items():
        try:
            mapped = found.transform(language, embeddings.vectors[:3])
        except GeommError:
            continue
        assert mapped.ndim == 2 and len(mapped) == 3


@fuzzed(60)
@given(data=st.data())
def test_descriptions_with_the_right_checksum(folder, data):
    place, description, arrays = folder
    changed = data.draw(changed_json(json.loads(description)))
    if isinstance(changed, dict):
        changed["checksum"] = _checksum(changed)
    path = saved(place, json.dumps(changed).encode(), arrays)
    found = answer(lambda: load_mapper(path), path)
    if not isinstance(found, GeommError):
        check_mapper(found)
        told = FitReport.from_json(changed["report"]).to_json()
        assert json.dumps(found.report_.to_json()) == json.dumps(told)  # NaN is not equal to itself


@fuzzed(60)
@given(data=st.data())
def test_damaged_descriptions_are_found(folder, data):
    place, description, arrays = folder
    content = data.draw(anything(description))
    path = saved(place, content, arrays)
    found = answer(lambda: load_mapper(path), path)
    if not isinstance(found, GeommError):
        assert json.loads(content) == json.loads(description)


def check_arrays(place, description, content):
    """Load arrays that their description fits: refused, or a mapper that works."""
    changed = json.loads(description) | {"sha256": hashlib.sha256(content).hexdigest()}
    changed["checksum"] = _checksum(changed)
    path = saved(place, json.dumps(changed).encode(), content)
    found = answer(lambda: load_mapper(path), path)
    if not isinstance(found, GeommError):
        check_mapper(found)


@fuzzed(50)
@given(data=st.data())
def test_arrays_with_the_right_checksum(folder, data):
    place, description, arrays = folder
    content = data.draw(anything(arrays))
    check_arrays(place, description, content)


shapes = st.lists(st.integers(0, 9), max_size=3).map(tuple)
kinds = st.sampled_from(["f4", "f8", "f2", "i8", "u1", "?", "c8"])
names = st.sampled_from(
    ["matrix/en", "matrix/es", "normalizer/en/1", "normalizer/es/1", "normalizer/en/x", "matrix/",
     "normalizer/en/99", "matrix/../../x", "other", "normalizer/", "/", ""]
)  # fmt: skip


@fuzzed(50)
@given(arrays=st.dictionaries(names, st.tuples(shapes, kinds)), value=st.floats(width=16))
def test_arrays_of_other_names_shapes_and_kinds(folder, arrays, value):
    place, description, _ = folder
    with np.errstate(all="ignore"):
        made = {
            name: np.full(shape, 0 if np.dtype(kind).kind in "iu?" else value, kind)
            for name, (shape, kind) in arrays.items()
        }
    content = save(made)
    check_arrays(place, description, content)


@fuzzed(25, share=0.5)
@given(data=st.data())
def test_translation_matrices(folder, data):
    place, _, _ = folder
    good = place / "good.safetensors"
    if not good.exists():
        matrix = TranslationMatrix(*TOY.embeddings.values(), mapper="procrustes")
        matrix.train(next(iter(TOY.dictionaries.values())))
        matrix.save(good)
    path = place / "hostile.safetensors"
    if data.draw(st.booleans()):
        path.write_bytes(data.draw(anything(good.read_bytes())))
    else:
        remarks, arrays = read_arrays(good)
        del remarks["sha256"]
        name = data.draw(st.sampled_from(["keyed_vectors", "words", "mapper"]))
        changed = data.draw(changed_json(json.loads(remarks[name])))
        if name == "mapper" and isinstance(changed, dict):
            changed["checksum"] = _checksum(changed)
        remarks[name] = json.dumps(changed)
        remarks["sha256"] = sha256_of_arrays(arrays, remarks)
        path.write_bytes(save(arrays, remarks))
    found = answer(lambda: TranslationMatrix.load(path), path)
    if not isinstance(found, GeommError):
        word = as_embeddings(found.source_lang_vec).words[0]
        answer(lambda: found.translate([word]), "")
