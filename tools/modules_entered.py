#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command becomes the modules of Ember that it enters: what a reader has to open.

    tools/modules_entered.py build MODEL --board NAME --out FOLDER

What runs while modules are imported does not count. For each room: its modules that a
call from another room enters (its doors), and those that only its own modules call. A
function that a module hands over, and that is called at once, leads back to where a
reader is: it enters nothing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from ember import cli, paths

_IMPORT = "<frozen importlib._bootstrap>"


class Entered:
    """Modules, relative to the package, by what entered them."""

    def __init__(self) -> None:
        self.top = str(paths.package()) + "/"
        self.doors: set[str] = set()
        self.inner: set[str] = set()

    def see(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not self._is_ours(frame) or self._imports(frame):
            return
        module, callers = self._module(frame), self._callers(frame)
        caller = next(callers, None)
        if caller is None or _room(caller) != _room(module):
            back = next(
                (caller_of for caller_of in callers if caller_of != caller), None
            )
            if back != module:
                self.doors.add(module)
        elif caller != module:
            self.inner.add(module)

    def _is_ours(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self.top)

    def _module(self, frame: FrameType) -> str:
        return frame.f_code.co_filename.removeprefix(self.top)

    def _imports(self, frame: FrameType) -> bool:
        now: FrameType | None = frame
        while now is not None:
            if now.f_code.co_filename == _IMPORT:
                return True
            now = now.f_back
        return False

    def _callers(self, frame: FrameType) -> Iterator[str]:
        """The modules of ours that called, perhaps through others' code, the last one
        first."""
        now = frame.f_back
        while now is not None:
            if self._is_ours(now):
                yield self._module(now)
            now = now.f_back


def _room(module: str) -> str:
    return module.partition("/")[0] if "/" in module else ""


def main() -> int:
    seen = Entered()
    sys.setprofile(seen.see)
    status = cli.main(sys.argv[1:])
    sys.setprofile(None)
    rooms: dict[str, list[str]] = defaultdict(list)
    for module in sorted(seen.doors | seen.inner):
        mark = "" if module in seen.doors else " (inner)"
        rooms[_room(module)].append(Path(module).stem + mark)
    lines = [
        f"{room or 'ember'}: {', '.join(modules)}" for room, modules in rooms.items()
    ]
    inner = len(seen.inner - seen.doors)
    lines.append(f"{len(seen.doors)} doors of rooms, {inner} modules behind them")
    print("\n".join(lines), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
