// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise_mve: one input channel per group, contiguous planes, with
// Helium.
//
// A band of rows of one channel is copied to scratch with zeros around it; then eight
// outputs of a row are summed at a time, whatever the edges. Tolerance: products are
// fused with the sums, which begin with the bias; denormals are flushed to zero;
// infinite weights that fall on padding make NaN.
#include "kernels/convolution/lines_mve.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4, STEP = 2 * LANES };
enum { MOST_BAND = 2048, MOST_SCRATCH = 1 << 20 }; // elements

typedef struct {
    const float *x;    // (batches, groups, in_h, in_w)
    const float *w;    // (groups * filters, 1, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *band;       // rows of the image, `pitch` elements each
    int32_t batches, groups, filters;
    int32_t rows; // of outputs that one band is for, at most
    int32_t pitch;
    ember_axis_t height;
    ember_axis_t width;
} state_t;

// Rows of the image under `outputs` rows of outputs.
static int32_t rows_under(const ember_axis_t *height, int32_t outputs) {
    return (outputs - 1) * height->stride + (height->kernel - 1) * height->dilation + 1;
}

INLINE float32x4_t load(const float *at, int32_t stride, uint32x4_t offsets) {
    return stride == 1 ? vldrwq_f32(at) : vldrwq_gather_shifted_offset_f32(at, offsets);
}

// One row of outputs; `from` is its first element in the band. The last three are
// constants where they are usual ones, so that loops unroll.
INLINE void run_row(const state_t *s, const float *from, const float *filter,
                    float bias, float *y, int32_t stride, int32_t taps,
                    int32_t dilation) {
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)stride);
    const ptrdiff_t line = (ptrdiff_t)s->height.dilation * s->pitch;

    for (int32_t left = s->width.out; left > 0; left -= STEP) {
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
        from += STEP * stride;
        y += STEP;
    }
}

// Rows [first, first + rows) of the outputs of one filter.
static void run_band(const state_t *s, const float *w, float bias, float *y,
                     int32_t first, int32_t rows) {
    const int32_t stride = s->width.stride;
    const bool three = s->width.kernel == 3 && s->width.dilation == 1;

    for (int32_t r = 0; r < rows; r++) {
        const float *from = s->band + (ptrdiff_t)r * s->height.stride * s->pitch;
        float *to = y + (ptrdiff_t)(first + r) * s->width.out;
        if (three && stride == 1) {
            run_row(s, from, w, bias, to, 1, 3, 1);
        } else if (three) {
            run_row(s, from, w, bias, to, stride, 3, 1);
        } else {
            run_row(s, from, w, bias, to, stride, s->width.kernel, s->width.dilation);
        }
    }
}

// Copies the rows of the image that the outputs [first, first + rows) need; the columns
// beside them are zeros already.
static void fill_band(const state_t *s, ember_line_t line, const float *x,
                      int32_t first, int32_t rows) {
    int32_t at = first * s->height.stride - s->height.padding;
    float *to = s->band;

    for (int32_t left = rows_under(&s->height, rows); left > 0; left--) {
        if (at >= 0 && at < s->height.in) {
            ember_line_copy(line, to + s->width.padding,
                            x + (ptrdiff_t)at * s->width.in);
        } else {
            ember_line_zeros(to, s->pitch);
        }
        to += s->pitch;
        at++;
    }
}

// All outputs of one channel of the image.
static void run_plane(const state_t *s, ember_line_t line, const float *x,
                      int32_t filter, float *y) {
    const ptrdiff_t plane = (ptrdiff_t)s->height.out * s->width.out;
    const ptrdiff_t taps = (ptrdiff_t)s->height.kernel * s->width.kernel;

    for (int32_t first = 0; first < s->height.out; first += s->rows) {
        const int32_t left = s->height.out - first;
        const int32_t rows = left < s->rows ? left : s->rows;
        fill_band(s, line, x, first, rows);
        for (int32_t f = 0; f < s->filters; f++) {
            const float bias = s->bias == NULL ? 0.0f : s->bias[filter + f];
            run_band(s, s->w + (filter + f) * taps, bias, y + f * plane, first, rows);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t x_plane = (ptrdiff_t)s->height.in * s->width.in;
    const ptrdiff_t y_plane = (ptrdiff_t)s->filters * s->height.out * s->width.out;

    // What a row of the band has of the image; columns beside it are cleared once.
    const int32_t room = s->pitch - s->width.padding;
    const int32_t count = room < s->width.in ? room : s->width.in;
    const ember_line_t line = {.count = count, .stride = 1};

    ember_line_zeros(s->band, rows_under(&s->height, s->rows) * s->pitch);
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            run_plane(s, line, s->x + at * x_plane, g * s->filters,
                      s->y + at * y_plane);
        }
    }
    return EMBER_OK;
}

// Chooses the band; false when even one row of outputs needs too much.
static bool set_band(state_t *s) {
    const int64_t columns = ((int64_t)s->width.out + STEP - 1) / STEP * STEP - 1;
    const int64_t under = (int64_t)(s->height.kernel - 1) * s->height.dilation + 1;
    const int64_t pitch = columns * s->width.stride +
                          (int64_t)(s->width.kernel - 1) * s->width.dilation + 1;

    if (pitch < 1 || pitch > MOST_SCRATCH || under > MOST_SCRATCH ||
        pitch * under > MOST_SCRATCH) {
        return false;
    }
    s->pitch = (int32_t)pitch;
    const int32_t more = (MOST_BAND / s->pitch - (int32_t)under) / s->height.stride;
    s->rows = more > 0 ? 1 + more : 1;
    s->rows = s->rows < s->height.out ? s->rows : s->height.out;
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.planes || conv.channels != 1 ||
        conv.batches == 0 || (conv.groups == 1 && conv.filters >= 4)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: not depthwise");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->filters = conv.filters;
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    if (!set_band(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: scratch");
    }
    const int32_t rows = rows_under(&s->height, s->rows);
    s->band = ember_node_scratch(node, (size_t)rows * (size_t)s->pitch * sizeof(float));
    return ember_node_status(node);
}

EMBER_KERNEL(convolution_f32_depthwise_mve, state_t);
