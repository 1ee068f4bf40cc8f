// SPDX-License-Identifier: Apache-2.0
// Groups of channels of int8. Contract: group_norm_s8.h.
#include "kernels/norm/group_norm_s8.h"

enum { X, SCALES, GROUPS, EPSILON, SHIFT, OUT };
enum { STEPS = 4, STEPS_OF_GROUP = 200, STEPS_OF_CHANNEL = 32 };

// --- prepare -------------------------------------------------------------------------

// Whether channels are behind all other dimensions but the first.
static bool has_channels_last(const ember_tensor_t *x) {
    int32_t strides[EMBER_MAX_RANK];
    uint32_t inner = (uint32_t)x->sizes[1];

    ember_tensor_strides(x, strides);
    for (uint32_t d = x->rank; d > 2; d--) {
        if (x->sizes[d - 1] != 1 && strides[d - 1] != (int32_t)inner) {
            return false;
        }
        inner *= (uint32_t)x->sizes[d - 1];
    }
    return x->sizes[1] == 1 || strides[1] == 1;
}

static ember_status_t set_sizes(ember_group_norm_s8_t *s, ember_node_t *node,
                                const ember_tensor_t *x, const ember_tensor_t *scales) {
    const uint32_t groups = s->groups;
    if (x->rank < 2 || scales->rank != 2 || scales->sizes[0] != 2 ||
        scales->sizes[1] != x->sizes[1] || (uint32_t)x->sizes[1] % groups != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "group_norm: sizes");
    }
    s->batch = 0;
    if (x->numel == 0) {
        return EMBER_OK;
    }
    s->batch = (uint32_t)x->sizes[0];
    s->channels = (uint32_t)x->sizes[1];
    s->pixels = x->numel / s->batch / s->channels;
    s->by.count = x->numel / s->batch / groups;
    if (s->pixels > EMBER_NORM_S8_PART || s->by.count > EMBER_NORM_S8_MOST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "group_norm: large groups");
    }
    s->channels_last = !ember_tensor_is_contiguous(x);
    if (s->channels_last && !has_channels_last(x)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "group_norm: layout");
    }
    return EMBER_OK;
}

static void set_work(ember_group_norm_s8_t *s, ember_node_t *node,
                     const ember_tensor_t *x) {
    if (s->channels_last) {
        const size_t bytes = s->channels * sizeof(ember_channel_s8_t);
        s->working = ember_node_scratch(node, bytes);
    }
    ember_node_work(node, x->numel, STEPS);
    ember_node_work(node, s->batch * s->groups, STEPS_OF_GROUP);
    ember_node_work(node, s->batch * s->channels, STEPS_OF_CHANNEL);
}

ember_status_t ember_group_norm_s8_prepare(ember_node_t *node,
                                           ember_group_norm_s8_t *s) {
    ember_tensor_t x, scales, y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, SCALES, &scales);
    ember_node_output_like(node, OUT, &x, &y);
    *s = (ember_group_norm_s8_t){
        .by.epsilon = ember_norm_s8_epsilon(node, EPSILON),
        .groups = (uint32_t)ember_node_int_in(node, GROUPS, 1, INT32_MAX),
        .shift = (uint8_t)ember_node_int_in(node, SHIFT, 1, 31)};
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || y.dtype != EMBER_S8 || scales.dtype != EMBER_S32 ||
        !ember_tensor_same_order(&x, &y) || !ember_tensor_is_contiguous(&scales)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "group_norm: dtype or layout");
    }
    s->x = x.data;
    s->y = y.data;
    s->scales = scales.data;
    if (set_sizes(s, node, &x, &scales) == EMBER_OK) {
        set_work(s, node, &x);
    }
    return ember_node_status(node);
}

// --- run -----------------------------------------------------------------------------

static ember_channel_s8_t line_of(const ember_group_norm_s8_t *s, uint32_t channel,
                                  const ember_normal_s8_t *normal) {
    const int32_t g = s->scales[channel], b = s->scales[s->channels + channel];
    const int32_t slope = ember_upper_s32(normal->multiplier, g);
    const uint32_t start = (uint32_t)b - (uint32_t)ember_upper_s32(normal->rest, g);
    return (ember_channel_s8_t){
        .slope = slope, .start = ember_line_s32(-normal->mean, slope, (int32_t)start)};
}

static void run_planes(const ember_group_norm_s8_t *s,
                       const ember_group_norm_core_t *core) {
    const uint32_t each = s->channels / s->groups, channels = s->batch * s->channels;
    const int8_t *x = s->x;
    int8_t *y = s->y;
    ember_normal_s8_t normal = {0};

    for (uint32_t c = 0; c < channels; c++) {
        if (c % each == 0) {
            const ember_sums_s8_t sums = ember_norm_all_s8(core->sums, x, s->by.count);
            normal = ember_normal_s8(&s->by, &sums);
        }
        const ember_channel_s8_t by = line_of(s, c % s->channels, &normal);
        core->plane(y, x, s->pixels, by, s->shift);
        x += s->pixels;
        y += s->pixels;
    }
}

// The sums of an image's channels become their lines.
static void set_lines(const ember_group_norm_s8_t *s) {
    const uint32_t each = s->channels / s->groups;

    for (uint32_t c = 0; c < s->channels; c += each) {
        ember_sums_s8_t sums = {0, 0};
        for (uint32_t i = c; i < c + each; i++) {
            sums.sum += s->working[i].sum;
            sums.squares += s->working[i].squares;
        }
        const ember_normal_s8_t normal = ember_normal_s8(&s->by, &sums);
        for (uint32_t i = c; i < c + each; i++) {
            s->working[i] = line_of(s, i, &normal);
        }
    }
}

void ember_group_norm_s8_run(const ember_group_norm_s8_t *s,
                             const ember_group_norm_core_t *core) {
    const size_t image = (size_t)s->channels * s->pixels;

    if (!s->channels_last) {
        run_planes(s, core);
        return;
    }
    for (uint32_t n = 0; n < s->batch; n++) {
        core->channels(s, s->x + n * image);
        set_lines(s);
        core->pixels(s, s->y + n * image, s->x + n * image);
    }
}

void ember_group_channels_s8(const ember_group_norm_s8_t *s, const int8_t *x,
                             uint32_t first) {
    for (uint32_t c = first; c < s->channels; c++) {
        ember_channel_s8_t sums = {.sum = 0, .squares = 0};
        for (uint32_t p = 0; p < s->pixels; p++) {
            const int32_t q = x[(size_t)p * s->channels + c];
            sums.sum += q;
            sums.squares += (uint32_t)(q * q);
        }
        s->working[c] = sums;
    }
}

void ember_group_pixels_s8(const ember_group_norm_s8_t *s, int8_t *y, const int8_t *x,
                           uint32_t first) {
    const uint32_t shift = s->shift, channels = s->channels;

    for (uint32_t p = 0; p < s->pixels; p++) {
        for (uint32_t c = first; c < channels; c++) {
            y[c] = ember_line_s8(x[c], s->working[c], shift);
        }
        x += channels;
        y += channels;
    }
}
