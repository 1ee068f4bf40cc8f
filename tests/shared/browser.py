"""A headless Chromium, for tests of pages."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


class Tab:
    """One page in a browser that is told what to do over a pair of pipes."""

    def __init__(self, reader: int, writer: int) -> None:
        self.reader, self.writer = os.fdopen(reader, "rb"), os.fdopen(writer, "wb")
        self.numbers = itertools.count(1)
        self.rest = b""
        self.session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while (got := self._message()).get("id") != number:
            pass
        assert "error" not in got, got
        result: dict[str, Any] = got["result"]
        return result

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            chunk = os.read(self.reader.fileno(), 1 << 16)
            assert chunk, "the browser ended"
            self.rest += chunk
        encoded, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(encoded)
        return message

    def open(self, url: str) -> None:
        """Until the page is there, not the one before."""
        self.call("Page.navigate", url=url)
        there = f"location.href == {json.dumps(url)} && document.readyState"
        while self.value(there) != "complete":
            pass

    def value(self, script: str) -> Any:
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)[
            "result"
        ].get("value")


@contextmanager
def browser() -> Iterator[Tab]:
    assert BROWSER is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    # A browser may still write to its profile when it was told to end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [
            *("bash", "-c", f'exec "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'),
            *("bash", BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"),
            *("--remote-debugging-pipe", f"--user-data-dir={folder}"),
            *("--disable-dev-shm-usage", "--no-first-run"),
        ]
        process = subprocess.Popen(
            words,
            pass_fds=(to_browser[0], from_browser[1]),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            yield Tab(from_browser[0], to_browser[1])
        finally:
            process.kill()
            process.wait()
