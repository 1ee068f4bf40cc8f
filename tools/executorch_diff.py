#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two versions of the executorch package -> what changed between them, and what Ember
has of it.

    python tools/executorch_diff.py 1.4.1 1.5.1
    python tools/executorch_diff.py OLD.whl FOLDER

A version is downloaded with pip; a FOLDER is one that has `executorch/`, such as
site-packages. Files are only parsed, never imported. Prints operators with an output
argument (only these are in programs), kernel lists, FlatBuffers schemas, the nodes of
XNNPACK's payloads, lists of passes, settings of the exporter and requirements.
Operators that only the compiled part of the package registers (llama::) are not seen.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import yaml

from ember import kernels

ROOT = Path(__file__).resolve().parents[1]
Facts = dict[str, str]  # by name
Version = dict[str, Facts]  # by section

# What Ember reads no programs of, and what only tests the package.
_FOLDERS = ("test", "tests", "examples", "third-party", "apple")
_BACKENDS = ("vulkan", "mlx", "qualcomm", "cuda", "openvino", "mediatek", "samsung")
_SKIPPED = (
    *(f"*/{name}/*" for name in _FOLDERS),
    *(f"executorch/backends/{name}/*" for name in _BACKENDS),
)
_PAYLOADS = "executorch/backends/xnnpack/serialization/xnnpack_graph_schema.py"
_SETTINGS = "executorch/exir/capture/_config.py"


def files_of(source: str) -> dict[str, str]:
    """The texts of a version, a wheel or a folder by their paths."""
    if re.fullmatch(r"\d+(\.\d+)+\S*", source) and not Path(source).exists():
        with tempfile.TemporaryDirectory() as place:
            return _of_wheel(_downloaded(source, Path(place)))
    path = Path(source)
    if path.suffix == ".whl":
        return _of_wheel(path)
    if not (path / "executorch").is_dir():
        sys.exit(f"{path}: must be a version, a wheel or a folder with executorch/")
    below = [*path.glob("executorch/**/*"), *path.glob("executorch-*.dist-info/*")]
    names = {item.relative_to(path).as_posix(): item for item in below}
    return {name: names[name].read_text() for name in filter(_is_wanted, names)}


def _downloaded(version: str, place: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(place)]
    command.append(f"executorch=={version}")
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"executorch {version} cannot be downloaded: see pip's message above")
    return next(place.glob("*.whl"))


