// SPDX-License-Identifier: Apache-2.0
// convolution_f32_fpu: one- or two-dimensional, not transposed, everything contiguous,
// also grouped, in the scalar unit of Cortex-M: matrix products (tiles.h). The bits of
// convolution_f32, if its lines are rows.
#include "kernels/convolution/lines_fpu.h"
#include "kernels/convolution/tiles.h"

static const ember_tile_sizes_t sizes = {
    .taps = 576, .most_taps = 2304, .least = 4, .most = 32};

static void gather(const ember_conv_tiles_t *tiles, const float *x, int32_t row,
                   int32_t at, int32_t count, float *to) {
    ember_tiles_gather(tiles, x, row, at, count, to, ember_line_copy, ember_line_zeros);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_tiles_prepare(state, node, &sizes);
}

static int32_t run(void *state) {
    ember_conv_tiles_run(state, gather, ember_gemm_f32_rows_fpu);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_fpu, ember_conv_tiles_t);
