"""What tests took of processors, by file: pytest's `--cpu-times FILE`.

Seconds of processors, of a test's process and the commands that it waited for, are
nearly the same on busy computers, where durations are not. What several tests share
counts for the one that came first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pace
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "show files by seconds of processors, and write those of each test to FILE"
    parser.addoption("--cpu-times", metavar="FILE", type=Path, help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cpu-times"):
        config.pluginmanager.register(CpuTimes(), "cpu-times")


class CpuTimes:
    """One in each process; that of the terminal adds what the others report."""

    def __init__(self) -> None:
        self._last = pace.used()
        self._tests: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = pace.used()
        vars(report)["cpu"], self._last = now - self._last, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests[report.nodeid] += report.cpu

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        files: Counter[str] = Counter()
        for name, seconds in self._tests.items():
            files[name.partition("::")[0]] += seconds
        total = files.total()
        terminalreporter.section(f"{total:.0f} seconds of processors")
        for name, seconds in files.most_common(30):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
        text = json.dumps(dict(self._tests.most_common()), indent=1)
        config.getoption("--cpu-times").write_text(text, encoding="utf-8")
