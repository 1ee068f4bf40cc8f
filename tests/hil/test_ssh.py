"""ember test --ssh: a computer with Linux, behind a stand-in for ssh, behind sshd."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from committed_cases import path_of
from lines import board

from ember import cases, cli
from ember.errors import SdkError
from ember.hil import ssh
from ember.run import testing
from ember.run.testing import Settings

pytestmark = [pytest.mark.qemu, pytest.mark.slow]

NAMES = ("xnnpack_mlp_qd8", "model_lenet_small")
# What a login shell is given, done by the host as an Arm64 with Linux.
SHELL = """\
#!/bin/sh
export PATH={folder}:$PATH TMPDIR={folder}/tmp
printf '%s\\n' "$1" | sed 's#\\./runner #{runner} ./runner #' >{folder}/command.$$
exec sh {folder}/command.$$
"""
STAND_IN = """\
#!/bin/sh
echo "$*" >>{folder}/words
for last; do :; done
exec {folder}/shell "$last"
"""
UNAME = "#!/bin/sh\ncase $1 in -s) echo Linux ;; *) echo {machine} ;; esac\n"


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def computer(
    folder: Path, machine: str = "aarch64", runner: str = "qemu-aarch64 -cpu max"
) -> Path:
    """A folder with the programs of such a computer, and its temporary folder."""
    (folder / "tmp").mkdir()
    script(folder / "shell", SHELL.format(folder=folder, runner=runner))
    script(folder / "uname", UNAME.format(machine=machine))
    return folder


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in is the first ssh on the PATH."""
    script(tmp_path / "ssh", STAND_IN.format(folder=tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def outcomes(host: str, timeout_s: float = 60) -> list[testing.Outcome]:
    locations = [cases.Found(name, path_of(name)) for name in NAMES]
    settings = Settings(line=ssh.Ssh(host), timeout_s=timeout_s)
    return testing.test(locations, [board("linux-aarch64")], jobs=1, settings=settings)


def assert_passed(results: list[testing.Outcome]) -> None:
    said = [(outcome.status, outcome.message) for outcome in results]
    assert said == [("passed", "")] * len(NAMES)


def refused(host: str = "me@there", **more: float) -> SdkError:
    with pytest.raises(SdkError) as error:
        outcomes(host, **more)
    return error.value


def test_cases_pass_and_nothing_is_left(there: Path) -> None:
    computer(there)
    assert_passed(outcomes("me@there"))
    assert list((there / "tmp").iterdir()) == []
    asked = (there / "words").read_text().splitlines()[0]
    assert "BatchMode=yes" in asked
    assert " me@there " in asked


def test_another_architecture(there: Path) -> None:
    computer(there, machine="x86_64")
    said = refused()
    assert said.what == (
        "me@there is x86_64 with Linux, and linux-aarch64 is aarch64 with Linux"
    )
    assert list((there / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "ssh: Could not resolve hostname there: Name unknown",
            "unknown host",
        ),
        ("me@there: Permission denied (publickey).", "it refuses the login"),
        ("ssh: connect to host there port 22: Connection refused", "no ssh server"),
        ("ssh: connect to host there port 22: Connection timed out", "not answer"),
        ("Host key verification failed.", "its key is not the known one"),
        ("what nobody has ever read", "what nobody has ever read"),
    ],
)
def test_what_ssh_says_is_a_sentence(there: Path, words: str, sentence: str) -> None:
    script(there / "ssh", f'#!/bin/sh\necho "{words}" >&2\nexit 255\n')
    said = refused()
    assert said.what.startswith("cannot reach me@there: ")
    assert sentence in said.what
    assert said.hint


def test_a_full_or_forbidden_folder(there: Path) -> None:
    computer(there)
    (there / "tmp").rmdir()
    said = refused()
    assert said.what.startswith("cannot copy the test runner to me@there: ")
    assert "TMPDIR" in str(said.hint)


def test_programs_that_may_not_run(there: Path) -> None:
    script(there / "refuses", "#!/bin/sh\nexit 126\n")
    computer(there, runner=str(there / "refuses"))
    said = refused()
    assert said.what.startswith("me@there does not run the test runner")


def test_a_case_that_hangs_is_ended_there(there: Path) -> None:
    script(there / "hangs", "#!/bin/sh\nexec sleep 77\n")
    computer(there, runner=str(there / "hangs"))
    said = refused(timeout_s=1)
    assert "still running" in said.what
    time.sleep(0.5)
    words = ["ps", "-eo", "args"]
    alive = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "sleep 77" not in alive.stdout.splitlines()
    assert list((there / "tmp").iterdir()) == []


def test_without_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SdkError, match="ssh is missing"):
        ssh.Ssh("me@there")._ask("true", b"", 1)


def test_a_host_is_no_option() -> None:
    with pytest.raises(SdkError, match="is not a valid host name"):
        ssh.Ssh("-oProxyCommand=evil")._ask("true", b"", 1)


@pytest.mark.parametrize(
    "words",
    [
        ["--board", "mps2-an386", "--ssh", "me@there"],
        ["--board", "linux-aarch64", "--ssh", "me@there", "--port", "/dev/ttyACM0"],
        ["--board", "linux-aarch64", "--board", "host", "--ssh", "me@there"],
    ],
)
def test_what_does_not_go_with_it(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["test", str(path_of(NAMES[0])), *words]) == 2
    assert "--ssh" in capsys.readouterr().err


# ---- a real server -------------------------------------------------------------------


def _wait(port: int, log: Path) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.skip(f"sshd does not start: {log.read_text().strip()}")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """An sshd of this test's own; its Host in a configuration of ssh."""
    sshd = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
    if sshd is None:
        pytest.skip("sshd is not installed")
    computer(tmp_path)
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", ""]
        subprocess.run([*key, "-f", tmp_path / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nPidFile none\nStrictModes no\n"
        f'UsePAM no\nForceCommand {tmp_path}/shell "$SSH_ORIGINAL_COMMAND"\n'
    )
    (tmp_path / "config").write_text(
        f"Host there\n HostName 127.0.0.1\n Port {port}\n StrictHostKeyChecking no\n"
        f" UserKnownHostsFile {tmp_path}/known\n IdentityFile {tmp_path}/user\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # its privileges are separated there
    words = [sshd, "-D", "-e", "-f", tmp_path / "sshd_config"]
    with (tmp_path / "sshd.log").open("w") as log:
        process = subprocess.Popen(list(map(str, words)), stderr=log)
        try:
            _wait(port, tmp_path / "sshd.log")
            yield f"{tmp_path}/config"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def test_over_a_real_server(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("ssh")
    script(tmp_path / "ssh", f'#!/bin/sh\nexec {real} -F {server} "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert_passed(outcomes("there"))
    (tmp_path / "user.pub").write_text("")
    said = refused("there")
    assert said.what == "cannot reach there: it refuses the login"
