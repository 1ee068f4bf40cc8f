// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise_mve: one input channel per group, contiguous planes, with
// Helium: bands of rows (bands.h), eight outputs at a time. Tolerance: products are
// fused with the sums; denormals are flushed to zero.
#include "kernels/convolution/bands.h"
#include "kernels/convolution/lines_mve.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };

INLINE float32x4_t load(const float *at, int32_t stride, uint32x4_t offsets) {
    return stride == 1 ? vldrwq_f32(at) : vldrwq_gather_shifted_offset_f32(at, offsets);
}

// One row of outputs; `from` is its first element in the band. The last three are
// constants for common values, so that loops unroll.
INLINE void sum_row(const ember_conv_bands_t *s, const float *from, const float *filter,
                    float bias, float *y, int32_t stride, int32_t taps,
                    int32_t dilation) {
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)stride);
    const ptrdiff_t line = (ptrdiff_t)s->height.dilation * s->pitch;

    for (int32_t left = s->width.out; left > 0; left -= EMBER_BAND_STEP) {
        const float *row = from;
        const float *w = filter;
        float32x4_t low = vdupq_n_f32(bias), high = low;
        for (int32_t ky = s->height.kernel; ky > 0; ky--) {
            const float *x = row;
            for (int32_t kx = 0; kx < taps; kx++) {
                low = vfmaq_n_f32(low, load(x, stride, offsets), *w);
                high = vfmaq_n_f32(high, load(x + LANES * stride, stride, offsets), *w);
                x += dilation;
                w++;
            }
            row += line;
        }
        const int32_t more = left > LANES ? left - LANES : 0;
        vstrwq_p_f32(y, low, vctp32q((uint32_t)left));
        vstrwq_p_f32(y + LANES, high, vctp32q((uint32_t)more));
        from += EMBER_BAND_STEP * stride;
        y += EMBER_BAND_STEP;
    }
}

INLINE void run_row(const ember_conv_bands_t *s, const float *from, const float *filter,
                    float bias, float *y) {
    const int32_t stride = s->width.stride;
    const bool three = s->width.kernel == 3 && s->width.dilation == 1;

    if (three && stride == 1) {
        sum_row(s, from, filter, bias, y, 1, 3, 1);
    } else if (three) {
        sum_row(s, from, filter, bias, y, stride, 3, 1);
    } else {
        sum_row(s, from, filter, bias, y, stride, s->width.kernel, s->width.dilation);
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_bands_prepare(state, node, NULL);
}

static int32_t run(void *state) {
    const ember_bands_parts_t parts = {run_row, ember_line_copy, ember_line_zeros};
    ember_conv_bands_run(state, &parts);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_depthwise_mve, ember_conv_bands_t);
