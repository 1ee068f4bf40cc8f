// SPDX-License-Identifier: Apache-2.0
// A float32 convolution as matrix products: one- or two-dimensional, not transposed,
// everything contiguous but the rows of an image, also grouped.
//
// A tile of neighbouring outputs is one product: the weights in place, times the
// image's elements under each tap, copied to scratch with zeros around the image.
// Kernels of one element need no copy. Infinite weights on padding give NaN.
#ifndef EMBER_KERNELS_CONVOLUTION_TILES_H
#define EMBER_KERNELS_CONVOLUTION_TILES_H

#include <stddef.h>

#include "kernels/convolution/lines.h"
#include "kernels/engine/gemm_f32.h"

typedef struct ember_conv_tiles {
    const float *x;    // (batches, groups * channels, in_h, in_w), rows contiguous
    const float *w;    // (groups * filters, channels, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *taps;       // (channels * kernel_h * kernel_w, tile); NULL: x is it
    ptrdiff_t x_plane; // elements from channel to channel
    int32_t batches, groups, channels, filters;
    int32_t tile; // outputs at most, a multiple of 4; whole rows, or a part of one
    ember_axis_t height;
    ember_axis_t width;
} ember_conv_tiles_t;

// The size of tiles, in elements: scratch is bounded by `taps`, by the smallest tile,
// or by a part of the images, up to `most_taps`.
typedef struct ember_tile_sizes {
    int32_t taps;
    int32_t most_taps;
    int32_t least; // outputs, a multiple of 4
    int32_t most;
} ember_tile_sizes_t;

// UNSUPPORTED if the convolution is not of that kind.
EMBER_MUST_USE ember_status_t ember_conv_tiles_prepare(ember_conv_tiles_t *tiles,
                                                       ember_node_t *node,
                                                       const ember_tile_sizes_t *sizes);

// Copies what is under the taps of `count` outputs of row `row` from column `at` on.
typedef void (*ember_tiles_gather_fn)(const ember_conv_tiles_t *tiles, const float *x,
                                      int32_t row, int32_t at, int32_t count,
                                      float *to);

// Computes with a variant's copies, and its matrix product with dense rows.
void ember_conv_tiles_run(const ember_conv_tiles_t *tiles, ember_tiles_gather_fn gather,
                          ember_gemm_f32_fn product);

// The body of a gather function. Lengths are read once: as far as the compiler knows,
// stores of floats could change them.
static inline __attribute__((always_inline)) void
ember_tiles_gather(const ember_conv_tiles_t *s, const float *x, int32_t row, int32_t at,
                   int32_t count, float *to, ember_line_copy_fn copy,
                   ember_line_zeros_fn zeros) {
    const ember_axis_t height = s->height;
    const ptrdiff_t plane_step = s->x_plane;
    const ptrdiff_t row_step = height.x_step;
    const int32_t taps = s->width.kernel;
    const ptrdiff_t step = (ptrdiff_t)taps * s->tile;
    const int32_t top = row * height.stride - height.padding;

    for (int32_t kx = 0; kx < taps; kx++) {
        const ember_line_t line = ember_line(&s->width, at, kx, count);
        const float *plane = x;
        float *tap = to + (ptrdiff_t)kx * s->tile;
        for (int32_t c = s->channels; c > 0; c--) {
            int32_t y = top;
            for (int32_t ky = height.kernel; ky > 0; ky--) {
                if (y >= 0 && y < height.in) {
                    copy(line, tap, plane + y * row_step);
                } else {
                    zeros(tap, count);
                }
                tap += step;
                y += height.dilation;
            }
            plane += plane_step;
        }
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_TILES_H
