// SPDX-License-Identifier: Apache-2.0
// The copy engine: moves a block of elements from one strided layout to another.
//
// It knows element sizes (1, 2, 4, 8 bytes), not dtypes, so every operator that only
// moves data (permute, slice, cat, pad, ...) is a few lines that build two views.
// Preparing walks the destination in memory order, drops dimensions of size 1, merges
// dimensions that advance together, and turns a contiguous inner dimension into one run
// of bytes.
//
// Limit: EMBER_COPY_DIMS dimensions after merging, not counting the run. Real programs
// need at most 6 (patch embeddings of a batch).
#ifndef EMBER_KERNELS_ENGINE_COPY_H
#define EMBER_KERNELS_ENGINE_COPY_H

#include "kernels/engine/view.h"

#define EMBER_COPY_DIMS 6

typedef struct ember_copy_dim {
    int32_t count; // >= 1
    int32_t dst;   // stride, bytes
    int32_t src;   // stride, bytes
} ember_copy_dim_t;

typedef struct ember_copy {
    uint8_t *dst;
    const uint8_t *src;
    uint32_t run;         // bytes copied at a time; 0: nothing to copy
    uint8_t rank;         // dims in use
    uint8_t element_size; // bytes; `run` is this unless the inner dimension is dense
    ember_copy_dim_t dims[EMBER_COPY_DIMS]; // outermost first
} ember_copy_t;

// Fills `copy` to copy `src` to `dst`. BAD_PROGRAM if sizes or element sizes differ,
// UNSUPPORTED past the limit above.
EMBER_MUST_USE ember_status_t ember_copy_prepare(ember_copy_t *copy, ember_node_t *node,
                                                 const ember_view_t *dst,
                                                 const ember_view_t *src);

// Copies. The blocks must be identical or disjoint.
void ember_copy_run(const ember_copy_t *copy);

// The same at other addresses: a block of the same layout.
void ember_copy_run_at(const ember_copy_t *copy, void *dst, const void *src);

// Copies the innermost dimension in use, copy->dims[copy->rank - 1].
typedef void (*ember_copy_inner_fn)(const ember_copy_t *copy, uint8_t *dst,
                                    const uint8_t *src);

// ember_copy_run_at() with another innermost loop.
void ember_copy_walk(const ember_copy_t *copy, void *to, const void *from,
                     ember_copy_inner_fn inner);

// --- for the operators of movement/ -------------------------------------------

// Copies view `src` to the whole of output `arg`, whose shape becomes the view's.
// UNSUPPORTED unless dtypes are equal. Returns an earlier failure of the node first.
// Copies nothing if out is in the same place as src.
EMBER_MUST_USE ember_status_t ember_copy_output(ember_copy_t *copy, ember_node_t *node,
                                                uint32_t arg, const ember_view_t *src);

// The same for `src` in another shape with as many elements, taken in logical order.
// UNSUPPORTED unless at least one of the two tensors is contiguous.
EMBER_MUST_USE ember_status_t ember_copy_reshaped(ember_copy_t *copy,
                                                  ember_node_t *node, uint32_t arg,
                                                  const ember_tensor_t *src,
                                                  uint32_t rank, const int32_t *sizes);

#endif // EMBER_KERNELS_ENGINE_COPY_H
