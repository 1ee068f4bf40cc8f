// SPDX-License-Identifier: Apache-2.0
// What a loaded method keeps in RAM besides its steps: slots, volatile nodes,
// delegates, and the node handle that kernels see. Internal.
//
// Only a value that can change has a slot. All others are decoded from the program
// whenever they are needed, so they cost no RAM. Most methods have no such value: they
// are loaded without looking for any (load.c).
#ifndef EMBER_METHOD_STATE_H
#define EMBER_METHOD_STATE_H

#include "ember/event.h"
#include "ember/method.h"
#include "plan.h"

// Records a failure in the method's own error.
#define fail(method, status, message) ember_fail(&(method)->error, (status), (message))

enum { NO_SOURCE = -1 };
#define NO_VALUE UINT32_MAX // not the index of any value

struct ember_slot {
    ember_method_t *method;
    uint32_t index; // of the value
    uint64_t stamp; // the method's clock when the slot last changed
    int32_t source; // the value a MoveCall made it stand for, or NO_SOURCE
    uint8_t kind;   // ember_kind_t, of scalars
    bool constant;  // tensor: bound to memory that must not be written
    bool read;      // an argument of some instruction
    bool view;      // tensor: shares the memory of another one
    union {
        int64_t as_int;
        bool as_bool;
        double as_double;
        struct {
            void *data;
            int32_t *sizes;    // (rank,) in the arena; NULL: static, as declared
            uint32_t capacity; // bytes at data
        } tensor;
    };
};

struct ember_delegate {
    const ember_backend_t *backend; // NULL: not started
    void *handle;
    bool released; // nothing reads its blob any more
    uint64_t work; // steps of one execute
};

// The bytes that a DelegateReference refers to; empty if there is none. False if the
// reference is invalid.
EMBER_LOCAL bool ember_delegate_blob(ember_flat_t *flat, const ember_program_t *program,
                                     const uint8_t *where, ember_bytes_t *blob);

// A call while it is prepared, or while a delegate executes it.
struct ember_node {
    ember_method_t *method;
    ember_vector_t args; // u32 value indices
    uint32_t instruction;
    const ember_kernel_t *kernel; // the candidate that prepares it
    bool unbound;                 // a needed tensor has no memory yet
    bool strict;                  // which is an error: a delegate is about to use it
    ember_status_t status;
    uint64_t work; // steps of run: ember_node_work()
    size_t ahead;  // bytes of scratch before the block
};

// State of a node whose arguments can change.
typedef struct ember_volatile {
    ember_method_t *method;
    const ember_operator_t *operation;
    ember_run_fn run;     // of the candidate that was prepared last
    void *state;          // large enough for every candidate
    uint64_t prepared_at; // clock; 0: not yet
    uint64_t work;        // steps of run, as prepared last
    uint32_t instruction;
    uint32_t slot_count;
    ember_slot_t *slots[]; // (slot_count,): what its arguments depend on
} ember_volatile_t;

// What only methods need in which something can change: slots, volatile nodes,
// delegates, moves and jumps. It is reached only through `ember_changing` of the
// registry, so firmware with fixed methods links none of it.
struct ember_changing {
    // Finds what can change, creates the slots, and copies initial states into planned
    // memory.
    ember_status_t (*load_values)(ember_method_t *method);
    // Creates and prepares the step of a kernel call.
    ember_status_t (*load_call)(ember_node_t *node, const ember_operator_t *operation);
    // The same for any other instruction.
    ember_status_t (*load_other)(ember_method_t *method, uint32_t index);
    uint32_t (*source)(const ember_method_t *method, uint32_t index,
                       ember_slot_t **slot);
    // The tensor of a slot, whose table in the program is `table`; false if it is not a
    // tensor.
    bool (*tensor)(ember_slot_t *slot, const uint8_t *table, ember_tensor_t *tensor);
    bool (*reshape)(ember_method_t *method, uint32_t index, ember_slot_t *slot,
                    uint32_t rank, const int32_t *sizes);
    void (*unload)(ember_method_t *method);
};

