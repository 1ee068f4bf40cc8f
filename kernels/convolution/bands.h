// SPDX-License-Identifier: Apache-2.0
// A convolution of float32 with one input channel per group, contiguous planes;
// the rows of an image may lie anywhere.
//
// A band of rows of one channel, or of columns if a variant prefers that, is copied to
// scratch with zeros around it; then the outputs of a row are summed without special
// cases at the edges. Sums begin with the bias; infinite weights on padding give NaN.
#ifndef EMBER_KERNELS_CONVOLUTION_BANDS_H
#define EMBER_KERNELS_CONVOLUTION_BANDS_H

#include <stddef.h>

#include "kernels/convolution/lines.h"

#define EMBER_BANDS_INLINE static inline __attribute__((always_inline))

// Outputs that are summed side by side: the band has room for what a whole step reads.
enum { EMBER_BAND_STEP = 8 };

typedef struct ember_conv_bands {
    const float *x;    // (batches, groups, in_h, in_w), rows contiguous
    const float *w;    // (groups * filters, 1, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *band;       // rows of the image, `pitch` elements each
    ptrdiff_t x_plane; // elements from channel to channel
    int32_t batches, groups, filters;
    int32_t rows; // of outputs that one band covers, at most
    int32_t pitch;
    ember_axis_t height; // swapped if the image is transposed
    ember_axis_t width;
} ember_conv_bands_t;

// Whether rows should run along the height of the image.
typedef bool (*ember_bands_turn_fn)(const ember_axis_t *height,
                                    const ember_axis_t *width);

// UNSUPPORTED if the convolution is not of that kind. `turn` may be NULL.
EMBER_MUST_USE ember_status_t ember_conv_bands_prepare(ember_conv_bands_t *bands,
                                                       ember_node_t *node,
                                                       ember_bands_turn_fn turn);

// What a filter makes of a band: `rows` rows of outputs from `y` on.
typedef struct ember_bands_work {
    const float *from; // the first tap of the first output
    const float *filter;
    float bias;
    float *y;
    int32_t rows;
} ember_bands_work_t;

typedef void (*ember_bands_rows_fn)(const ember_conv_bands_t *bands,
                                    ember_bands_work_t work);

// Computes one row of outputs at `y`; `from` is its first element in the band.
typedef void (*ember_bands_row_fn)(const ember_conv_bands_t *bands, const float *from,
                                   const float *filter, float bias, float *y);

// The functions of a variant, for computing and copying.
typedef struct ember_bands_parts {
    ember_bands_rows_fn rows;
    ember_line_copy_fn copy;
    ember_line_zeros_fn zeros;
} ember_bands_parts_t;

// Rows of the image under `outputs` rows of outputs.
static inline int32_t ember_bands_rows_under(const ember_axis_t *height,
                                             int32_t outputs) {
    return (outputs - 1) * height->stride + (height->kernel - 1) * height->dilation + 1;
}

// --- the loops, compiled by a variant with its functions as constants ----------------

// Row by row, for variants that only compute rows.
EMBER_BANDS_INLINE void ember_bands_each_row(const ember_conv_bands_t *s,
                                             ember_bands_work_t work,
                                             ember_bands_row_fn row) {
    for (; work.rows > 0; work.rows--) {
        row(s, work.from, work.filter, work.bias, work.y);
        work.from += (ptrdiff_t)s->height.stride * s->pitch;
        work.y += s->height.y_step;
    }
}

// Copies the rows of the image that the outputs [first, first + rows) need; the columns
// on either side are zeros already.
EMBER_BANDS_INLINE void ember_bands_fill(const ember_conv_bands_t *s,
                                         const ember_bands_parts_t *parts,
                                         ember_line_t line, const float *x,
                                         int32_t first, int32_t rows) {
    const int32_t pitch = s->pitch, past = s->height.in;
    const ptrdiff_t step = s->height.x_step;
    int32_t at = first * s->height.stride - s->height.padding;
    const float *from = x + at * step;
    float *to = s->band + s->width.padding;

    for (int32_t left = ember_bands_rows_under(&s->height, rows); left > 0; left--) {
        if (at >= 0 && at < past) {
            parts->copy(line, to, from);
        } else {
            parts->zeros(to, line.count);
        }
        from += step;
        to += pitch;
        at++;
    }
}

// All outputs of one channel of the image.
EMBER_BANDS_INLINE void ember_bands_run_plane(const ember_conv_bands_t *s,
                                              const ember_bands_parts_t *parts,
                                              ember_line_t line, const float *x,
                                              int32_t filter, float *y) {
    const ptrdiff_t plane = (ptrdiff_t)s->height.out * s->width.out;
    const ptrdiff_t taps = (ptrdiff_t)s->height.kernel * s->width.kernel;

    for (int32_t first = 0; first < s->height.out; first += s->rows) {
        const int32_t left = s->height.out - first;
        const int32_t rows = left < s->rows ? left : s->rows;
        ember_bands_fill(s, parts, line, x, first, rows);
        for (int32_t f = 0; f < s->filters; f++) {
            const ember_bands_work_t work = {
                .from = s->band,
                .filter = s->w + (filter + f) * taps,
                .bias = s->bias == NULL ? 0.0f : s->bias[filter + f],
                .y = y + f * plane + (ptrdiff_t)first * s->height.y_step,
                .rows = rows,
            };
            parts->rows(s, work);
        }
    }
}

EMBER_BANDS_INLINE void ember_conv_bands_run(const ember_conv_bands_t *s,
                                             const ember_bands_parts_t *parts) {
    const ptrdiff_t y_plane = (ptrdiff_t)s->filters * s->height.out * s->width.out;

    // The part of a band's row inside the image; the columns on either side are cleared
    // once.
    const int32_t room = s->pitch - s->width.padding;
    const int32_t count = room < s->width.in ? room : s->width.in;
    const ember_line_t line = {.count = count, .stride = s->width.x_step};

    parts->zeros(s->band, ember_bands_rows_under(&s->height, s->rows) * s->pitch);
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            ember_bands_run_plane(s, parts, line, s->x + at * s->x_plane,
                                  g * s->filters, s->y + at * y_plane);
        }
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_BANDS_H
