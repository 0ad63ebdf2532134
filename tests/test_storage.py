import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from geomm_plugin import get_mapper, load_mapper, save_mapper, storage
from geomm_plugin.errors import (
    FileError,
    FormatError,
    GeommError,
    NotFittedError,
    UnknownNameError,
)
from geomm_plugin.files.stamps import ATTEMPTS
from geomm_plugin.mappers import GeoMM, MetricOnly, Procrustes
from geomm_plugin.storage import CARD, _checksum
from geomm_plugin.testing.toys import make_toy


@pytest.fixture
def saved(toy, tmp_path):
    mapper = toy.fit(GeoMM(regularization=10, normalize=("unit", "center", "unitdim")))
    save_mapper(mapper, tmp_path / "mapper")
    return mapper, tmp_path / "mapper"


def edit(folder, **changes):
    """Change a description, and its checksum with it, as whoever means harm would."""
    path = folder / "mapper.json"
    description = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(description | {"checksum": _checksum(description)}))


def replace_arrays(folder, content):
    """Put other arrays, or other bytes, into a saved mapper, with all checksums right."""
    for old in folder.glob("arrays-*"):
        old.unlink()
    content = content if isinstance(content, bytes) else save(content)
    checksum = hashlib.sha256(content).hexdigest()
    (folder / f"arrays-{checksum[:16]}.safetensors").write_bytes(content)
    edit(folder, sha256=checksum)


def test_a_loaded_mapper_is_bit_equal_and_keeps_its_report(saved, toy):
    mapper, folder = saved
    loaded = load_mapper(folder)
    assert isinstance(loaded, GeoMM) and loaded.get_params() == mapper.get_params()
    assert loaded.report_ == replace(mapper.report_, cpu_seconds=None)
    for language, embeddings in toy.embeddings.items():
        assert np.array_equal(
            loaded.transform(language, embeddings.vectors),
            mapper.transform(language, embeddings.vectors),
        )
    assert loaded.state().keys() == mapper.state().keys()


@pytest.mark.parametrize("mapper", [GeoMM(regularization=100), MetricOnly(regularization=1)])
def test_a_loaded_mapper_multiplies_to_the_same_bits(mapper, tmp_path):
    """At d = 12 BLAS rounds every layout alike; at d = 100 a transposed array showed."""
    toy = make_toy(words=300, dimension=100)
    save_mapper(toy.fit(mapper), tmp_path / "mapper")
    loaded = load_mapper(tmp_path / "mapper")
    assert np.array_equal(loaded.W("en", "es"), mapper.W("en", "es"))
    assert all(matrix.flags.c_contiguous for matrix in mapper.matrices_.values())
    assert not np.shares_memory(*mapper.matrices_.values())


def test_the_folder_holds_json_arrays_and_a_card_only(saved):
    names = sorted(path.name for path in saved[1].iterdir())
    assert len(names) == 3 and names[0] == CARD and names[2] == "mapper.json"
    assert names[1].startswith("arrays-") and names[1].endswith(".safetensors")


def test_saving_again_replaces_the_old_mapper(saved, toy):
    save_mapper(toy.fit(Procrustes()), saved[1])
    assert isinstance(load_mapper(saved[1]), Procrustes)
    assert len(list(saved[1].iterdir())) == 3


