#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A name -> a backend's C source, its entry in kernels.yaml, and a case that needs no
PyTorch.

tools/new_backend.py adder                 # programs call it AdderBackend
tools/new_backend.py adder --id MyAdder

What it writes adds two float32 tensors; it compiles and passes: go on from there.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sdk"))

from ember import kernels  # noqa: E402
from ember.errors import SdkError  # noqa: E402
from ember.kernels import library  # noqa: E402

SOURCE = """\
// SPDX-License-Identifier: Apache-2.0
// {id}: the sum of two float32 tensors of n elements. Its payload is n, a
// little-endian u32.
#include "ember/backend.h"

enum {{ PAYLOAD_SIZE = 4 }};

typedef struct {name} {{
    uint32_t n; // elements
}} {name}_t;

// The payload is untrusted: init checks all of it.
static ember_status_t init(const ember_delegate_info_t *info, void **handle) {{
    const uint8_t *payload = info->blob.data;
    {name}_t *self = ember_arena_alloc(info->arena, sizeof(*self), _Alignof({name}_t));

    if (self == NULL) {{
        return ember_fail(info->error, EMBER_NO_MEMORY, "{name}: no memory");
    }}
    if (info->blob.size != PAYLOAD_SIZE) {{
        return ember_fail(info->error, EMBER_BACKEND, "{name}: malformed payload");
    }}
    self->n = payload[0] | (uint32_t)payload[1] << 8 | (uint32_t)payload[2] << 16 |
              (uint32_t)payload[3] << 24;
    *handle = self;
    return EMBER_OK;
}}

static bool fits(const {name}_t *self, const ember_tensor_t *tensor) {{
    return tensor->dtype == EMBER_F32 && tensor->numel == self->n &&
           ember_tensor_is_contiguous(tensor);
}}

// Arguments are the inputs, then the outputs. Their shapes may change between calls.
static ember_status_t execute(void *handle, ember_node_t *call) {{
    const {name}_t *self = handle;
    ember_tensor_t a, b, out;

    ember_node_tensor(call, 0, &a);
    ember_node_tensor(call, 1, &b);
    ember_node_output_like(call, 2, &a, &out);
    if (ember_node_status(call) != EMBER_OK) {{
        return ember_node_status(call);
    }}
    if (!fits(self, &a) || !fits(self, &b) || !fits(self, &out)) {{
        return ember_node_fail(call, EMBER_BACKEND, "{name}: unsupported tensor");
    }}
    const float *x = a.data;
    const float *y = b.data;
    float *sum = out.data;
    for (uint32_t i = 0; i < self->n; i++) {{
        sum[i] = x[i] + y[i];
    }}
    return EMBER_OK;
}}

extern const ember_backend_t ember_backend_{name};
const ember_backend_t ember_backend_{name} = {{"{id}", init, execute, NULL}};
"""
CASE = '''\
"""{id}, executed once; running this file writes the case."""

import struct
from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
a = random.standard_normal((2, 3, 5), dtype=np.float32)
b = random.standard_normal((2, 3, 5), dtype=np.float32)
one_call.write_delegate(
    Path(),
    "{id}",
    struct.pack("<I", a.size),
    [a, b],
    [a + b],
)
'''


def add(name: str, backend: str) -> None:
    """Write all three."""
    listed = ROOT / "kernels" / library.FILE
    source = ROOT / "backends" / f"{name}.c"
    maker = ROOT / "tests" / "ops" / "numpy" / f"{name}.py"
    if not kernels.NAME.fullmatch(name):
        raise SdkError(f"{name!r} is not a name", "use lower-case letters and digits")
    if not re.fullmatch(r"\w+", backend):
        raise SdkError(f"{backend!r} is not the id of a backend")
    for path in (source, maker):
        if path.exists():
            raise SdkError(f"{path} exists already")
    text = with_entry(listed.read_text(encoding="utf-8"), name, backend)
    source.write_text(SOURCE.format(name=name, id=backend), encoding="utf-8")
    listed.write_text(text, encoding="utf-8")
    maker.parent.mkdir(parents=True, exist_ok=True)
    maker.write_text(CASE.format(id=backend), encoding="utf-8")
    for written in (source, listed, maker):
        print(f"wrote {written}")


def with_entry(text: str, name: str, backend: str) -> str:
    """The list with one more entry at the head of `backends`."""
    if re.search(rf"\bid: {backend}\b", text):
        raise SdkError(f"{backend} is listed already", "choose another with --id")
    entry = f"- {{id: {backend}, source: {name}}}\n"
    return re.sub(r"^backends:\n", rf"\g<0>{entry}", text, count=1, flags=re.MULTILINE)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name", help="of the source, such as adder")
    parser.add_argument("--id", help="as programs name it; NameBackend")
    given = parser.parse_args(words)
    title = "".join(word.capitalize() for word in given.name.split("_"))
    try:
        add(given.name, given.id or f"{title}Backend")
    except SdkError as error:
        print(f"new_backend: {error}", file=sys.stderr)
        return 1
    print(f"tools/cases {given.name} --board host")
    return 0


if __name__ == "__main__":
    sys.exit(main())
