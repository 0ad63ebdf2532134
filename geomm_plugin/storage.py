"""[export] Fitted mappers on disk: a folder with mapper.json and its arrays, never pickle.

The arrays are named after their checksum and written first; mapper.json, which names the checksum,
then replaces its predecessor in one step. So a folder holds the old mapper or the new one, whole.
README.md, the card, says for people what the mapper is, in blocks of code, since it is data. One
that anybody changed is never replaced.

A folder may come from anybody. Nothing in it is run, no file outside it is opened, and what was
damaged on the way is found: `sha256` is that of the arrays, `checksum` that of the rest of
mapper.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import warnings
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin import registry
from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import FileError, FormatError, UnknownNameError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import as_file_error, atomic_file, locked, refuse_moving
from geomm_plugin.files.outputs import make_folders
from geomm_plugin.files.stamps import read_one_version
from geomm_plugin.files.trust import Arrays, load_arrays, parse_json, read_plain_file
from geomm_plugin.fit_report import FitReport, report_of
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.registry import get_mapper
from geomm_plugin.registry.parameters import check_parameters, choice_text
from geomm_plugin.retrieval.rerank.learnt import Learnt, as_learnt
from geomm_plugin.shared_space import Reranking
from geomm_plugin.text import printable

FORMAT = 2  # raised when a newer layout could not be read by older versions
JSON_NAME = "mapper.json"
CARD, CARD_MARK = "README.md", b"<!-- Written by geomm"
ALIGNED, MAPPER_FOLDER = "align.json", "mapper"  # beside aligned files: record and mapper
NOT_REGISTERED = "not registered"  # in place of the package of a mapper that came with none
ARRAYS_NAME = "arrays-{}.safetensors"  # of the first sixteen digits of their checksum
RERANKING_ARRAY = "reranking/{}/{}"  # of the number of the entry, and its own name
CARD_TEXT = """\
# Word embeddings in one space

{facts}

To use it, in this folder:

    import geomm_plugin

{use}

The sha256 is that of the dictionary's different pairs, sorted, one a line with a tab. Held-out
words are the dictionary's; fits without them looked for them among 1,500 frequent ones, and they
also chose what the fit chose: score on words of your own by `geomm evaluate`.
"""


def save_mapper(mapper: Mapper, path: str | Path) -> None:
    """Save a fitted mapper to a folder, which appears whole or not at all."""
    path = Path(path)
    files = mapper_files(mapper)
    if path.is_file():
        raise FileError(f"{path} is a file; a mapper is saved to a folder. Choose another name.")
    make_folders(path)
    # Two runs that save here do so one after the other.
    with as_file_error(path), locked(path):
        for name, content in files.items():
            with atomic_file(path / name, follow_links=False) as part:
                disk.write_file(part, content)
        for old in path.glob(ARRAYS_NAME.format("*")):
            if old.name not in files:
                disk.remove_tree(old)
        write_card(path, mapper)


def write_card(folder: Path, mapper: Mapper, aligned: Collection[str] = ()) -> None:
    """Write the card of a mapper into its folder; a README.md that is no card stays.

    Parameters
    ----------
    aligned
        The languages whose aligned files are in the folder, too.
    """
    names = sorted({*getattr(mapper, "matrices_", ()), *aligned}) or ["en", "es"]
    own = tuple(name for name in names if name not in aligned)  # read from elsewhere
    use = ['space = geomm_plugin.read_space(".")']
    if own:
        read = '{name: geomm_plugin.read_embeddings(f"{name}.vec")'
        how = 'load_mapper(".").map(vectors)'
        how = 'SharedSpace({**geomm_plugin.read_space("."), **vectors})' if aligned else how
        use = [f"vectors = {read} for name in {own[:2]}}}", f"space = geomm_plugin.{how}"]
    how = ', retrieval="reranked"' if mapper.reranking_ else ""
    pair = ", ".join(map(repr, (*names, *names)[:2]))
    use.append(f'print(space.translate("word", {pair}, k=3{how}))')
    facts = {"mapper": f"{mapper}, {mapper.name} of {package_of(mapper)}"} | mapper.facts()
    if not report_of(mapper).held_out:
        facts["held-out P@1"] = "not measured by this mapper"
    facts["versions"] = ", ".join(map(" ".join, versions().items()))
    text = CARD_TEXT.format(
        facts="\n".join(f"    {printable(f'{name}: {value}')}" for name, value in facts.items()),
        use="\n".join(f"    {line}" for line in use),
    )
    path, content = folder / CARD, signed(text.encode("utf-8", "backslashreplace"))
    if os.path.lexists(path) and not is_card(path):
        rule = "is not as geomm wrote it, so it stays. Rename it to get the card of this mapper."
        warnings.warn(f"{path} {rule}", stacklevel=3)
    elif not path.is_file() or path.read_bytes() != content:
        with atomic_file(path, follow_links=False) as part:
            disk.write_file(part, content)


def signed(card: bytes) -> bytes:
    """Return a card below the line that holds its hash, by which changes of it are seen."""
    return CARD_MARK + f": {hashlib.sha256(card).hexdigest()} -->\n".encode() + card


def is_card(path: Path) -> bool:
    """True for a card that nobody changed since it was written."""
    return (content := _card(path)) == signed(content.partition(b"\n")[2])


def is_changed_card(path: Path) -> bool:
    """True for a card that is not as it was written, and still says that geomm wrote it."""
    return not is_card(path) and _card(path).startswith(CARD_MARK)


def _card(path: Path) -> bytes:
    """Return what is in a README.md; nothing where it is a link, or may not be read."""
    try:
        return b"" if path.is_symlink() else read_plain_file(path)
    except FileError:
        return b""


def package_of(mapper: Mapper) -> str:
    """Return the package that registered the class of a mapper, with its version."""
    is_registered = registry.mappers.get(mapper.name) is type(mapper)
    return str(registry.mappers.origin(mapper.name)) if is_registered else NOT_REGISTERED


def versions() -> dict[str, str]:
    """Return what decides how numbers are rounded: the versions of Python and of packages."""
    packages = {name: version(name) for name in ("geomm-plugin", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages}


def mapper_files(mapper: Mapper) -> dict[str, bytes]:
    """Return the files that a saved mapper consists of, by name, in the order of writing."""
    from safetensors.numpy import save

    own = mapper_arrays(mapper)
    arrays = save({name: np.ascontiguousarray(array) for name, array in own.items()})
    checksum = hashlib.sha256(arrays).hexdigest()
    text = describe_mapper(mapper, sha256=checksum)
    return {_arrays_name(checksum): arrays, JSON_NAME: text.encode() + b"\n"}


def mapper_arrays(mapper: Mapper) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a mapper, and those of the re-rankings that it carries."""
    arrays: dict[str, npt.NDArray[Any]] = dict(mapper.state())
    for number, (_, learnt) in enumerate(sorted(mapper.reranking_.items())):
        own = as_learnt(learnt).state()[1]
        arrays |= {RERANKING_ARRAY.format(number, name): array for name, array in own.items()}
    return arrays


