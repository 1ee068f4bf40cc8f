// SPDX-License-Identifier: Apache-2.0
// Products of windows of int8 by the weights of up to 128 filters with Hexagon's
// vectors: a filter in each lane of 32 bits, four weights in it.
//
// An instruction multiplies unsigned bytes of a vector by signed ones of a register of
// the core: weights are there with 128 added. What that adds to a sum, 128 times the
// elements of its window, is the same for all filters: it is taken off beforehand.
#ifndef EMBER_KERNELS_ENGINE_HVX_WINDOWS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_WINDOWS_HVX_H

#include "kernels/engine/hvx/ending_hvx.h"
#include "kernels/engine/hvx/numbers_hvx.h"

enum {
    EMBER_LANES_HVX = 32, // filters of a vector
    EMBER_PANEL_HVX = 4,  // vectors of filters, at most
    EMBER_GROUP_HVX = 4,  // weights of a filter in a vector
    EMBER_STEP_HVX = 8,   // elements that are read at a time
};

// Windows: rows of `columns` each. Distances are in bytes and multiples of
// EMBER_STEP_HVX, and so is `segment`.
typedef struct ember_windows_hvx {
    const int8_t *x; // the first window; its address is such a multiple
    int32_t rows;
    int32_t columns;
    int32_t row;           // from a row of windows to the next
    int32_t step;          // from a window to the next
    int32_t segments;      // of a window
    int32_t segment;       // elements of each
    int32_t pitch;         // from a segment to the next
    const int32_t *firsts; // what the sums of a window start from
    int32_t firsts_row;    // elements
    int32_t firsts_step;
} ember_windows_hvx_t;

// Up to 128 filters. `weights` are vectors, those of EMBER_GROUP_HVX elements side by
// side; `numbers` EMBER_NUMBERS_HVX for each vector of filters: bias and factors.
typedef struct ember_panel_hvx {
    const HVX_Vector *weights;
    const HVX_Vector *numbers;
    int32_t vectors; // of filters, 1 to EMBER_PANEL_HVX
} ember_panel_hvx_t;

// Where results go: 32 bytes for each vector of filters. Bytes behind those of the last
// filter are clobbered up to `end`: windows are stored in order.
typedef struct ember_results_hvx {
    int8_t *y;
    const int8_t *end;
    int32_t row;  // bytes from the results of a row of windows to those of the next
    int32_t step; // from a window to the next
    int32_t zero_point;
    ember_limits_s8_t limits;
    bool shifted;                     // by all filters: none of their shifts is 0
    const ember_ending_hvx_t *ending; // NULL: the factors of the panel
} ember_results_hvx_t;

void ember_windows_hvx_run(const ember_windows_hvx_t *windows,
                           const ember_panel_hvx_t *panel,
                           const ember_results_hvx_t *results);

// Only the sums: `vectors` vectors for each window, windows in order. They start from
// what `starts` has for each vector; weights are aligned to EMBER_STEP_HVX only.
void ember_windows_hvx_sum(const ember_windows_hvx_t *windows,
                           const HVX_Vector *weights, const HVX_Vector *starts,
                           int32_t vectors, HVX_Vector *sums);

#endif // EMBER_KERNELS_ENGINE_HVX_WINDOWS_HVX_H
