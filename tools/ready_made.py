#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host's libraries become a folder of the checkout, which its wheel then carries.

    tools/ready_made.py && pip wheel --no-deps -w dist .

A first build of an installed wheel then compiles only for its board. The libraries are
compiled in an empty cache. They are taken on computers with the same machine, compiler
and sources; others compile.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from ember import boards, paths
from ember.toolchain import libraries


def main() -> int:
    top = paths.root() / libraries.READY_MADE
    shutil.rmtree(top, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EMBER_CACHE"] = cache
        for name in ("host", "arm-user"):
            libs = libraries.build(boards.load(name), messages=True)
            print(libraries.save_ready_made(libs, top))
    return 0


if __name__ == "__main__":
    sys.exit(main())
