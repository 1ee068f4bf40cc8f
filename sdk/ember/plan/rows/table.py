"""A schedule becomes the table of kernels/rows/rows.h, and back."""

from __future__ import annotations

import struct

from ember.plan.rows.cascade import Window
from ember.plan.rows.needs import Action, What
from ember.plan.rows.reads import LEAST_FLOAT
from ember.plan.rows.schedule import Schedule

_HEAD = struct.Struct("<HHI")
_WINDOW = struct.Struct("<IIBBH")
_ACTION = struct.Struct("<BBH")
EDGES = 8  # EMBER_ROWS_EDGES
MOST_ACTIONS = 256
MOST_NODES = 256
MOST_BESIDE = (1 << 16) - 1


def fits(schedule: Schedule) -> bool:
    cascade = schedule.cascade
    return (
        len(set(schedule.steps)) <= MOST_ACTIONS
        and all(window.beside <= MOST_BESIDE for window in cascade.windows)
        and len(cascade.calls) <= MOST_NODES
        and len(cascade.inputs) + len(cascade.outputs) <= EDGES
    )


def encoded(schedule: Schedule) -> bytes:
    cascade = schedule.cascade
    actions = list(dict.fromkeys(schedule.steps))
    number = {action: n for n, action in enumerate(actions)}
    windows = zip(cascade.windows, schedule.slab.starts, strict=True)
    parts = [_HEAD.pack(len(cascade.windows), len(actions), len(schedule.steps))]
    parts += [
        _WINDOW.pack(at, window.row_bytes, window.rows, _byte(window), window.beside)
        for window, at in windows
    ]
    parts += [
        _ACTION.pack(action.what, _which(schedule, action), action.window)
        for action in actions
    ]
    parts.append(bytes(number[action] for action in schedule.steps))
    return b"".join(parts)


def _byte(window: Window) -> int:
    """That rows outside of the image consist of."""
    return 0 if window.fill is None or window.fill == LEAST_FLOAT else window.fill


def _which(schedule: Schedule, action: Action) -> int:
    """Outputs are counted on behind the inputs."""
    behind = len(schedule.cascade.inputs) if action.what == What.OUT else 0
    return action.which + behind
