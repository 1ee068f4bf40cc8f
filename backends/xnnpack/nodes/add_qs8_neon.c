// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values, sixteen at a time.
#include "add.h"
#include "neon.h"

typedef struct how {
    int32x4_t bias;
    int32x4_t a;
    int32x4_t b;
    int32x4_t shift;
    int16x8_t zero;
    int8x16_t low;
    int8x16_t high;
} how_t;

static how_t how_of(const ember_xnn_add_t *add) {
    const int32_t zero = add->range.zero;
    return (how_t){
        .bias = vdupq_n_s32(add->bias),
        .a = vdupq_n_s32(add->a),
        .b = vdupq_n_s32(add->b),
        .shift = vdupq_n_s32(-(int32_t)add->shift),
        .zero = vdupq_n_s16((int16_t)zero),
        .low = vdupq_n_s8((int8_t)((int32_t)add->range.low + zero)),
        .high = vdupq_n_s8((int8_t)((int32_t)add->range.high + zero)),
    };
}

// Four sums, shifted.
static inline int32x4_t sums_of(const how_t *how, int16x4_t a, int16x4_t b) {
    const int32x4_t sum = vmlaq_s32(how->bias, vmovl_s16(a), how->a);
    return vshlq_s32(vmlaq_s32(sum, vmovl_s16(b), how->b), how->shift);
}

// Saturated to 16 bits on the way: the bounds hold for saturated values, too.
static inline int16x8_t halves_of(const how_t *how, int8x8_t a, int8x8_t b) {
    const int16x8_t x = vmovl_s8(a);
    const int16x8_t y = vmovl_s8(b);
    const int16x4_t low = vqmovn_s32(sums_of(how, vget_low_s16(x), vget_low_s16(y)));
    const int16x8_t both =
        vqmovn_high_s32(low, sums_of(how, vget_high_s16(x), vget_high_s16(y)));
    return vqaddq_s16(both, how->zero);
}

static inline int8x16_t numbers_of(const how_t *how, int8x16_t a, int8x16_t b) {
    const int16x8_t low = halves_of(how, vget_low_s8(a), vget_low_s8(b));
    const int16x8_t high = halves_of(how, vget_high_s8(a), vget_high_s8(b));
    const int8x16_t both = vqmovn_high_s16(vqmovn_s16(low), high);
    return vminq_s8(vmaxq_s8(both, how->low), how->high);
}

// `count` elements, fewer than sixteen; with a step of 0 one of them repeated.
static int8x16_t load_rest(const int8_t *from, uint32_t step, uint32_t count) {
    int8_t rest[16];
    for (uint32_t i = 0; i < 16; i++) {
        rest[i] = from[(i < count ? i : 0) * step];
    }
    return vld1q_s8(rest);
}

static void compute(const ember_xnn_add_t *add, const ember_xnn_lines_t *line) {
    const how_t how = how_of(add);
    const uint32_t whole = line->count / 16 * 16;
    const uint32_t left = line->count - whole;
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < whole;
         i += 16, a += 16 * line->a_step, b += 16 * line->b_step, y += 16) {
        const int8x16_t x = line->a_step != 0 ? vld1q_s8(a) : vdupq_n_s8(*a);
        const int8x16_t z = line->b_step != 0 ? vld1q_s8(b) : vdupq_n_s8(*b);
        vst1q_s8(y, numbers_of(&how, x, z));
    }
    if (left > 0) {
        const int8x16_t sum = numbers_of(&how, load_rest(a, line->a_step, left),
                                         load_rest(b, line->b_step, left));
        memcpy(y, &sum, left);
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