def _of_wheel(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as wheel:
        names = filter(_is_wanted, wheel.namelist())
        return {name: wheel.read(name).decode() for name in names}


def _is_wanted(name: str) -> bool:
    if any(fnmatch.fnmatch(name, pattern) for pattern in _SKIPPED):
        return False
    return name.endswith((".py", ".yaml", ".fbs", "/METADATA"))


# ---- what a file says ----------------------------------------------------------------


def facts_of(files: dict[str, str]) -> Version:
    """Every fact of a version, by section and name."""
    version: Version = {section: {} for section in _SECTIONS}
    for name, text in sorted(files.items()):
        path = PurePosixPath(name)
        for section, (pattern, parse) in _SECTIONS.items():
            if fnmatch.fnmatch(name, pattern):
                version[section].update(parse(path, text))
    return version


def _defined_operators(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    """Operators that `library.define()` adds to a namespace."""
    tree = ast.parse(text)
    spaces = dict(_libraries(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=library), attr="define"),
                args=[ast.Constant(value=str(schema)), *_],
            ) if library in spaces:
                yield from _with_output(f"{spaces[library]}::{schema}")


def _libraries(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(args=[ast.Constant(value=str(space)), *_]),
            ):
                yield name, space


def _listed_operators(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    for entry in _entries(text):
        yield from _with_output(entry.get("func", ""))


def _with_output(schema: str) -> Iterator[tuple[str, str]]:
    name, bracket, rest = schema.partition("(")
    if "!)" in rest:
        yield name.strip(), bracket + " ".join(rest.split())


def _kernel_list(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    for entry in _entries(text):
        name = entry.get("op") or entry.get("func", "").partition("(")[0]
        if name:
            yield f"{path.parent.name}/{path.name}: {name}", "listed"


def _entries(text: str) -> list[dict[str, str]]:
    content = yaml.safe_load(text)
    entries = content if isinstance(content, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def _declarations(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    """Tables, structs, enums and unions of a FlatBuffers schema."""
    text = re.sub(r"//[^\n]*", "", text)
    pattern = r"\b(?:table|struct|enum|union)\s+(\w+)[^{]*\{([^}]*)\}"
    for name, body in re.findall(pattern, text):
        yield f"{path.name}: {name}", " ".join(body.split())


def _classes(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    """Fields or members of each class."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            kinds = (ast.AnnAssign, ast.Assign)
            fields = [item for item in node.body if isinstance(item, kinds)]
            yield node.name, "; ".join(map(ast.unparse, (*node.bases, *fields)))


def _pass_lists(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    """Lists of names that are assigned to something called passes or pass_list."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(targets=[target], value=ast.List(elts=items)):
                pass
            case ast.AnnAssign(target=target, value=ast.List(elts=items)):
                pass
            case _:
                continue
        name = ast.unparse(target).removeprefix("self.")
        if "pass" in name and items:
            yield f"{path.stem}: {name}", " ".join(map(ast.unparse, items))


def _requirements(path: PurePosixPath, text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.startswith(("Requires-Dist: ", "Requires-Python: ")):
            yield line.partition(": ")[2], "listed"


Parse = Callable[[PurePosixPath, str], Iterator[tuple[str, str]]]
_SECTIONS: dict[str, tuple[str, Parse]] = {
    "operators": ("executorch/*.py", _defined_operators),
    "operators of kernel lists": ("executorch/*.yaml", _listed_operators),
    "kernel lists": ("executorch/*.yaml", _kernel_list),
    "FlatBuffers": ("executorch/*.fbs", _declarations),
    "XNNPACK payloads": (_PAYLOADS, _classes),
    "lists of passes": ("executorch/backends/*.py", _pass_lists),
    "settings": (_SETTINGS, _classes),
    "requirements": ("*/METADATA", _requirements),
}


# ---- what differs --------------------------------------------------------------------


def differences(old: Version, new: Version) -> Iterator[str]:
    """A heading for each section that differs, and a line for each difference."""
    for section in _SECTIONS:
        before, after = old[section], new[section]
        names = [x for x in sorted({*before, *after}) if before.get(x) != after.get(x)]
        if not names:
            yield f"{section}: no difference in {len(after)}"
            continue
        yield f"{section}: {len(names)} of {len({*before, *after})} differ"
        for name in names:
            yield from _difference(name, before.get(name), after.get(name))
            if section.startswith("operators") and name in after:
                yield f"      {_ember(name, after[name])}"


def _difference(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before is None or after is None:
        text = after if before is None else before
        listed = "" if text == "listed" else f" {text}"
        yield f"  {'+' if before is None else '-'} {name}{listed}"
        return
    yield f"  ~ {name}"
    yield f"      was {before}"
    yield f"      now {after}"


def _ember(name: str, schema: str) -> str:
    """Whether it takes the argument list."""
    operator = kernels.load().operators.get(name)
    if operator is None:
        return "Ember: no kernel"
    earlier = (each.schema for each in operator.earlier)
    forms = set(map(_form, (operator.schema, *earlier)))
    return "Ember: takes it" if _form(schema) in forms else "Ember: takes other lists"


def _form(schema: str) -> tuple[str, ...]:
    """The types of the arguments, in order; names and defaults do not matter."""
    arguments = schema.strip().removeprefix("(").partition(") ->")[0].split(", ")
    return tuple(argument.partition(" ")[0] for argument in arguments)


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", metavar="OLD", help="version, wheel or folder")
    parser.add_argument("new", metavar="NEW", help="version, wheel or folder")
    arguments = parser.parse_args()
    old, new = (facts_of(files_of(name)) for name in (arguments.old, arguments.new))
    for line in differences(old, new):
        print(line)


if __name__ == "__main__":
    main()
