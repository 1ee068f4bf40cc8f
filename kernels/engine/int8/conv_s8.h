// SPDX-License-Identifier: Apache-2.0
// The arguments of the convolutions of the cortex_m dialect, checked.
//
// Images are (n, h, w, c) in memory. Scratch that the exporter reserved is meant for
// other kernels and is not read. Fast kernels compute the sums of weights that they
// need, so that a program runs whatever core it was exported for.
//
// Every position that the geometry can produce, inside the image or not, fits an
// int32_t.
#ifndef EMBER_KERNELS_ENGINE_INT8_CONV_S8_H
#define EMBER_KERNELS_ENGINE_INT8_CONV_S8_H

#include "kernels/engine/int8/real_s8.h"
#include "kernels/engine/int8/requantize.h"

typedef struct ember_conv_s8_axis {
    int32_t in; // elements, as all here
    int32_t out;
    int32_t kernel;
    int32_t stride;
    int32_t padding;
    int32_t dilation;
} ember_conv_s8_axis_t;

// The scaling of each filter's sums. Dialects other than cortex_m scale all of them by
// one factor, in float32: real_s8.h.
typedef struct ember_scales_s8 {
    const int32_t *bias; // (filters,) or NULL
    union {
        const int32_t *multipliers; // (filters,)
        float scale;                // EMBER_ROWS_REAL
    };
    union {
        const int32_t *shifts; // (filters,)
        float inverse;         // EMBER_ROWS_REAL
    };
    int16_t zero_point; // of the output
    ember_limits_s8_t limits;
} ember_scales_s8_t;

// What is known of multipliers and shifts, found while they are checked. Each class
// includes the properties of those before it.
enum {
    EMBER_ROWS_ANY,    // within the range of requantize.h
    EMBER_ROWS_RIGHT,  // shifts in [-31, 0]
    EMBER_ROWS_SHIFT,  // shifts in [-31, -1]
    EMBER_ROWS_NORMAL, // multipliers of 2^30 and more, or 0
    EMBER_ROWS_REAL,   // none of these: `scale` and `inverse` stand for them
};

typedef struct ember_conv_s8 {
    const int8_t *x; // (batches, height.in, width.in, channels)
    const int8_t *w; // (filters, height.kernel, width.kernel, depth); depthwise:
                     // (height.kernel, width.kernel, filters)
    int8_t *y;       // (batches, height.out, width.out, filters)
    ember_scales_s8_t scales;
    int32_t batches;
    int32_t channels;
    int32_t filters;
    int32_t depth; // channels that a filter sees; depthwise: 1
    ember_conv_s8_axis_t height;
    ember_conv_s8_axis_t width;
    int16_t x_offset; // added to elements of x; -128 .. 128
    uint8_t rows;     // EMBER_ROWS_*, of `scales`
    bool over;        // y is x: each element is read before one is written there
} ember_conv_s8_t;

// Indices of the parameters in a call.
typedef struct ember_conv_s8_places {
    uint8_t dilation;
    uint8_t offset; // of x; behind it: of y, multipliers, shifts, least, greatest
    uint8_t out;
    uint8_t kernel; // its height and width: weights are of int4, rows of bytes; or 0
    bool depthwise;
    bool transposed;
    bool packed; // packed_s8.h: `depth` becomes that of the weights
} ember_conv_s8_places_t;

// Read a call and set the shape of its output. `transposed`: positions scatter. An
// output in the place of its input must have its shape, and must not be of a transposed
// convolution; a kernel that cannot do this (`over`) must refuse it.
EMBER_MUST_USE ember_status_t ember_conv_s8_args(ember_conv_s8_t *conv,
                                                 ember_node_t *node,
                                                 const ember_conv_s8_places_t *places);
// Parts of it for operators whose weights lie otherwise. The first sets `batches`,
// `channels`, `filters`, `depth`, and the lengths of images and kernels from the sizes
// of image and weights; the next one reads strides, paddings and dilations, and sets
// the lengths of the output. False if they do not fit.
EMBER_MUST_USE bool ember_conv_s8_channels(ember_conv_s8_t *conv,
                                           const ember_tensor_t *x,
                                           const ember_tensor_t *w,
                                           const ember_conv_s8_places_t *places);
