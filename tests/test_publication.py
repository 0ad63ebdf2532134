"""What stands around the package: the citation, the links of its description, the workflows."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

from geomm_plugin.errors import missing_extra

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_links_of_the_description_are_absolute_and_lead_to_files():
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    repository = PROJECT["urls"]["Repository"]
    text = hook.with_absolute_links(readme, repository)
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(links) == len(re.findall(r"\]\(", readme)) > 5
    for link in links:
        assert link.startswith("https://")
        if link.startswith(repository):
            path = re.sub(r"^/(blob|raw)/main/", "", link.removeprefix(repository))
            path = path.replace("../../actions", ".github").removesuffix("/badge.svg")
            assert (ROOT / path.partition("#")[0]).exists(), link
    assert "![" in text and f"]({repository}/raw/main/docs/space.svg)" in text


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in text
    assert f"\nlicense: {PROJECT['license']}\n" in text


def test_workflows_run_targets_that_are_there():
    yaml = pytest.importorskip("yaml")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    run = set()
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        for job in workflow["jobs"].values():
            steps = [step.get("run", "") for step in job["steps"]]
            run |= {word for step in steps for word in re.findall(r"^make ([\w-]+)", step)}
    assert {"test", "test-lowest", "test-wheel", "docs", "audit"} <= run <= targets


def test_every_supported_python_is_named_and_tested():
    named = [c for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    versions = [name.rpartition(" ")[2] for name in named]
    assert f">={versions[0]}" == PROJECT["requires-python"]
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f"python: {json.dumps(versions)}\n" in text


def test_the_image_copies_what_a_build_needs():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY ([^-].*) \S+$", text, re.M) for name in line.split()
    ]
    packages = {"geomm_plugin", "adapters"}
    needed = {"pyproject.toml", "hatch_build.py", "README.md", *PROJECT["license-files"], *packages}
    assert set(copied) == needed
    assert all((ROOT / name).exists() for name in copied)
    assert "\nUSER geomm\n" in text and 'ENTRYPOINT ["geomm"]' in text


def test_what_the_workflow_runs_on_other_systems_is_there():
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    named = re.findall(r"tests/[\w/.]+", text)
    assert len(named) > 10 and all((ROOT / name).exists() for name in named)
    assert "[windows-latest, macos-latest]" in text


def test_extras_that_errors_advise_are_there():
    advised = set()
    for folder in (ROOT / "geomm_plugin", ROOT / "adapters"):
        for path in folder.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            advised |= set(re.findall(r'missing_extra\(\s*[^()]*?,\s*"(\w+)"', text))
    assert {"plot", "gensim", "letters"} <= advised <= set(PROJECT["optional-dependencies"])
    message = str(missing_extra("A picture", "plot"))
    assert 'pip install "geomm-plugin[plot]"' in message and 'pip install ".[plot]"' in message