// Reads a Tensor table, and finds the memory that it has without a slot, or initially:
// planned or constant. plan->tensor.data stays NULL if there is none. False on failure.
EMBER_LOCAL bool ember_method_place(ember_method_t *method, const uint8_t *table,
                                    ember_plan_tensor_t *plan);

// Copies a buffer's initial state into its planned memory.
EMBER_LOCAL void ember_method_set_state(ember_method_t *method,
                                        const ember_plan_tensor_t *plan);

// Caches of recently decoded values without slot, while a method is loaded: most
// tensors are the output of one call and then the input of the next, and calls share
// scalars and lists. The low bits of a value's index are its place.
enum { RECENT_TENSORS = 2, RECENT_PLAIN = 4 };

typedef struct ember_recent_plain {
    uint64_t content[sizeof(void *) / 4]; // of any value but a tensor
    uint32_t index;                       // of the value
    ember_kind_t kind;
} ember_recent_plain_t;

typedef struct ember_recent_tensor {
    uint32_t index;
    ember_tensor_t tensor;
} ember_recent_tensor_t;

typedef struct ember_recent {
    ember_recent_plain_t plain[RECENT_PLAIN];
    ember_recent_tensor_t tensors[RECENT_TENSORS];
} ember_recent_t;

// An index that belongs elsewhere makes a place empty.
static inline void ember_recent_forget_tensors(ember_recent_t *recent) {
    for (uint32_t i = 0; i < RECENT_TENSORS; i++) {
        recent->tensors[i].index = i + 1;
    }
}

static inline void ember_recent_forget(ember_recent_t *recent) {
    ember_recent_forget_tensors(recent);
    for (uint32_t i = 0; i < RECENT_PLAIN; i++) {
        recent->plain[i].index = i + 1;
    }
}

// Sets a scalar from the bits that its kind has in as_int.
EMBER_LOCAL void ember_slot_store(ember_slot_t *slot, ember_kind_t kind, int64_t bits);

// Records that `slot` changed.
EMBER_LOCAL void ember_slot_touch(ember_slot_t *slot);

// The slot of value `index`, or NULL.
EMBER_LOCAL ember_slot_t *ember_method_slot(const ember_method_t *method,
                                            uint32_t index);

// The value that `index` stands for now (MoveCall), and its slot or NULL.
EMBER_INLINE uint32_t ember_method_resolve(const ember_method_t *method, uint32_t index,
                                           ember_slot_t **slot) {
    *slot = NULL;
    return method->parts == NULL ? index : method->parts->source(method, index, slot);
}

// Value `index` as it is now; EMBER_NONE if it is malformed, which method->flat
// records.
EMBER_LOCAL void ember_method_value(ember_method_t *method, uint32_t index,
                                    ember_value_t *value);

// The same, but of a tensor only the kind.
EMBER_LOCAL void ember_method_scalar(ember_method_t *method, uint32_t index,
                                     ember_value_t *value);

// Only its kind.
EMBER_LOCAL ember_kind_t ember_method_kind(ember_method_t *method, uint32_t index);

// Only a tensor; false if it is something else.
EMBER_LOCAL bool ember_method_tensor(ember_method_t *method, uint32_t index,
                                     ember_tensor_t *tensor);

// The program's value `index` and its table, ignoring moves: ember_plan_value().
EMBER_INLINE const uint8_t *ember_method_body(ember_method_t *method, uint32_t index,
                                              ember_value_t *value) {
    return ember_plan_value(&method->flat, method->meta.plan[PLAN_VALUES].at, index,
                            value);
}

// Makes a shape current: a static tensor must have it, a dynamic one takes it. False if
// it exceeds the bound or the memory. `slot` may be NULL.
EMBER_LOCAL bool ember_method_reshape(ember_method_t *method, uint32_t index,
                                      ember_slot_t *slot, uint32_t rank,
                                      const int32_t *sizes);

// Reads the body of a kernel or delegate call: CALL_*.
EMBER_LOCAL void ember_method_call(ember_method_t *method, const uint8_t *body,
                                   ember_field_t *fields);

// Records that the method's arena is too small; NO_MEMORY.
EMBER_LOCAL ember_status_t ember_method_no_memory(ember_method_t *method);

