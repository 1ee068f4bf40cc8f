"""Mutate programs and run what still loads, under sanitizers.

    tests/fuzz/run.py --mutations 1000000 --jobs 2
    tests/fuzz/run.py --seconds 60
    tests/fuzz/run.py --mutations 200000 --pattern xnnpack --fields payload
    tests/fuzz/run.py --only 123456          one mutation again, verbosely

Prints a summary line, or how to repeat a failure. Exit status 0 means no report.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [
    str(ROOT / at)
    for at in ("sdk", "tests/fuzz", "tests/shared", "tests/unit/c", "tools")
]

import positions  # noqa: E402
import seeds as seeds_module  # noqa: E402

from ember import boards, kernels, paths  # noqa: E402
from ember.toolchain import libraries  # noqa: E402

# Sources that are no part of the libraries, and where their headers are.
SOURCES = (
    *(
        f"tests/fuzz/{name}.c"
        for name in (
            *("fuzz", "mutate", "execute", "table"),
            *("guard", "guard_memory", "guard_nodes"),
        )
    ),
    "tests/unit/c/toys.c",
)
INCLUDES = ("runtime_c/src", "tests/unit/c", "tests/fuzz")
KINDS = ("header", "scalar", "offset", "count", "tag", "table", "vtable", "bytes")
# Accessors that deliver memory; guard.c takes their place.
WRAPPED = (
    *("tensor", "optional_tensor", "list_tensor", "list_output", "output"),
    *("output_like", "inout", "bind", "scratch"),
)
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_abort=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


# ---- building ----------------------------------------------------------------------


def build(folder: Path, wanted: argparse.Namespace) -> Path:
    """The fuzzer with every kernel that is listed, linked in `folder`.

    With `guards`, calls of kernels have all that they use between guards. `own` are
    sources of kernels in place of the libraries'.

    Variants for instruction sets are tried first, as on a board that has them.
    The libraries are those of the board host-asan, without its port: the fuzzer has
    handlers of faults of its own.
    """
    library = libraries.build(boards.load("host-asan"), messages=True)
    listed = kernels.load()
    tables = [folder / "ember_operators.c", folder / "ember_backends.c"]
    table = kernels.operator_table(kernels_tried(wanted))
    tables[0].write_text(_guarded(table) if wanted.guards else table)
    table = kernels.backend_table(listed.backends, wanted.isa)
    tables[1].write_text(_guarded_nodes(table) if wanted.guards else table)
    sources = [*(ROOT / name for name in SOURCES), *tables, *wanted.own]
    includes = [f"-I{ROOT / name}" for name in INCLUDES]
    objects = library.compile(sources, folder, includes, given=sources)
    program = folder / "fuzz"
    wraps = [f"-Wl,--wrap=ember_node_{name}" for name in WRAPPED]
    flags = (*library.link_flags, *wraps)
    replace(library, objects=(), link_flags=flags).link(objects, program)
    return program


def _guarded(table: str) -> str:
    """A table of operators with each kernel between guards."""
    declared = re.findall(
        r"^extern const ember_kernel_t ember_kernel_(\w+);", table, re.M
    )
    table = re.sub(
        r"^extern const ember_kernel_t ember_kernel_\w+;\n", "", table, flags=re.M
    )
    guarded = "\n".join(f"GUARDED({name});" for name in declared)
    first = table.index("static const ember_kernel_t")
    rest = table[first:].replace("&ember_kernel_", "&guarded_kernel_")
    return f'{table[:first]}#include "guard.h"\n{guarded}\n{rest}'


def _guarded_nodes(table: str) -> str:
    """A table of backends with each kernel of XNNPACK's nodes between guards."""
    declared = r"^extern const struct ember_xnnpack_kernel ember_xnnpack_(\w+);\n"
    nodes = "\n".join(f"GUARDED_NODE({name});" for name in nodes_tried(table))
    table = re.sub(declared, "", table, flags=re.M)
    first = table.index("extern const struct ember_xnnpack_kernel *const")
    rest = table[first:].replace("    &ember_xnnpack_", "    &guarded_xnnpack_")
    return f'{table[:first]}#include "guard_nodes.h"\n{nodes}\n{rest}'


