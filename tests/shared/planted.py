"""Ember's kernels become kernels of a user with a fault planted behind them.

A library is a folder for `--kernels`: the source of a kernel as it is, whose `run` is
followed by what spoils its first output.
"""

from __future__ import annotations

import re
from pathlib import Path

from ember import kernels, paths
from ember.kernels import library

FAULTS = ("rounding", "stride", "border", "scratch", "beyond", "third")

_SOURCE = """\
#include "ember/node.h"

#include <string.h>

#undef EMBER_KERNEL
#undef EMBER_STATE_MAY_POINT_TO
#define EMBER_KERNEL(NAME, STATE_TYPE) typedef STATE_TYPE right_t
#define EMBER_STATE_MAY_POINT_TO(LOCAL, NAME) typedef int NAME
#define prepare right_prepare
#define run right_run
{renamed}#include "{source}"
#undef prepare
#undef run
#undef EMBER_KERNEL

typedef struct planted {{
    right_t right;
    uint8_t *out;
    uint8_t *scratch; // 16 bytes
    uint32_t count;   // elements
    uint32_t width;   // of the last dimension
    uint32_t size;    // bytes of an element
    uint32_t dtype;
}} planted_t;

// A small error of one element: one step of an integer, a hundredth of a number.
static void nudge(const planted_t *p, uint32_t at) {{
    uint8_t *element = p->out + (size_t)at * p->size;
    float number;
    if (p->dtype == EMBER_F32) {{
        memcpy(&number, element, sizeof(number));
        number = number * 1.01f + 0.001f;
        memcpy(element, &number, sizeof(number));
    }} else if (p->dtype == EMBER_F64) {{
        double wide;
        memcpy(&wide, element, sizeof(wide));
        wide = wide * 1.01 + 0.001;
        memcpy(element, &wide, sizeof(wide));
    }} else if (p->dtype == EMBER_F16 || p->dtype == EMBER_BF16) {{
        element[0] ^= 0x40u; // many units of the last place
    }} else {{
        element[0] ^= 1u;
    }}
}}

static void spoil_rounding(const planted_t *p) {{
    for (uint32_t i = p->count / 3; i < p->count; i += 5) {{
        nudge(p, i);
    }}
}}

// Every second row is the row before it.
static void spoil_stride(const planted_t *p) {{
    const uint32_t width = p->width < p->count ? p->width : 1;
    for (uint32_t i = width; i + width <= p->count; i += 2 * width) {{
        memcpy(p->out + (size_t)i * p->size, p->out + (size_t)(i - width) * p->size,
               (size_t)width * p->size);
    }}
}}

static void spoil_border(const planted_t *p) {{
    nudge(p, p->count - 1);
}}

// What scratch held before the node ran goes into the first element.
static void spoil_scratch(const planted_t *p) {{
    uint8_t stale = 0;
    for (uint32_t i = 0; i < 16; i++) {{
        stale |= p->scratch[i];
    }}
    if (stale != 0) {{
        nudge(p, 0);
    }}
}}

// A row too much, and another before the first.
static void spoil_beyond(const planted_t *p) {{
    memset(p->out + (size_t)p->count * p->size, 0x55, 64);
    memset(p->out - 64, 0x55, 64);
}}

// Only when it runs for the third time.
static void spoil_third(const planted_t *p) {{
    static uint32_t runs;
    if (++runs == 3) {{
        nudge(p, 0);
    }}
}}

static void (*const spoilers[])(const planted_t *) = {{
    spoil_rounding, spoil_stride, spoil_border,
    spoil_scratch,  spoil_beyond, spoil_third}};

static int32_t run(void *state) {{
    const planted_t *p = state;
    const int32_t next = right_run((void *)(uintptr_t)&p->right);
    if (p->out != NULL && p->count > 0 && p->scratch != NULL) {{
        spoilers[{fault}](p);
    }}
    return next;
}}

static ember_status_t prepare(ember_node_t *node, void *state) {{
    planted_t *p = state;
    ember_tensor_t out;
    const ember_status_t status = right_prepare(node, &p->right);
    if (status != EMBER_OK) {{
        return status;
    }}
    ember_node_tensor(node, {out}, &out);
    p->out = out.data;
    p->count = out.numel;
    p->width = out.rank > 0 ? (uint32_t)out.sizes[out.rank - 1] : 1;
    p->size = out.element_size;
    p->dtype = out.dtype;
    p->scratch = ember_node_scratch(node, 16);
    return ember_node_status(node);
}}

extern const ember_kernel_t ember_kernel_planted;
const ember_kernel_t ember_kernel_planted = {{prepare, run, sizeof(planted_t),
                                             EMBER_KERNEL_NAME(planted)}};
"""


def write(folder: Path, op: str, kernel: str, fault: str) -> Path:
    """A library in which `kernel` of the operator `op` has a fault; its folder."""
    known = kernels.load().operators[op]
    source = known.source(kernel).relative_to(paths.kernels().parent)
    out = library.roles(known.schema).index("writes")
    names = library.names(known.schema)
    while names[out].rpartition("_")[2] == "scratch":
        out += 1
    written = known.source(kernel).read_text()
    renamed = "".join(f"#define {name} planted_{name}\n" for name in _globals(written))
    text = _SOURCE.format(
        source=source, renamed=renamed, out=out, fault=FAULTS.index(fault)
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "planted.c").write_text(text)
    listed = op.removeprefix("aten::")
    (folder / "kernels.yaml").write_text(f"[{{op: {listed}, kernels: [planted]}}]\n")
    return folder


def _globals(source: str) -> list[str]:
    """Functions that a source defines for others, too."""
    names = re.findall(r"^(?!static)\w[\w *]*?(ember_\w+)\([^;{]*?\) \{", source, re.M)
    return sorted(set(names))