def test_a_damaged_array_file_is_found(saved):
    (arrays,) = saved[1].glob("arrays-*")
    content = bytearray(arrays.read_bytes())
    content[-3] ^= 1
    arrays.write_bytes(content)
    with pytest.raises(FormatError, match="the checksum differs"):
        load_mapper(saved[1])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"format": 99}, FormatError, "the format is 99; this version reads 2"),
        ({"mapper": "nobody", "package": "geomm_x 1.0"}, UnknownNameError, "geomm_x 1.0, which is"),
        ({"format": True}, FormatError, "the format is True; this version reads 2"),
        ({"format": 2.0}, FormatError, "the format is 2.0"),
        ({"mapper": None}, FormatError, "holds no 'mapper'"),
        ({"package": 5}, FormatError, "holds no 'package'"),
        ({"report": [1]}, FormatError, "holds no 'report'"),
        ({"params": {"regularization": "much"}}, FormatError, "regularization='much'"),
        ({"params": {"regularization": float("nan")}}, FormatError, "regularization=nan"),
        ({"params": {"nothing": 1}}, FormatError, "no parameter 'nothing'"),
        ({"params": {"normalize": 5}}, FormatError, "normalize=5"),
        ({"params": {"normalize": ["none"]}}, FormatError, "no normalization 'none'"),
        ({"params": {"normalize": ["unit"]}}, FormatError, "learns the arrays none"),
        ({"params": {"normalize": ["center", "unit", "unitdim"]}}, FormatError, "learns the array"),
        ({"sha256": "../../../etc/passwd"}, FormatError, "no checksum"),
        ({"params": []}, FormatError, "not the description of a mapper"),
        (
            {"mapper": "metric_only", "params": {"normalize": ["unit", "center", "unitdim"]}},
            FormatError,
            None,
        ),
    ],
)
def test_wrong_descriptions_are_refused(saved, changes, error, message):
    edit(saved[1], **changes)
    if message is None:  # arrays of another linear mapper load: both are one matrix per language
        assert load_mapper(saved[1]).name == changes["mapper"]
        return
    with pytest.raises(error, match=message):
        load_mapper(saved[1])


