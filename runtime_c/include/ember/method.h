// SPDX-License-Identifier: Apache-2.0
// A loaded method: its instructions, its values, and the memory that holds them.
//
// Lifetime  load once, run any number of times, nothing to free unless it has
//           delegates (ember_method_unload). A method owns no memory: program bytes,
//           arenas and planned memory must outlive it. Do not move the struct.
// Threads   one caller at a time per method; methods of one program share nothing
//           but the immutable program.
// Units     every size is in bytes, every shape is in elements, outermost first.
#ifndef EMBER_METHOD_H
#define EMBER_METHOD_H

#include "ember/backend.h"
#include "ember/kernels.h"
#include "ember/program.h"

EMBER_C_BEGIN

// Memory lent to a method. The SDK computes every size; without it, load with generous
// arenas and read the sizes from ember_method_t.
typedef struct ember_memory {
    ember_arena_t method;        // values and node states; kept while loaded
    const ember_span_t *planned; // planned[i] backs memory id i + 1; zeroed by the
    uint32_t planned_count;      //   caller when it holds buffers without initial state
    ember_span_t temp;           // scratch of one node at a time, at EMBER_ALIGN
} ember_memory_t;

// The parts of the runtime that only some methods need: those in which something can
// change (tensors of dynamic shape or without planned memory, scalar inputs or results,
// buffers with an initial state), and those with delegates, moves or jumps.
typedef struct ember_changing ember_changing_t;
extern const ember_changing_t ember_changing;

// The kernels and backends of a build (generated tables), and the optional parts of the
// runtime.
typedef struct ember_registry {
    const ember_operators_t *operators;
    const ember_backends_t *backends; // may be NULL
    const ember_changing_t *changing; // NULL: only fixed methods load; saves 3 kB
} ember_registry_t;

typedef struct ember_step {
    ember_run_fn run;
    void *state;
} ember_step_t;

#define EMBER_NO_BUDGET UINT64_MAX

// Fields are internal; `arena`, `temp_used` and `work` may be read, and `cleared` and
// `cleared_count` may be set after a load.
typedef struct ember_method {
    ember_method_meta_t meta;
    ember_step_t *steps;                   // (instruction_count,)
    const struct ember_prepared *prepared; // NULL: loaded from a program
    const ember_registry_t *registry;
    const ember_changing_t *parts;      // NULL: loaded as a fixed method
    const ember_operator_t **operators; // the plan's operators, resolved
    ember_offsets_t constants;          // of the program
    struct ember_recent *recent;        // only while the method is loaded
    ember_slot_t *slots;                // (slot_count,), by value index
    uint32_t slot_count;
    uint32_t *changing; // bitmap of values that have a slot
    uint32_t tracked;   // values in the bitmap
    struct ember_delegate *delegates;
    uint32_t list_items; // items of lists that one load, or one node prepared again,
    uint32_t credit;     //   may visit, and those left
    ember_arena_t arena;
    const ember_span_t *planned;
    uint32_t planned_count;
    uint32_t cleared_count;
    const ember_span_t *cleared; // (cleared_count,): what ember_method_reset() sets to
    ember_span_t temp;           //   zero; NULL: all planned memory
    size_t temp_used;            // bytes of scratch that the largest node needs
    const ember_delegate_tracer_t *delegate_tracer; // NULL: none
    bool changes;           // found while loading as a fixed method
    bool in_scratch;        // a tensor read since is in temp, at least in part
    uint64_t clock;         // rises whenever a slot changes
    uint64_t work;          // steps of one pass over all fixed nodes
    uint64_t volatile_work; // of all volatile nodes, for their largest shapes
    uint64_t *work_before;  // (instruction_count,), of them; only with `parts`
    uint64_t budget;        // steps one execute may take
    uint64_t left;          // rest of the budget, while it executes
    ember_error_t error;    // of the node being prepared
    ember_flat_t flat;      // reads the program
} ember_method_t;

// Loads the method called `name` and prepares every one of its nodes.
//
// All checks of fixed nodes happen here: kinds, shapes, dtypes, kernel presence, arena
// sizes. A node whose arguments can still change is prepared again after they do.
//
// Returns EMBER_OK, or
//   EMBER_BAD_PROGRAM   the program contradicts itself; `err` says where
//   EMBER_UNSUPPORTED   no kernel or backend in this build accepts a node, or
//                        something can change and the registry has no `changing`
//   EMBER_NO_MEMORY     an arena or a planned buffer is smaller than needed
//   EMBER_NOT_FOUND     no such method, or a key that no data file has
//   EMBER_BACKEND       a backend refused its delegate
// `err` may be NULL; otherwise it names the first failure and its instruction.
EMBER_MUST_USE ember_status_t ember_method_load(
    ember_method_t *method, const ember_program_t *program, const char *name,
    const ember_registry_t *registry, const ember_memory_t *memory, ember_error_t *err);

