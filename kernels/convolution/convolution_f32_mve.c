// SPDX-License-Identifier: Apache-2.0
// convolution_f32_mve: one- or two-dimensional, not transposed, everything contiguous,
// also grouped, with Helium: matrix products (tiles.h). Tolerance: gemm_f32.h.
#include "kernels/convolution/lines_mve.h"
#include "kernels/convolution/tiles.h"

static const ember_tile_sizes_t sizes = {
    .taps = 4608, .most_taps = 4608, .least = 8, .most = 32};

static void gather(const ember_conv_tiles_t *tiles, const float *x, int32_t row,
                   int32_t at, int32_t count, float *to) {
    ember_tiles_gather(tiles, x, row, at, count, to, ember_line_copy, ember_line_zeros);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_tiles_prepare(state, node, &sizes);
}

static int32_t run(void *state) {
    ember_conv_tiles_run(state, gather, ember_gemm_f32_rows_mve);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_mve, ember_conv_tiles_t);
