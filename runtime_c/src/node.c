// SPDX-License-Identifier: Apache-2.0
// What kernels may ask about a call while they are prepared.
#include "node_args.h"

#if EMBER_ERROR_STRINGS
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status,
                               const char *message) {
    const ember_flat_t *flat = &node->method->flat;
    if (node->status == EMBER_OK && flat->status != EMBER_OK) {
        node->status = flat->status; // the cause, whose message is recorded
    }
    if (node->status == EMBER_OK) {
        node->status = ember_error_set(&node->method->error, status, message);
    }
    return node->status;
}
#else
ember_status_t ember_node_note(ember_node_t *node, ember_status_t status) {
    if (node->status == EMBER_OK) {
        node->status = status;
    }
    return node->status;
}
#endif

ember_status_t ember_node_status(const ember_node_t *node) {
    return node->status;
}

uint32_t ember_node_arg_count(const ember_node_t *node) {
    return vector_count(node->args);
}

uint64_t ember_node_seed(const ember_node_t *node) {
    return node->method->clock << 32 | node->instruction;
}

void ember_node_get(const ember_node_t *node, uint32_t arg, ember_value_t *value) {
    if (arg < vector_count(node->args)) {
        ember_method_scalar(node->method, vector_u32(node->args, arg), value);
    } else {
        value->kind = EMBER_NONE;
    }
}

ember_kind_t ember_node_kind(ember_node_t *node, uint32_t arg) {
    if (arg >= vector_count(node->args)) {
        return EMBER_NONE;
    }
    return ember_method_kind(node->method, vector_u32(node->args, arg));
}

void ember_node_wrong_kind(ember_node_t *node) {
    (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                          "call: an argument has the wrong kind");
}

uint32_t ember_node_places(const ember_tensor_t *tensor) {
    uint32_t places = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const uint32_t size = (uint32_t)tensor->sizes[i];
        places *= size > 0 ? size : 1;
    }
    return places;
}

void ember_node_take(ember_node_t *node, uint32_t index, ember_tensor_t *tensor) {
    if (index == NO_VALUE || !ember_method_tensor(node->method, index, tensor)) {
        memset(tensor, 0, sizeof(*tensor));
        ember_node_wrong_kind(node);
        return;
    }
    node->work += tensor->numel != 0 ? tensor->numel : ember_node_places(tensor);
    if (tensor->data == NULL && tensor->numel != 0) {
        node->unbound = true;
        if (node->strict) {
            (void)ember_node_fail(node, EMBER_BAD_ARGUMENT,
                                  "call: a tensor has no memory");
        }
    }
}

void ember_node_tensor(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    ember_node_take(node, ember_node_index(node, arg), tensor);
}

bool ember_node_optional_tensor(ember_node_t *node, uint32_t arg,
                                ember_tensor_t *tensor) {
    if (ember_node_kind(node, arg) == EMBER_NONE) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    ember_node_tensor(node, arg, tensor);
    return true;
}

// --- scalars -------------------------------------------------------------------

// Converts the value of a Scalar argument to the kind that the kernel asked for.
static void to_scalar(ember_node_t *node, ember_value_t *value) {
    if (!is_scalar(value->kind)) {
        ember_node_wrong_kind(node);
        value->kind = EMBER_INT;
        value->as_int = 0;
    }
}

ember_value_t ember_node_scalar(ember_node_t *node, uint32_t arg) {
    ember_value_t value;
    ember_node_get(node, arg, &value);
    to_scalar(node, &value);
    return value;
}

int64_t ember_node_int_at(ember_node_t *node, uint32_t index) {
    ember_value_t value;
    ember_method_scalar(node->method, index, &value);
    if (value.kind != EMBER_INT && value.kind != EMBER_BOOL) {
        ember_node_wrong_kind(node);
        return 0;
    }
    return value.as_int; // of a bool 0 or 1
}

int64_t ember_node_int(ember_node_t *node, uint32_t arg) {
    return ember_node_int_at(node, ember_node_index(node, arg));
}

bool ember_node_bool(ember_node_t *node, uint32_t arg) {
    return ember_node_int(node, arg) != 0;
}

double ember_node_double(ember_node_t *node, uint32_t arg) {
    const ember_value_t value = ember_node_scalar(node, arg);
    return value.kind == EMBER_DOUBLE ? value.as_double : (double)value.as_int;
}

