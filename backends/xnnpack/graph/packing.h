// SPDX-License-Identifier: Apache-2.0
// Constant weights in the layout that the kernel reads.
//
// The SDK packs while it builds a program: it starts the delegate on the host, takes
// the bytes that a layout's pack() wrote, and puts them into the image as named data,
// in place of the original weights. If there are none (a program that was loaded from a
// file), pack() runs in init, into the method's arena.
#ifndef EMBER_XNNPACK_PACKING_H
#define EMBER_XNNPACK_PACKING_H

#include "graph.h"

enum { XNN_PACKING_NUMBERS = 7 };

// Weights (groups * n, taps, k), or (k, n) when transposed.
typedef struct ember_xnn_geometry {
    uint32_t groups; // of a convolution; else 1
    uint32_t n;      // columns of a group: outputs of a row or pixel
    uint32_t taps;   // of a convolution's window; else 1
    uint32_t k;      // products of a column and tap
    uint32_t block;  // elements of a column that share a scale; 0: all
    uint32_t unit;   // what else the layout depends on, such as the vector length; or 0
    uint32_t transposed; // 0 or 1
} ember_xnn_geometry_t;

// The bytes that pack() writes depend only on its arguments, not on the host: no bias,
// no zero point of an input. The name identifies the format: other bytes need another
// name.
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

// Precedes bytes that were packed by init.
typedef struct ember_xnn_packing {
    const ember_xnn_layout_t *layout;
    ember_xnn_geometry_t geometry;
    uint32_t size; // of the data at the next multiple of EMBER_ALIGN, in bytes
} ember_xnn_packing_t;

// For prepare: sets node->packed to the weights, input 1, in a layout. Afterwards, run
// must not read the values of input 1, which may be missing. UNSUPPORTED if they are
// not constant or cannot be packed.
EMBER_MUST_USE ember_status_t ember_xnn_pack(ember_xnn_graph_t *graph,
                                             ember_xnn_node_t *node,
                                             const ember_xnn_layout_t *layout,
                                             const ember_xnn_geometry_t *geometry);

// What a node packed in init, or NULL.
const ember_xnn_packing_t *ember_xnn_packing(const ember_xnn_node_t *node);

// Writes the name of packed weights in a program; returns its length, or 0 if the
// weights have no name.
uint32_t ember_xnn_packing_name(const ember_xnn_graph_t *graph,
                                const ember_xnn_value_t *weights,
                                const ember_xnn_packing_t *packing,
                                char name[XNN_PACKING_NAME]);

#endif // EMBER_XNNPACK_PACKING_H
