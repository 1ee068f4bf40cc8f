// SPDX-License-Identifier: Apache-2.0
// Weights of a program become a panel of windows_hvx.h. Packed before every run, 128
// filters at a time: a vector of weights costs about as much as its products with eight
// windows, and a program needs no second copy of its weights.
#ifndef EMBER_KERNELS_ENGINE_HVX_PANEL_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_PANEL_HVX_H

#include "kernels/engine/hvx/windows_hvx.h"
#include "kernels/engine/int8/conv_s8.h"

// The layout of filters' weights. Windows of `merged` adjacent outputs have that many
// times the filters, each shifted by `shift` elements along every segment. Where a
// filter has no weight, it is 0.
typedef struct ember_filters_hvx {
    const int8_t *w;
    int32_t filters;  // before merging
    int32_t filter;   // elements from a filter's weights to the next filter's
    int32_t element;  // 1; or from a tap's weight to the next tap's of its filter
    int32_t channel;  // then, from a channel's weight to the next channel's,
    int32_t depth;    // and channels of a tap
    int32_t segments; // of a window
    int32_t segment;  // elements of each in the window
    int32_t length;   // of them with a weight; the same when nothing is added
    int32_t merged;
    int32_t shift;
} ember_filters_hvx_t;

// The initial sums of filters, and their scaling.
typedef struct ember_terms_hvx {
    const int32_t *bias;        // (filters,) or NULL
    const int32_t *multipliers; // (filters,), or one
    const int32_t *shifts;
    bool one;         // the same multiplier and shift for all
    int32_t x_offset; // of the elements of windows
    int32_t constant; // added to every sum
} ember_terms_hvx_t;

// Bytes of scratch for packing, of a panel's weights, and of each vector of filters'
// weights and numbers.
int32_t ember_panel_hvx_rows_bytes(const ember_filters_hvx_t *filters);
int32_t ember_panel_hvx_bytes(const ember_filters_hvx_t *filters);
int32_t ember_panel_hvx_vector_bytes(const ember_filters_hvx_t *filters);

enum { EMBER_PANEL_NUMBERS_BYTES = 4 * EMBER_NUMBERS_HVX * 128 };
enum { EMBER_PANEL_BLOCK_BYTES = 32 * 128 };

// Memory of a panel, aligned to vectors.
typedef struct ember_panel_memory_hvx {
    HVX_Vector *weights;
    HVX_Vector *numbers; // EMBER_PANEL_NUMBERS_BYTES
    HVX_Vector *block;   // EMBER_PANEL_BLOCK_BYTES, clobbered
    int8_t *rows;        // ember_panel_hvx_rows_bytes(), clobbered
} ember_panel_memory_hvx_t;

// Packs the filters of merged windows from `first` on, as many as fit.
ember_panel_hvx_t ember_panel_hvx_pack(const ember_filters_hvx_t *filters,
                                       const ember_terms_hvx_t *terms, int32_t first,
                                       const ember_panel_memory_hvx_t *memory);

#endif // EMBER_KERNELS_ENGINE_HVX_PANEL_HVX_H
