// SPDX-License-Identifier: Apache-2.0
// Operators on numbers: sizes, loop counters, conditions. A call's last argument is its
// result. The arguments are read when the node is prepared, which is repeated when one
// of them changed, so run only stores what prepare computed.
#ifndef EMBER_KERNELS_ENGINE_PRIM_H
#define EMBER_KERNELS_ENGINE_PRIM_H

#include "ember/node.h"

typedef struct ember_prim {
    ember_slot_t *slot;
    ember_kind_t kind; // EMBER_NONE: no result; run fails
    union {
        int64_t as_int;
        double as_double;
    };
} ember_prim_t;

// Reads the first `count` arguments into `values`, and the slot of the next one.
EMBER_MUST_USE ember_status_t ember_prim_read(ember_node_t *node, ember_prim_t *prim,
                                              uint32_t count, ember_value_t *values);

int32_t ember_prim_run(void *state);

static inline double ember_prim_double(const ember_value_t *value) {
    return value->kind == EMBER_DOUBLE ? value->as_double : (double)value->as_int;
}

static inline void ember_prim_set_int(ember_prim_t *prim, int64_t number) {
    prim->kind = EMBER_INT;
    prim->as_int = number;
}

static inline void ember_prim_set_bool(ember_prim_t *prim, bool truth) {
    prim->kind = EMBER_BOOL;
    prim->as_int = truth;
}

static inline void ember_prim_set_double(ember_prim_t *prim, double number) {
    prim->kind = EMBER_DOUBLE;
    prim->as_double = number;
}

// Sets an int from a double of any value.
void ember_prim_set_whole(ember_prim_t *prim, double number);

// A kernel of COUNT arguments around `static void compute(ember_prim_t *prim, const
// ember_value_t *values)`.
#define EMBER_PRIM_KERNEL(NAME, COUNT)                                                 \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        ember_value_t values[COUNT];                                                   \
        const ember_status_t status = ember_prim_read(node, state, COUNT, values);     \
        if (status == EMBER_OK) {                                                      \
            compute(state, values);                                                    \
        }                                                                              \
        return status;                                                                 \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_prim_run(state);                                                  \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_prim_t)

#endif // EMBER_KERNELS_ENGINE_PRIM_H