EMBER_MUST_USE bool ember_conv_s8_geometry(ember_conv_s8_t *conv, ember_node_t *node,
                                           const ember_conv_s8_places_t *places);
EMBER_MUST_USE ember_status_t ember_conv_s8_output(ember_conv_s8_t *conv,
                                                   ember_node_t *node, uint32_t out);
bool ember_conv_s8_is_image(const ember_tensor_t *tensor);

// Makes a linear layer a convolution by one tap: the rows of `x`, `inner` > 0 elements
// each, are the columns of an image of one row.
void ember_conv_s8_of_rows(ember_conv_s8_t *conv, const ember_tensor_t *x,
                           int32_t inner, int32_t filters);

EMBER_MUST_USE ember_status_t ember_conv_s8_plain_args(ember_conv_s8_t *conv,
                                                       ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_conv_s8_depthwise_args(ember_conv_s8_t *conv,
                                                           ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_conv_s8_transposed_args(ember_conv_s8_t *conv,
                                                            ember_node_t *node);

// Reads bias, multipliers and shifts of the filters. UNSUPPORTED unless the last two
// are constants within the range of requantize.h.
EMBER_MUST_USE ember_status_t ember_conv_s8_scales_args(ember_conv_s8_t *conv,
                                                        ember_node_t *node,
                                                        uint32_t multipliers);

static inline int64_t ember_conv_s8_taps(const ember_conv_s8_t *conv) {
    return (int64_t)conv->height.kernel * conv->width.kernel;
}

// Distances in elements from the first channel of an output to that of its neighbours.
typedef struct ember_steps_s8 {
    int32_t column;
    int32_t row;
    int32_t image;
} ember_steps_s8_t;

static inline ember_steps_s8_t ember_conv_s8_steps(const ember_conv_s8_t *conv) {
    const int32_t row = conv->width.out * conv->filters;
    return (ember_steps_s8_t){conv->filters, row, conv->height.out * row};
}

// Where kernels that multiply columns get their weights (filters, inner): in place;
// from (inner, filters), transposed in every run; or computed before every run, in
// scratch.
typedef enum ember_weights_s8 {
    EMBER_WEIGHTS_PLAIN,
    EMBER_WEIGHTS_TURNED,
    EMBER_WEIGHTS_MADE
} ember_weights_s8_t;

// Whether the elements under a filter are adjacent in the image.
static inline bool ember_conv_s8_is_direct(const ember_conv_s8_t *conv) {
    return conv->height.kernel == 1 && conv->height.padding == 0 &&
           conv->width.kernel == 1 && conv->width.padding == 0;
}

// Taps [first, past) of output `at` that are inside the image; first <= past.
typedef struct ember_taps_s8 {
    int32_t first;
    int32_t past;
} ember_taps_s8_t;

static inline ember_taps_s8_t ember_taps_s8(const ember_conv_s8_axis_t *axis,
                                            int32_t at) {
    const int32_t from = at * axis->stride - axis->padding;
    const int32_t step = axis->dilation;
    ember_taps_s8_t taps = {from < 0 ? -from : 0, axis->in - from};

    if (step != 1) {
        taps.first = (taps.first + step - 1) / step;
        taps.past = taps.past > 0 ? (taps.past - 1) / step + 1 : 0;
    }
    taps.past = taps.past < axis->kernel ? taps.past : axis->kernel;
    taps.past = taps.past > 0 ? taps.past : 0;
    taps.first = taps.first < taps.past ? taps.first : taps.past;
    return taps;
}

// One output of filter `f` from the sum of its products.
static inline int8_t ember_scaled_s8(const ember_scales_s8_t *scales, int32_t f,
                                     uint32_t sum) {
    const ember_requantize_t by = {scales->multipliers[f], scales->shifts[f]};
    const uint32_t bias = scales->bias == NULL ? 0 : (uint32_t)scales->bias[f];
    return ember_requantize_s8((int32_t)(sum + bias), by, scales->zero_point,
                               scales->limits);
}

#endif // EMBER_KERNELS_ENGINE_INT8_CONV_S8_H
