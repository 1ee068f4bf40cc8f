// SPDX-License-Identifier: Apache-2.0
// The windows of an int8 image one behind another, each a run of its elements: worth it
// where rows of windows are short, as with few channels, and few stand side by side. A
// convolution is a product of that matrix by its weights then.
#ifndef EMBER_KERNELS_CORTEX_M_GATHERED_HVX_H
#define EMBER_KERNELS_CORTEX_M_GATHERED_HVX_H

#include "kernels/cortex_m/conv_s8.h"
#include "kernels/cortex_m/scale_hvx.h"
#include "kernels/cortex_m/windows_hvx.h"

typedef struct ember_gathered_hvx {
    const int8_t *x; // (batches, height, width, channels)
    int32_t channels;
    int32_t batches;
    ember_conv_s8_axis_t height;
    ember_conv_s8_axis_t width;
    int8_t padding; // what stands around the image
    int32_t cell;   // bytes of a window, a multiple of EMBER_STEP_HVX; 0: not gathered
} ember_gathered_hvx_t;

// Takes the geometry of a convolution of one group, of which `merged` outputs side by
// side would share a window otherwise. `cell` is 0 where windows that are gathered
// would take longer, or more than `most` bytes.
void ember_gathered_hvx_plan(ember_gathered_hvx_t *gathered,
                             const ember_conv_s8_t *conv, int32_t merged, int32_t most);

// Number of windows, bytes of all of them, and bytes of scratch for making them.
int32_t ember_gathered_hvx_windows(const ember_gathered_hvx_t *gathered);
int64_t ember_gathered_hvx_bytes(const ember_gathered_hvx_t *gathered);
int64_t ember_gathered_hvx_room_bytes(const ember_gathered_hvx_t *gathered);

// Windows to `to`, (windows, cell); zeros behind the elements of each.
void ember_gathered_hvx_make(const ember_gathered_hvx_t *gathered, int8_t *to,
                             int8_t *room);

#endif // EMBER_KERNELS_CORTEX_M_GATHERED_HVX_H
