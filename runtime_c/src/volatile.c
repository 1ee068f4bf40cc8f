// SPDX-License-Identifier: Apache-2.0
// Volatile nodes: calls that are prepared again if their arguments have changed.
#include "method_state.h"

uint32_t ember_method_instruction(ember_method_t *method, uint32_t index,
                                  ember_field_t *fields) {
    ember_flat_t *flat = &method->flat;
    const uint8_t *body =
        ember_plan_value(flat, method->meta.instructions, index, NULL);
    const uint32_t tag = flat->tag;
    if (tag <= CALL_DELEGATE) {
        ember_method_call(method, body, fields);
    } else {
        ember_flat_read(flat, body, tag < CALL_FREE ? MOVE_FIELDS : FREE_FIELDS,
                        fields);
    }
    return tag;
}

// Adds the slot of value `index`, if it has one, to `slots` (NULL: only counts).
static uint32_t add_slot(const ember_method_t *method, uint32_t index,
                         ember_slot_t **slots, uint32_t count) {
    ember_slot_t *slot = ember_method_slot(method, index);
    if (slot == NULL) {
        return count;
    }
    slot->read = true;
    if (slots != NULL) {
        slots[count] = slot;
    }
    return count + 1;
}

// Calls may share lists, so their items are charged: a load takes time linear in the
// program's size.
static bool spend(ember_method_t *method, uint32_t items) {
    if (items > method->credit) {
        return false;
    }
    method->credit -= items;
    return true;
}

// The number of slots that the arguments depend on, list items included; UINT32_MAX if
// there are too many.
static uint32_t find_slots(ember_method_t *method, ember_vector_t args,
                           ember_slot_t **slots) {
    uint32_t count = 0;
    if (!spend(method, vector_count(args))) {
        return UINT32_MAX;
    }
    for (uint32_t i = 0; i < vector_count(args); i++) {
        const uint32_t index = vector_u32(args, i);
        ember_value_t list;
        (void)ember_method_body(method, index, &list);
        count = add_slot(method, index, slots, count);
        if (list.kind != EMBER_INT_LIST && list.kind < EMBER_TENSOR_LIST) {
            continue;
        }
        if (!spend(method, list.as_list.count)) {
            return UINT32_MAX;
        }
        const uint32_t stride = list.kind == EMBER_INT_LIST ? 8 : 4;
        const uint8_t *items = list.as_list.items;
        for (uint32_t k = 0; k < list.as_list.count; k++, items += stride) {
            count = add_slot(method, load_u32(items), slots, count);
        }
    }
    return count;
}

void ember_method_read(ember_method_t *method, uint32_t index) {
    (void)add_slot(method, index, NULL, 0);
}

void ember_method_read_all(ember_method_t *method, ember_vector_t args) {
    (void)find_slots(method, args, NULL);
}

static size_t largest_state(const ember_operator_t *operation) {
    size_t largest = 0;
    const ember_kernel_t *const *candidate = operation->candidates;
    for (; *candidate != NULL; candidate++) {
        if ((*candidate)->state_size > largest) {
            largest = (*candidate)->state_size;
        }
    }
    return largest;
}

// A node that is prepared again when its arguments change. It is prepared now, with
// bounds for shapes, to find unsupported dtypes and the scratch that it needs; other
// failures may be due to values that are not there yet.
static ember_status_t load_volatile(ember_method_t *method, ember_node_t *node,
                                    const ember_operator_t *operation,
                                    uint32_t slot_count) {
    const size_t slots_size = slot_count * sizeof(ember_slot_t *);
    ember_volatile_t *state = ember_method_state(method, sizeof(*state) + slots_size);
    void *inner = ember_method_state(method, largest_state(operation));
    if (state == NULL || inner == NULL) {
        return EMBER_NO_MEMORY;
    }
    if (find_slots(method, node->args, state->slots) != slot_count) {
        return fail(method, EMBER_BAD_PROGRAM, "call: its lists are too long");
    }
    state->method = method;
    state->operation = operation;
    state->state = inner;
    state->prepared_at = 0;
    state->instruction = node->instruction;
    state->slot_count = slot_count;
    method->steps[node->instruction] = (ember_step_t){ember_volatile_run, state};
    const ember_status_t status = ember_node_prepare(node, operation, &inner);
    ember_work_add(&method->volatile_work, node->work);
    return status == EMBER_UNSUPPORTED || status == EMBER_NO_MEMORY ? status : EMBER_OK;
}

ember_status_t ember_volatile_load(ember_node_t *node,
                                   const ember_operator_t *operation) {
    ember_method_t *method = node->method;
    const uint32_t slots =
        method->slot_count > 0 ? find_slots(method, node->args, NULL) : 0;
    if (slots == UINT32_MAX) {
        return fail(method, EMBER_BAD_PROGRAM, "call: its lists are too long");
    }
    return slots > 0 ? load_volatile(method, node, operation, slots)
                     : ember_method_load_fixed(node, operation);
}

// --- execution ----------------------------------------------------------------------

// A moved list may refer to values that the node does not watch.
static bool is_list(ember_method_t *method, uint32_t index) {
    ember_value_t value;
    (void)ember_method_body(method, index, &value);
    return value.kind > EMBER_STRING;
}

static bool is_stale(const ember_volatile_t *node) {
    for (uint32_t i = 0; i < node->slot_count; i++) {
        const ember_slot_t *slot = node->slots[i];
        if (slot->stamp > node->prepared_at) {
            return true;
        }
        if (slot->source != NO_SOURCE) {
            const uint32_t source = (uint32_t)slot->source;
            slot = ember_method_slot(node->method, source);
            if ((slot != NULL && slot->stamp > node->prepared_at) ||
                is_list(node->method, source)) {
                return true;
            }
        }
    }
    return node->prepared_at == 0;
}

static ember_status_t prepare_again(ember_volatile_t *node) {
    ember_method_t *method = node->method;
    ember_field_t call[2];
    (void)ember_method_instruction(method, node->instruction, call);
    ember_node_t handle; // the rest is set while it is prepared
    handle.method = method;
    handle.args = call[CALL_ARGS].at;
    handle.instruction = node->instruction;
    handle.strict = false;
    node->prepared_at = 0;
    method->credit = method->list_items;
    const ember_status_t status =
        ember_node_prepare(&handle, node->operation, &node->state);
    if (status != EMBER_OK) {
        return status;
    }
    if (handle.unbound) {
        return ember_fail(&method->error, EMBER_BAD_ARGUMENT,
                          "call: a tensor has no memory; set inputs and outputs first");
    }
    node->run = handle.kernel->run;
    node->prepared_at = method->clock;
    node->work = handle.work;
    return EMBER_OK;
}

int32_t ember_volatile_run(void *state) {
    ember_volatile_t *node = state;
    if (is_stale(node)) {
        const ember_status_t status = prepare_again(node);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return ember_method_charge(node->method, node->work) ? node->run(node->state)
                                                         : EMBER_BUDGET;
}
