// SPDX-License-Identifier: Apache-2.0
// The models in this firmware, as `ember build` generated them: their bytes, the
// kernels they need, and memory of exact size. An application loads a method and runs
// it:
//
//     static ember_program_t program;
//     static ember_method_t method;
//     ember_model_open(&program, NULL);
//     ember_model_load(&method, &program, "forward", NULL);
//     ember_method_execute(&method, NULL);
//
// With several models `ember_model` is the first. Each is called `ember_model_<name>`
// in the generated ember_models.h; ember_model_open_of() and ember_model_load_of() take
// it.
//
// In firmware with prepared nodes (prepared.h), opening does nothing and loading almost
// nothing; the calls are the same.
//
// Lifetime  a method keeps its memory forever: load each method once. A second load is
//           refused if scratch reuses bytes that only loading reads.
// Threads   models and methods share scratch: one executes at a time.
#ifndef EMBER_MODEL_H
#define EMBER_MODEL_H

#include "ember/data.h"
#include "ember/method.h"
#include "ember/prepared.h"

EMBER_C_BEGIN

// A method that the firmware was built for, with its memory.
typedef struct ember_model_method {
    const char *name;
    ember_span_t arena;          // values and node states
    const ember_span_t *planned; // (planned_count,), by memory id - 1
    const ember_span_t *cleared; // (cleared_count,): states that start at zero; never
                                 //   NULL
    uint32_t planned_count;
    uint32_t cleared_count;
    uint32_t input_count;
    uint32_t output_count;
    // (input_count,), (output_count,): memory for tensors that the program leaves to
    // the caller; data is NULL if the program plans their memory.
    const ember_span_t *inputs;
    const ember_span_t *outputs;
    const ember_prepared_t *prepared; // NULL: it is loaded from the program
} ember_model_method_t;

typedef struct ember_model ember_model_t;

// Parts that only some models need, linked if a model refers to them.
typedef struct ember_model_parts {
    // Opens the data files; NULL: there are none.
    ember_status_t (*attach)(const ember_model_t *model, ember_program_t *program,
                             ember_error_t *err);
    // Lends `inputs` and `outputs`; NULL: the program plans all of them.
    ember_status_t (*lend)(ember_method_t *method, const ember_model_method_t *placed,
                           ember_error_t *err);
} ember_model_parts_t;

ember_status_t ember_model_attach(const ember_model_t *model, ember_program_t *program,
                                  ember_error_t *err);
ember_status_t ember_model_lend(ember_method_t *method,
                                const ember_model_method_t *placed, ember_error_t *err);

struct ember_model {
    const char *name;
    ember_bytes_t program;
    const ember_bytes_t *data; // (data_count,): .ptd files
    ember_data_map_t *maps;    // (data_count,): filled by ember_model_open()
    uint32_t data_count;
    uint32_t method_count;
    const ember_model_method_t *methods;
    ember_span_t temp; // shared by all methods of all models
    ember_registry_t registry;
    ember_model_parts_t parts;
    bool *spent; // set by the load after which scratch reuses program bytes; or NULL
};

extern const ember_model_t ember_model;
extern const ember_model_t *const ember_models[]; // (ember_model_count,)
extern const uint32_t ember_model_count;

// Opens the program with its data files. Errors as ember_program_open().
EMBER_MUST_USE ember_status_t ember_model_open_of(const ember_model_t *model,
                                                  ember_program_t *program,
                                                  ember_error_t *err);

// Loads method `name` (NULL: the first) into the memory that was placed for it, and
// lends it the memory for inputs and outputs that the program left to the caller.
// States without an initial value are cleared; other planned memory, inputs included,
// is not. Errors as ember_method_load(); NOT_FOUND if the firmware was built without
// it; BAD_ARGUMENT if scratch has reused its payloads since an earlier load.
EMBER_MUST_USE ember_status_t ember_model_load_of(const ember_model_t *model,
                                                  ember_method_t *method,
                                                  const ember_program_t *program,
                                                  const char *name, ember_error_t *err);

// Part of ember_model_load_of(): turns `placed` into a method, from the program or from
// its prepared nodes.
EMBER_MUST_USE ember_status_t ember_model_start(const ember_model_t *model,
                                                const ember_model_method_t *placed,
                                                ember_method_t *method,
                                                const ember_program_t *program,
                                                ember_error_t *err);

// The same for `ember_model`.
EMBER_MUST_USE static inline ember_status_t ember_model_open(ember_program_t *program,
                                                             ember_error_t *err) {
    return ember_model_open_of(&ember_model, program, err);
}

EMBER_MUST_USE static inline ember_status_t
ember_model_load(ember_method_t *method, const ember_program_t *program,
                 const char *name, ember_error_t *err) {
    return ember_model_load_of(&ember_model, method, program, name, err);
}

EMBER_C_END

#endif // EMBER_MODEL_H
