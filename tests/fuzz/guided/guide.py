"""Runs the fuzzer that is guided by coverage, from a corpus that is kept.

    tools/fuzz --minutes 2                 all targets one after another
    tools/fuzz --minutes 60 --target program --sanitizer memory
    tools/fuzz --replay                    what is kept, once
    tools/fuzz --minutes 10 --keep         then keeps the least corpus that reaches all

Targets: programs, payloads for XNNPACK, data files, bundles, prepared nodes, the serial
link and, in Python, its host's side. A mutator changes FlatBuffers by what their fields
mean. Exit status 1 when the sanitizer, an oracle or the time of an input says that
something is wrong; then the input is kept beside the corpus that grows in the cache.
docs/security.md has the numbers.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import build
import crafted
import host_link
import programs
import programs_bundles
import programs_data
import seeds

from ember import paths, program

CORPUS = Path(__file__).parents[1] / "corpus"
TARGETS = ("program", "payload", "data", "bundle", "prepared", "link", "host_link")
MOST_BYTES = 3 << 20  # of all that is kept
_LONGEST = 16384  # bytes of an input
_SECONDS = 120  # of an input that hangs, however busy the computer is
_COVERED = re.compile(r"^#\d+\s+(?:DONE|INITED|pulse|REDUCE|NEW)\s+cov: (\d+)", re.M)
_COUNT = re.compile(r"stat::number_of_executed_units: (\d+)")


@dataclass(frozen=True)
class Result:
    target: str
    sanitizer: str
    executions: int
    covered: int  # edges of the core and the backends
    inputs: int  # of the corpus
    failed: bool


# ---- corpus --------------------------------------------------------------------------


def kept(target: str) -> Iterator[bytes]:
    """The committed corpus of a target."""
    path = CORPUS / f"{target}.tar.xz"
    if path.is_file():
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                content = archive.extractfile(member)
                assert content is not None
                yield content.read()


def _fresh(target: str) -> Iterator[bytes]:
    """What the tests of the core and the exporter make."""
    if target == "program":
        yield from (program.write(make()) for make in programs.PROGRAMS.values())
        yield from _crafted()
    elif target == "payload":
        for seed in seeds.collect(0):
            if seed.kind == seeds.PROGRAM and "xnnpack" in seed.name:
                yield seed.data
    elif target == "data":
        yield programs_data.external_data()
        yield programs_data.external_data((2, 2), (1, 0))
    elif target == "prepared":
        yield from build.examples()
        yield from _fresh("program")
    elif target == "bundle":
        yield from (
            programs_bundles.sums(),
            programs_bundles.unbound(),
            programs_bundles.values(),
        )
    else:
        yield bytes(8) + bytes(range(64))


def _crafted() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs.write_all(folder)
        crafted.write_all(folder)
        for case in crafted.collect():
            path = folder / case.file
            if path.suffix == ".pte":
                yield path.read_bytes()


def _fill(folder: Path, inputs: Iterator[bytes]) -> None:
    for number, data in enumerate(inputs):
        if len(data) <= _LONGEST:
            (folder / f"{number:05d}").write_bytes(data)


def keep(target: str, folder: Path) -> None:
    """Writes the inputs of a folder, the same for the same inputs; much alike, they
    are small together."""
    inputs = sorted((path.read_bytes() for path in folder.iterdir()), key=_by_size)
    CORPUS.mkdir(exist_ok=True)
    with tarfile.open(CORPUS / f"{target}.tar.xz", "w:xz", preset=9) as archive:
        for number, data in enumerate(inputs):
            member = tarfile.TarInfo(f"{number:05d}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _by_size(data: bytes) -> tuple[int, bytes]:
    return len(data), data


# ---- running -------------------------------------------------------------------------


class Fuzzer:
    """One target with one sanitizer, in a folder of its own."""

    def __init__(self, target: str, sanitizer: str, jobs: int) -> None:
        self.target, self.sanitizer = target, sanitizer
        self._program = build.build(sanitizer, jobs)
        self._home = paths.cache() / "guided"
        companion = self._home / "external.pte"
        companion.write_bytes(program.write(programs_data.external()))
        self._environment = {
            **os.environ,
            "EMBER_FUZZ_TARGET": target,
            "EMBER_FUZZ_PROGRAM": str(companion),
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "MSAN_OPTIONS": "allocator_may_return_null=1",
        }

    def replay(self) -> Result:
        """What is kept, once."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _fill(folder, kept(self.target))
            return self._run("-runs=0", folder)

    def run(self, seconds: int, keeps: bool) -> Result:
        """From what is kept, what earlier runs found, and fresh seeds."""
        grown = paths.writable_folder(self._home / f"corpus-{self.target}")
        with tempfile.TemporaryDirectory() as temporary:
            given = Path(temporary) / "given"
            given.mkdir()
            _fill(given, (data for data in (*kept(self.target), *_fresh(self.target))))
            result = self._run(f"-max_total_time={seconds}", grown, given)
            if keeps and not result.failed:
                self._minimise(Path(temporary) / "least", grown, given)
        return result

    def _minimise(self, least: Path, *folders: Path) -> None:
        least.mkdir()
        done = self._start("-set_cover_merge=1", least, *folders)
        if done.returncode != 0:
            sys.exit(f"fuzz: {self.target} cannot be made smaller:\n{done.stderr}")
        keep(self.target, least)

    def _run(self, what: str, *folders: Path) -> Result:
        done = self._start(what, *folders)
        failed = done.returncode != 0
        if failed:
            sys.stderr.write(done.stderr[-6000:])
        count = _COUNT.search(done.stderr)
        covered = _COVERED.findall(done.stderr)
        return Result(
            self.target,
            self.sanitizer,
            int(count[1]) if count else 0,
            int(covered[-1]) if covered else 0,
            len(list(folders[0].iterdir())),
            failed,
        )

    def _start(self, what: str, *folders: Path) -> subprocess.CompletedProcess[str]:
        words = [str(self._program), what, f"-timeout={_SECONDS}"]
        words += [f"-max_len={_LONGEST}", "-print_final_stats=1", "-rss_limit_mb=3000"]
        words += [f"-artifact_prefix={self._home}/{self.target}-"]
        words += map(str, folders)
        return subprocess.run(
            words,
            env=self._environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


class HostLink:
    """The target that is Python, which needs no sanitizer."""

    def replay(self) -> Result:
        return self._result(host_link.replay(kept("host_link")))

    def run(self, seconds: int, keeps: bool) -> Result:
        given = (*kept("host_link"), *_fresh("host_link"))
        outcome = host_link.fuzz(given, seconds, time.time_ns())
        if keeps and outcome.failed is None:
            with tempfile.TemporaryDirectory() as least:
                _fill(Path(least), iter(host_link.replay(outcome.inputs).inputs))
                keep("host_link", Path(least))
        return self._result(outcome)

    def _result(self, outcome: host_link.Found) -> Result:
        if outcome.failed is not None:
            data, error = outcome.failed
            place = paths.writable_folder(paths.cache() / "guided") / "host_link-failed"
            place.write_bytes(data)
            traceback.print_exception(error)
            print(f"fuzz: the input is {place}", file=sys.stderr)
        counts = (outcome.executions, len(outcome.edges), len(outcome.inputs))
        return Result("host_link", "python", *counts, outcome.failed is not None)


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=0, help="in all")
    parser.add_argument("--replay", action="store_true", help="only what is kept")
    parser.add_argument("--target", action="append", choices=TARGETS, default=[])
    parser.add_argument(
        "--sanitizer", action="append", choices=[*build.SANITIZERS], default=[]
    )
    parser.add_argument("--jobs", type=int, default=2, help="of the compiler")
    parser.add_argument("--keep", action="store_true", help="commit what it reaches")
    parser.add_argument("--json", metavar="FILE", help="- for standard output")
    asked = parser.parse_args()
    if not asked.replay and asked.minutes <= 0:
        parser.error("say --minutes or --replay")
    if shutil.which(build.COMPILER) is None and asked.target != ["host_link"]:
        sys.exit(f"fuzz: {build.COMPILER} is not installed: make setup-dev")
    results = list(_results(asked))
    if asked.json:
        text = json.dumps([asdict(result) for result in results], indent=1) + "\n"
        if asked.json == "-":
            sys.stdout.write(text)
        else:
            Path(asked.json).write_text(text, encoding="utf-8")
    return int(any(result.failed for result in results))


def _results(asked: argparse.Namespace) -> Iterator[Result]:
    targets = asked.target or TARGETS
    sanitizers = asked.sanitizer or (
        [*build.SANITIZERS] if asked.replay else ["address", "address32"]
    )
    pairs = [
        (kind, name) for kind in sanitizers for name in targets if name != "host_link"
    ]
    pairs += [("python", "host_link")] * ("host_link" in targets)
    seconds = max(int(60 * asked.minutes / len(pairs)), 1)
    log = sys.stderr if asked.json == "-" else sys.stdout
    for sanitizer, target in pairs:
        python = target == "host_link"
        fuzzer = HostLink() if python else Fuzzer(target, sanitizer, asked.jobs)
        result = fuzzer.replay() if asked.replay else fuzzer.run(seconds, asked.keep)
        print(
            f"{target}, {sanitizer}: {result.executions:,} executions,"
            f" {result.covered:,} edges, {result.inputs} inputs"
            f"{', FAILED' if result.failed else ''}",
            file=log,
            flush=True,
        )
        yield result