def nodes_tried(table: str) -> list[str]:
    """Kernels of XNNPACK's nodes that a table of backends has."""
    return re.findall(r"^    &ember_xnnpack_(\w+),", table, re.M)


def kernels_tried(wanted: argparse.Namespace) -> dict[str, list[str]]:
    """The fuzzer's candidates by operator, in the order in which they are tried."""
    chosen = kernels.load().all(wanted.isa)
    tried = {}
    for name, names in chosen.items():
        first = wanted.rotate % max(len(names), 1)
        tried[name] = [*names[first:], *names[:first]]
    return tried


# ---- seeds -------------------------------------------------------------------------


def pack(seeds: list[seeds_module.Seed], path: Path, fields: str = "") -> None:
    """Seeds and the positions of their `fields`, as mutate.c reads them."""
    parts = [struct.pack("<I", len(seeds))]
    for seed in seeds:
        places = [p for p in positions.walk(seed.data) if fields in p.path]
        name = seed.name.encode() + b"\0"
        name += bytes(-len(name) % 4)
        parts.append(
            struct.pack(
                "<5I", len(name), seed.kind, seed.companion, len(seed.data), len(places)
            )
        )
        parts += [name, seed.data, bytes(-len(seed.data) % 4)]
        parts += [
            struct.pack("<IBBH", p.at, p.width, KINDS.index(p.kind), 0) for p in places
        ]
    path.write_bytes(b"".join(parts))


# ---- running -----------------------------------------------------------------------


