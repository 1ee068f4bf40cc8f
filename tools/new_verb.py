#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A name -> a command of `ember`: its module, its line in the list, and its tests.

tools/new_verb.py shapes --line "List the inputs of a model's methods."

What it writes counts the inputs of a model's methods, and passes: go on from there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sdk"))

from ember import cli  # noqa: E402
from ember.errors import SdkError  # noqa: E402

MODULE = '''\
"""`ember {verb}`: {about}"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember import model, output


def command(
    program: Annotated[
        Path,
        typer.Argument(
            metavar="PROGRAM",
            help="A .pte or .bpte file, or a case folder.",
            show_default=False,
        ),
    ],
    json_to: output.JsonOption = None,
) -> None:
    methods = model.read(program, ()).program.methods
    counts = {{method.name: len(method.inputs) for method in methods}}
    if json_to != "-":
        table = output.table("method", ">inputs")
        for name, count in counts.items():
            table.add_row(output.plain(name), str(count))
        output.console().print(table)
    output.write_json({{"inputs": counts}}, json_to)
'''
TEST = '''\
"""`ember {verb}` on the digit classifier."""

from __future__ import annotations

import json

import pytest

from ember import cli, paths

DIGITS = paths.root() / "examples/models/digits/digits.pte"


def test_methods_and_their_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["{verb}", str(DIGITS)]) == 0
    assert "forward" in capsys.readouterr().out
    assert cli.main(["{verb}", str(DIGITS), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == {{"inputs": {{"forward": 1}}}}


def test_a_file_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["{verb}", "nothing.pte"]) == 1
    assert "nothing.pte" in capsys.readouterr().err
'''
MOST_LINE = 68  # characters, so that an entry of the list fits on its line


def add(verb: str, line: str) -> None:
    """Write the module and its test; list it in the help and for failing writes."""
    name = verb.replace("-", "_")
    module = ROOT / "sdk" / "ember" / "cli" / f"{name}.py"
    tests = ROOT / "tests" / "unit" / "python"
    test = tests / f"test_{name}.py"
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", verb):
        raise SdkError(f"{verb!r} is not a verb", "use lower-case letters")
    if verb in cli.VERBS:
        raise SdkError(f"ember {verb} exists already")
    if not re.fullmatch(r"[A-Z].*\.", line) or len(line) > MOST_LINE:
        raise SdkError(
            "--line must be a sentence with a full stop",
            f"at most {MOST_LINE} characters",
        )
    for path in (module, test):
        if path.exists():
            raise SdkError(f"{path} exists already")
    about = line[0].lower() + line[1:]
    verbs, faults = module.with_name("__init__.py"), tests / "test_write_faults.py"
    texts = {
        module: MODULE.format(verb=verb, about=about),
        test: TEST.format(verb=verb),
        verbs: with_last(verbs, "VERBS", f'"{verb}": {json.dumps(line)},'),
        faults: with_last(
            faults, "COMMANDS", f'"{verb}": ("{verb}", "digits.pte", *JSON),'
        ),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def with_last(path: Path, table: str, entry: str) -> str:
    """The module's text with one more entry at the end of this dictionary."""
    text = path.read_text(encoding="utf-8")
    end = text.index("\n}\n", text.index(f"\n{table} = {{\n")) + 1
    return f"{text[:end]}    {entry}\n{text[end:]}"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("verb", help="such as shapes or cmake-dir")
    parser.add_argument("--line", required=True, help="what it does, for the help")
    given = parser.parse_args(words)
    try:
        add(given.verb, given.line)
    except SdkError as error:
        print(f"new_verb: {error}", file=sys.stderr)
        return 1
    name = given.verb.replace("-", "_")
    print(f"python -m pytest tests/unit/python/test_{name}.py\ntools/make_docs.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
