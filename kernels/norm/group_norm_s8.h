// SPDX-License-Identifier: Apache-2.0
// quantized_group_norm: channels of an image in groups; instance norm has one channel
// in each. Formulas: norm_s8.h.
#ifndef EMBER_KERNELS_NORM_GROUP_NORM_S8_H
#define EMBER_KERNELS_NORM_GROUP_NORM_S8_H

#include "kernels/norm/norm_s8.h"

// Of a channel: sums, which then become a line.
typedef union ember_channel_s8 {
    struct {
        int32_t sum;
        uint32_t squares;
    };
    struct {
        int32_t slope;
        int32_t start;
    };
} ember_channel_s8_t;

typedef struct ember_group_norm_s8 {
    const int8_t *x;       // (batch, channels, pixels), or (batch, pixels, channels)
    int8_t *y;             // the same; may be x
    const int32_t *scales; // (2, channels): g, then b
    ember_channel_s8_t *working; // (channels,) scratch if channels are last
    uint32_t batch;
    uint32_t channels;
    uint32_t groups;
    uint32_t pixels; // 1 .. EMBER_NORM_S8_PART
    ember_norm_s8_t by;
    uint8_t shift; // 1 .. 31
    bool channels_last;
} ember_group_norm_s8_t;

// How a core computes.
typedef struct ember_group_norm_core {
    ember_norm_sums_s8_t sums;
    // `count` elements of a channel.
    void (*plane)(int8_t *y, const int8_t *x, uint32_t count, ember_channel_s8_t by,
                  uint32_t shift);
    // Channels last: the sums of each, and all elements.
    void (*channels)(const ember_group_norm_s8_t *s, const int8_t *x);
    void (*pixels)(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x);
} ember_group_norm_core_t;

static inline int8_t ember_line_s8(int32_t x, ember_channel_s8_t by, uint32_t shift) {
    return ember_limited_s8(ember_line_s32(x, by.slope, by.start) >> shift);
}

// The same for channels from `first` on, in plain C.
void ember_group_channels_s8(const ember_group_norm_s8_t *s, const int8_t *x,
                             uint32_t first);
void ember_group_pixels_s8(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x,
                           uint32_t first);

EMBER_MUST_USE ember_status_t ember_group_norm_s8_prepare(ember_node_t *node,
                                                          ember_group_norm_s8_t *s);
void ember_group_norm_s8_run(const ember_group_norm_s8_t *s,
                             const ember_group_norm_core_t *core);

// A whole kernel.
#define EMBER_GROUP_NORM_S8_KERNEL(NAME, CORE)                                         \
    static int32_t run(void *state) {                                                  \
        ember_group_norm_s8_run(state, &(CORE));                                       \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_group_norm_s8_prepare(node, state);                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_group_norm_s8_t)

#endif // EMBER_KERNELS_NORM_GROUP_NORM_S8_H
