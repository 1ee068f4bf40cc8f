"""Firmware of the host board: artefacts, repeatability, images, bad input."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pace
import pytest

from ember import cli, kernels, model, program
from ember.errors import SdkError, UsageError
from ember.firmware import Options, build
from ember.firmware.repack import repack
from ember.toolchain import build_tree, image, libraries


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def error_of(
    capsys: pytest.CaptureFixture[str], *words: str | Path, status: int = 1
) -> str:
    assert cli.main(["build", *map(str, words)]) == status
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


def test_stages_write_artefacts(data: Path) -> None:
    built = build(data / "add.pte", "host")
    assert built.folder == Path("build/host/add").absolute()
    names = sorted(path.name for path in built.folder.iterdir() if path.name[0] != ".")
    assert names == [
        "1-program.json",
        "2-selection.json",
        "3-plan.json",
        "4-package",
        "5-firmware",
        "build.json",
    ]
    package = built.folder / "4-package"
    assert (package / "model.pte").read_bytes() == packed(data / "add.pte")
    manifest = json.loads((package / "manifest.json").read_text())
    assert manifest["methods"] == ["forward"]
    assert (package / "add_plan.h").is_file()


def test_a_model_of_the_same_name_beside_is_not_taken(data: Path) -> None:
    Path("model.pte").write_bytes(b"another program")
    built = build(data / "add.pte", "host")
    assert packed(data / "add.pte") in built.firmware.read_bytes()


def packed(path: Path) -> bytes:
    """What goes into the image of the model in `path`."""
    return repack(model.read(path), kernels.load()).content


def test_built_once(data: Path) -> None:
    first = build(data / "add.pte", "host")
    stamp = first.firmware.stat().st_mtime_ns
    build(data / "add.pte", "host")
    assert first.firmware.stat().st_mtime_ns == stamp
    options = Options(messages=True)
    build(data / "add.pte", "host", options=options)
    assert first.firmware.stat().st_mtime_ns != stamp


@pytest.mark.slow
def test_same_bytes_in_any_folder(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "a longer folder's name" / "add.pte"
    other.parent.mkdir()
    shutil.copy(data / "add.pte", other)
    for board in ("host", "mps2-an386", "mps3-an547"):
        first = build(data / "add.pte", board, out=tmp_path / "one")
        second = build(other, board, out=tmp_path / "two" / board)
        assert first.firmware.read_bytes() == second.firmware.read_bytes()
        maps = [result.firmware.with_suffix(".map") for result in (first, second)]
        assert maps[0].read_bytes() == maps[1].read_bytes()


def test_images(data: Path) -> None:
    built = build(data / "add.pte", "mps2-an386")
    assert [path.name for path in built.images] == ["firmware.hex", "firmware.bin"]
    parts = image.segments(built.firmware)
    flat = built.images[1].read_bytes()
    assert flat == image.flat(parts)
    assert packed(data / "add.pte") in flat
    content = bytearray(b"\xff" * len(flat))
    upper = 0
    for line in built.images[0].read_text().splitlines():
        record = bytes.fromhex(line[1:])
        assert sum(record) & 0xFF == 0
        if record[3] == 4:
            upper = int.from_bytes(record[4:6], "big") << 16
        elif record[3] == 0:
            at = upper + int.from_bytes(record[1:3], "big")
            content[at : at + record[0]] = record[4:-1]
    assert content == flat


def test_memory_is_the_linked_image(data: Path) -> None:
    built = build(data / "add.pte", "mps2-an386")
    memory = {region["name"]: region["used"] for region in built.sizes["memory"]}
    size = built.sizes["size"]
    assert memory["code"] >= size["code"] + size["rodata"] + size["model"]
    assert memory["data"] >= size["bss"] + size["arena"] + size["stack"]
    assert size["model"] == len(packed(data / "add.pte"))


def test_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", str(data / "add.pte"), "--board", "host", "--json", "-"]
    assert cli.main(words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["board"] == "host"
    assert set(facts["size"]) >= {"code", "rodata", "data", "bss", "model"}
    assert Path(facts["firmware"]).is_file()


# ---- bad input ---------------------------------------------------------------------


def test_not_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "picture.pte"
    path.write_bytes(b"\x89PNG" * 20)
    assert "picture.pte is not an ExecuTorch file" in error_of(
        capsys, path, "--board", "host"
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [("app.c", "--app"), ("net.py", "ember export"), ("a.onnx", "PyTorch")],
)
def test_a_file_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, meant: str
) -> None:
    path = tmp_path / name
    path.write_text("int main(void) { return 0; }\n")
    assert meant in error_of(capsys, path, "--board", "host")


def test_truncated(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "half.pte"
    path.write_bytes((data / "mlp.pte").read_bytes()[:700])
    assert "half.pte" in error_of(capsys, path, "--board", "host")


def test_newer_identifier(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray((data / "add.pte").read_bytes())
    content[4:8] = b"ET13"
    path = tmp_path / "new.pte"
    path.write_bytes(content)
    assert "ET13" in error_of(capsys, path, "--board", "host")


def test_unknown_board(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error_of(capsys, data / "add.pte", "--board", "mps2-an368")
    assert said == (
        "ember build: unknown board 'mps2-an368'\n  hint: did you mean mps2-an386?\n"
    )


def test_unknown_method(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error_of(capsys, data / "add.pte", "--board", "host", "--method", "foward")
    assert "has no method 'foward'\n  hint: did you mean 'forward'?" in said


def test_missing_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.pte does not exist" in error_of(capsys, "none.pte", "--board", "host")


def test_missing_toolchain(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = error_of(capsys, data / "add.pte", "--board", "mps2-an386")
    assert "is missing" in said
    assert "hint: install it: apt-get install" in said


def test_other_toolchain(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--board", "mps3-an547", "--toolchain", "arm-gnu")
    said = error_of(capsys, data / "add.pte", *words)
    assert "does not support toolchain 'arm-gnu'" in said


def test_unwritable_folder(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    words = ("--board", "host", "--out", tmp_path / "file" / "out")
    said = error_of(capsys, data / "add.pte", *words)
    assert f"cannot write the folder {tmp_path}/file/out" in said
    assert "hint: choose another folder with --out" in said


def test_missing_application(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = error_of(capsys, data / "add.pte", "--board", "host", "--app", "mine.c")
    assert "the application mine.c does not exist" in said


def test_broken_application(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = tmp_path / "mine.c"
    app.write_text("int main(void) { return nothing; }\n")
    said = error_of(capsys, data / "add.pte", "--board", "host", "--app", app)
    assert "mine.c:1" in said
    assert "undeclared" in said


@pytest.mark.slow
def test_model_larger_than_the_memory(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.pte"
    original = program.read(data / "add.pte")
    named = (program.NamedData("weights", bytes(1 << 20)),)
    path.write_bytes(program.write(replace(original, named_data=named)))
    said = error_of(capsys, path, "--board", "netduinoplus2")
    assert "large does not fit netduinoplus2: memory flash needs 1,0" in said
    assert "more than the 1,048,576 it has (the model 1,0" in said
    assert "hint: with --prepared: " in said  # it was tried
    assert "  boards with enough memory: " in said
    assert "  largest constants: weights 1,048,576 bytes\n" in said


def test_wrong_usage(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--board" in error_of(capsys, data / "add.pte", status=2)


# ---- images ------------------------------------------------------------------------


def test_far_segments_become_files_of_their_own(tmp_path: Path) -> None:
    parts = [
        image.ImageSegment(0x0, b"code"),
        image.ImageSegment(0x10, b"data"),
        image.ImageSegment(0x60000000, b"model"),
    ]
    paths = image._write_binaries(tmp_path / "firmware.elf", parts)
    assert [path.name for path in paths] == [
        "firmware-00000000.bin",
        "firmware-60000000.bin",
    ]
    assert paths[0].read_bytes() == b"code" + b"\xff" * 12 + b"data"
    assert paths[1].read_bytes() == b"model"


def test_hex_lines_do_not_cross_64_k() -> None:
    text = image.intel_hex([image.ImageSegment(0x1FFF8, bytes(range(16)))])
    assert text.splitlines() == [
        ":020000040001F9",
        ":08FFF8000001020304050607E5",
        ":020000040002F8",
        ":0800000008090A0B0C0D0E0F9C",
        ":00000001FF",
    ]


@pytest.mark.slow
def test_kernels_for_size_or_speed(data: Path) -> None:
    sizes = {}
    for optimize in ("size", "speed"):
        options = Options(optimize=optimize)
        built = build(data / "conv.pte", "mps2-an386", options=options)
        sizes[optimize] = built.sizes["size"]["code"]
    assert sizes["size"] < sizes["speed"]
    between = build(data / "conv.pte", "mps2-an386")  # the default
    assert sizes["size"] < between.sizes["size"]["code"] < sizes["speed"]


def test_several_models(data: Path, tmp_path: Path) -> None:
    paths = [data / "add.pte", data / "methods.pte"]
    built = build(paths, "host", out=tmp_path / "out")
    assert built.name == "add_methods"
    assert [len(methods) for methods in built.all_methods] == [1, 2]
    assert set(built.plan["models"][1]) == set(built.plan["models"][0])
    assert {entry["model"] for entry in built.selection["models"]} == {"add", "methods"}
    with pytest.raises(SdkError, match="two models of the firmware are called add"):
        build([paths[0], paths[0]], "host", out=tmp_path / "twice")
    with pytest.raises(UsageError, match="--data works with one model"):
        build(paths, "host", data=[data / "external.ptd"])


@pytest.mark.slow
def test_only_the_model_changed(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """No kernel is compiled again, and it takes no time."""
    model = tmp_path / "model.pte"
    for name in ("mlp.pte", "add.pte"):
        model.write_bytes((data / name).read_bytes())
        build(model, "host", out=tmp_path / "out")
    model.write_bytes((data / "mlp.pte").read_bytes())

    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("the libraries are compiled again")

    for module in (libraries, build_tree):
        monkeypatch.setattr(module, "compile_libraries", compiled)
    with pace.within(2.0):
        built = build(model, "host", out=tmp_path / "out")
    assert built.selection["operators"] != {}
