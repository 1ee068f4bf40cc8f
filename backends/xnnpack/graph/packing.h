// SPDX-License-Identifier: Apache-2.0
// Constant weights in the layout of the kernel that reads them.
//
// The SDK packs while a program is built: it starts the delegate on the computer that
// builds, takes the bytes that a layout's pack() wrote, and puts them into the image as
// named data, in place of the original weights. Where there are none such (a program
// that was loaded from a file), pack() runs while the delegate starts, into the
// method's arena.
#ifndef EMBER_XNNPACK_PACKING_H
#define EMBER_XNNPACK_PACKING_H

#include "graph.h"

enum { XNN_PACKING_NUMBERS = 7 };

// Weights (groups * n, taps, k), or (k, n) when transposed.
typedef struct ember_xnn_geometry {
    uint32_t groups; // of a convolution; else 1
    uint32_t n;      // columns of a group: numbers that a row or pixel gives
    uint32_t taps;   // of a convolution's window; else 1
    uint32_t k;      // products of a column and tap
    uint32_t block;  // elements of a column that share a scale; 0: all
    uint32_t unit;   // what else the layout depends on, such as the vector length; or 0
    uint32_t transposed; // 0 or 1
} ember_xnn_geometry_t;

// The bytes that pack() writes depend on its arguments only, not on the computer: no
// bias, no zero point of an input. The name stands for them: other bytes, other name.
typedef struct ember_xnn_layout {
    const char *name; // letters, digits, '_'; at most XNN_LAYOUT_NAME
    // Bytes that pack() writes; 0 or more than INT32_MAX / 2: cannot be packed.
    uint64_t (*size)(const ember_xnn_geometry_t *geometry);
    // `scales` as in ember_xnn_value_t, NULL unless the layout asks for them. `to` is
    // aligned to EMBER_ALIGN.
    void (*pack)(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *to);
    bool scales; // pack() reads them
} ember_xnn_layout_t;

enum { XNN_LAYOUT_NAME = 40, XNN_PACKING_NAME = 384 };

// Lies before bytes that were packed while a delegate started.
typedef struct ember_xnn_packing {
    const ember_xnn_layout_t *layout;
    ember_xnn_geometry_t geometry;
    uint32_t size; // of what follows at the next multiple of EMBER_ALIGN, bytes
} ember_xnn_packing_t;

// For prepare: sets node->packed to the weights, input 1, in a layout. After it, run
// must not read the values of input 1, which may be missing. UNSUPPORTED when they are
// no constant or cannot be packed.
EMBER_MUST_USE ember_status_t ember_xnn_pack(ember_xnn_graph_t *graph,
                                             ember_xnn_node_t *node,
                                             const ember_xnn_layout_t *layout,
                                             const ember_xnn_geometry_t *geometry);

// What a node packed while its delegate started, or NULL.
const ember_xnn_packing_t *ember_xnn_packing(const ember_xnn_node_t *node);

// Writes under which name packed weights lie in a program; its length, or 0 when the
// weights have no name.
uint32_t ember_xnn_packing_name(const ember_xnn_graph_t *graph,
                                const ember_xnn_value_t *weights,
                                const ember_xnn_packing_t *packing,
                                char name[XNN_PACKING_NAME]);

#endif // EMBER_XNNPACK_PACKING_H
