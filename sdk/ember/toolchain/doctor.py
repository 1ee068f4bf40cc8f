"""Which of the programs that boards need are installed, and which are missing."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ember.boards import Board
from ember.toolchain import tools

_HEXAGON = "hexagon-llvm"


@dataclass(frozen=True)
class Finding:
    """One thing that boards need: a program, a library or a Python package."""

    name: str
    purpose: str
    version: str | None  # None: missing
    install: str
    packages: str  # of Debian; empty: not from there
    boards: tuple[str, ...]  # that cannot be built or run without it
    optional: bool = False  # these can, and lack one option
    tested: tools.Tested | None = None

    @property
    def missing(self) -> bool:
        return self.version is None

    @property
    def untested(self) -> bool:
        """Whether it is there in a version outside of what is tested."""
        if self.version is None or self.tested is None:
            return False
        return not self.tested.has(self.version)


@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    boards: tuple[str, ...]
    uncounted: Mapping[str, tuple[str, ...]]  # boards, by the emulator that cannot

    def missing_for(self, board: str) -> tuple[Finding, ...]:
        return tuple(f for f in self._needed if f.missing and board in f.boards)

    @property
    def _needed(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.optional)

    @property
    def ready(self) -> bool:
        return not any(finding.missing for finding in self._needed)

    @property
    def tested(self) -> tuple[tools.Tested, ...]:
        """Each range once."""
        of_tools = [
            finding.tested for finding in self.findings if finding.tested is not None
        ]
        return tuple(dict.fromkeys([*of_tools, tools.PYTHON]))

    @property
    def untested(self) -> tuple[str, ...]:
        """What is there in a version outside of them."""
        versions = {tool.name: tool.version for tool in self.findings if tool.untested}
        if not tools.PYTHON.has(python_version()):
            versions["Python"] = python_version()
        return tuple(f"{name} {version}" for name, version in versions.items())

    @property
    def install(self) -> tuple[str, ...]:
        """The commands that install all that is missing."""
        missing = [finding for finding in self._needed if finding.missing]
        packages = sorted({p for f in missing for p in f.packages.split()})
        commands = [f.install for f in missing if not f.packages]
        if packages:
            commands.insert(0, f"sudo apt-get install {' '.join(packages)}")
        return tuple(commands)


def examine(boards: Sequence[Board]) -> Report:
    """Look for everything that `boards` need."""
    users = _users(boards)
    findings = [
        _program(tool, tuple(users[tool.name]))
        for tool in tools.TOOLS.values()
        if tool.name in users
    ]
    findings += _libraries(boards, users)
    names = tuple(board.name for board in boards)
    return Report(tuple(findings), names, _uncounted(boards))


def python_version() -> str:
    return platform.python_version()


def _uncounted(boards: Sequence[Board]) -> dict[str, tuple[str, ...]]:
    """Boards whose runs are not counted here."""
    names: dict[str, tuple[str, ...]] = {}
    for board in boards:
        binary = board.runner.binary
        if binary and board.runner.counts and not tools.takes_plugins(binary):
            names[binary] = (*names.get(binary, ()), board.name)
    return names


def _users(boards: Sequence[Board]) -> dict[str, list[str]]:
    """The boards that need each program, by its name."""
    users: dict[str, list[str]] = {}
    for board in boards:
        for name in tools.needed(board):
            users.setdefault(name, []).append(board.name)
        if board.runner.counts == "instructions":
            for name in tools.OPTIONAL:
                users.setdefault(name, []).append(board.name)
    return users


def _program(tool: tools.Tool, boards: tuple[str, ...]) -> Finding:
    return Finding(
        name=tool.name,
        purpose=tool.purpose,
        version=tools.version(tool.name),
        install=f"sudo {tool.install}",
        packages=tool.package,
        boards=boards,
        optional=tool.name in tools.OPTIONAL,
        tested=tool.tested,
    )


def _libraries(boards: Sequence[Board], users: dict[str, list[str]]) -> list[Finding]:
    findings: list[Finding] = []
    if "arm-none-eabi-gcc" in users:
        findings.append(
            Finding(
                name="newlib",
                purpose="is the C library of Cortex-M boards",
                version="found" if tools.has_newlib() else None,
                install=f"sudo apt-get install {tools.NEWLIB_PACKAGE}",
                packages=tools.NEWLIB_PACKAGE,
                boards=tuple(users["arm-none-eabi-gcc"]),
            )
        )
    hexagon = tuple(board.name for board in boards if _HEXAGON in board.toolchains)
    if hexagon:
        findings.append(
            Finding(
                name="ziglang",
                purpose="holds the run-time library for Hexagon",
                version=_package_version("ziglang"),
                install=tools.ZIGLANG_INSTALL,
                packages="",
                boards=hexagon,
            )
        )
    return findings


def _package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