def describe_mapper(mapper: Mapper, **further: Any) -> str:
    """Return all of a mapper but its arrays, as JSON."""
    description = {
        "format": FORMAT,
        "mapper": mapper.name,
        "package": package_of(mapper),
        "params": mapper.get_params(),
        "report": report_of(mapper).to_json(times=False),
    }
    if mapper.reranking_:
        description["reranking"] = [
            {"source": source, "target": target} | as_learnt(learnt).state()[0]
            for (source, target), learnt in sorted(mapper.reranking_.items())
        ]
    text = json.dumps(description | further, default=_plain)
    written = json.loads(text)  # with tuples as lists and numpy's numbers as plain ones
    return json.dumps(written | {"checksum": _checksum(written)}, indent=2, ensure_ascii=False)


def load_mapper(path: str | Path) -> Mapper:
    """Load a mapper that save_mapper wrote; its class is found in the registry.

    The folder that align() wrote will do: its mapper is in `mapper/`.
    """
    path = Path(path)
    if (path / ALIGNED).is_file() and not (path / JSON_NAME).exists():
        path = path / MAPPER_FOLDER
    # mapper.json is replaced last, and names the other file.
    return read_one_version(lambda: [path / JSON_NAME], lambda: _load_mapper(path))


def is_saved(path: Path) -> bool:
    """True for a file that a saved mapper consists of: by its name, or as its card."""
    is_arrays = re.fullmatch(r"arrays-[0-9a-f]{16}\.safetensors", path.name) is not None
    return path.name == JSON_NAME or is_arrays or (path.name == CARD and is_card(path))


def saved_files(path: Path) -> list[Path]:
    """Return the files of the mapper in a folder, or in one that align() wrote; none elsewhere."""
    if not path.is_dir():
        return []
    aligned = [path / ALIGNED] if (path / ALIGNED).is_file() else []
    folder = path / MAPPER_FOLDER if aligned and not (path / JSON_NAME).exists() else path
    whole = (folder / JSON_NAME).is_file()
    return [*aligned, *sorted(filter(is_saved, folder.iterdir()))] if whole else []


def _load_mapper(path: Path) -> Mapper:
    json_path = path / JSON_NAME
    refuse_moving(path)
    try:
        content = _read(json_path)
    except FileError:
        refuse_moving(path)  # it may have begun in between
        raise
    description = parse_description(content, json_path)
    arrays_path, arrays = _load_arrays(path, description)
    return mapper_of(description, arrays, json_path, arrays_path)


def _load_arrays(path: Path, description: Mapping[str, Any]) -> tuple[Path, Arrays]:
    """Read the arrays that a description names by their checksum, and make sure of it."""
    checksum = description.get("sha256")
    if not isinstance(checksum, str) or not re.fullmatch("[0-9a-f]{64}", checksum):
        raise FormatError(
            f"{path / JSON_NAME}: it names no checksum of its arrays. Save the mapper again."
        )
    arrays_path = path / _arrays_name(checksum)
    arrays = _read(arrays_path)
    if hashlib.sha256(arrays).hexdigest() != checksum:
        raise FormatError(
            f"{arrays_path}: the checksum differs from the one in {JSON_NAME}. The file is "
            "damaged; copy the folder again, or fit and save again."
        )
    return arrays_path, load_arrays(arrays, arrays_path)


