// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels for float32 tensors of one memory layout: no walk, no dtype but
// float, 12 to 16 bytes of state. Anything else is refused, so that the generic kernel
// takes it.
#ifndef EMBER_KERNELS_ENGINE_MAP_F32_H
#define EMBER_KERNELS_ENGINE_MAP_F32_H

#include "ember/node.h"

typedef struct ember_map_f32_1 {
    const float *a; // (count,)
    float *y;       // (count,); may be a
    uint32_t count; // elements
} ember_map_f32_1_t;

// Like ember_map_f32_1_t, for float32 or float16: for variants that support both.
typedef struct ember_map_float_1 {
    const void *a; // (count,)
    void *y;       // (count,); may be a
    uint32_t count;
    bool half; // float16
} ember_map_float_1_t;

typedef struct ember_map_f32_2 {
    const float *a; // (count,)
    const float *b; // (count,)
    float *y;       // (count,); may be a or b
    uint32_t count; // elements
} ember_map_f32_2_t;

// y = f(a, b) where one operand has the whole layout and the other is repeated: it is
// constant along `inner` elements, has `count` numbers, and repeats `outer` times.
typedef struct ember_map_f32_broadcast {
    const float *a;
    const float *b;
    float *y;
    uint32_t outer;
    uint32_t count;
    uint32_t inner;
    bool swapped; // `a` is the repeated one
    float number; // storage of b if it is a Scalar
} ember_map_f32_broadcast_t;

// y = f(a, b) where b is a Scalar.
typedef struct ember_map_f32_scalar {
    const float *a; // (count,)
    float *y;       // (count,); may be a
    uint32_t count; // elements
    float b;
} ember_map_f32_scalar_t;

// The output is the last argument before the return value.
EMBER_MUST_USE ember_status_t ember_map_f32_1_prepare(ember_node_t *node, void *state);
EMBER_MUST_USE ember_status_t ember_map_float_1_prepare(ember_node_t *node,
                                                        void *state);
EMBER_MUST_USE ember_status_t ember_map_f32_2_prepare(ember_node_t *node, void *state);
EMBER_MUST_USE ember_status_t ember_map_f32_broadcast_prepare(ember_node_t *node,
                                                              void *state);
EMBER_MUST_USE ember_status_t ember_map_f32_scalar_prepare(ember_node_t *node,
                                                           void *state);
// Like _broadcast_prepare, but b may also be a Scalar.
EMBER_MUST_USE ember_status_t ember_map_f32_either_prepare(ember_node_t *node,
                                                           void *state);
// The same with the work of remainders.
EMBER_MUST_USE ember_status_t ember_map_f32_rest_prepare(ember_node_t *node,
                                                         void *state);

// Whole kernels. The expression's operands are a and b.
#define EMBER_MAP_F32_1(NAME, EXPRESSION)                                              \
    static int32_t run(void *state) {                                                  \
        const ember_map_f32_1_t *s = state;                                            \
        for (uint32_t i = 0; i < s->count; i++) {                                      \
            const float a = s->a[i];                                                   \
            s->y[i] = EXPRESSION;                                                      \
        }                                                                              \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_map_f32_1_prepare(node, state);                                   \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_1_t)

#define EMBER_MAP_F32_2(NAME, EXPRESSION)                                              \
    static int32_t run(void *state) {                                                  \
        const ember_map_f32_2_t *s = state;                                            \
        for (uint32_t i = 0; i < s->count; i++) {                                      \
            const float a = s->a[i];                                                   \
            const float b = s->b[i];                                                   \
            s->y[i] = EXPRESSION;                                                      \
        }                                                                              \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_2_t)

#define EMBER_MAP_F32_SCALAR(NAME, EXPRESSION)                                         \
    static int32_t run(void *state) {                                                  \
        const ember_map_f32_scalar_t *s = state;                                       \
        const float b = s->b;                                                          \
        for (uint32_t i = 0; i < s->count; i++) {                                      \
            const float a = s->a[i];                                                   \
            s->y[i] = EXPRESSION;                                                      \
        }                                                                              \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_scalar_t)

// FUNCTION(y, a, a_step, b, b_step, count) computes a run of elements; a step is
// 0 or 1.
#define EMBER_MAP_F32_BROADCAST(NAME, EXPRESSION)                                      \
    static void row(float *y, const float *pa, uint32_t a_step, const float *pb,       \
                    uint32_t b_step, uint32_t count) {                                 \
        for (uint32_t i = 0; i < count; i++) {                                         \
            const float a = *pa;                                                       \
            const float b = *pb;                                                       \
            y[i] = EXPRESSION;                                                         \
            pa += a_step;                                                              \
            pb += b_step;                                                              \
        }                                                                              \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_map_f32_broadcast_run(state, row);                                       \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_broadcast_t)

typedef void (*ember_row_f32_fn)(float *y, const float *a, uint32_t a_step,
                                 const float *b, uint32_t b_step, uint32_t count);
void ember_map_f32_broadcast_run(const ember_map_f32_broadcast_t *state,
                                 ember_row_f32_fn row);

#endif // EMBER_KERNELS_ENGINE_MAP_F32_H
