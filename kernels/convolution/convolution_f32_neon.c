// SPDX-License-Identifier: Apache-2.0
// convolution_f32_neon: one- or two-dimensional, not transposed, everything contiguous,
// also grouped, with NEON: matrix products (tiles.h). Tolerance: gemm_f32.h.
#include "kernels/convolution/lines_neon.h"
#include "kernels/convolution/tiles.h"

static const ember_tile_sizes_t sizes = {
    .taps = 18432, .most_taps = 18432, .least = 16, .most = 64};

static void gather(const ember_conv_tiles_t *tiles, const float *x, int32_t row,
                   int32_t at, int32_t count, float *to) {
    ember_tiles_gather(tiles, x, row, at, count, to, ember_line_copy, ember_line_zeros);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_tiles_prepare(state, node, &sizes);
}

static int32_t run(void *state) {
    ember_conv_tiles_run(state, gather, ember_gemm_f32_rows_neon);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_neon, ember_conv_tiles_t);
