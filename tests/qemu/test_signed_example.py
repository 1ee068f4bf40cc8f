"""examples/signed: configured, built and run with each library of cryptography."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from committed_cases import path_of

from ember import cli, paths

pytest.importorskip("cryptography")
ROOT = paths.root()
EXAMPLE = ROOT / "examples" / "signed"
MODEL = ROOT / "examples" / "models" / "digits" / "digits.pte"
HEADERS = {
    "OpenSSL": "openssl/evp.h",
    "sodium": "sodium.h",
    "MbedTLS": "mbedtls/ecdsa.h",
}
pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def ember(*words: object) -> None:
    assert cli.main([*map(str, words)]) == 0


def configure(
    folder: Path, library: str, *more: str
) -> subprocess.CompletedProcess[str]:
    words = ["cmake", "-G", "Ninja", "-S", str(EXAMPLE), "-B", str(folder / "build")]
    words += [f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake/board.cmake'}"]
    words += ["-DEMBER_BOARD=host", f"-Dember_DIR={ROOT / 'cmake'}"]
    words += [f"-DMODEL={MODEL}", f"-DKEY={folder}", f"-DCRYPTO={library}", *more]
    words += [f"-DEMBER_PYTHON={sys.executable}"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Device:
    """Starts the program in a folder; what it says."""

    program: Path
    key: Path  # signs its updates

    def __call__(self, folder: Path) -> str:
        done = subprocess.run(
            [self.program], cwd=folder, capture_output=True, text=True, check=False
        )
        return done.stderr


@pytest.fixture(scope="module", params=["OpenSSL", "sodium", "MbedTLS"])
def device(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Device:
    asked = subprocess.run(
        ["cc", "-E", "-x", "c", "-"],
        input=f"#include <{HEADERS[request.param]}>\n",
        text=True,
        capture_output=True,
        check=False,
    )
    if asked.returncode != 0:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("signed")
    algorithm = "p256" if request.param == "MbedTLS" else "ed25519"
    words = ("--algorithm", algorithm, "--header", folder / "release.h")
    ember("keygen", folder / "release.pem", *words)
    done = configure(folder, request.param)
    assert done.returncode == 0, done.stdout + done.stderr
    build = ("cmake", "--build", folder / "build")
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    return Device(folder / "build" / "device", folder / "release.pem")


def sign(
    device: Device,
    target: Path,
    version: int,
    *more: str,
    model: Path = MODEL,
) -> None:
    words = ("--key", device.key, "--version", version, "--out", target)
    ember("sign", model, *words, *(more or ("--purpose", "digits")))


def test_updates(device: Device, tmp_path: Path) -> None:
    factory, update = tmp_path / "factory.signed", tmp_path / "update.signed"
    sign(device, factory, 4)
    assert device(tmp_path) == "runs version 4\n"
    sign(device, update, 5)
    said = "runs version 4\nupdate: success\nruns version 5\nkept: success\n"
    assert device(tmp_path) == said
    refused = (
        "runs version 4\nupdate: not signed as the device requires\nruns version 4\n"
    )
    content = bytearray(update.read_bytes())
    content[-1] ^= 1
    update.write_bytes(content)
    assert device(tmp_path) == refused
    sign(device, update, 5)
    content = bytearray(update.read_bytes())
    content[5] = 3 - content[5]  # the other algorithm
    update.write_bytes(content)
    assert device(tmp_path) == refused
    sign(device, update, 5, "--purpose", "other")
    assert device(tmp_path) == refused
    other = tmp_path / "other.pem"
    ember("keygen", other, "--header", tmp_path / "o.h")
    shutil.copy(MODEL, update)  # not signed at all
    assert device(tmp_path).splitlines()[2] == "runs version 4"
    shutil.copy(MODEL, factory)
    assert "nothing to run" in device(tmp_path)


@pytest.mark.parametrize("case", ["special_ptd", "special_ptd_two_files"])
def test_an_update_with_data_files(device: Device, case: str, tmp_path: Path) -> None:
    sign(device, tmp_path / "factory.signed", 4)
    model = path_of(case)
    sign(device, tmp_path / "update.signed", 5, model=model)
    said = "runs version 4\nupdate: success\nruns version 5\nkept: success\n"
    assert device(tmp_path) == said


def test_a_library_that_there_is_not(tmp_path: Path) -> None:
    done = configure(tmp_path, "Nettle")
    assert done.returncode != 0
    assert "one of OpenSSL, sodium, MbedTLS" in " ".join(done.stderr.split())


def test_the_drivers_compile_for_their_board(tmp_path: Path) -> None:
    for name in ("slots", "flash_stm32f4"):
        words = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-std=c11"]
        words += ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-c"]
        words += [f"-I{ROOT / 'runtime_c/include'}", str(EXAMPLE / f"{name}.c")]
        done = subprocess.run(
            [*words, "-o", tmp_path / "o.o"],
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
