// SPDX-License-Identifier: Apache-2.0
// What kernels may ask about the lists of a call.
#include "node_args.h"

// The list at `arg`, or nothing, which every caller refuses, where `item` is not in it.
static ember_value_t list_of(ember_node_t *node, uint32_t arg, uint32_t item) {
    ember_value_t value;
    ember_node_get(node, arg, &value);
    if (value.kind < EMBER_INT_LIST || item >= value.as_list.count) {
        value.kind = EMBER_NONE;
    }
    return value;
}

static const uint8_t *item_at(const ember_value_t *list, uint32_t stride,
                              uint32_t item) {
    return (const uint8_t *)list->as_list.items + stride * (size_t)item;
}

// Calls may share lists, so their items are charged: a load takes time linear in the
// program's size.
static uint32_t count_of(ember_node_t *node, const ember_value_t *list) {
    if (list->kind < EMBER_INT_LIST) {
        if (list->kind != EMBER_NONE) {
            ember_node_wrong_kind(node);
        }
        return 0;
    }
    if (list->as_list.count > node->method->credit) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "call: its lists are too long");
        return 0;
    }
    node->method->credit -= list->as_list.count;
    return list->as_list.count;
}

uint32_t ember_node_list_count(ember_node_t *node, uint32_t arg) {
    ember_value_t list;
    ember_node_get(node, arg, &list);
    return count_of(node, &list);
}

// The integer that an item of a list of integers refers to.
EMBER_INLINE int64_t int_of(ember_node_t *node, const uint8_t *item) {
    const uint64_t index = load_u64(item);
    return ember_node_int_at(node, index <= INT32_MAX ? (uint32_t)index : NO_VALUE);
}

int64_t ember_node_list_int(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_INT_LIST) {
        ember_node_wrong_kind(node);
        return 0;
    }
    return int_of(node, item_at(&list, 8, item));
}

double ember_node_list_double(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_DOUBLE_LIST) {
        return (double)ember_node_list_int(node, arg, item);
    }
    const uint64_t bits = load_u64(item_at(&list, 8, item));
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

bool ember_node_list_bool(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    if (list.kind != EMBER_BOOL_LIST) {
        ember_node_wrong_kind(node);
        return false;
    }
    return *item_at(&list, 1, item) != 0;
}

uint32_t ember_node_list_index(ember_node_t *node, uint32_t arg, uint32_t item) {
    const ember_value_t list = list_of(node, arg, item);
    const uint32_t index =
        list.kind < EMBER_TENSOR_LIST ? NO_VALUE : load_u32(item_at(&list, 4, item));
    if (index == NO_VALUE && list.kind != EMBER_OPTIONAL_TENSOR_LIST) {
        ember_node_wrong_kind(node);
    }
    return index;
}

bool ember_node_list_tensor(ember_node_t *node, uint32_t arg, uint32_t item,
                            ember_tensor_t *tensor) {
    const uint32_t index = ember_node_list_index(node, arg, item);
    if (index == NO_VALUE || ember_method_kind(node->method, index) == EMBER_NONE) {
        memset(tensor, 0, sizeof(*tensor));
        return false;
    }
    ember_node_take(node, index, tensor);
    return true;
}

uint32_t ember_node_ints(ember_node_t *node, uint32_t arg, int32_t *items,
                         uint32_t most) {
    ember_value_t list;
    ember_node_get(node, arg, &list);
    const uint32_t count = count_of(node, &list);
    if (count > most) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED, "call: a list is too long");
        return 0;
    }
    if (count > 0 && list.kind != EMBER_INT_LIST) {
        ember_node_wrong_kind(node);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const int64_t value = int_of(node, item_at(&list, 8, i));
        if (value != (int32_t)value) {
            (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                                  "call: a list item is out of range");
        }
        items[i] = (int32_t)value;
    }
    return count;
}