class Job:
    """One worker process after the other, on every jobs-th mutation."""

    def __init__(self, program: Path, packed: Path, wanted: argparse.Namespace) -> None:
        self.command = [str(program), str(packed)]
        self.wanted = wanted
        self.deadline = time.monotonic() + wanted.seconds if wanted.seconds else None
        self.totals = [0, 0, 0, 0]
        self.guarded: Counter[str] = Counter()  # calls by kernel
        self.reports: dict[str, str] = {}  # by what and where

    def run(self, first: int) -> Job:
        last = self.wanted.start + self.wanted.mutations
        number: int | None = first
        while number is not None and number < last:
            number = self._once(number, last)
            if len(self.reports) >= self.wanted.reports:
                break
        return self

    def _once(self, first: int, last: int) -> int | None:
        """Run until the end or a failure; the number to go on with."""
        seconds = 0
        if self.deadline is not None:
            seconds = int(self.deadline - time.monotonic())
            if seconds <= 0:
                return None
        words = [first, last, self.wanted.jobs, seconds]
        done = subprocess.run(
            [*self.command, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=ENVIRONMENT,
            check=False,
        )
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("KERNEL "):
                _, name, whole, _ = line.split()
                self.guarded[name] += int(whole)
        if done.returncode == 0 and lines[-1].startswith("DONE "):
            numbers = map(int, lines[-1].split()[1:])
            self.totals = [a + b for a, b in zip(self.totals, numbers, strict=True)]
            return None
        return self._report(lines, done.returncode, first)

    def _report(self, lines: list[str], status: int, first: int) -> int | None:
        failed = next((line for line in lines if "FAILED mutation" in line), "")
        place = _place(lines) or f"exit status {status}: {failed}"
        if place not in self.reports:
            self.reports[place] = "\n".join(lines[:40])
            print(f"{place}\n  {failed}", flush=True)
        words = failed.split()
        if not words:
            return None
        number = int(words[words.index("mutation") + 1])
        self.totals[0] += (number - first) // self.wanted.jobs + 1
        return number + int(self.wanted.jobs)


def _place(lines: list[str]) -> str:
    """What went wrong, in the first function that is not the sanitizer's or C's."""
    what = next((text for text in lines if "error:" in text or "ERROR:" in text), "")
    what = re.sub(r"0x[0-9a-f]+|==\d+==|-?\d{3,}", "..", what.split("error:")[-1])[:90]
    for line in lines:
        frame = re.match(
            r"\s+#\d+ \S+ in (\w+) (\S*/(backends|kernels|runtime_c)/\S+)", line
        )
        if frame:
            where = frame[2].rsplit(":", 1)[0]
            return f"{where.split('/snap/')[-1]} {frame[1]}: {what.strip()}"
    return what.strip()


def fuzz(program: Path, packed: Path, wanted: argparse.Namespace) -> int:
    """Run the jobs; 0 when none of them reported anything."""
    began = time.monotonic()
    with ThreadPoolExecutor(wanted.jobs) as pool:
        jobs = [Job(program, packed, wanted) for _ in range(wanted.jobs)]
        starts = range(wanted.start, wanted.start + wanted.jobs)
        list(pool.map(lambda job, first: job.run(first), jobs, starts))
    reports = {place: text for job in jobs for place, text in job.reports.items()}
    if reports:
        print(f"\n{next(iter(reports.values()))}")
        print("repeat one of them: tests/fuzz/run.py --only NUMBER")
    totals = [sum(column) for column in zip(*(job.totals for job in jobs), strict=True)]
    print(
        f"fuzz: {totals[0]} mutants, {totals[1]} opened, {totals[2]} loaded, "
        f"{totals[3]} executions; {len(reports)} reports; "
        f"{time.monotonic() - began:.0f} s"
    )
    if wanted.guards:
        guarded = sum((job.guarded for job in jobs), Counter())
        print(f"fuzz: {guarded.total()} calls of {len(guarded)} kernels between guards")
        tried = {name for names in kernels_tried(wanted).values() for name in names}
        table = kernels.backend_table(kernels.load().backends, wanted.isa)
        tried |= {f"xnnpack_{name}" for name in nodes_tried(table)}
        missed = sorted(tried - set(guarded))
        print(f"fuzz: never called: {' '.join(missed) or 'none'}")
    return 1 if reports else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=10**12, help="how many")
    parser.add_argument("--seconds", type=int, default=0, help="stop after; 0: never")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--start", type=int, default=0, help="number of the first")
    parser.add_argument("--only", type=int, help="repeat one mutation")
    parser.add_argument("--seeds", action="store_true", help="only run the seeds")
    parser.add_argument("--variants", type=int, default=12, help="seeds per operator")
    parser.add_argument("--reports", type=int, default=1, help="stop after so many")
    parser.add_argument("--isa", action="append", default=[], help="try its variants")
    parser.add_argument(
        "--cases", type=Path, action="append", default=[], help="more seeds: a folder"
    )
    parser.add_argument(
        "--guards", action="store_true", help="what each call of a kernel uses, too"
    )
    parser.add_argument(
        "--rotate", type=int, default=0, help="try an operator's N-th kernel first"
    )
    parser.add_argument(
        "--own", type=Path, action="append", default=[], help="a kernel instead of ours"
    )
    parser.add_argument("--folder", type=Path, help="where the fuzzer is linked")
    parser.add_argument("--pattern", default="", help="in the name of seeds")
    parser.add_argument("--fields", default="", help="in the path of fields, $payload")
    parser.add_argument("--save", default="/tmp/mutant", help="where --only puts it")
    wanted = parser.parse_args()
    if (
        not wanted.seeds
        and wanted.only is None
        and wanted.seconds == 0
        and wanted.mutations == 10**12
    ):
        parser.error("say --mutations or --seconds")
    return wanted


def main() -> int:
    wanted = arguments()
    folder = wanted.folder or paths.writable_folder(paths.cache() / "fuzz")
    program = build(folder, wanted)
    seeds = seeds_module.collect(wanted.variants, wanted.cases)
    if wanted.pattern:
        seeds = [seed for seed in seeds if wanted.pattern in seed.name]
    packed = folder / "seeds.pack"
    pack(seeds, packed, wanted.fields)
    real = seeds_module.real_count(seeds)
    print(f"fuzz: {len(seeds)} seeds, {real} of them exported programs", flush=True)
    if wanted.seeds:
        return subprocess.run(
            [str(program), str(packed), "seeds"], check=False, env=ENVIRONMENT
        ).returncode
    if wanted.only is not None:
        command = [str(program), str(packed), str(wanted.only), wanted.save]
        return subprocess.run(command, check=False, env=ENVIRONMENT).returncode
    return fuzz(program, packed, wanted)


if __name__ == "__main__":
    sys.exit(main())
