"""A linker's map file becomes the bytes of each library, operator and engine.

GNU ld and lld both list every input section with address, size and source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ember.errors import SdkError

# By the start of a section's name. .data is in flash and in RAM.
_KINDS = {
    ".text": "code",
    ".rodata": "constants",
    ".ARM.ex": "constants",
    ".data": "data",
    ".bss": "bss",
    ".ember_vectors": "constants",
}
FLASH = ("code", "constants", "data")
_PADDING = 8  # bytes; a larger hole between two sections is not padding

# ` .text.f  0x00000040  0x24  /a/libc.a(f.o)`; a long name stands on a line of its own.
_GNU = re.compile(
    r"^ (?P<section>\.\S+)\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)"
    r" (?P<source>\S.*)$",
    re.MULTILINE,
)
# `  40  40  24  4  /a/libc.a(f.o):(.text.f)`
_LLD = re.compile(
    r"^ *(?P<address>[0-9a-f]+) +[0-9a-f]+ +(?P<size>[0-9a-f]+) +\d+"
    r" +(?P<source>\S.*):\((?P<section>\.[^)]+)\)$",
    re.MULTILINE,
)
# `/a/libc.a(f.o)` and what needed it; a short name leaves both on one line.
_INCLUDED = re.compile(r"^(?P<member>\S.*?\.a\([^)]*\))\s+(?=\S)", re.MULTILINE)
_MEMORY_MAP = "Linker script and memory map"
_MEMBER = re.compile(r"(?P<archive>[^/\\]+)\.a\((?P<member>[^)]+)\)$")


@dataclass(frozen=True)
class MapPiece:
    """An input section as it was linked."""

    section: str
    address: int
    size: int
    archive: str | None  # "libember_core"; None: an object of its own
    member: str
    file: str = ""  # the archive or object, as the map names it

    @property
    def kind(self) -> str | None:
        """code, constants, data or bss; None for all else."""
        return next(
            (kind for start, kind in _KINDS.items() if self.section.startswith(start)),
            None,
        )


def pieces(map_file: Path) -> list[MapPiece]:
    """Every input section with bytes in the firmware, by address, as it is linked."""
    text = map_file.read_text(encoding="utf-8", errors="surrogateescape")
    _, gnu, rest = text.partition(_MEMORY_MAP)
    if gnu:
        rest = re.sub(r"(?m)^( \.\S+)\n\s+", r"\1 ", rest)
    listed = []
    for match in (_GNU if gnu else _LLD).finditer(rest if gnu else text):
        source = _MEMBER.search(match["source"])
        named = match["source"]
        listed.append(
            MapPiece(
                section=match["section"],
                address=int(match["address"], 16),
                size=int(match["size"], 16),
                archive=source["archive"] if source else None,
                member=source["member"] if source else Path(named).name,
                file=named.removesuffix(f"({source['member']})") if source else named,
            )
        )
    kept = [piece for piece in listed if piece.kind and piece.size > 0]
    return _merged(sorted(kept, key=lambda piece: piece.address))


def _merged(listed: list[MapPiece]) -> list[MapPiece]:
    """Without merged strings: binutils 2.44 counts all of them for the first section
    and still lists the others with their old sizes, where the next one begins."""
    kept = []
    for piece, following in zip(listed, [*listed[1:], None], strict=True):
        size = piece.size
        if piece.kind == "constants" and following is not None:
            size = min(size, following.address - piece.address)
        if size > 0:
            kept.append(replace(piece, size=size))
    return kept


def archive_bytes(map_file: Path) -> dict[str, int]:
    """Bytes by archive, what aligns the next section included; "" for objects."""
    in_flash = [piece for piece in pieces(map_file) if piece.kind in FLASH]
    total: dict[str, int] = {}
    for piece, following in zip(in_flash, [*in_flash[1:], None], strict=True):
        size = piece.size
        if following is not None:
            hole = following.address - piece.address - piece.size
            size += hole if 0 < hole < _PADDING else 0
        total[piece.archive or ""] = total.get(piece.archive or "", 0) + size
    return total


def make_portable(map_file: Path, names: Mapping[Path, str]) -> None:
    """Rewrite a map so that it is the same wherever a firmware was made: each folder of
    `names` gets its name there, and columns do not depend on its length."""
    text = map_file.read_text(encoding="utf-8", errors="surrogateescape")
    for folder in sorted(names, key=lambda path: -len(str(path))):
        text = text.replace(f"{folder}/", f"{names[folder]}/")
    included, gnu, rest = text.partition(_MEMORY_MAP)
    if gnu:
        included = _INCLUDED.sub(lambda match: f"{match['member']}\n  ", included)
    text = included + gnu + rest
    map_file.write_text(text, encoding="utf-8", errors="surrogateescape")


# ---- by library, operator and engine -------------------------------------------------


KINDS = ("code", "constants", "data", "bss")
_KERNELS = ("kernels", "variants")
_OWN = "own kernels"  # of the user
_APPLICATION = ("run_main", "values", "trace", "model")
_TABLES = ("operators", "backends", "models", "model_data")

Row = dict[str, int]  # by KINDS
Footprint = dict[str, dict[str, Row]]


def of_map(
    map_file: Path,
    operators: Mapping[str, Sequence[str]],
    port: Iterable[Path],
    app: Iterable[Path] = (),
) -> Footprint:
    """Bytes by library, by operator, and by shared part of the kernels.

    `operators` are the kernels of each operator; a kernel's engines are shared by
    many and stand under `engines`. `port` are the objects of the port, `app` the user's
    sources. What a linker adds between pieces is in none.
    """
    objects, of_app = {path.name for path in port}, {path.stem for path in app}
    of_kernel = {name: op for op, names in operators.items() for name in names}
    footprint: Footprint = {"libraries": {}, "operators": {}, "engines": {}}
    for piece in pieces(map_file):
        library = _library(piece, objects, of_app)
        _add(footprint["libraries"], library, piece)
        stem = _stem(piece.member)
        if library == _OWN:  # compiled as the first, second, .. of a folder
            stem = re.sub(r"^\d+_", "", stem)
        if stem in of_kernel and library not in ("port", "application", "tables"):
            _add(footprint["operators"], of_kernel[stem], piece)
        elif library in _KERNELS:
            _add(footprint["engines"], stem, piece)
    return {name: _sorted(rows) for name, rows in footprint.items()}


def _library(piece: MapPiece, port: set[str], app: set[str]) -> str:
    if piece.archive:
        return re.sub(r"^lib(ember_)?(?=[a-z])", "", piece.archive)
    if piece.member == "<internal>":  # equal ones of many objects, joined by lld
        return "strings"
    if piece.member in port:
        return "port"
    stem = re.sub(r"^\d+_", "", _stem(piece.member))
    if stem.startswith(_APPLICATION) and stem not in _TABLES:
        return "application"
    if stem in app:
        return "application"
    return "tables" if stem.startswith(_TABLES) else _OWN


def _stem(member: str) -> str:
    return member.partition(".")[0]


def _add(rows: dict[str, Row], name: str, piece: MapPiece) -> None:
    row = rows.setdefault(name, dict.fromkeys(KINDS, 0))
    assert piece.kind is not None
    row[piece.kind] += piece.size


def _sorted(rows: dict[str, Row]) -> dict[str, Row]:
    """Largest first."""
    return dict(sorted(rows.items(), key=lambda item: (-flash(item[1]), item[0])))


def flash(row: Row) -> int:
    """Bytes in flash."""
    return sum(row[kind] for kind in FLASH)


def total(sizes: Mapping[str, int]) -> int:
    """Code with its constants and initial values, of a firmware's `size`."""
    return sizes["code"] + sizes["rodata"] + sizes["data"]