int64_t ember_node_int_or(ember_node_t *node, uint32_t arg, int64_t when_none) {
    return ember_node_kind(node, arg) == EMBER_NONE ? when_none
                                                    : ember_node_int(node, arg);
}

int32_t ember_node_int_in(ember_node_t *node, uint32_t arg, int64_t low, int64_t high) {
    const int64_t value = ember_node_int(node, arg);
    if (value < low || value > high) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "call: an argument is out of range");
        return (int32_t)low;
    }
    return (int32_t)value;
}

uint32_t ember_node_dim(ember_node_t *node, uint32_t arg, uint32_t rank) {
    const int32_t count = rank > 0 ? (int32_t)rank : 1;
    const int32_t dim = ember_node_int_in(node, arg, -count, count - 1);
    return (uint32_t)(dim < 0 ? dim + count : dim);
}

const char *ember_node_string(ember_node_t *node, uint32_t arg, uint32_t *length) {
    ember_value_t value;
    ember_node_get(node, arg, &value);
    if (value.kind != EMBER_STRING) {
        ember_node_wrong_kind(node);
        *length = 0;
        return "";
    }
    *length = value.as_string.length;
    return value.as_string.text;
}

__attribute__((noinline)) void ember_work_add(uint64_t *work, uint64_t steps) {
    *work += steps;
    if (*work > EMBER_MOST_WORK) {
        *work = EMBER_MOST_WORK;
    }
}

void ember_node_work(ember_node_t *node, uint32_t times, uint32_t steps) {
    ember_work_add(&node->work, (uint64_t)times * steps);
}

void *ember_node_scratch(ember_node_t *node, size_t bytes) {
    ember_method_t *method = node->method;
    const size_t sum = bytes + node->ahead;
    // unreached: a 64-bit size_t holds everything
    const size_t all = sum < bytes ? SIZE_MAX : sum;

    if (all > method->temp_used) {
        method->temp_used = all;
    }
    if (all > method->temp.size) {
        (void)ember_node_fail(node, EMBER_NO_MEMORY,
                              "call: the temp arena is too small for its scratch");
        return NULL;
    }
    return (uint8_t *)method->temp.data + node->ahead;
}

void *ember_node_scratch_before(ember_node_t *node, size_t bytes) {
    void *block = ember_node_scratch(node, bytes);

    node->ahead += (bytes + EMBER_ALIGN - 1) & ~(size_t)(EMBER_ALIGN - 1);
    return block;
}

// A kernel that ignores a failure, of its node or of reading the program, must not turn
// it into success.
static ember_status_t try_kernel(ember_node_t *node, void *state) {
    node->status = EMBER_OK;
    node->unbound = false;
    node->work = 0;
    node->ahead = 0;
    const ember_status_t status = node->kernel->prepare(node, state);
    if (node->method->flat.status != EMBER_OK) {
        return node->method->flat.status;
    }
    if (node->method->in_scratch) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "call: a tensor is in its scratch");
    }
    return node->status != EMBER_OK ? node->status : status;
}

ember_status_t ember_node_prepare(ember_node_t *node, const ember_operator_t *operation,
                                  void **state) {
    const ember_kernel_t *const *candidates = operation->candidates;
    if ((operation->flags & EMBER_OP_SCHEMAS) != 0) {
        return ((const ember_schemas_t *)(const void *)candidates - 1)
            ->prepare(node, candidates, state);
    }
    return ember_node_try(node, candidates, state);
}

ember_status_t ember_node_try(ember_node_t *node,
                              const ember_kernel_t *const *candidate, void **state) {
    ember_arena_t *arena = &node->method->arena;
    const size_t used = arena->used;
    const bool fixed = *state == NULL;
    for (; *candidate != NULL; candidate++) {
        node->kernel = *candidate;
        if (fixed) {
            arena->used = used;
            *state = ember_method_state(node->method, node->kernel->state_size);
            if (*state == NULL) {
                return EMBER_NO_MEMORY;
            }
        }
        const ember_status_t status = try_kernel(node, *state);
        if (status != EMBER_UNSUPPORTED) {
            return status;
        }
    }
    return EMBER_UNSUPPORTED;
}
