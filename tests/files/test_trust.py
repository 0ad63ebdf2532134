"""What other users put beside our files is not believed. The owner is what `disk` says it is."""

import pytest

from geomm_plugin import read_embeddings, write_embeddings
from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import STAGE
from geomm_plugin.files.trust import is_own, is_private, is_trusted
from geomm_plugin.testing import make_toy

STRANGER, NEIGHBOR = 4711, 4712


@pytest.fixture
def owners(monkeypatch):
    """A table of paths to fill in: who owns each of them."""
    known, owner_of = {}, disk.owner_of
    monkeypatch.setattr(disk, "owner_of", lambda path: known.get(path) or owner_of(path))
    return known


def test_ones_own_is_what_one_made_and_no_link(tmp_path, owners):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("text")
    link.symlink_to(path)
    assert is_own(path) and not is_own(link) and not is_own(tmp_path / "missing")
    owners[path] = STRANGER
    assert not is_own(path)


def test_private_is_a_folder_of_ones_own_that_nobody_else_writes_to(tmp_path, owners):
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir(0o755)
    file.write_text("text")
    file.chmod(0o600)
    assert is_private(folder) and not is_private(file) and not is_private(tmp_path / "missing")
    for mode in (0o775, 0o757, 0o1777):
        folder.chmod(mode)
        assert not is_private(folder), oct(mode)
    folder.chmod(0o700)
    owners[folder] = STRANGER
    assert not is_private(folder)


def test_trusted_is_what_someone_made_who_might_make_the_file(tmp_path, owners):
    file, beside = tmp_path / "file", tmp_path / "file.beside"
    for path in (file, beside):
        path.write_text("text")
    assert is_trusted(beside, file)
    owners[beside] = STRANGER
    assert not is_trusted(beside, file)
    for other in (file, tmp_path):
        owners[other] = NEIGHBOR
        assert not is_trusted(beside, file)
        owners[other] = STRANGER
        assert is_trusted(beside, file)
        del owners[other]
    owners |= {file: STRANGER, tmp_path: NEIGHBOR}
    del owners[beside]
    assert is_trusted(beside, file), "this user's own"
    assert not is_trusted(tmp_path / "missing", file)


def test_a_stage_that_another_user_planted_stops_no_reader(tmp_path, owners):
    path, stage = tmp_path / "en.vec", tmp_path / STAGE
    embeddings = make_toy().embeddings["en"]
    write_embeddings(embeddings, path)
    (stage / "old").mkdir(parents=True)
    with pytest.raises(FileError, match="a run is renaming"):
        read_embeddings(path)
    owners[stage] = STRANGER
    assert read_embeddings(path).words == embeddings.words
