"""Packages: each manifest is there, valid, and of the one version."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
import yaml

from ember import __version__, boards, cli
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import Options
from ember.packaging import manifests, new, platformio, sources

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of every kind."""
    folder = tmp_path_factory.mktemp("package")
    board = boards.load("mps2-an386")
    files = sources.write([DATA / "add.pte"], board, folder, Options())
    manifests.write(folder, list(manifests.KINDS), files)
    return folder


def python(tools: Path, code: str, *words: object) -> str:
    command = [tools / "python", "-c", code, *words]
    done = subprocess.run(
        list(map(str, command)), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the version ---------------------------------------------------------------------


def test_the_version_is_one(package: Path) -> None:
    manifest = json.loads((package / "library.json").read_text())
    properties = configparser.ConfigParser()
    properties.read_string("[a]\n" + (package / "library.properties").read_text())
    pdsc = ET.parse(package / "Ember.add.pdsc").getroot()
    component = yaml.safe_load((package / "idf_component.yml").read_text())
    record = json.loads((package / sources.RECORD).read_text())
    lists = (package / "CMakeLists.txt").read_text()
    kconfig = (package / "zephyr" / "Kconfig").read_text()
    versions = {
        manifest["version"],
        properties["a"]["version"],
        *(release.get("version") for release in pdsc.iter("release")),
        *(element.get("Cversion") for element in pdsc.iter("component")),
        component["version"],
        record["version"],
        *re.findall(r"VERSION (\d[\d.]*) LANGUAGES", lists),
        *re.findall(r'EMBER_VERSION "(.*)"', (package / "src/Ember.h").read_text()),
        *re.findall(r'default "(\d.*)"', kconfig),
    }
    assert versions == {__version__}
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in pyproject
    assert "[tool.hatch.version]" in pyproject


def test_no_word_is_left(package: Path) -> None:
    files = [file for file in package.rglob("*") if file.is_file()]
    texts = {file: file.read_text() for file in files if file.suffix != ".pack"}
    assert not [file for file, text in texts.items() if re.search(r"@[A-Z_]+@", text)]
    assert not [file for file, text in texts.items() if str(ROOT) in text]


# ---- each kind -----------------------------------------------------------------------


def test_only_what_is_needed_is_in(package: Path) -> None:
    record = json.loads((package / sources.RECORD).read_text())
    there = {
        source.relative_to(package).as_posix() for source in package.rglob("src/**/*.c")
    }
    assert there == set(record["sources"])
    kernels = {source for source in there if source.startswith("src/kernels/")}
    assert "src/kernels/elementwise/add_f32.c" in kernels
    assert len(kernels) < 20
    assert "EMBER_ERROR_STRINGS 0" in (package / "src/ember/config.h").read_text()


def test_platformio_reads_its_manifests(package: Path, package_tools: Path) -> None:
    code = """\
import sys, json
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema
for path in sys.argv[1:]:
    found = ManifestParserFactory.new_from_file(path).as_dict()
    found.pop("license", None)  # its list is downloaded
    print(json.dumps(ManifestSchema().load_manifest(found)))
"""
    files = [package / "library.json", package / "library.properties"]
    said = python(package_tools, code, *files).splitlines()
    library, arduino = map(json.loads, said)
    assert library["headers"] == ["Ember.h", "ember/model.h"]
    manifest = json.loads((package / "library.json").read_text())
    assert set(library) <= set(manifest)
    assert (package / manifest["build"]["extraScript"]).is_file()
    assert all((package / path).exists() for path in manifest["export"]["include"])
    assert arduino["frameworks"] == ["arduino"]


def test_the_arduino_layout(package: Path) -> None:
    text = (package / "library.properties").read_text()
    fields = dict(line.split("=", 1) for line in text.splitlines())
    needed = "name version author maintainer sentence paragraph category url"
    assert set(needed.split()) <= set(fields)
    assert fields["architectures"] == "*"
    assert fields["category"] in ("Data Processing", "Other")  # of Arduino's list
    assert (package / "src" / fields["includes"]).is_file()
    for sketch in (package / "examples").rglob("*.ino"):
        assert sketch.stem == sketch.parent.name


def test_the_arduino_sketch_is_cpp(package: Path, tmp_path: Path) -> None:
    """With a stand-in for what Arduino brings."""
    (tmp_path / "sketch.cpp").write_text(
        "#include <cstring>\n#include <cstdint>\n"
        "struct Port { void begin(long); template <class T> void print(T);"
        " template <class T> void println(T); } extern Serial;\n"
        + (package / "examples/Once/Once.ino").read_text()
    )
    words = ["clang++-19", "-fsyntax-only", "-Wall", "-Werror", f"-I{package / 'src'}"]
    subprocess.run([*words, tmp_path / "sketch.cpp"], check=True)


def test_zephyr_reads_the_kconfig(package: Path, package_tools: Path) -> None:
    code = """\
import sys, kconfiglib
found = kconfiglib.Kconfig(sys.argv[1], warn_to_stderr=False)
found.syms["EMBER"].set_value("y")
print(found.syms["EMBER_VERSION"].str_value, found.warnings)
"""
    main = package / "Kconfig.test"
    main.write_text(f'config PRINTK\n\tdef_bool y\nsource "{package}/zephyr/Kconfig"\n')
    said = python(package_tools, code, main)
    main.unlink()
    assert said == f"{__version__} []\n"
    module = yaml.safe_load((package / "zephyr/module.yml").read_text())
    assert module["name"] == "ember"
    assert (package / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (package / module["build"]["kconfig"]).is_file()


def test_the_component_suits_its_schema(package: Path, package_tools: Path) -> None:
    words: list[str | Path] = [package_tools / "compote", "manifest", "schema"]
    schema = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    code = """\
import sys, json, jsonschema
jsonschema.validate(json.loads(sys.argv[2]), json.loads(sys.argv[1]))
"""
    component = yaml.safe_load((package / "idf_component.yml").read_text())
    python(package_tools, code, schema, json.dumps(component))
    assert "idf_component_register" in (package / "CMakeLists.txt").read_text()


def test_the_pack_is_whole(package: Path, package_tools: Path) -> None:
    pack = package / f"Ember.add.{__version__}.pack"
    with zipfile.ZipFile(pack) as archive:
        names = set(archive.namelist())
        root = ET.fromstring(archive.read("Ember.add.pdsc"))
    elements = [element.tag for element in root]
    assert elements == [
        *("vendor", "name", "description", "url", "license", "releases"),
        *("keywords", "conditions", "components"),
    ]
    files = [file.get("name") or "" for file in root.iter("file")]
    assert {name for name in files if not name.endswith("/")} <= names
    assert root.findtext("license") in names
    record = json.loads((package / sources.RECORD).read_text())
    assert set(record["sources"]) <= set(files)
    conditions = {condition.get("id") for condition in root.iter("condition")}
    assert {
        component.get("condition") for component in root.iter("component")
    } <= conditions
    code = """\
import sys
from pyocd.target.pack.cmsis_pack import CmsisPack
found = CmsisPack(sys.argv[1])
print(len(found.devices), found.get_file("src/Ember.h").read().decode())
"""
    said = python(package_tools, code, pack)
    assert said.startswith("0 ")  # it is software: boards are in packs of others
    assert f'EMBER_VERSION "{__version__}"' in said


def test_a_pack_is_of_its_model_and_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    (tmp_path / "my net 2.pte").write_bytes((DATA / "add.pte").read_bytes())
    folder = tmp_path / "out"
    board = boards.load("mps2-an386")
    models = [tmp_path / "my net 2.pte"]
    files = sources.write(models, board, folder, Options())
    manifests.write(folder, ["cmsis-pack"], files)
    (archive,) = folder.glob("*.pack")
    assert archive.name == f"Ember.my_net_2.{__version__}.pack"
    root = ET.parse(folder / "Ember.my_net_2.pdsc").getroot()
    assert (root.findtext("vendor"), root.findtext("name")) == ("Ember", "my_net_2")
    (release,) = root.iter("release")
    assert (release.get("version"), release.get("date")) == (__version__, "2025-06-15")
    (component,) = root.iter("component")
    assert component.get("Csub") == "my_net_2"


def test_packages_are_the_same_twice(package: Path, tmp_path: Path) -> None:
    board = boards.load("mps2-an386")
    files = sources.write([DATA / "add.pte"], board, tmp_path, Options())
    manifests.write(tmp_path, list(manifests.KINDS), files)
    for file in package.rglob("*"):
        if file.is_file():
            assert (
                file.read_bytes() == (tmp_path / file.relative_to(package)).read_bytes()
            )


# ---- wrong use -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["package", "--for", "conan", "-o", "x"], "no package for 'conan'"),
        (["package", "--for", "zephyr", "-o", "x"], "needs a model"),
        (["new", "x", "--template", "bazel"], "no template 'bazel'"),
        (["new", "full"], "full is not empty"),
        (["new", "x", "--board", "mps2-an38"], "did you mean mps2-an386"),
        (["new", "x", "--model", "none.pte"], "none.pte does not exist"),
        (["new", "x", "--model", "full/text"], "full/text"),
        (
            ["new", "x", "--board", "host", "--template", "zephyr"],
            "which host does not have",
        ),
    ],
)
def test_wrong_use(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "text").write_text("no program")
    assert cli.main(words) != 0
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kind", ["sources", "linux"])
def test_a_package_moves_no_kernels(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ember.yaml").write_text('memory: {code: {itcm: ["*"]}}\n')
    words = ["package", str(DATA / "add.pte"), "--for", kind, "-o", "x"]
    if kind == "sources":
        words += ["--board", "nucleo-h743zi2"]
    assert cli.main(words) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "moves no kernels of a package" in said
    assert "leave `code:` out" in said
    assert not Path("x").exists()


@pytest.mark.slow
def test_a_model_that_does_not_fit(tmp_path: Path) -> None:
    text = (ROOT / "boards" / "mps2-an386.yaml").read_text()
    board = tmp_path / "small.yaml"
    text = text.replace("name: mps2-an386", "name: small")
    board.write_text(re.sub(r"size: \d+M", "size: 4K", text))
    folder = tmp_path / "project"
    with pytest.raises(SdkError, match="more than"):
        new.create(folder, "cmake", str(board), None)
    assert not folder.exists()


# ---- PlatformIO ----------------------------------------------------------------------


def test_the_example_is_what_the_generator_writes() -> None:
    folder = ROOT / "examples" / "platformio"
    chosen = [boards.load(n) for n in ("mps2-an386", "mps3-an547", "netduinoplus2")]
    text = platformio.ini(chosen, "../models/digits/digits.pte", with_scons=True)
    assert (folder / "platformio.ini").read_text() == text
    assert (folder / "src/main.c").resolve() == ROOT / "examples/firmware/once.c"


def test_every_board_of_the_platform_is_described() -> None:
    names = platformio.known_boards()
    assert {"mps2-an386", "mps3-an547", "netduinoplus2", "nucleo-f446re"} <= set(names)
    for name in names:
        facts = platformio.board_facts(boards.load(name))
        assert f"-mcpu={facts['build']['cpu']}" in facts["build"]["flags"]
        assert facts["upload"]["maximum_ram_size"] > 0
        emulated = boards.load(name).runner.kind == "qemu-system"
        assert facts["ember"]["emulator"][-1:] == (["FIRMWARE"] if emulated else [])


def test_tests_on_a_real_board_are_read_from_its_port() -> None:
    names = ("mps2-an386", "nucleo-f446re")
    said = [
        platformio.ini([boards.load(board)], "a.pte", with_scons=True)
        for board in names
    ]
    assert ["--monitor" in text for text in said] == [False, True]


def test_library_boards_have_two_memories() -> None:
    for name in boards.names():
        board = boards.load(name)
        if board.port == "cortexm":
            seen: Board = sources.library_board(board)
            assert len(seen.memories) == 2
            assert not {"mve", "sme"} & set(seen.isa)


def test_the_page_compiles(package: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "integration.md").read_text()
    (code,) = re.findall(r"^```c\n((?:.*\n)*?)```$", page, re.MULTILINE)
    include = f"-I{package / 'src'}"
    for compiler, name in (("gcc", "page.c"), ("clang++-19", "page.cpp")):
        (tmp_path / name).write_text(code)
        words = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", include]
        subprocess.run([*words, tmp_path / name], check=True)


@pytest.mark.parametrize(
    ("program", "status"),
    [("exec sleep 2", None), ("while :; do :; done", "was still running after")],
)
def test_the_time_of_a_busy_computer_is_not_the_emulators(
    program: str, status: str | None, tmp_path: Path
) -> None:
    script = tmp_path / "run.py"
    script.write_text((ROOT / "platformio" / "platform" / "run.py").read_text())
    (tmp_path / "boards").mkdir()
    facts = {"emulator": ["sh", "-c", program], "timeout_s": 0.3}
    (tmp_path / "boards" / "any.json").write_text(json.dumps({"ember": facts}))
    words: list[str | Path] = [sys.executable, script, "any", "none"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (done.returncode == 0) == (status is None)
    assert (status or "") in done.stderr
