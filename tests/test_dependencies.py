"""What the package asks to be installed: floors, and no ceilings that would age."""

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
REQUIREMENTS = [
    requirement
    for group in [PROJECT["project"]["dependencies"], *EXTRAS.values()]
    for requirement in group
    if not requirement.startswith("geomm-plugin[")
]


@pytest.mark.parametrize("requirement", sorted(set(REQUIREMENTS)))
def test_a_dependency_has_a_floor_and_no_ceiling(requirement):
    assert re.fullmatch(r"[a-z][a-z0-9-]*(\[\w+\])?>=\d[\d.]*", requirement)


def test_all_is_every_extra_that_users_may_want():
    on_linux, everywhere = EXTRAS["all"]
    assert on_linux == "geomm-plugin[fasttext]; sys_platform == 'linux'"  # no wheels elsewhere
    named = {"fasttext", *re.findall(r"[\w-]+", everywhere.partition("[")[2])}
    # torch brings gigabytes, for one mapper of many; data holds nothing.
    assert named == set(EXTRAS) - {"all", "benchmark", "data", "docs", "test", "torch"}
    assert EXTRAS["data"] == []


def test_the_floors_are_tried_by_the_workflow():
    root = Path(__file__).parents[1]
    recipe = (root / "Makefile").read_text(encoding="utf-8").partition("\ntest-lowest:")[2]
    assert "--resolution lowest-direct" in recipe.partition("\n\n")[0]
    assert "make test-lowest" in (root / ".github/workflows/test.yml").read_text(encoding="utf-8")
