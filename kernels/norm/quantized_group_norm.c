// SPDX-License-Identifier: Apache-2.0
// ember::quantized_group_norm.out, portable. Contract: group_norm_s8.h.
#include "kernels/norm/group_norm_s8.h"

static void plane(int8_t *y, const int8_t *x, uint32_t count, ember_channel_s8_t by,
                  uint32_t shift) {
    for (uint32_t i = 0; i < count; i++) {
        y[i] = ember_line_s8(x[i], by, shift);
    }
}

static void channels(const ember_group_norm_s8_t *s, const int8_t *x) {
    ember_group_channels_s8(s, x, 0);
}

static void pixels(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x) {
    ember_group_pixels_s8(s, y, x, 0);
}

static const ember_group_norm_core_t core = {ember_norm_sums_s8, plane, channels,
                                             pixels};
EMBER_GROUP_NORM_S8_KERNEL(quantized_group_norm, core);
