# SPDX-License-Identifier: Apache-2.0
"""Texts that Debian and Python bring along -> what is trained on, and what is held out.

The language reference of Python, as `help()` shows it (pydoc_data.topics, of every
Python), and the licences in /usr/share/common-licenses (Debian's base-files).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

LICENCES = Path("/usr/share/common-licenses")
_BLOCK, _EACH = 4000, 20  # characters; of so many blocks one is held out


def trained_and_held_out() -> tuple[str, str]:
    """Both as one string; SystemExit without the licences."""
    blocks = [
        text[at : at + _BLOCK]
        for text in _texts()
        for at in range(0, len(text), _BLOCK)
    ]
    kept = [block for number, block in enumerate(blocks) if number % _EACH != 7]
    return "".join(kept), "".join(blocks[7::_EACH])


def _texts() -> Iterator[str]:
    if not LICENCES.is_dir():
        raise SystemExit(f"{LICENCES} is missing: it is in Debian's base-files")
    for name in sorted(topics):
        yield _plain(topics[name])
    for path in sorted(LICENCES.iterdir()):
        if not path.is_symlink():
            yield _plain(path.read_text(encoding="utf-8", errors="replace"))


def _plain(text: str) -> str:
    """ASCII, without lines that only draw and with at most one empty line in a row."""
    text = text.encode("ascii", "ignore").decode()
    text = re.sub(r"^[*=\-~^ ]{4,}$", "", text, flags=re.MULTILINE)
    text = re.sub(r" +", " ", text)
    return re.sub(r"\n\s*\n", "\n\n", text)
