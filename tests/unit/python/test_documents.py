"""YAML, JSON and .npy by somebody hostile: one sentence, and no memory."""

from __future__ import annotations

import io
import os
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli, files
from ember.errors import SdkError
from ember.files import arrays
from ember.firmware import project

BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)
)


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 << 20


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 100_000, "nested more than 64 deep"),
        ("- " * 100_000, "nested more than 64 deep"),
        ("{a: " * 5000, "nested more than 64 deep"),
        ("".join(" " * n + "a:\n" for n in range(70)), "nested more than 64 deep"),
        (BOMB, "more than 2,000,000 values once aliases are expanded"),
        (MERGES, "more than 2,000,000 values"),
        ("&a [*a]", r"the alias \*a contains itself"),
        ("a: &a {b: *a}", r"the alias \*a contains itself"),
        ("a: *none", "line 1: not YAML: found undefined alias"),
        ("a: 2020-99-99", "a value does not match its form or tag"),
        ("a: !!int many", "a value does not match its form or tag"),
        ("a: !!bool perhaps", "a value does not match its form or tag"),
        ("a: !!timestamp now", "a value does not match its form or tag"),
        (f"a: {'9' * 5000}", "a value does not match its form or tag"),
        (
            "a: !!python/object/apply:os.system [ls]",
            "could not determine a constructor",
        ),
        ("a: [1", "line 2: not YAML"),
        ("? [a]\n: b", "found unhashable key"),
        ("a\0b", "not YAML"),
    ],
)
def test_yaml(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "ember.yaml"
    path.write_text(text)
    with pytest.raises(SdkError, match=sentence) as error:
        files.read_yaml(path)
    assert "\n" not in error.value.what
    with pytest.raises(SdkError, match=sentence):
        project.load(path)


def test_yaml_may_say_things_once(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]\n")
    assert files.read_yaml(path)["b"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 100_000, "nested more than 64 deep"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested more than 64 deep"),
        ("[" * 65 + "]" * 65, "nested more than 64 deep"),
        ("9" * 5000, "not JSON"),
        ("{", "not JSON: Expecting"),
        ("", "not JSON"),
        ("\ud800", "not JSON"),
    ],
)
def test_json(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(SdkError, match=sentence) as error:
        files.read_json(path)
    assert "\n" not in error.value.what


def test_json_as_deep_as_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" * 64 + "]" * 64)
    assert files.read_json(path)


def header(text: str, version: bytes = b"\1\0", body: bytes = b"") -> bytes:
    line = text.encode() + b"\n"
    return b"\x93NUMPY" + version + len(line).to_bytes(2, "little") + line + body


def said(shape: object, descr: object = "<f4", order: object = False) -> bytes:
    facts = f"'descr': {descr!r}, 'fortran_order': {order!r}, 'shape': {shape!r}"
    return header("{" + facts + "}", body=bytes(16))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (said((100_000_000_000,)), "says 400,000,000,000 bytes, but 16 follow"),
        (said((2**40, 2**40)), "bytes, but 16 follow"),
        (said((-4,)), r"its shape \[-4\] has a negative size"),
        (said((5,)), "its header says 20 bytes, but 16 follow"),
        (said((4.0,)), "not a .npy file of numbers"),
        (said(4), "not a .npy file of numbers"),
        (said((1,) * 100), "not a .npy file of numbers"),
        (said((0, 2**62)), "not a .npy file of numbers"),
        (said((2,), "|O"), "it contains object, not numbers"),
        (said((2,), "|V0"), r"it contains .*, not numbers"),
        (said((2,), "nonsense"), "not a .npy file of numbers"),
        (said((2,), order="yes"), "not a .npy file of numbers"),
        (header("{"), "not a .npy file of numbers"),
        (header("(" * 5000), "not a .npy file of numbers"),
        (header("__import__('os')"), "not a .npy file of numbers"),
        (header("{}", b"\x09\x09"), "format version is 9.9"),
        (b"\x93NUMPY\1\0\xff\xff{", "not a .npy file of numbers"),
        (b"\x93NUM", "not a .npy file of numbers"),
        (b"", "not a .npy file of numbers"),
        (b"PK\3\4 an archive", "not a .npy file of numbers"),
    ],
)
def test_npy(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(SdkError, match=sentence) as error:
        arrays.read(path)
    assert "\n" not in error.value.what
    if not content.startswith(b"PK"):
        with pytest.raises(SdkError, match=sentence):
            arrays.read_all(path)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="float32").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=">i4"),
        np.array(3, "int8"),
        np.zeros((0, 4), "bool"),
    ],
)
def test_arrays_come_back(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    path = tmp_path / "a.npy"
    np.save(path, array)
    again = arrays.read(path)
    np.testing.assert_array_equal(again, array)
    assert again.dtype.isnative
    assert again.flags.writeable
    np.savez_compressed(tmp_path / "a.npz", array, array)
    for member in arrays.read_all(tmp_path / "a.npz"):
        np.testing.assert_array_equal(member, array)


def test_an_archive_that_promises_too_much(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(arrays.MOST_MEMBERS + 1):
            archive.writestr(f"{number}.npy", "")
    with pytest.raises(SdkError, match="has 65 arrays"):
        arrays.read_all(path)
    path.write_bytes(b"PK\3\4" + bytes(100))
    with pytest.raises(SdkError, match=r"not a \.npz file"):
        arrays.read_all(path)
    whole = io.BytesIO()
    np.savez(whole, np.zeros(1000))
    damaged = bytearray(whole.getvalue())
    damaged[300:310] = b"damaged..."
    path.write_bytes(damaged)
    with pytest.raises(SdkError, match=r"not a \.np"):
        arrays.read_all(path)


def test_neither_pipes_nor_devices_are_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "model.pte")
    assert cli.main(["inspect", str(tmp_path / "model.pte")]) == 1
    assert cli.main(["inspect", "/dev/zero"]) == 1
    said = capsys.readouterr().err
    assert said.count("is a pipe or a device, not a file") == 2