def parse_description(content: bytes | str, path: Path) -> dict[str, Any]:
    """Read what describe_mapper wrote, and make sure that it is whole."""
    try:
        description = parse_json(content)
    except ValueError as error:
        raise FormatError(
            f"{path}: not JSON ({error}). The file is damaged; copy it again, or save again."
        ) from error
    kinds = {"mapper": str, "package": str, "params": dict, "report": dict, "checksum": str}
    if not isinstance(description, dict) or "format" not in description:
        raise FormatError(f"{path}: not the description of a mapper. Choose another folder.")
    number = description["format"]
    if type(number) is not int or number != FORMAT:
        raise FormatError(
            f"{path}: the format is {str(number)[:60]}; this version reads {FORMAT}. "
            "Update geomm-plugin, or fit and save the mapper again."
        )
    for name, kind in kinds.items():
        if not isinstance(description.get(name), kind):
            raise FormatError(
                f"{path}: not the description of a mapper, since it holds no {name!r}. Copy it "
                "again, or save again."
            )
    if description.get("checksum") != _checksum(description):
        raise FormatError(
            f"{path}: its checksum differs from what it holds. It was damaged, or changed by hand; "
            "copy it again, or save again."
        )
    return description


def mapper_of(
    description: Mapping[str, Any], arrays: Mapping[str, Matrix], path: Path, arrays_path: Path
) -> Mapper:
    """Make the mapper of a description, and give it back what it had learnt.

    Parameters
    ----------
    path, arrays_path
        Where both come from, for errors.
    """
    name = description["mapper"]
    if name not in registry.mappers:
        package = description["package"]
        fix = (
            ", which was not registered. Register its class first."
            if package == NOT_REGISTERED
            else f" of {package}, which is not installed. Install that package."
        )
        raise UnknownNameError(
            f"{path} was saved by the mapper {name!r}{fix} "
            f"Registered: {', '.join(registry.mappers)}."
        )
    try:
        mapper = get_mapper(name, **{n: _tuples(v) for n, v in description["params"].items()})
        if isinstance(mapper, LinearMapper):  # as in fit
            check_parameters(mapper)
    except Exception as error:  # third-party constructor, untrusted values: anything may be raised
        raise FormatError(f"{path}: not the parameters of a {name} mapper ({error}).") from error
    reranking, rest = _reranking(description, arrays, path)
    try:
        mapper.restore(rest)
    except Exception as error:
        raise FormatError(f"{arrays_path}: not the arrays of a {name} mapper ({error}).") from error
    mapper.report_ = FitReport.from_json(description["report"])
    mapper.reranking_ = reranking
    return mapper


def load_reranking(path: str | Path) -> Reranking:
    """Read what was learnt for re-ranking with a saved mapper, for `SharedSpace(files, weights)`.

    Empty where nothing was learnt.
    """
    place = Path(path)
    refuse_moving(place)
    json_path = place / JSON_NAME
    description = parse_description(_read(json_path), json_path)
    arrays = _load_arrays(place, description)[1] if "reranking" in description else {}
    return _reranking(description, arrays, json_path)[0]


def _reranking(
    description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], path: Path
) -> tuple[Reranking, dict[str, npt.NDArray[Any]]]:
    """Read what was learnt for pairs of languages; return it, and the arrays of all else."""
    learnt: dict[tuple[str, str], Learnt] = {}
    rest = dict(arrays)
    try:
        for number, entry in enumerate(description.get("reranking", [])):
            begin = RERANKING_ARRAY.format(number, "")
            own = {name[len(begin) :]: rest.pop(name) for name in arrays if name.startswith(begin)}
            match entry:
                case {"source": str(source), "target": str(target)}:
                    learnt[source, target] = Learnt.from_state(entry, own)
                case _:
                    raise FormatError("there are no languages")
    except (FormatError, TypeError) as error:
        raise FormatError(
            f"{path}: its 'reranking' is not a list of languages and what was learnt for them "
            f"({error}). Copy it again, or learn the weights and save again."
        ) from error
    return learnt, rest


def _checksum(description: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all but the checksum itself, however it is laid out."""
    held = {name: value for name, value in description.items() if name != "checksum"}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _arrays_name(checksum: str) -> str:
    return ARRAYS_NAME.format(checksum[:16])


def _read(path: Path) -> bytes:
    return read_plain_file(
        path, f"A saved mapper is a folder that holds {JSON_NAME} and its arrays; copy it again."
    )


def _plain(value: object) -> object:
    """Turn numpy's numbers and tuples into JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapper):  # inside another one: as the text that makes it
        text = choice_text(value)
        if registry.as_mapper(text).get_params() == value.get_params():
            return text
    raise FormatError(f"A mapper's parameters must be plain values to be saved; one is {value!r}.")


def _tuples(value: Any) -> Any:
    """JSON turns tuples into lists: turn them back."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
