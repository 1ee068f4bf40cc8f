// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear layers of int8 activations with weights of int4. They stand
// for weights of int8, and all else is as in conv_s8.h: kernels widen some filters to
// scratch, and multiply those as int8.
//
// A filter is a row of bytes. Its elements, (height.kernel, width.kernel, depth), come
// in blocks of 32 in 16 bytes: those of the first half are 16 times the low four bits,
// signed; those of the second half are whole bytes, which saves taking them apart: one
// of 16 levels that the other weight moves. The last block may be shorter: it has as
// many words of four bytes as it needs, and two halves of as many elements.
//
// A linear layer is a convolution by one tap of an image of one row, whose columns are
// the rows of its input.
#ifndef EMBER_KERNELS_ENGINE_INT8_CONV_S4_H
#define EMBER_KERNELS_ENGINE_INT8_CONV_S4_H

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_BLOCK_S4 = 32 }; // weights

// Bytes of a row, or of a block.
static inline int32_t ember_bytes_s4(int32_t weights) {
    return (weights + 7) / 8 * 4;
}

typedef struct ember_weights_s4 {
    const int8_t *rows; // (filters, pitch) bytes
    int8_t *tile;       // (chunk, inner): scratch for filters as int8
    int32_t chunk;      // filters; a multiple of four unless they are all
    int32_t inner;      // weights of a filter
    int32_t pitch;      // bytes of a row
} ember_weights_s4_t;

// Read a call and set the shape of its output, which is not over its input.
EMBER_MUST_USE ember_status_t ember_conv_s4_args(ember_conv_s8_t *conv,
                                                 ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_conv_s4_linear_args(ember_conv_s8_t *conv,
                                                        ember_node_t *node);

// The weights of `conv`, for kernels that widen up to `most` filters at a time; without
// a tile.
ember_weights_s4_t ember_weights_s4(const ember_conv_s8_t *conv, int32_t most);

// Filters that a kernel widens at a time if its tile must be small and it packs the
// columns of the image again for each tile.
int32_t ember_chunk_s4(const ember_conv_s8_t *conv);

// Filters from `from` on, a chunk or what is left, with their outputs and scales. Its
// weights are those of the tile.
ember_conv_s8_t ember_part_s4(const ember_conv_s8_t *conv,
                              const ember_weights_s4_t *weights, int32_t from);

// Widens a row.
void ember_widen_s4(int8_t *to, const int8_t *row, int32_t inner);

// In plain C; the tile has one filter.
typedef struct ember_conv_s4 {
    ember_conv_s8_t conv;
    ember_weights_s4_t weights;
} ember_conv_s4_t;
EMBER_MUST_USE ember_status_t ember_conv_s4_prepare(ember_conv_s4_t *s,
                                                    ember_node_t *node);
void ember_conv_s4_run(const ember_conv_s4_t *s);

#endif // EMBER_KERNELS_ENGINE_INT8_CONV_S4_H
