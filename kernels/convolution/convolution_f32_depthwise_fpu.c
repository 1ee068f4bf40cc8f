// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise_fpu: one input channel per group, contiguous planes, three
// taps in a row, in the scalar unit of Cortex-M: bands of rows (bands.h), or of columns
// if those waste less; four outputs at a time, the last ones together with some of the
// previous ones again. The bits of convolution_f32_depthwise, if that uses the same
// lines.
#include "kernels/convolution/bands.h"
#include "kernels/convolution/lines_fpu.h"

enum { TAPS = 3, OUTPUTS = 4, MOST_LINES = 8 }; // of a kernel

static int32_t rounded(int32_t outputs) {
    return (outputs + OUTPUTS - 1) / OUTPUTS * OUTPUTS;
}

static bool fits(const ember_axis_t *along) {
    return along->kernel == TAPS && along->stride == 1 && along->dilation == 1 &&
           along->out >= OUTPUTS;
}

// Whether columns can be summed, and rows cannot, or waste more of their sums.
static bool turns(const ember_axis_t *height, const ember_axis_t *width) {
    const int64_t by_rows = (int64_t)rounded(width->out) * height->out;
    const int64_t by_columns = (int64_t)rounded(height->out) * width->out;
    return fits(height) && (!fits(width) || by_columns < by_rows);
}

// The weights with the taps of a row adjacent, in `to` if they are not so already.
static const float *weights(const ember_conv_bands_t *s, const float *filter,
                            float to[MOST_LINES * TAPS]) {
    float *next = to;

    if (s->width.w_step == 1) {
        return filter;
    }
    for (int32_t line = s->height.kernel; line > 0; line--) {
        for (int32_t t = 0; t < TAPS; t++) {
            *next++ = filter[(ptrdiff_t)t * s->width.w_step];
        }
        filter += s->height.w_step;
    }
    return to;
}

static inline void run_row(const ember_conv_bands_t *s, const float *from,
                           const float *filter, float bias, float *y) {
    const ember_axis_t *along = &s->width;
    float room[MOST_LINES * TAPS];
    ember_fpu_row_t row = {
        .x = from,
        .step = s->height.dilation * s->pitch * (int32_t)sizeof(float),
        .w = weights(s, filter, room),
        .lines = s->height.kernel,
        .bias = bias,
        .y = y,
        .apart = along->y_step * (int32_t)sizeof(float),
        .fours = along->out / OUTPUTS,
    };

    ember_fpu_row_3(&row);
    if (along->out % OUTPUTS != 0) {
        const int32_t at = along->out - OUTPUTS;
        row.x = from + at;
        row.y = y + (ptrdiff_t)at * along->y_step;
        row.fours = 1;
        ember_fpu_row_3(&row);
    }
}

static inline void run_rows(const ember_conv_bands_t *s, ember_bands_work_t work) {
    ember_bands_each_row(s, work, run_row);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_conv_bands_t *s = state;
    const ember_status_t status = ember_conv_bands_prepare(state, node, turns);

    if (status == EMBER_OK && (!fits(&s->width) || s->height.kernel > MOST_LINES)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: not three taps");
    }
    return status;
}

static int32_t run(void *state) {
    const ember_bands_parts_t parts = {run_rows, ember_line_copy, ember_line_zeros};
    ember_conv_bands_run(state, &parts);
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_depthwise_fpu, ember_conv_bands_t);
