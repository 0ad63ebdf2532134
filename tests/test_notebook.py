"""The notebook runs from top to bottom, and draws its pictures."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of jupyter's own parts
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_notebook_runs(path, monkeypatch, tmp_path):
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module)
    import nbformat
    from nbclient import NotebookClient

    for name in ("HOME", "IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))  # the user's own may be read-only
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'adapters'}")
    notebook = nbformat.read(path, as_version=4)
    shown = [count_pictures(cell) for cell in notebook.cells]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    drawn = [count_pictures(cell) for cell in notebook.cells]
    assert sum(drawn) >= 5
    assert shown == drawn, "The pictures that are stored are not those that are drawn."


def count_pictures(cell):
    return sum("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
