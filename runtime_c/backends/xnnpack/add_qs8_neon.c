// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values, sixteen at a time.
#include "add_qs8.h"
#include "neon.h"

// Four sums, shifted.
static inline int32x4_t sums_of(const ember_xnn_add_t *add, int16x4_t a, int16x4_t b) {
    int32x4_t sum = vdupq_n_s32(add->bias);
    sum = vmlaq_n_s32(sum, vmovl_s16(a), add->a);
    sum = vmlaq_n_s32(sum, vmovl_s16(b), add->b);
    return vshlq_s32(sum, vdupq_n_s32(-(int32_t)add->shift));
}

// Saturated to 16 bits on the way: bounds hold for what is saturated, too.
static inline int16x8_t halves_of(const ember_xnn_add_t *add, int16x8_t a,
                                  int16x8_t b) {
    const int16x4_t low = vqmovn_s32(sums_of(add, vget_low_s16(a), vget_low_s16(b)));
    const int16x8_t both =
        vqmovn_high_s32(low, sums_of(add, vget_high_s16(a), vget_high_s16(b)));
    return vqaddq_s16(both, vdupq_n_s16((int16_t)add->range.zero));
}

static inline int8x16_t numbers_of(const ember_xnn_add_t *add, int8x16_t a,
                                   int8x16_t b) {
    const int32_t zero = add->range.zero;
    const int8x16_t low = vdupq_n_s8((int8_t)((int32_t)add->range.low + zero));
    const int8x16_t high = vdupq_n_s8((int8_t)((int32_t)add->range.high + zero));
    const int16x8_t first =
        halves_of(add, vmovl_s8(vget_low_s8(a)), vmovl_s8(vget_low_s8(b)));
    const int16x8_t second =
        halves_of(add, vmovl_s8(vget_high_s8(a)), vmovl_s8(vget_high_s8(b)));
    const int8x16_t both = vqmovn_high_s16(vqmovn_s16(first), second);
    return vminq_s8(vmaxq_s8(both, low), high);
}

// Sixteen numbers, or `count` of them; with a step of 0 one of them again and again.
static inline int8x16_t load(const int8_t *from, uint32_t step, uint32_t at,
                             uint32_t count) {
    int8_t rest[16] = {0};
    if (step == 0) {
        return vdupq_n_s8(*from);
    }
    if (count >= 16) {
        return vld1q_s8(from + at);
    }
    memcpy(rest, from + at, count);
    return vld1q_s8(rest);
}

static void compute(const ember_xnn_add_t *add, const ember_xnn_lines_t *line) {
    const ember_xnn_add_t how = *add; // what is stored cannot change it
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i += 16) {
        const uint32_t left = line->count - i;
        const int8x16_t sum = numbers_of(&how, load(line->a, line->a_step, i, left),
                                         load(line->b, line->b_step, i, left));
        if (left >= 16) {
            vst1q_s8(y + i, sum);
        } else {
            memcpy(y + i, &sum, left);
        }
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_add_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_add_run(node, compute);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, add_qs8_neon, NULL, ember_xnn_broadcast_shape,
               XNN_KIND(ADD) | XNN_KIND(SUBTRACT));
