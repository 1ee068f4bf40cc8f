"""tests/proofs/proofs.yaml -> proofs, and the sources that each of them reads."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "tests" / "proofs"
FOLDERS = tuple(ROOT / "runtime_c" / name for name in ("src", "port/uart"))
_LINK = ("frame", "link_in", "link_out")  # without ports
_DEFINED = re.compile(
    r"^(?!static|EMBER_INLINE)[a-z][^;(){}=]*?\b(ember_\w+)\([^;{]*\) \{", re.M
)
_REACHED = re.compile(r'REACHED\("([^"]+)"\)')


class ChangeError(ValueError):
    """A change does not fit the sources, which were edited since."""


@dataclass(frozen=True)
class Change:
    """A text of a source file, which is there once, becomes another."""

    file: str
    before: str
    after: str

    @property
    def name(self) -> str:
        texts = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}: " + " -> ".join(text or "nothing" for text in texts)


@dataclass(frozen=True)
class Proof:
    name: str
    file: str
    proves: tuple[str, ...]
    unwind: int
    bytes: tuple[int, int] = (64, 256)  # of a file: quick, long
    widths: tuple[int, ...] = (32, 64)
    define: tuple[str, ...] = ()
    cases: tuple[str, ...] = ("",)  # one definition of each proof
    cuts: tuple[Change, ...] = ()
    mutants: tuple[Change, ...] = field(default=(), repr=False)
    slow: bool = False  # only in the long form

    @property
    def function(self) -> str:
        return f"prove_{self.name}"

    def witnesses(self) -> set[str]:
        """Places that must be reached: in the proof, and in the cuts that it has."""
        source = (PROOFS / self.file).read_text(encoding="utf-8")
        start = source.index(f"\nvoid {self.function}(void) {{")
        labels = set(_REACHED.findall(source[start : source.index("\n}", start)]))
        for macro in re.findall(r"CUT_\w+", " ".join(cut.after for cut in self.cuts)):
            text = re.search(rf"#define {macro}\b(?:.*\\\n)*.*\n", source)
            labels.update(_REACHED.findall(text[0] if text else ""))
        return labels


def every() -> tuple[list[Proof], dict[str, str]]:
    """All proofs, and the reasons why other functions have none."""
    read = yaml.safe_load((PROOFS / "proofs.yaml").read_text(encoding="utf-8"))
    cuts = {
        name: [Change(cut["file"], *pair) for pair in cut["changes"]]
        for name, cut in read["cuts"].items()
    }
    proofs = [_proof(name, facts, cuts) for name, facts in read["proofs"].items()]
    unproved = {
        name: group["why"] for group in read["unproved"] for name in group["functions"]
    }
    return proofs, unproved


def functions() -> set[str]:
    """Those that other files can call."""
    names = set()
    for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.c"))):
        if path.parent == FOLDERS[0] or path.stem in _LINK:
            names |= set(_DEFINED.findall(path.read_text(encoding="utf-8")))
    return names


def _proof(name: str, facts: dict[str, Any], cuts: dict[str, list[Change]]) -> Proof:
    lists = ("proves", "define", "cases", "bytes", "widths")
    several: Any = {key: tuple(facts.pop(key)) for key in lists if key in facts}
    named = [change for cut in facts.pop("cuts", ()) for change in cuts[cut]]
    mutants = tuple(Change(*three) for three in facts.pop("mutants", ()))
    return Proof(name, cuts=tuple(named), mutants=mutants, **several, **facts)


def write_changed(changes: Sequence[Change], folder: Path) -> None:
    """All sources, changed: what a file includes is looked for beside it first."""
    for path in (path for folder in FOLDERS for path in folder.glob("*.[ch]")):
        shutil.copy(path, folder)
    for name, text in _changed(changes):
        (folder / name).write_text(text, encoding="utf-8")


def _changed(changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(change.file for change in changes):
        text = _source(name).read_text(encoding="utf-8")
        for change in changes:
            if change.file == name:
                times = text.count(change.before)
                if times != 1:
                    raise ChangeError(
                        f"{change.name}: {times} times, not once: mend proofs.yaml"
                    )
                text = text.replace(change.before, change.after)
        yield name, text


def _source(name: str) -> Path:
    for folder in FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise ChangeError(f"there is no {name}: mend proofs.yaml")