def ram(sizes: Mapping[str, int]) -> int:
    return sizes["data"] + sizes["bss"] + sizes["arena"] + sizes["stack"]


def offenders(footprint: Footprint, count: int = 5) -> str:
    """The largest parts of a firmware, in words."""
    rows = [
        *footprint["operators"].items(),
        *footprint["engines"].items(),
        *((n, row) for n, row in footprint["libraries"].items() if n not in _KERNELS),
    ]
    rows.sort(key=lambda item: -flash(item[1]))
    return ", ".join(f"{name} {flash(row):,}" for name, row in rows[:count])


# ---- two builds ----------------------------------------------------------------------


def options(before: Any, after: Any) -> dict[str, list[str]]:
    """What differs between the options that two results record: [before, after]."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return {}
    pairs = {
        str(name): [str(side.get(name, "not recorded")) for side in (before, after)]
        for name in dict.fromkeys([*before, *after])
    }
    return {name: two for name, two in pairs.items() if two[0] != two[1]}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What differs between two size.json: {group: {name: [before, after]}}."""
    changed: dict[str, dict[str, list[int]]] = {}
    groups = [("firmware", _firmware(before), _firmware(after))]
    for group in ("libraries", "operators", "engines"):
        groups.append((group, _flash(before, group), _flash(after, group)))
    for group, old, new in groups:
        names = dict.fromkeys([*old, *new])
        pairs = {name: [old.get(name, 0), new.get(name, 0)] for name in names}
        changed[group] = {name: two for name, two in pairs.items() if two[0] != two[1]}
    return changed


