"""`ember keygen` and `ember sign`; devices' libraries check what they wrote."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import c_programs
import pytest
from committed_cases import path_of

from ember import cli, paths
from ember.errors import SdkError
from ember.release import signing
from ember.release.signing import Algorithm

pytest.importorskip("cryptography")
ROOT = paths.root()
LIBRARIES = {"openssl": "crypto", "sodium": "sodium", "mbedtls": "mbedcrypto"}
HEADERS = {
    "openssl": "openssl/evp.h",
    "sodium": "sodium.h",
    "mbedtls": "mbedtls/ecdsa.h",
}


def broad(*pair: str) -> Any:
    return pytest.param(*pair, marks=pytest.mark.broad)


# Libraries, and the algorithms that they have for us.
PAIRS = [
    broad("openssl", "ed25519"),
    ("openssl", "p256"),
    ("sodium", "ed25519"),
    broad("mbedtls", "p256"),
]
OK, BAD_PROGRAM, UNTRUSTED = "0", "-1", "-11"
_S = slice(88 + 32, 88 + 64)  # of a signature over one part


def ember(*words: object) -> int:
    return cli.main([*map(str, words)])


@pytest.fixture
def key(tmp_path: Path) -> Path:
    assert ember("keygen", tmp_path / "k.pem", "--header", tmp_path / "k.h") == 0
    return tmp_path / "k.pem"


# ---- devices -------------------------------------------------------------------------


class Device:
    """A program of the host that trusts keys, with one library."""

    def __init__(self, folder: Path, library: str, *names: str) -> None:
        self._program = folder / f"signed_file_{library}"
        lines = [f'#include "{name}.h"' for name in names]
        chosen = ", ".join(f"&ember_key_{name}" for name in names)
        (folder / "signer.h").write_text("\n".join([*lines, f"#define KEYS {chosen}"]))
        sources = [c_programs.TESTS / "signed_file.c", c_programs.TESTS / "check.c"]
        sources += [ROOT / f"runtime_c/verify/{name}.c" for name in ("verify", library)]
        sources += [ROOT / path for path in c_programs.HOST]
        words = ["clang-19", "-std=c11", "-g", "-O1", "-fsanitize=address,undefined"]
        words += [f"-DCRYPTO=ember_crypto_{library}", f"-I{folder}"]
        words += [*c_programs.includes(), *map(str, [*sources, *c_programs.CORE])]
        words += [f"-l{LIBRARIES[library]}", "-o", str(self._program)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def __call__(self, file: Path, least: int, purpose: str, *more: str) -> str:
        words: list[str | Path] = [self._program, file, str(least), purpose, *more]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr


def device(folder: Path, library: str, *names: str) -> Device:
    question = f"#include <{HEADERS[library]}>\n"
    words = ["clang-19", "-E", "-x", "c", "-"]
    done = subprocess.run(
        words, input=question, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"{library} is not installed")
    return Device(folder, library, *names)


@pytest.mark.slow
@pytest.mark.parametrize(("library", "algorithm"), PAIRS)
def test_devices_trust_what_was_signed(
    library: str, algorithm: str, data: Path, tmp_path: Path
) -> None:
    for name in ("mine", "other"):
        words = ("--algorithm", algorithm, "--header", tmp_path / f"{name}.h")
        assert ember("keygen", tmp_path / f"{name}.pem", *words) == 0
    ask = device(tmp_path, library, "mine")
    file, wrong = tmp_path / "a.signed", tmp_path / "b.signed"
    told = ("--version", 3, "--purpose", "bell")
    sign = ("sign", data / "add.pte", "--key")
    assert ember(*sign, tmp_path / "mine.pem", *told, "--out", file) == 0
    assert ember(*sign, tmp_path / "other.pem", *told, "--out", wrong) == 0
    assert ask(file, 3, "bell") == f"{OK} 0"
    assert ask(file, 4, "bell") == f"{UNTRUSTED} 0"  # an older version
    assert ask(file, 3, "door") == f"{UNTRUSTED} 0"
    assert ask(wrong, 3, "bell") == f"{UNTRUSTED} 0"
    assert ask(data / "add.pte", 3, "bell") == f"{BAD_PROGRAM} 0"  # not signed
    assert ask(file, 3, "bell", "each") == "0 1"  # no byte can change unnoticed
    content = bytearray(file.read_bytes())
    if algorithm == "p256":  # r and the order less s are a signature as well
        twin = signing._ORDER - int.from_bytes(content[_S])
        wrong.write_bytes(content[: _S.start] + twin.to_bytes(32) + content[_S.stop :])
        assert ask(wrong, 3, "bell") == f"{UNTRUSTED} 0"
    content[5] = 3 - content[5]  # the other algorithm
    wrong.write_bytes(content)
    assert ask(wrong, 3, "bell") == f"{UNTRUSTED} 0"
    assert ember(*sign, tmp_path / "other.pem", *told, "--out", wrong) == 0
    both = Device(tmp_path, library, "other", "mine")
    assert (both(file, 3, "bell"), both(wrong, 3, "bell")) == (f"{OK} 0", f"{OK} 0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "algorithm"),
    [broad("sodium", "p256"), ("mbedtls", "ed25519")],
)
def test_an_algorithm_that_a_library_lacks(
    library: str, algorithm: str, data: Path, tmp_path: Path
) -> None:
    words = ("--algorithm", algorithm, "--header", tmp_path / "k.h")
    assert ember("keygen", tmp_path / "k.pem", *words) == 0
    ask = device(tmp_path, library, "k")
    told = ("--version", 3, "--purpose", "bell", "--out", tmp_path / "s")
    assert ember("sign", data / "add.pte", "--key", tmp_path / "k.pem", *told) == 0
    assert ask(tmp_path / "s", 3, "bell") == f"{UNTRUSTED} 0"


@pytest.mark.slow
def test_data_files_are_signed_too(key: Path, tmp_path: Path) -> None:
    ask = device(tmp_path, "openssl", "k")
    case = path_of("special_ptd")
    told = ("--version", 1, "--purpose", "x", "--out", tmp_path / "s")
    assert ember("sign", case, "--key", key, *told) == 0
    count = len(list(case.glob("*.ptd")))
    assert ask(tmp_path / "s", 1, "x") == f"{OK} {count}"
    content = bytearray((tmp_path / "s").read_bytes())
    content[-1] ^= 1
    (tmp_path / "s").write_bytes(content)
    assert ask(tmp_path / "s", 1, "x") == f"{UNTRUSTED} 0"


@pytest.mark.slow
def test_signatures_with_zeros_in_front(tmp_path: Path, data: Path) -> None:
    """ECDSA's r and s are numbers: one of 256 is a byte shorter in DER."""
    header = tmp_path / "k.h"
    words = ("--algorithm", "p256", "--header", header)
    assert ember("keygen", tmp_path / "k.pem", *words) == 0
    private = signing.read_key(tmp_path / "k.pem")
    ask = device(tmp_path, "openssl", "k")
    program, short = (data / "add.pte").read_bytes(), set()
    for version in range(5000):
        content = signing.sign(program, [], private, version, "bell")
        kind = (content[88] == 0, content[88 + 32] == 0)
        if any(kind) and kind not in short:
            (tmp_path / "s").write_bytes(content)
            assert ask(tmp_path / "s", 0, "bell") == f"{OK} 0"
            short.add(kind)
        if {(True, False), (False, True)} <= short:
            return
    pytest.fail("no such signature")


