"""The SDK's sources -> one name for one thing: of classes, and of variables."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from ember import paths

SDK = paths.package()
# They say nothing about what they hold.
EMPTY = frozenset({"one", "found", "made"})


@cache
def sources() -> dict[str, ast.Module]:
    """The syntax tree of each module, by its path in the SDK."""
    files = (file for file in SDK.rglob("*.py") if "templates" not in file.parts)
    return {
        file.relative_to(SDK).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for file in files
    }


def variables(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of every variable and argument; fields can be keys of files."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    lines = (line for node in classes for line in node.body)
    fields = {line.target for line in lines if isinstance(line, ast.AnnAssign)}
    for node in ast.walk(tree):
        if node in fields:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path}:{node.lineno}")
    assert {name: of for name, of in places.items() if len(of) > 1} == {}


def test_variables_say_what_they_hold() -> None:
    empty = [
        f"{path}:{line}: {name}"
        for path, tree in sources().items()
        for line, name in variables(tree)
        if name in EMPTY
    ]
    assert empty == []
