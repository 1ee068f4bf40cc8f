// SPDX-License-Identifier: Apache-2.0
// The element-wise engine: y = f(a, b, ...) over every dtype, with broadcasting,
// any dim orders and ATen's type promotion.
//
// A kernel gives one function for each compute class (element.h) and gets rows of
// numbers. Operands are the call's first arguments; each may be a tensor or a
// Scalar, so one kernel serves `add.out` and `add.Scalar_out`. The output is the
// last argument of the schema. It may be the memory of an input.
//
//     EMBER_ROW2(f32, float, a * b)
//     EMBER_ROW2(f64, double, a * b)
//     EMBER_ROW2(s64, int64_t, (int64_t)((uint64_t)a * (uint64_t)b))
//     static const ember_map_ops_t ops = {{f32, f64, s64}, .inputs = 2};
//     EMBER_MAP_KERNEL(mul, 2);
#ifndef EMBER_KERNELS_ENGINE_MAP_H
#define EMBER_KERNELS_ENGINE_MAP_H

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

enum { EMBER_MAP_INPUTS = EMBER_WALK_OPERANDS - 1 };

// Computes `count` numbers of one class; x[k] is operand k. `y` may be an x[k].
typedef void (*ember_row_fn)(void *y, const void *const *x, uint32_t count);

enum {
    EMBER_MAP_FLOAT = 1, // integers are computed in float32
    EMBER_MAP_ANY = 2,   // an output of any dtype takes the result: truth values, casts
    EMBER_MAP_NUMBER = 4, // not of bools
    EMBER_MAP_SAME = 16,  // the output has the dtype of the result
    EMBER_MAP_ALPHA = 8,  // operand 2 is not a float where the others are integers
    EMBER_MAP_BOOLS = 32, // rows write bools
    EMBER_MAP_TRUTH = EMBER_MAP_BOOLS | EMBER_MAP_ANY,
};

typedef struct ember_map_ops {
    ember_row_fn rows[3]; // by ember_class_t; NULL: not for this class
    uint8_t inputs;       // operands: arguments 0 to inputs - 1
    uint8_t unpromoted;   // bit k: operand k has no say in the dtype
    uint8_t fitting;      // bit k: that of a Scalar operand k must hold its value
    uint8_t flags;        // EMBER_MAP_*
    uint8_t steps;        // of an element, beside EMBER_STEPS_ANY
    // What operands 1 and 2 are when they are None, by ember_class_t; NULL: never None.
    const ember_number_t (*bounds)[3];
} ember_map_ops_t;

// The lowest numbers, and the highest.
extern const ember_number_t ember_map_bounds[2][3];

typedef struct ember_map {
    const ember_map_ops_t *ops;
    uint8_t class;
    uint8_t dims;   // of the table; 0: no elements
    uint8_t direct; // bit k: operand k is an array of the class, the output 0
    uint8_t dtype;  // of the result, before it is cast to the output's
    uint8_t result; // what rows write: numbers of the class, or bools
    uint8_t dtypes[EMBER_WALK_OPERANDS]; // the output, then the operands
    char *data[EMBER_WALK_OPERANDS];
} ember_map_t;

// States for 1 to 4 operands: the values of Scalar operands, and the walk.
#define EMBER_MAP_STATE(INPUTS)                                                        \
    typedef struct ember_map##INPUTS {                                                 \
        ember_map_t map;                                                               \
        int32_t table[EMBER_WALK_ITEMS((INPUTS) + 1)];                                 \
        ember_number_t scalars[INPUTS];                                                \
    } ember_map##INPUTS##_t
EMBER_MAP_STATE(1);
EMBER_MAP_STATE(2);
EMBER_MAP_STATE(3);
EMBER_MAP_STATE(4);

EMBER_MUST_USE ember_status_t ember_map_prepare(ember_node_t *node,
                                                const ember_map_ops_t *ops,
                                                ember_map_t *map, int32_t *table,
                                                ember_number_t *scalars);
void ember_map_run(const ember_map_t *map, const int32_t *table);