def _flash(facts: Mapping[str, Any], group: str) -> dict[str, int]:
    return {name: flash(row) for name, row in facts["footprint"][group].items()}


def _firmware(facts: Mapping[str, Any]) -> dict[str, int]:
    sizes = facts["size"]
    return {
        "total": total(sizes) + sizes["model"],
        "ram": ram(sizes),
        **{kind: sizes[kind] for kind in ("code", "rodata", "data", "bss", "model")},
    }


# ---- a budget ------------------------------------------------------------------------


def over(budget: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """A sentence for every ceiling of `budget`, of work or bytes, that the firmware is
    above."""
    return [*_over_work(budget, facts["work"]), *_over_bytes(budget, facts)]


def _over_bytes(budget: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    sizes, footprint = facts["size"], facts["footprint"]
    problems = []
    for name, used in (("total", total(sizes)), ("ram", ram(sizes))):
        if name in budget and used > budget[name]:
            problems.append(_over(name, used, budget[name]))
    for group in ("libraries", "operators"):
        for name, ceiling in budget.get(group, {}).items():
            row = footprint[group].get(name)
            if row is not None and flash(row) > ceiling:
                problems.append(_over(name, flash(row), ceiling))
    return problems


def _over_work(budget: Mapping[str, Any], work: Mapping[str, Any]) -> Iterator[str]:
    for row in work["methods"] if "work" in budget else ():
        whose = f"an execution of {row['method']}"
        if row["steps"] is None:
            yield (
                f"{whose} is unbounded ({row['why']}), so no ceiling of work holds:"
                " set a budget at run time (ember_method_set_budget) and leave it out"
            )
        elif row["steps"] > budget["work"]:
            node = max(row["nodes"], key=lambda node: node["steps"])
            yield (
                f"{whose} takes up to {row['steps']:,} steps, and its budget is"
                f" {budget['work']:,}; most of them, {node['steps']:,}, instruction"
                f" {node['instruction']} ({node['operator']})"
            )


def _over(name: str, used: int, ceiling: int) -> str:
    return (
        f"{name} takes {used:,} bytes, {used - ceiling:,} more than its budget of"
        f" {ceiling:,}"
    )


def check(file: Path, budget: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """SdkError when the firmware is above a ceiling; it names the largest parts."""
    problems = over(budget, facts)
    if problems:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise SdkError(
            f"the firmware exceeds the budget {file}\n{lines}",
            hint=f"largest parts, bytes: {offenders(facts['footprint'])}"
            if _over_bytes(budget, facts)
            else None,
        )
