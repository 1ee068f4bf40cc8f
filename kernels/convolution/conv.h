// SPDX-License-Identifier: Apache-2.0
// The arguments of aten::convolution, checked: the geometry that every kernel of this
// family starts from. One- and two-dimensional calls have leading dimensions of size 1,
// so there are always three: depth, height, width.
//
// Every position that the geometry can produce, inside the input or not, fits an
// int32_t without overflow.
#ifndef EMBER_KERNELS_CONVOLUTION_CONV_H
#define EMBER_KERNELS_CONVOLUTION_CONV_H

#include "ember/node.h"

enum { EMBER_CONV_DIMS = 3 };

// A tensor (outer, inner, depth, height, width); steps in bytes.
typedef struct ember_conv_operand {
    char *data;
    int32_t outer; // of the batch; of a filter
    int32_t inner; // of a channel
    int32_t space[EMBER_CONV_DIMS];
} ember_conv_operand_t;

typedef struct ember_conv {
    ember_conv_operand_t x;
    ember_conv_operand_t w; // outer: output channel, inner: input channel
    ember_conv_operand_t y;
    const char *bias; // (groups * filters,); NULL: none
    int32_t batches;  // elements, as all below
    int32_t groups;
    int32_t channels; // of the input, per group
    int32_t filters;  // channels of the output, per group
    int32_t w_group;  // bytes from one group's weights to the next's
    int32_t in[EMBER_CONV_DIMS];
    int32_t out[EMBER_CONV_DIMS];
    int32_t kernel[EMBER_CONV_DIMS]; // no taps if the weight has no elements
    int32_t stride[EMBER_CONV_DIMS];
    int32_t padding[EMBER_CONV_DIMS];
    int32_t dilation[EMBER_CONV_DIMS];
    uint8_t dtype;
    uint8_t bias_dtype; // differs only among integers
    bool transposed;
    bool planes;        // x, w and y are contiguous
    bool lines;         // w and y are, and in x neighbours along the width are adjacent
    bool channels_last; // x, w and y are (n, d, h, w, c) in memory
} ember_conv_t;

// Reads and checks the call's arguments and sets the shape of its output. If all widths
// are 1, the height is described as the width.
EMBER_MUST_USE ember_status_t ember_conv_args(ember_conv_t *conv, ember_node_t *node);

// Adds the products of `outputs` elements of the output to the work of the node.
void ember_conv_work(const ember_conv_t *conv, ember_node_t *node, uint32_t outputs);

// Whether it is float32, not transposed, of one or two dimensions, and has channels.
bool ember_conv_is_2d_f32(const ember_conv_t *conv);

// --- for gradients -----------------------------------------------------------------

// The part that does not depend on bias and output; `lists` is the argument of the
// strides, which the other parameters follow as in aten::convolution.
EMBER_MUST_USE ember_status_t ember_conv_geometry(ember_conv_t *conv,
                                                  ember_node_t *node, uint32_t lists,
                                                  const ember_tensor_t *x,
                                                  const ember_tensor_t *w);

// A tensor of rank 3 to 5 as an operand; a weight, and the step between groups.
ember_conv_operand_t ember_conv_operand(const ember_tensor_t *tensor);
ember_conv_operand_t ember_conv_weight(const ember_conv_t *conv,
                                       const ember_tensor_t *weight, int32_t *group);

// The input position that tap `k` of output position `out` reads; below 0: none.
static inline int32_t ember_conv_source(const ember_conv_t *conv, uint32_t d,
                                        int32_t out, int32_t k) {
    if (!conv->transposed) {
        const int32_t at =
            out * conv->stride[d] - conv->padding[d] + k * conv->dilation[d];
        return at < conv->in[d] ? at : -1;
    }
    const int32_t at = out + conv->padding[d] - k * conv->dilation[d];
    if (at < 0 || at % conv->stride[d] != 0 || at / conv->stride[d] >= conv->in[d]) {
        return -1;
    }
    return at / conv->stride[d];
}

#endif // EMBER_KERNELS_CONVOLUTION_CONV_H