def test_a_p256_signature_has_the_lower_s(tmp_path: Path) -> None:
    assert ember("keygen", tmp_path / "k.pem", "--algorithm", "p256") == 0
    private = signing.read_key(tmp_path / "k.pem")
    half = (signing._ORDER - 1) // 2
    for message in range(32):
        assert 0 < int.from_bytes(private.sign(bytes([message]))[32:]) <= half
    source = (ROOT / "runtime_c" / "verify" / "verify.c").read_text()
    told = source.partition("half_order[] = {")[2].partition("}")[0]
    assert bytes(int(byte, 16) for byte in re.findall(r"0x\w+", told)) == half.to_bytes(
        32
    )


# ---- keys ----------------------------------------------------------------------------


def test_a_key_is_its_owners(key: Path) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    before = key.read_bytes()
    assert ember("keygen", key) == 1  # never over another one
    assert key.read_bytes() == before


def test_the_header_of_a_key_that_exists(key: Path, tmp_path: Path) -> None:
    assert ember("keygen", key, "--header", tmp_path / "again.h") == 0
    assert (tmp_path / "again.h").read_text() == (tmp_path / "k.h").read_text()


def test_a_key_with_a_passphrase(
    tmp_path: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(signing.PASSPHRASE, "a secret")
    file = tmp_path / "k.pem"
    assert ember("keygen", file) == 0
    assert b"ENCRYPTED" in file.read_bytes()
    words = ("sign", data / "add.pte", "--key", file, "--version", 1)
    assert ember(*words, "--out", tmp_path / "s") == 0
    monkeypatch.setenv(signing.PASSPHRASE, "another")
    assert ember(*words, "--out", tmp_path / "t") == 1
    assert "its passphrase is wrong" in capsys.readouterr().err
    monkeypatch.delenv(signing.PASSPHRASE)
    assert ember(*words, "--out", tmp_path / "t") == 1
    assert f"set {signing.PASSPHRASE}" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"text", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"],
)
def test_no_key(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "k.pem").write_bytes(content)
    with pytest.raises(SdkError, match="is not a private key in PEM"):
        signing.read_key(tmp_path / "k.pem")
    with pytest.raises(SdkError):
        signing.read_key(tmp_path / "missing.pem")