// Records that an instruction refers to something the method does not have;
// BAD_PROGRAM.
EMBER_LOCAL ember_status_t ember_method_bad_index(ember_method_t *method);

// `size` bytes of the arena, aligned for any state; NULL is recorded as a failure.
EMBER_LOCAL void *ember_method_state(ember_method_t *method, size_t size);

// Creates and prepares step `index`.
EMBER_LOCAL ember_status_t ember_method_load_step(ember_method_t *method,
                                                  uint32_t index);

// Prepares a call with fixed arguments, and creates its step.
EMBER_LOCAL ember_status_t ember_method_load_fixed(ember_node_t *node,
                                                   const ember_operator_t *operation);

// The table entry for an operator's name and overload, or NULL. The search begins at
// `first`.
EMBER_LOCAL const ember_operator_t *
ember_operators_find(const ember_operators_t *operators, const ember_field_t *names,
                     uint32_t first);

// Parts of execute shared with its traced twin. The work of fixed nodes is charged as a
// whole, before the run (false: over the budget); jumps charge or refund the difference
// (flow.c), volatile nodes are charged one by one (volatile.c).
EMBER_INLINE bool ember_method_begin(ember_method_t *method) {
    method->error.status = EMBER_OK;
    method->left = method->budget - method->work;
    return method->budget >= method->work;
}
EMBER_LOCAL ember_status_t ember_method_fail(ember_method_t *method,
                                             uint32_t instruction, int32_t status,
                                             ember_error_t *err);

// Prepares the first candidate that accepts the node. Its state is `*state`, or, if
// that is NULL, memory from the method's arena, which `*state` receives.
EMBER_LOCAL ember_status_t ember_node_prepare(ember_node_t *node,
                                              const ember_operator_t *operation,
                                              void **state);

// The same, of a call with the operator's own argument list.
EMBER_LOCAL ember_status_t ember_node_try(ember_node_t *node,
                                          const ember_kernel_t *const *candidate,
                                          void **state);

// Elementary steps of an instruction besides those of its kernel for the elements: the
// cost of a call, however small.
enum { EMBER_CALL_STEPS = 32 };

// Counts of steps saturate here.
#define EMBER_MOST_WORK (UINT64_C(1) << 62)

// Adds at most 2^63 + 2^62 steps to `*work`, up to EMBER_MOST_WORK.
EMBER_LOCAL void ember_work_add(uint64_t *work, uint64_t steps);

// Takes steps from the rest of the budget. False if there are not enough.
EMBER_LOCAL bool ember_method_charge(ember_method_t *method, uint64_t steps);

// --- parts of ember_changing -------------------------------------------------------

EMBER_LOCAL ember_status_t ember_method_load_values(ember_method_t *method);
EMBER_LOCAL ember_status_t ember_volatile_load(ember_node_t *node,
                                               const ember_operator_t *operation);
EMBER_LOCAL uint32_t ember_slot_source(const ember_method_t *method, uint32_t index,
                                       ember_slot_t **slot);
EMBER_LOCAL bool ember_slot_tensor(ember_slot_t *slot, const uint8_t *table,
                                   ember_tensor_t *tensor);

// Starts the delegate of a DelegateCall if needed, and creates its step.
EMBER_LOCAL ember_status_t ember_method_load_delegate(ember_method_t *method,
                                                      const ember_field_t *call,
                                                      ember_step_t *step);

// Tag of instruction `index`, and the fields of its body: CALL_*, MOVE_*, JUMP_* or
// FREE_*.
EMBER_LOCAL uint32_t ember_method_instruction(ember_method_t *method, uint32_t index,
                                              ember_field_t *fields);

// Records that an instruction reads value `index`; or everything that a call reads,
// list items included.
EMBER_LOCAL void ember_method_read(ember_method_t *method, uint32_t index);
EMBER_LOCAL void ember_method_read_all(ember_method_t *method, ember_vector_t args);

// The run function of volatile nodes.
EMBER_LOCAL int32_t ember_volatile_run(void *state);

#endif // EMBER_METHOD_STATE_H
