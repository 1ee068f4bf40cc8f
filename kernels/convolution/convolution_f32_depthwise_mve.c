// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise_mve: one input channel per group, contiguous planes, with
// Helium: bands of rows (bands.h), eight outputs at a time. Tolerance: products are
// fused with the sums; denormals are flushed to zero.
#include "kernels/convolution/bands.h"
#include "kernels/convolution/lines_mve.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };

// What a loop is compiled for: constants for common values, so that it unrolls.
typedef struct {
    int32_t stride, lines, taps, dilation;
} form_t;

INLINE float32x4_t load(const float *at, int32_t stride, uint32x4_t offsets) {
    return stride == 1 ? vldrwq_f32(at) : vldrwq_gather_shifted_offset_f32(at, offsets);
}

// Sums of eight neighbours; `row` is the first tap of the first of them.
INLINE void sum_eight(const float *row, ptrdiff_t line, const float *w, form_t form,
                      float32x4_t sums[2]) {
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)form.stride);

    for (int32_t ky = form.lines; ky > 0; ky--) {
        const float *x = row;
        for (int32_t kx = 0; kx < form.taps; kx++) {
            const float *high = x + (ptrdiff_t)LANES * form.stride;
            sums[0] = vfmaq_n_f32(sums[0], load(x, form.stride, offsets), *w);
            sums[1] = vfmaq_n_f32(sums[1], load(high, form.stride, offsets), *w++);
            x += form.dilation;
        }
        row += line;
    }
}

INLINE void sum_rows(const ember_conv_bands_t *s, ember_bands_work_t work,
                     form_t form) {
    const int32_t pitch = s->pitch, out = s->width.out;
    const ptrdiff_t line = (ptrdiff_t)s->height.dilation * pitch;
    const ptrdiff_t next = (ptrdiff_t)s->height.stride * pitch;

    for (; work.rows > 0; work.rows--) {
        const float *from = work.from;
        for (int32_t left = out; left > 0; left -= EMBER_BAND_STEP) {
            float32x4_t sums[2] = {vdupq_n_f32(work.bias), vdupq_n_f32(work.bias)};
            sum_eight(from, line, work.filter, form, sums);
            if (left >= EMBER_BAND_STEP) {
                vstrwq_f32(work.y, sums[0]);
                vstrwq_f32(work.y + LANES, sums[1]);
            } else {
                const int32_t more = left > LANES ? left - LANES : 0;
                vstrwq_p_f32(work.y, sums[0], vctp32q((uint32_t)left));
                vstrwq_p_f32(work.y + LANES, sums[1], vctp32q((uint32_t)more));
            }
            from += EMBER_BAND_STEP * form.stride;
            work.y += left < EMBER_BAND_STEP ? left : EMBER_BAND_STEP;
        }
        work.from += next;
    }
}

INLINE void run_rows(const ember_conv_bands_t *s, ember_bands_work_t work) {
    const int32_t stride = s->width.stride, lines = s->height.kernel;
    const int32_t taps = s->width.kernel, dilation = s->width.dilation;
    const bool three = taps == 3 && dilation == 1;

    if (three && lines == 3 && stride == 1) {
        sum_rows(s, work, (form_t){1, 3, 3, 1});
    } else if (three) {
        sum_rows(s, work, (form_t){stride, lines, 3, 1});
    } else {
        sum_rows(s, work, (form_t){stride, lines, taps, dilation});
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_conv_bands_prepare(state, node, NULL);
}

static int32_t run(void *state) {
    const ember_bands_parts_t parts = {run_rows, ember_line_copy, ember_line_zeros};
    ember_conv_bands_run(state, &parts);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_depthwise_mve, ember_conv_bands_t);
