#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random layers and networks lowered to XNNPACK become cases, with its outputs.

python tools/sweep_xnnpack.py FOLDER [--count N] [--seed N] [-k TEXT]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import torch  # noqa: E402 - the log level must be set first
from corpus.case import Exported, write_case  # noqa: E402
from corpus.xnnpack_layers import CONFIGURATIONS  # noqa: E402
from corpus.xnnpack_random import RANDOM, random_program  # noqa: E402
from corpus.xnnpack_static import STATIC, static_node  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1, help="of each configuration")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-k", dest="text", default="", help="only names with this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    failed = 0
    layers = {f"{name}_qs8": partial(static_node, name) for name in STATIC}
    makers: dict[str, Callable[[], Exported]] = {
        name: lambda make=make: make().exported()  # type: ignore[misc]
        for name, make in {**CONFIGURATIONS, **layers}.items()
    }
    makers |= {name: partial(random_program, form) for name, form in RANDOM.items()}
    for name, make in makers.items():
        for index in range(options.count if options.text in name else 0):
            seed = f"{name} {options.seed} {index}"
            random.seed(seed)
            torch.manual_seed(random.getrandbits(32))
            try:
                with torch.no_grad():
                    write_case(make(), options.folder / f"{name}_{index}")
            except Exception as error:
                failed += 1
                print(f"{seed}: {str(error).strip().splitlines()[-1:]}")
    print(f"{failed} layers were refused by the exporter")
    return 0


if __name__ == "__main__":
    sys.exit(main())
