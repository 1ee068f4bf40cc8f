// SPDX-License-Identifier: Apache-2.0
// Kernels: their two functions, and the accessors that `prepare` may call.
//
// A kernel has two functions. `prepare` sees the call's arguments, makes every check,
// sets the shape of its outputs and fills `state`, of a type of the kernel's choice.
// `run` sees only the state and computes. Prepare runs once or twice when the method is
// loaded. A node whose arguments can change (dynamic shape, control flow, caller-bound
// memory) is prepared again before `run` if they did.
//
// The accessors below are safe on any program: the kind of an argument is checked
// when it is asked for. The first failure sticks to the node and later accessors
// return zeros, so prepare may read everything it needs and test ember_node_status()
// once, before it relies on anything.
//
// Arguments are numbered as in the operator's ATen schema, outs included; a call
// also ends with its return value (the out again, or a list of the outs), which a
// kernel does not need.
#ifndef EMBER_NODE_H
#define EMBER_NODE_H

#include "ember/status.h"
#include "ember/value.h"

EMBER_C_BEGIN

typedef struct ember_node ember_node_t;
typedef struct ember_slot ember_slot_t;

// Fills `state` for `node`. Returns EMBER_OK; EMBER_UNSUPPORTED to let the
// operator's next candidate try; anything else ends the load.
typedef ember_status_t (*ember_prepare_fn)(ember_node_t *node, void *state);

// Computes. Returns EMBER_OK, or EMBER_DATA_RANGE if an index read from tensor data is
// out of range. (The runtime's control-flow nodes return a positive value: the next
// instruction's index + 1.)
typedef int32_t (*ember_run_fn)(void *state);

typedef struct ember_kernel {
    ember_prepare_fn prepare;
    ember_run_fn run;
    uint32_t state_size; // bytes
    const char *name;    // NULL with EMBER_ERROR_STRINGS 0
} ember_kernel_t;

// Defines the descriptor `ember_kernel_<NAME>` from the file's static functions
// `prepare` and `run`, and a second name for `run`, `ember_run_<NAME>`: firmware with
// prepared nodes links no descriptor (prepared.h).
#if EMBER_ERROR_STRINGS
#define EMBER_KERNEL_NAME(NAME) #NAME
#else
#define EMBER_KERNEL_NAME(NAME) 0
#endif
#define EMBER_KERNEL(NAME, STATE_TYPE)                                                 \
    int32_t ember_run_##NAME(void *state) __attribute__((alias("run")));               \
    extern const ember_kernel_t ember_kernel_##NAME;                                   \
    const ember_kernel_t ember_kernel_##NAME = {prepare, run, sizeof(STATE_TYPE),      \
                                                EMBER_KERNEL_NAME(NAME)}

