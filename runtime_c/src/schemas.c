// SPDX-License-Identifier: Apache-2.0
// Calls with the argument list of another version of their operator. While such a call
// is prepared, it has the operator's arguments: names for those that it has, and
// constants for what its list lacks. Only tables with such operators link this.
#include "node_args.h"

// What a method has in place of its `parts`, where values are looked up first. Names
// are no indices of values, which are below 2^31, also in lists (node_list.c).
typedef struct names {
    ember_changing_t parts;
    const ember_changing_t *own; // NULL: a fixed method
    ember_vector_t args;         // of the call
    ember_slot_t slot;           // of the constant that was asked for last
} names_t;

static uint32_t named_value(const ember_method_t *method, uint32_t index,
                            ember_slot_t **slot) {
    names_t *names = (names_t *)(uintptr_t)method->parts;
    if ((int32_t)index < 0) {
        if ((index & 1u << 30) != 0) {
            names->slot.kind = (uint8_t)(index >> 8);
            names->slot.as_int = (int8_t)index;
            *slot = &names->slot;
            return index;
        }
        index = vector_u32(names->args, index & UINT8_MAX);
    }
    *slot = NULL;
    return names->own == NULL ? index : names->own->source(method, index, slot);
}

static const uint32_t *choose(ember_node_t *node, const ember_schema_t *schema) {
    for (; schema->kinds != NULL; schema++) {
        const uint16_t *kinds = schema->kinds;
        uint32_t left = *kinds;
        if (vector_count(node->args) == left) {
            while ((*++kinds >> ember_node_kind(node, --left) & 1) != 0) {
                if (left == 0) {
                    return schema->args;
                }
            }
        }
    }
    return NULL;
}

ember_status_t ember_schemas_prepare(ember_node_t *node,
                                     const ember_kernel_t *const *candidates,
                                     void **state) {
    const ember_schemas_t *schemas =
        (const ember_schemas_t *)(const void *)candidates - 1;
    const uint32_t *args = choose(node, schemas->items);
    ember_method_t *method = node->method;
    names_t names;

    if (args == NULL) {
        return fail(method, EMBER_BAD_PROGRAM,
                    "call: no version of its operator has such arguments");
    }
    names.args = node->args;
    node->args = (ember_vector_t)args;
    names.own = method->parts;
    if (names.own != NULL) {
        names.parts.tensor = names.own->tensor;
        names.parts.reshape = names.own->reshape;
    }
    names.parts.source = named_value;
    method->parts = &names.parts;
    const ember_status_t status = ember_node_try(node, candidates, state);
    method->parts = names.own;
    return status;
}
