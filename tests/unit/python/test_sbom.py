"""Bills of materials, of firmware and of the wheel."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ember import cli, paths
from ember.errors import SdkError
from ember.firmware import Options, build
from ember.release import cyclonedx, sbom
from ember.release.cyclonedx import Component

ROOT = paths.root()
MODELS = ROOT / "examples/models"
KERNELS = ROOT / "examples/custom_op"


def every(components: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for component in components:
        yield component
        yield from every(component.get("components", []))


def names(facts: dict[str, Any], ref: str) -> list[str]:
    """The files of a component."""
    (component,) = (entry for entry in facts["components"] if entry["bom-ref"] == ref)
    return [part["name"] for part in component.get("components", [])]


def check(facts: dict[str, Any]) -> None:
    """What the schema asks for beyond the shape that components have."""
    assert (facts["bomFormat"], facts["specVersion"]) == ("CycloneDX", "1.6")
    listed = list(every([facts["metadata"]["component"], *facts["components"]]))
    refs = [part["bom-ref"] for part in listed]
    assert len(set(refs)) == len(refs)
    for dependency in facts["dependencies"]:
        assert {dependency["ref"], *dependency.get("dependsOn", [])} <= set(refs)
    for component in listed:
        for item in component.get("hashes", []):
            assert item["alg"] == "SHA-256"
            assert len(bytes.fromhex(item["content"])) == 32
    assert str(ROOT) not in json.dumps(facts)
    assert "/tmp" not in json.dumps(facts)  # nor any other folder of the host


def test_a_firmware(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "add.json"
    words = ["build", data / "add.pte", "--board", "host", "--out", tmp_path / "made"]
    assert cli.main([*map(str, words), "--sbom", str(file)]) == 0
    facts = json.loads(file.read_text())
    check(facts)
    product = facts["metadata"]["component"]
    elf = (tmp_path / "made/5-firmware/firmware.elf").read_bytes()
    assert product["hashes"][0]["content"] == hashlib.sha256(elf).hexdigest()
    kernels = names(facts, "library:ember kernels")
    assert (
        "kernels/elementwise/add.c" in kernels
        or "kernels/elementwise/add_f32.c" in (kernels)
    )
    assert not any("softmax" in name for name in kernels)
    assert "runtime_c/src/flat.h" in names(facts, "library:ember core")
    by_name = {component["name"]: component for component in every(facts["components"])}
    source = by_name["runtime_c/src/flat.c"]["hashes"][0]["content"]
    content = (ROOT / "runtime_c/src/flat.c").read_bytes()
    assert source == hashlib.sha256(content).hexdigest()
    program = by_name["add"]
    assert program["type"] == "machine-learning-model"
    content = (data / "add.pte").read_bytes()
    assert program["hashes"][0]["content"] == hashlib.sha256(content).hexdigest()
    assert by_name["libc.so.6"]["type"] == "library"
    assert by_name["host"]["scope"] == "excluded"
    # What took part in making it, but is not in it, is nothing that it depends on.
    assert "device:host" not in facts["dependencies"][0]["dependsOn"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "options", "libraries"),
    [
        ("mps2-an386", Options(), {"core", "port", "libc", "tables"}),
        ("mps2-an386", Options(prepared=True), {"prepared", "port", "tables"}),
        (
            "mps2-an386",
            Options(app=MODELS.parent / "firmware/classify.c"),
            {"port"},
        ),
        ("stm32vldiscovery", Options(prepared=True), {"prepared", "port"}),
        ("netduinoplus2", Options(), {"core", "port"}),
        ("nucleo-f446re", Options(), {"core", "port"}),
        ("qemu-a64", Options(), {"core", "port", "libc"}),
    ],
)
def test_every_piece_has_a_source(
    board: str, options: Options, libraries: set[str], tmp_path: Path
) -> None:
    model = MODELS / "digits/digits.pte"
    if board == "stm32vldiscovery":
        model = ROOT / "tests/unit/python/data/add.pte"
    built = build(model, board, out=tmp_path / "made", options=options)
    facts = sbom.of_firmware(built)
    check(facts)
    assert {f"library:ember {name}" for name in libraries} <= {
        component["bom-ref"] for component in facts["components"]
    }
    if options.app is not None:
        assert "examples/firmware/classify.c" in names(
            facts, "library:ember application"
        )
    if board == "mps2-an386" and not options.prepared:
        (gcc,) = (
            component
            for component in facts["components"]
            if component["name"] == "libgcc.a"
        )
        assert gcc["version"].count(".") == 2


@pytest.mark.slow
def test_of_kernels_with_the_same_name_the_linked_one(tmp_path: Path) -> None:
    built = build(MODELS / "digits/digits.pte", "host", out=tmp_path / "made")
    kernels = names(sbom.of_firmware(built), "library:ember kernels")
    assert "kernels/convolution/conv.c" in kernels
    assert "kernels/cadence/conv.c" not in kernels


def test_several_models(tmp_path: Path) -> None:
    models = [MODELS / "pair/judge.pte", MODELS / "pair/smooth.pte"]
    built = build(models, "host", out=tmp_path / "made")
    facts = sbom.of_firmware(built)
    check(facts)
    kinds = [component["type"] for component in facts["components"]]
    assert kinds.count("machine-learning-model") == 2


def test_a_source_that_is_unknown(data: Path, tmp_path: Path) -> None:
    built = build(data / "add.pte", "host", out=tmp_path / "made")
    file = built.firmware.with_suffix(".map")
    file.write_text(file.read_text().replace("ember/host_", "ember/hose_"))
    with pytest.raises(SdkError, match="whose source is unknown"):
        sbom.of_firmware(built)


def test_a_file_that_cannot_be_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", data / "add.pte", "--board", "host", "--out", tmp_path / "made"]
    target = tmp_path / "missing" / "add.json"
    assert cli.main([*map(str, words), "--sbom", str(target)]) == 1
    assert "add.json" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


# ---- documents -----------------------------------------------------------------------


def test_the_same_parts_are_the_same_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    parts = [Component("library", "b", version="1"), Component("library", "a")]
    product = Component("firmware", "f")
    document = cyclonedx.document(product, parts)
    assert document == cyclonedx.document(product, reversed(parts))
    assert (
        document["serialNumber"]
        != cyclonedx.document(product, parts[1:])["serialNumber"]
    )
    assert "timestamp" not in document["metadata"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    timed = cyclonedx.document(product, parts)
    assert timed["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("seconds", ["now", "-1", "1.5", "9" * 30, "²"])
def test_a_moment_that_is_none(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
    with pytest.raises(SdkError, match="SOURCE_DATE_EPOCH"):
        cyclonedx.document(Component("firmware", "f"), [])


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({".text.f"}, {"a.c"}),
        ({".text.f", ".text.g"}, {"a.c", "b.c"}),
        ({".text.f", ".text.both"}, {"a.c"}),
        ({".text.both"}, {"a.c", "b.c"}),
        ({".text.neither"}, {"a.c", "b.c"}),
    ],
)
def test_sources_by_sections(
    sections: set[str], expected: set[str], tmp_path: Path
) -> None:
    objects = {}
    for name, function in (("a", "f"), ("b", "g")):
        source = tmp_path / f"{name}.c"
        source.write_text(
            f"int {function}(void) {{return 1;}} int both(void){{return 2;}}"
        )
        words: list[str | Path] = [
            "cc",
            "-c",
            "-ffunction-sections",
            source,
            "-o",
            tmp_path / f"{name}.o",
        ]
        subprocess.run(words, check=True)
        objects[tmp_path / f"{name}.o"] = Path(f"{name}.c")
    assert {path.name for path in sbom._having(objects, sections)} == expected


# ---- the wheel -----------------------------------------------------------------------

METADATA = """\
Metadata-Version: 2.4
Name: ember
Version: 0.1.0
License-Expression: Apache-2.0
Requires-Dist: numpy<3,>=1.26.4
Requires-Dist: typer<1,>=0.29
Provides-Extra: flash
Requires-Dist: pyocd>=0.36; extra == 'flash'
"""


def of_wheel(folder: Path, metadata: str) -> subprocess.CompletedProcess[str]:
    wheel = folder / "ember-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("ember-0.1.0.dist-info/METADATA", metadata)
    words: list[str | Path] = [sys.executable, ROOT / "tools/sbom.py", wheel]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_the_wheel(tmp_path: Path) -> None:
    done = of_wheel(tmp_path, METADATA)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    check(facts)
    by_name = {component["name"]: component for component in facts["components"]}
    assert {"numpy", "typer", "annotated-doc"} <= set(by_name)  # the last by typer
    assert not {"pyocd", "capstone", "hatchling"} & set(by_name)
    assert by_name["numpy"]["purl"].startswith("pkg:pypi/numpy@")


def test_a_wheel_that_the_lock_file_does_not_suit(tmp_path: Path) -> None:
    done = of_wheel(tmp_path, METADATA + "Requires-Dist: left-pad\n")
    assert done.returncode == 1
    assert "no left-pad" in done.stderr


def test_no_wheel(tmp_path: Path) -> None:
    file = tmp_path / "a.whl"
    file.write_text("text")
    words: list[str | Path] = [sys.executable, ROOT / "tools/sbom.py", file]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "is not a wheel" in done.stderr) == (1, True)


VALIDATE = """\
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(str(wrong) if wrong else 0)
"""


@pytest.mark.long
def test_by_the_schema_of_cyclonedx(
    data: Path, tmp_path: Path, environment: Callable[[str, Sequence[str]], Path]
) -> None:
    folder = environment(
        "cyclonedx", ["cyclonedx-python-lib[json-validation]==11.12.0"]
    )
    built = build(data / "add.pte", "host", out=tmp_path / "made")
    for text in (
        json.dumps(sbom.of_firmware(built)),
        of_wheel(tmp_path, METADATA).stdout,
    ):
        words: list[str | Path] = [folder / "bin/python", "-c", VALIDATE]
        done = subprocess.run(
            words, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
