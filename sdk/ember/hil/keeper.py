"""A process that acquires a place and releases it when its parent has ended.

    python -m ember.hil.keeper CLIENT PLACE HOST/USER

CLIENT is the path of labgrid-client. It says how the acquisition ended, as one line of
JSON: [exit status, what the command said]. Then it reads until the end of its input,
which comes however the parent ends, by SIGKILL as well, and releases the place. While
the coordinator is out of reach it tries again, for ten minutes.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time

_PAUSES_S = (0, 1, 2, 5, 10, *[30] * 20)  # before each attempt
_LIMIT_S = 60


def main(client: str, place: str, holder: str) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    status, said = _ask(client, place, "acquire")
    with contextlib.suppress(OSError):  # the parent has ended meanwhile
        print(json.dumps([status, said]), flush=True)  # noqa: T201 - it reads this
    if status != 0:
        return 1
    sys.stdin.buffer.read()
    for pause in _PAUSES_S:
        time.sleep(pause)
        # Not `release`: if it was taken away, it is somebody else's now.
        status, said = _ask(client, place, "release-from", holder)
        if status == 0 or "is not acquired" in said or "matches nothing" in said:
            return 0
    return 1


def _ask(client: str, place: str, *words: str) -> tuple[int, str]:
    try:
        done = subprocess.run(
            [client, "-p", place, *words],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stderr + done.stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
