// SPDX-License-Identifier: Apache-2.0
// The reduction engine: any set of dimensions of a tensor of any dtype and dim
// order becomes one number (or the index of one) each.
//
// A kernel gives functions that accumulate rows of numbers of a compute class. The
// float32 kernels use the same functions with ember_reduce_floats, which reads only
// float, so that a program of floats links no other class.
#ifndef EMBER_KERNELS_ENGINE_REDUCE_H
#define EMBER_KERNELS_ENGINE_REDUCE_H

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

enum {
    EMBER_REDUCE_DIMS = 4, // joined dimensions, kept and reduced ones each
    EMBER_REDUCE_BLOCK = 16,
    EMBER_REDUCE_NONE = 255, // no such output
};

// The accumulator of some elements. All zero at the start.
typedef struct ember_sum {
    ember_number_t value;
    ember_number_t extra; // the rounding error of sums; the mean in the second pass
    int64_t index;        // of the value, in logical order of the reduced dimensions
    uint32_t seen;        // elements before this row
    uint32_t pass;
    uint32_t total;  // elements in all
    double argument; // the state's
} ember_sum_t;

typedef struct ember_reduce_class {
    // Accumulates `count` > 0 numbers.
    void (*take)(ember_sum_t *sum, const void *x, uint32_t count);
    // Ends a pass; NULL: nothing to do. Leaves the result in sum->value.
    void (*finish)(ember_sum_t *sum);
} ember_reduce_class_t;

typedef struct ember_reduce_ops {
    ember_reduce_class_t classes[3]; // by ember_class_t; take NULL: refused
    uint8_t passes;                  // over the elements
    bool needs_elements;             // a reduction of no elements is refused
    bool keeps;                      // the output has the input's dtype
    bool casts; // elements become the output's dtype first, as `dtype=` asks
} ember_reduce_ops_t;

typedef struct ember_reduce {
    const ember_reduce_ops_t *ops;
    const char *x;
    char *value; // NULL: not wanted
    char *index; // NULL: not wanted
    uint32_t total;
    double argument;
    uint8_t class;
    uint8_t x_dtype;
    uint8_t value_dtype;
    uint8_t index_dtype;
    uint8_t kept; // dimensions; 0: the output is empty
    uint8_t reduced;
    int32_t kept_table[EMBER_REDUCE_DIMS * 4];    // {size, value, index, x steps}
    int32_t reduced_table[EMBER_REDUCE_DIMS * 2]; // {size, x step}
} ember_reduce_t;

// The dimensions that argument `arg` names: a list, an int, or all for None and for an
// empty list. Bit d stands for dimension d.
uint32_t ember_reduce_dims(ember_node_t *node, uint32_t arg, uint32_t rank);

// Fills `state` for the reduction of argument 0 over `dims` into the outputs
// `value_arg` and `index_arg`, which may be EMBER_REDUCE_NONE.
EMBER_MUST_USE ember_status_t ember_reduce_prepare(
    ember_node_t *node, ember_reduce_t *state, const ember_reduce_ops_t *ops,
    uint32_t dims, bool keep, uint32_t value_arg, uint32_t index_arg);

// Returns EMBER_UNSUPPORTED if argument 0 or the output is not float32.
EMBER_MUST_USE ember_status_t ember_reduce_prepare_f32(ember_node_t *node,
                                                       ember_reduce_t *state,
                                                       const ember_reduce_ops_t *ops,
                                                       uint32_t dims, bool keep,
                                                       uint32_t value_arg);

// How rows are read and results written.
typedef struct ember_reduce_io {
    void (*load)(const ember_reduce_t *state, void *to, const void *from, int32_t step,
                 uint32_t count);
    void (*store)(const ember_reduce_t *state, ember_sum_t *sum, char *value,
                  char *index);
} ember_reduce_io_t;

extern const ember_reduce_io_t ember_reduce_any;
extern const ember_reduce_io_t ember_reduce_floats;

void ember_reduce_run(const ember_reduce_t *state, const ember_reduce_io_t *io);

// The rest of a kernel after its `prepare`, whose operations are `ops`.
#define EMBER_REDUCE_KERNEL(NAME, IO)                                                  \
    static int32_t run(void *state) {                                                  \
        ember_reduce_run(state, &(IO));                                                \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_STATE_MAY_POINT_TO(ops, ember_##NAME##_ops);                                 \
    EMBER_KERNEL(NAME, ember_reduce_t)

#endif // EMBER_KERNELS_ENGINE_REDUCE_H