// Destroys the method's delegates. Needed only if it has any.
void ember_method_unload(ember_method_t *method);

// Bytes of the program that this loaded method no longer needs: blobs that backends
// released and that the rest of the program (other delegates of the method, constants,
// named data) does not use. If the program is in RAM, the caller may reuse them, unless
// another method of the program is or will be loaded, or tests of a bundle around it
// are still to be read: a malformed bundle may have these inside its program. False
// past the end; `*bytes` may be empty.
bool ember_method_spare(const ember_method_t *method, uint32_t index,
                        ember_bytes_t *bytes);

// Limits the work of every execute, so that a program cannot run forever: it fails with
// EMBER_BUDGET before it would exceed `steps` elementary steps; 0: no limit. A step is
// about one element that a kernel reads, writes or multiplies. The bound of a kernel's
// steps is known and charged before the kernel runs; without jumps and dynamic shapes,
// execute fails before anything has run.
void ember_method_set_budget(ember_method_t *method, uint64_t steps);

// Input or output `index` as it is now. BAD_ARGUMENT past the end.
EMBER_MUST_USE ember_status_t ember_method_input(ember_method_t *method, uint32_t index,
                                                 ember_value_t *value);
EMBER_MUST_USE ember_status_t ember_method_output(ember_method_t *method,
                                                  uint32_t index, ember_value_t *value);

// Gives input `index` a value. A tensor with planned memory is copied there; one
// without keeps the caller's pointer (zero copy). Its dtype and dim_order must be as
// declared, its shape within the declared one; dim_order may be NULL, and dimensions of
// size 1 may be anywhere in it. A scalar that the program does not compute with must
// equal the exported value. BAD_ARGUMENT if the value does not fit.
EMBER_MUST_USE ember_status_t ember_method_set_input(ember_method_t *method,
                                                     uint32_t index,
                                                     const ember_value_t *value,
                                                     ember_error_t *err);

// Sets the shape of a dynamic input, whose data the caller then writes in place.
EMBER_MUST_USE ember_status_t ember_method_resize_input(ember_method_t *method,
                                                        uint32_t index, uint32_t rank,
                                                        const int32_t *sizes,
                                                        ember_error_t *err);

// Lends memory to an output without planned memory; `size` must hold its bound.
EMBER_MUST_USE ember_status_t ember_method_set_output(ember_method_t *method,
                                                      uint32_t index, void *data,
                                                      size_t size, ember_error_t *err);

// The tensor that the program calls `name`, as it is now: a buffer of the model by its
// fully qualified name, if the program was exported with names. NOT_FOUND if there is
// none. Searches all values of the method.
EMBER_MUST_USE ember_status_t ember_method_attribute(ember_method_t *method,
                                                     const char *name,
                                                     ember_value_t *value);

// Lends memory to the buffer called `name`, which holds state and has no planned memory
// (`alloc_mutable_buffers=False` of the exporter). Call it before the first execute,
// with memory zeroed by the caller. Methods that are lent the same memory share the
// state. `size` must hold its bound. NOT_FOUND as above; BAD_ARGUMENT if the plan gave
// it memory, or `data` is too small or misaligned.
EMBER_MUST_USE ember_status_t ember_method_set_attribute(ember_method_t *method,
                                                         const char *name, void *data,
                                                         size_t size,
                                                         ember_error_t *err);

// Restores the states of the method (the buffers that it keeps between runs) to what
// they were after loading: the initial values in the program, or zero. Cannot fail;
// takes about as long as writing the states.
//
// A method loaded by ember_model_load() keeps its inputs if the SDK planned its memory.
// For any other method all planned memory is set to zero, including its inputs (write
// them again) and what other methods keep there, unless `cleared` says where states
// are. Memory that the application lent (ember_method_set_attribute) stays as it is,
// and random numbers go on.
void ember_method_reset(ember_method_t *method);

// Runs the method once. Never allocates, never logs. Fails as load does (for nodes
// prepared again), or with EMBER_DATA_RANGE, EMBER_BUDGET or EMBER_BACKEND.
EMBER_MUST_USE ember_status_t ember_method_execute(ember_method_t *method,
                                                   ember_error_t *err);

EMBER_C_END

#endif // EMBER_METHOD_H