def test_keys_of_other_kinds(tmp_path: Path) -> None:
    for words in (
        ["genpkey", "-algorithm", "RSA"],
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    ):
        file = tmp_path / "k.pem"
        subprocess.run(
            ["openssl", *words, "-out", file], check=True, capture_output=True
        )
        with pytest.raises(SdkError, match="of a kind that Ember cannot use"):
            signing.read_key(file)


@pytest.mark.parametrize(
    ("words", "algorithm"),
    [
        (["-algorithm", "ed25519"], Algorithm.ED25519),
        (
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            Algorithm.ECDSA_P256,
        ),
    ],
)
def test_keys_that_openssl_made(
    words: list[str], algorithm: Algorithm, tmp_path: Path
) -> None:
    file = tmp_path / "k.pem"
    command: list[str | Path] = ["openssl", "genpkey", *words, "-out", file]
    subprocess.run(command, check=True, capture_output=True)
    assert signing.read_key(file).algorithm is algorithm


def test_a_key_that_cannot_be_written(tmp_path: Path) -> None:
    assert ember("keygen", tmp_path / "missing" / "k.pem") == 1
    assert ember("keygen", tmp_path / "k.pem", "--header", tmp_path / "no" / "k.h") == 1
    assert list(tmp_path.iterdir()) == []


# ---- models --------------------------------------------------------------------------


def test_what_a_signed_model_says(key: Path, data: Path, tmp_path: Path) -> None:
    words = ("--version", 7, "--purpose", "bell", "--out", tmp_path / "s")
    file = tmp_path / "facts.json"
    assert ember("sign", data / "add.pte", "--key", key, *words, "--json", file) == 0
    content = (tmp_path / "s").read_bytes()
    head = signing.read(content, "s")
    assert (head.version, head.purpose, head.size) == (7, "bell", len(content))
    assert head.key == signing.read_key(key).public.id
    assert content.endswith((data / "add.pte").read_bytes())
    assert json.loads(file.read_text())["key"] == head.key.hex()


def test_the_same_bytes_each_time(key: Path, data: Path) -> None:
    """RFC 8032 needs no random numbers."""
    program, private = (data / "add.pte").read_bytes(), signing.read_key(key)
    signed = signing.sign(program, [b"x"], private, 1, "p")
    assert signed == signing.sign(program, [b"x"], private, 1, "p")


def test_beside_the_program(
    key: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "model.pte").write_bytes((data / "add.pte").read_bytes())
    assert ember("sign", folder / "model.pte", "--key", key, "--version", 1) == 0
    assert (folder / "model.pte.signed").is_file()
    monkeypatch.chdir(folder)
    assert ember("sign", ".", "--key", key, "--version", 1) == 0
    assert (tmp_path / "case.signed").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--purpose", "more than sixteen"), "at most 16 characters"),
        (("--purpose", "T\u00fcr"), "only letters"),
        (("--purpose", "a\nb"), "only letters"),
        (("--version", 2**32), "version"),
        (("--version", -1), "version"),
        (("--data", "missing.ptd"), "missing.ptd"),
        (("--out", "missing/s"), "its folder does not exist"),
    ],
)
def test_bad_input(
    words: tuple[object, ...],
    said: str,
    key: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "s"
    start = ("sign", data / "add.pte", "--key", key, "--out", target, "--version", 1)
    assert ember(*start, *words) != 0
    assert said in capsys.readouterr().err
    assert not target.exists()


def test_what_does_not_fit(key: Path) -> None:
    private = signing.read_key(key)
    with pytest.raises(SdkError, match="at most 7 data files"):
        signing.sign(b"", [b""] * 8, private, 1)


@pytest.mark.parametrize("change", ["short", "magic", "format", "algorithm", "long"])
def test_no_signed_model(change: str, key: Path) -> None:
    content = bytearray(signing.sign(b"program", [], signing.read_key(key), 1))
    if change == "short":
        del content[20:]
    elif change == "long":
        content += b"0"
    else:
        content[{"magic": 0, "format": 4, "algorithm": 5}[change]] ^= 0x40
    with pytest.raises(SdkError, match=r"is not a signed model|is damaged"):
        signing.read(bytes(content), "s")


def test_without_the_package(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(SdkError, match="cryptography, which is not installed") as error:
        signing.read_key(key)
    assert error.value.hint == "install it: pip install 'ember[sign]'"
