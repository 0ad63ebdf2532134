"""Only `fetch`, `explore` and `--cluster` open a socket, or so much as name modules that do."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import geomm_adapters
import geomm_plugin

NETWORK = {
    *("socket", "_socket", "ssl", "http", "urllib.request", "urllib3", "requests", "httpx"),
    *("smtplib", "socketserver", "xmlrpc", "asyncio", "webbrowser", "aiohttp", "ftplib"),
    "huggingface_hub", "pooch", "dask", "distributed",
}  # fmt: skip
RUN = """
import sys

def watch(event, arguments):
    if event.startswith(("socket.", "urllib.", "ftplib.", "http.client", "webbrowser.")):
        raise RuntimeError(f"the network was used: {event} {arguments}")

sys.addaudithook(watch)
from geomm_plugin.cli import main
try:
    main()
except SystemExit as end:
    sys.exit(end.code)
"""


def test_only_fetch_the_explorer_and_clusters_name_modules_of_the_network():
    found = set()
    for package in (geomm_plugin, geomm_adapters):
        root = Path(package.__file__).parent
        for path in root.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    continue
                names = [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module, *(f"{node.module}.{name}" for name in names)]
                if any(name in NETWORK or name.split(".")[0] in NETWORK for name in names):
                    found.add(path.relative_to(root.parent).as_posix())
    assert found == {
        "geomm_plugin/datasets/download.py",
        "geomm_plugin/views/explorer/server.py",
        "geomm_plugin/work.py",
    }


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, arguments)],
        capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def test_no_command_but_explore_and_fetch_opens_a_socket(tmp_path, toy):
    from geomm_plugin import write_embeddings

    files = []
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, tmp_path / f"{language}.vec")
        files.append(f"{language}={tmp_path / language}.vec")
    ((pair, dictionary),) = toy.dictionaries.items()
    name = "-".join(pair)
    text = "".join(f"{source} {target}\n" for source, target in dictionary)
    (tmp_path / "pairs.txt").write_text(text, encoding="utf-8")
    pairs = f"{name}={tmp_path / 'pairs.txt'}"
    out = tmp_path / "out"
    commands = [
        ("align", *files, "--dictionary", pairs, "--mapper", "procrustes", "--output", out, "-q"),
        ("evaluate", *files, "--dictionary", pairs, "--json"),
        ("compare", *files, "--dictionary", pairs, "--test", pairs, "--mapper", "procrustes",
         "--html", tmp_path / "report.html", "-q"),
        ("translate", "--model", out / "mapper", *files, "-q", name, dictionary[0][0]),
        ("mappers",),
    ]  # fmt: skip
    for command in commands:
        result = run(*command)
        assert result.returncode == 0, (command[0], result.stdout, result.stderr)
    result = run("explore", out / "mapper", *files, "--no-browser", "-q")
    assert result.returncode != 0 and "the network was used" in result.stdout + result.stderr
