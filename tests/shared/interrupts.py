"""Processes that tests interrupt heed SIGINT, also where a shell's job ignores it."""

from __future__ import annotations

import signal


def heeded() -> None:
    """For subprocess.Popen(preexec_fn=...)."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
