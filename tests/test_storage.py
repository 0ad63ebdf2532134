import json
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin import get_mapper, load_mapper, save_mapper
from geomm_plugin.errors import FileError, FormatError, NotFittedError, UnknownNameError
from geomm_plugin.mappers import GeoMM, Procrustes


@pytest.fixture
def saved(toy, tmp_path):
    mapper = toy.fit(GeoMM(regularization=10, normalize=("unit", "center", "unitdim")))
    save_mapper(mapper, tmp_path / "mapper")
    return mapper, tmp_path / "mapper"


def edit(folder, **changes):
    path = folder / "mapper.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_loaded_mapper_is_bit_equal_and_keeps_its_report(saved, toy):
    mapper, folder = saved
    loaded = load_mapper(folder)
    assert isinstance(loaded, GeoMM) and loaded.get_params() == mapper.get_params()
    assert loaded.report_ == json.loads(json.dumps(mapper.report_))
    for language, embeddings in toy.embeddings.items():
        assert np.array_equal(
            loaded.transform(language, embeddings.vectors),
            mapper.transform(language, embeddings.vectors),
        )
    assert loaded.state().keys() == mapper.state().keys()


def test_the_folder_holds_json_and_arrays_only(saved):
    names = sorted(path.name for path in saved[1].iterdir())
    assert len(names) == 2 and names[1] == "mapper.json"
    assert names[0].startswith("arrays-") and names[0].endswith(".safetensors")


def test_saving_again_replaces_the_old_mapper(saved, toy):
    save_mapper(toy.fit(Procrustes()), saved[1])
    assert isinstance(load_mapper(saved[1]), Procrustes)
    assert len(list(saved[1].iterdir())) == 2


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
        ({"format": 99}, FormatError, "the format is 99; this version reads 1"),
        ({"mapper": "nobody", "package": "geomm_x 1.0"}, UnknownNameError, "geomm_x 1.0, which is"),
        ({"mapper": None}, FormatError, "names no mapper"),
        ({"sha256": "../../../etc/passwd"}, FormatError, "no checksum"),
        ({"params": []}, FormatError, "not the description of a mapper"),
        ({"mapper": "metric_only", "params": {}}, FormatError, None),
    ],
)
def test_wrong_descriptions_are_refused(saved, changes, error, message):
    edit(saved[1], **changes)
    if message is None:  # arrays of another linear mapper load: both are one matrix per language
        assert load_mapper(saved[1]).name == changes["mapper"]
        return
    with pytest.raises(error, match=message):
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
                names = [alias.name for alias in getattr(node, "names", ())]
                names.append(getattr(node, "module", None))
                unpickling = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
                assert not unpickling.intersection(names), f"{path} imports {names}"
                if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                    assert ast.literal_eval(node.value) is False, path