// The argument that the call writes: the last before its return value.
static inline uint32_t ember_map_out(const ember_node_t *node) {
    const uint32_t count = ember_node_arg_count(node);
    return count < 2 ? 0 : count - 2;
}

// The kernel's run function, and a prepare that picks `ops`.
#define EMBER_MAP_RUN(INPUTS)                                                          \
    static int32_t run(void *state) {                                                  \
        const ember_map##INPUTS##_t *s = state;                                        \
        ember_map_run(&s->map, s->table);                                              \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare_with(ember_node_t *node, void *state,                \
                                       const ember_map_ops_t *chosen) {                \
        ember_map##INPUTS##_t *s = state;                                              \
        return ember_map_prepare(node, chosen, &s->map, s->table, s->scalars);         \
    }
// A whole kernel whose operations are `ops`.
#define EMBER_MAP_KERNEL(NAME, INPUTS)                                                 \
    EMBER_MAP_RUN(INPUTS)                                                              \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return prepare_with(node, state, &ops);                                        \
    }                                                                                  \
    EMBER_STATE_MAY_POINT_TO(ops, ember_##NAME##_ops);                                 \
    EMBER_KERNEL(NAME, ember_map##INPUTS##_t)

#define EMBER_ROW_OF(RESULT, NAME, OPERANDS, EXPRESSION)                               \
    static void NAME(void *y, const void *const *x, uint32_t count) {                  \
        for (uint32_t i = 0; i < count; i++) {                                         \
            OPERANDS((RESULT *)y)[i] = (RESULT)(EXPRESSION);                           \
        }                                                                              \
    }
#define EMBER_ROW(NAME, TYPE, OPERANDS, EXPRESSION)                                    \
    EMBER_ROW_OF(TYPE, NAME, OPERANDS, EXPRESSION)
#define EMBER_OPERAND(TYPE, NAME, K) const TYPE NAME = ((const TYPE *)x[K])[i];
// Rows of one to four operands, named a, b, c, d in the expression.
#define EMBER_ROW1(NAME, TYPE, EXPRESSION)                                             \
    EMBER_ROW(NAME, TYPE, EMBER_OPERAND(TYPE, a, 0), EXPRESSION)
#define EMBER_ROW2(NAME, TYPE, EXPRESSION)                                             \
    EMBER_ROW(NAME, TYPE, EMBER_OPERAND(TYPE, a, 0) EMBER_OPERAND(TYPE, b, 1),         \
              EXPRESSION)
#define EMBER_ROW3(NAME, TYPE, EXPRESSION)                                             \
    EMBER_ROW(NAME, TYPE,                                                              \
              EMBER_OPERAND(TYPE, a, 0) EMBER_OPERAND(TYPE, b, 1)                      \
                  EMBER_OPERAND(TYPE, c, 2),                                           \
              EXPRESSION)
#define EMBER_ROW4(NAME, TYPE, EXPRESSION)                                             \
    EMBER_ROW(NAME, TYPE,                                                              \
              EMBER_OPERAND(TYPE, a, 0) EMBER_OPERAND(TYPE, b, 1)                      \
                  EMBER_OPERAND(TYPE, c, 2) EMBER_OPERAND(TYPE, d, 3),                 \
              EXPRESSION)

// Rows of truth values of one or two operands, for EMBER_MAP_TRUTH.
#define EMBER_TRUTH1(NAME, TYPE, EXPRESSION)                                           \
    EMBER_ROW_OF(uint8_t, NAME, EMBER_OPERAND(TYPE, a, 0), EXPRESSION)
#define EMBER_TRUTH2(NAME, TYPE, EXPRESSION)                                           \
    EMBER_ROW_OF(uint8_t, NAME, EMBER_OPERAND(TYPE, a, 0) EMBER_OPERAND(TYPE, b, 1),   \
                 EXPRESSION)

// Integer arithmetic that wraps.
static inline int64_t ember_wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ember_wrap_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t ember_wrap_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

#endif // EMBER_KERNELS_ENGINE_MAP_H