def test_every_changed_byte_of_a_saved_mapper_is_found_or_changes_nothing(saved):
    mapper, folder = saved
    for path in sorted(folder.iterdir()):
        if path.name == CARD:  # nothing reads it; geomm check looks at it
            continue
        content = path.read_bytes()
        for place in range(0, len(content), 3 if path.suffix == ".json" else 97):
            damaged = bytearray(content)
            damaged[place] ^= 1
            path.write_bytes(damaged)
            try:
                loaded = load_mapper(folder)
            except GeommError as error:
                assert str(folder) in str(error)
            else:  # a space became a "!" nowhere: only white space may change
                assert bytes(damaged).split() == content.split()
                assert loaded.get_params() == mapper.get_params()
                assert loaded.report_.to_json() == json.loads(content)["report"]
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "no matrix of any language"),
        ({"matrix/en": np.ones(3)}, "shape .3,."),
        ({"matrix/en": np.ones((4, 0)), "matrix/es": np.ones((4, 0))}, "shape .4, 0."),
        ({"matrix/en": np.ones((3, 3), np.int64)}, "type int64"),
        ({"matrix/en": np.full((3, 3), np.nan)}, "NaN or infinity"),
        ({"matrix/en": np.ones((3, 3)), "matrix/es": np.ones((3, 2))}, "different dimensions"),
        ({"matrix/en": np.ones((3, 3)), "other": np.ones(3)}, "no array called 'other'"),
        ({"matrix/en": np.ones((3, 3))}, "learns the arrays en/1; there are none"),
        ({"matrix/en": np.ones((3, 3)), "normalizer/en/1": np.ones(2)}, "3 finite numbers"),
        ({"matrix/en": np.ones((3, 3)), "normalizer/es/1": np.ones(3)}, "learns the arrays en/1"),
        ({"matrix/en": np.ones((3, 3)), "normalizer/en/x": np.ones(3)}, "learns the arrays en/1"),
        (b"", "not arrays"),
        (b"\xff" * 100, "not arrays"),
        ((10**12).to_bytes(8, "little") + b"{}", "not arrays"),
    ],
)
def test_arrays_that_are_not_the_mappers_are_refused(toy, tmp_path, arrays, message):
    save_mapper(toy.fit(Procrustes()), tmp_path)
    replace_arrays(tmp_path, arrays)
    with pytest.raises(FormatError, match=message):
        load_mapper(tmp_path)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 500 + "]" * 500, '{"a": 1, "a": 2}', "\udcff"]
)
def test_json_that_is_too_deep_or_says_things_twice_is_refused(saved, text):
    (saved[1] / "mapper.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError, match=r"mapper.json: not JSON .*damaged"):
        load_mapper(saved[1])


@pytest.mark.parametrize("name", ["mapper.json", "arrays-*"])
def test_links_that_leave_the_folder_are_not_followed(saved, tmp_path, name):
    (path,) = saved[1].glob(name)
    path.rename(tmp_path / "outside")
    for target in (tmp_path / "outside", Path("..") / "outside"):
        path.symlink_to(target)
        with pytest.raises(FileError, match="leads out of its folder"):
            load_mapper(saved[1])
        path.unlink()
    (tmp_path / "outside").rename(saved[1] / "inside")
    path.symlink_to("inside")
    load_mapper(saved[1])
    path.unlink()
    path.symlink_to(path.name)  # a circle
    with pytest.raises(FileError, match="Cannot read"):
        load_mapper(saved[1])


def test_the_folder_itself_may_be_a_link(saved, tmp_path):
    (tmp_path / "link").symlink_to(saved[1])
    load_mapper(tmp_path / "link")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_plain_file_is_not_opened(saved):
    (saved[1] / "mapper.json").unlink()
    os.mkfifo(saved[1] / "mapper.json")
    with pytest.raises(FileError, match="no plain file"):
        load_mapper(saved[1])


def test_missing_files(saved, tmp_path):
    with pytest.raises(FileError, match="A saved mapper is a folder"):
        load_mapper(tmp_path / "nothing")
    (saved[1] / "mapper.json").write_text("{")
    with pytest.raises(FormatError, match="not JSON"):
        load_mapper(saved[1])


def test_only_fitted_mappers_are_saved_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(NotFittedError):
        save_mapper(get_mapper("geomm"), tmp_path / "mapper")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_overwritten_by_a_folder(toy, tmp_path):
    (tmp_path / "mapper").write_text("mine")
    with pytest.raises(FileError, match="is a file"):
        save_mapper(toy.fit(Procrustes()), tmp_path / "mapper")
    assert (tmp_path / "mapper").read_text() == "mine"


def test_nothing_in_the_packages_unpickles():
    import ast

    import geomm_adapters
    import geomm_plugin

    for package in (geomm_plugin, geomm_adapters):
        for path in Path(package.__file__).parent.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [getattr(alias, "name", alias) for alias in getattr(node, "names", ())]
                names.append(getattr(node, "module", None))
                unpickling = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
                assert not unpickling.intersection(names), f"{path} imports {names}"
                if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                    assert ast.literal_eval(node.value) is False, path


def test_a_mapper_that_is_saved_again_while_it_is_read_is_read_again(saved, toy, monkeypatch):
    """Each of some readings finds that the arrays named by mapper.json have gone meanwhile."""
    _, path = saved
    others = [toy.fit(GeoMM(regularization=float(number))) for number in range(1, ATTEMPTS)]
    read = storage._read

    def read_slowly(file):
        if file.name.startswith("arrays-") and others:
            save_mapper(others.pop(), path)
        return read(file)

    monkeypatch.setattr(storage, "_read", read_slowly)
    assert load_mapper(path).regularization == 1.0
    assert not others


def test_a_mapper_that_never_stays_the_same_is_not_read_for_ever(saved, toy, monkeypatch):
    mapper, path = saved
    read = storage._read

    def read_too_late(file):
        if file.name.startswith("arrays-"):
            save_mapper(mapper, path)  # the same arrays, so mapper.json alone is new
            raise FileError("gone")
        return read(file)

    monkeypatch.setattr(storage, "_read", read_too_late)
    with pytest.raises(FileError, match="changed while being read"):
        load_mapper(path)
