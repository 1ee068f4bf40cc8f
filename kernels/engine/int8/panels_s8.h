// SPDX-License-Identifier: Apache-2.0
// ember::quantized_conv2d_panels.out: a convolution of one group whose weights the host
// has packed for Hexagon's vectors (windows_hvx.h).
//
// A lane is a filter of one of `merged` adjacent outputs that share a window: lane =
// output * filters + filter. A panel is of up to 128 lanes, rounded up to vectors of 32
// words. For each vector it begins with five vectors of numbers: initial sums, which
// include the weights times `x_offset`, multipliers, shifts, and what else scale_hvx.h
// makes of these. Its weights follow, with 128 added: for each row of taps `segment`
// elements, four of them at a time, those of each lane side by side. Where a lane has
// no weight it is 0.
#ifndef EMBER_KERNELS_ENGINE_INT8_PANELS_S8_H
#define EMBER_KERNELS_ENGINE_INT8_PANELS_S8_H

#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_panels_s8 {
    ember_conv_s8_t conv;  // without weights, biases, multipliers and shifts
    const uint8_t *panels; // at any address
    int32_t merged;
    int32_t segment; // elements of a row of a window, a multiple of 8
} ember_panels_s8_t;

// The parts of calls with panels that do not depend on their layout: the image, offsets
// and limits, and `kernel`: filters, height and width.
EMBER_MUST_USE ember_status_t ember_panels_s8_image(ember_conv_s8_t *conv,
                                                    ember_node_t *node);
EMBER_MUST_USE bool ember_panels_s8_kernel(ember_conv_s8_t *conv, ember_node_t *node);
// Whether a tensor is `bytes` of panels.
static inline bool ember_panels_s8_are(const ember_tensor_t *panels, int64_t bytes) {
    return panels->constant && panels->dtype == EMBER_S8 && panels->rank == 1 &&
           bytes == (int64_t)panels->numel;
}

// Sets the shape of the output, which must not be the input, and the work: `steps` for
// each pixel.
EMBER_MUST_USE ember_status_t ember_panels_s8_output(ember_conv_s8_t *conv,
                                                     ember_node_t *node, uint32_t out,
                                                     uint32_t steps);
// The class of `rows` and one more multiplier and shift; EMBER_ROWS_ANY, which stays,
// if one is out of range.
static inline uint8_t ember_panels_s8_rows(uint8_t rows, int32_t multiplier,
                                           int32_t shift) {
    if (rows == EMBER_ROWS_ANY || multiplier < 0 || shift < -31 || shift > 0) {
        return EMBER_ROWS_ANY;
    }
    return shift == 0 ? EMBER_ROWS_RIGHT : rows;
}

// Reads what a call says of the weights; the image is read already. `conv.rows` becomes
// that of the numbers, EMBER_ROWS_RIGHT or EMBER_ROWS_SHIFT, unless it is
// EMBER_ROWS_REAL, for which only the initial sums among the numbers matter.
EMBER_MUST_USE ember_status_t ember_panels_s8_weights(ember_panels_s8_t *s,
                                                      ember_node_t *node);
// Steps of a pixel.
uint32_t ember_panels_s8_steps(const ember_panels_s8_t *s);

// Reads a call and sets the shape of its output.
EMBER_MUST_USE ember_status_t ember_panels_s8_args(ember_panels_s8_t *s,
                                                   ember_node_t *node);

// The sum of a filter over the window of output (oy, ox) of an image. `panels` is an
// ember_panels_s8_t.
int32_t ember_panels_s8_sum(const void *panels, const int8_t *x, int32_t oy, int32_t ox,
                            int32_t filter);

// Computes, in plain C. y is not x.
void ember_panels_s8_run(const ember_panels_s8_t *s);

#endif // EMBER_KERNELS_ENGINE_INT8_PANELS_S8_H
