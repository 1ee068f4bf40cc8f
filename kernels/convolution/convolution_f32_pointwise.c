// SPDX-License-Identifier: Apache-2.0
// convolution_f32_pointwise: kernel size 1, stride 1, no padding, contiguous planes:
// the matrix product of weights and pixels.
#include "kernels/convolution/conv.h"
#include "kernels/engine/gemm_f32.h"

typedef struct {
    ember_gemm_f32_t gemm; // of the first batch and group
    int32_t batches;
    int32_t groups;
} state_t;

static bool is_pointwise(const ember_conv_t *conv) {
    bool points = conv->dtype == EMBER_F32 && !conv->transposed && conv->channels > 0;

    for (uint32_t d = 0; d < EMBER_CONV_DIMS; d++) {
        points = points && conv->kernel[d] == 1 && conv->stride[d] == 1 &&
                 conv->padding[d] == 0;
    }
    return points && conv->planes;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!is_pointwise(&conv)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: not pointwise");
    }
    // Without batches, sizes may be anything; nothing is computed.
    const bool empty = conv.batches == 0;
    const int32_t pixels = empty ? 0 : conv.in[0] * conv.in[1] * conv.in[2];
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->gemm = (ember_gemm_f32_t){
        .a = (const void *)conv.w.data,
        .b = (const void *)conv.x.data,
        .bias = (const void *)conv.bias,
        .c = (void *)conv.y.data,
        .rows = conv.filters,
        .inner = conv.channels,
        .columns = pixels,
        .a_stride = conv.channels,
        .b_stride = pixels,
        .c_stride = pixels,
        .bias_row = 1,
        .alpha = 1.0f,
        .beta = 1.0f,
    };
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_gemm_f32_t gemm = s->gemm;
    const ptrdiff_t a_all = (ptrdiff_t)gemm.rows * gemm.inner;
    const ptrdiff_t b_all = (ptrdiff_t)gemm.inner * gemm.columns;
    const ptrdiff_t c_all = (ptrdiff_t)gemm.rows * gemm.columns;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            gemm.a = s->gemm.a + g * a_all;
            gemm.b = s->gemm.b + at * b_all;
            gemm.c = s->gemm.c + at * c_all;
            gemm.bias =
                s->gemm.bias == NULL ? NULL : s->gemm.bias + (ptrdiff_t)g * gemm.rows;
            ember_gemm_f32_rows(&gemm);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_pointwise, state_t);