// A second, global name for the static constant or function LOCAL of this file. With
// it, `ember build --prepared` can prepare states that point to LOCAL: its generated
// tables must name what they point to. NAME is unique: ember_<kernel>_<local>.
#define EMBER_STATE_MAY_POINT_TO(LOCAL, NAME)                                          \
    extern __typeof__(LOCAL) NAME __attribute__((alias(#LOCAL)))

// --- state of the checks ---------------------------------------------------

// EMBER_OK, or the first failure of an accessor or ember_node_fail().
EMBER_MUST_USE ember_status_t ember_node_status(const ember_node_t *node);

// Records a failure and returns it. Use this macro, so that messages can be compiled
// out. They are static: "conv2d: input has %d channels" is not possible.
#if EMBER_ERROR_STRINGS
#define ember_node_fail(node, status, message)                                         \
    ember_node_note((node), (status), (message))
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status,
                               const char *message);
#else
#define ember_node_fail(node, status, message) ember_node_note((node), (status))
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status);
#endif

// --- reading arguments -------------------------------------------------------

// Arguments of the call, its trailing return value included.
uint32_t ember_node_arg_count(const ember_node_t *node);

// Kind of argument `arg`; EMBER_NONE past the end.
ember_kind_t ember_node_kind(ember_node_t *node, uint32_t arg);

// A tensor that run only reads.
void ember_node_tensor(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);

// A tensor that may be None: returns false then, with `tensor` all zero.
bool ember_node_optional_tensor(ember_node_t *node, uint32_t arg,
                                ember_tensor_t *tensor);

int64_t ember_node_int(ember_node_t *node, uint32_t arg);   // Int or Bool
double ember_node_double(ember_node_t *node, uint32_t arg); // Double, Int or Bool
bool ember_node_bool(ember_node_t *node, uint32_t arg);     // Bool or Int
int64_t ember_node_int_or(ember_node_t *node, uint32_t arg, int64_t when_none);

// ember_node_int() in [low, high]; BAD_PROGRAM otherwise.
int32_t ember_node_int_in(ember_node_t *node, uint32_t arg, int64_t low, int64_t high);

// A dimension, counted from the end if negative; the result is in [0, max(rank, 1)).
uint32_t ember_node_dim(ember_node_t *node, uint32_t arg, uint32_t rank);

// A Scalar argument: kind is EMBER_INT, EMBER_BOOL or EMBER_DOUBLE.
ember_value_t ember_node_scalar(ember_node_t *node, uint32_t arg);

// A string; `length` in bytes.
const char *ember_node_string(ember_node_t *node, uint32_t arg, uint32_t *length);

// Items of a list argument of any kind; 0 when it is None.
uint32_t ember_node_list_count(ember_node_t *node, uint32_t arg);
int64_t ember_node_list_int(ember_node_t *node, uint32_t arg, uint32_t item);
double ember_node_list_double(ember_node_t *node, uint32_t arg, uint32_t item);
bool ember_node_list_bool(ember_node_t *node, uint32_t arg, uint32_t item);
// False, and `tensor` all zero, if the item is None.
bool ember_node_list_tensor(ember_node_t *node, uint32_t arg, uint32_t item,
                            ember_tensor_t *tensor);
// An item of a TensorList that run writes; its shape is set by
// ember_node_list_output().
void ember_node_list_output(ember_node_t *node, uint32_t arg, uint32_t item,
                            uint32_t rank, const int32_t *sizes,
                            ember_tensor_t *tensor);

// Copies an int list of at most `most` items to `items`; returns their count.
uint32_t ember_node_ints(ember_node_t *node, uint32_t arg, int32_t *items,
                         uint32_t most);

// --- outputs -----------------------------------------------------------------

// A tensor that run writes, given the shape (rank, sizes) that it must have now: a
// static tensor must have it already, one of bounded dynamic shape takes it.
// BAD_PROGRAM if it does not fit; the tensor may not be a constant.
void ember_node_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor);

// The same with the shape of `like`.
void ember_node_output_like(ember_node_t *node, uint32_t arg,
                            const ember_tensor_t *like, ember_tensor_t *tensor);

// A tensor that run writes in part or in place: its shape stays as it is.
void ember_node_inout(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);

// Makes output `arg` a view: shape (rank, sizes), memory of `base`. For operators
// flagged binds_output (et_view), whose run has nothing left to do.
void ember_node_bind(ember_node_t *node, uint32_t arg, uint32_t rank,
                     const int32_t *sizes, const ember_tensor_t *base);

// The slot of an argument that run changes: a scalar result, the shape of a
// data-dependent output. BAD_PROGRAM if it cannot change.
ember_slot_t *ember_node_slot(ember_node_t *node, uint32_t arg);

// `bytes` of scratch at EMBER_ALIGN, valid only during run and clobbered by the next
// node. One block per prepare. The size must not depend on sizeof(void *).
void *ember_node_scratch(ember_node_t *node, size_t bytes);

// For code that wraps an engine: `bytes` of scratch before the block that the next
// ember_node_scratch() of the same prepare returns.
void *ember_node_scratch_before(ember_node_t *node, size_t bytes);

// Adds times * steps to the bound of run's work, in elementary steps: about the number
// of instructions in its innermost loops, within a constant factor. The bound already
// includes one step for each element of every tensor that prepare asked for; a kernel
// whose run takes more (products, windows, sorting) adds that in prepare, for any
// values.
void ember_node_work(ember_node_t *node, uint32_t times, uint32_t steps);

// Steps of a result in addition to those of its elements: locating them, scaling,
// rounding and clamping the result, and the square roots and divisions of a row.
enum { EMBER_STEPS_RESULT = 16 };

// A seed for random operators: another one for each call of the method and each time it
// is prepared, in a sequence that is the same after every load.
uint64_t ember_node_seed(const ember_node_t *node);

// --- for run: changing what slots hold ----------------------------------------

void ember_slot_set_int(ember_slot_t *slot, int64_t value);
void ember_slot_set_bool(ember_slot_t *slot, bool value);
void ember_slot_set_double(ember_slot_t *slot, double value);
// Gives the tensor a new shape within its bound; EMBER_DATA_RANGE if it exceeds it.
ember_status_t ember_slot_resize(ember_slot_t *slot, uint32_t rank,
                                 const int32_t *sizes);

EMBER_C_END

#endif // EMBER_NODE_H
