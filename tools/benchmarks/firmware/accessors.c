// SPDX-License-Identifier: Apache-2.0
// A kernel that asks for arguments of every kind, and so links all that a kernel may
// ask the core for. It is for sizes, never run.
#include "ember/node.h"

enum { MOST = 4 };

static void ask_scalars(ember_node_t *node) {
    uint32_t length;
    (void)ember_node_arg_count(node);
    (void)ember_node_kind(node, 0);
    (void)ember_node_int(node, 0);
    (void)ember_node_double(node, 0);
    (void)ember_node_bool(node, 0);
    (void)ember_node_int_or(node, 0, 0);
    (void)ember_node_int_in(node, 0, 0, 1);
    (void)ember_node_dim(node, 0, 1);
    (void)ember_node_scalar(node, 0);
    (void)ember_node_string(node, 0, &length);
}

static void ask_lists(ember_node_t *node, ember_tensor_t *tensor) {
    int32_t items[MOST];
    (void)ember_node_list_count(node, 0);
    (void)ember_node_list_int(node, 0, 0);
    (void)ember_node_list_double(node, 0, 0);
    (void)ember_node_list_bool(node, 0, 0);
    (void)ember_node_list_tensor(node, 0, 0, tensor);
    ember_node_list_output(node, 0, 0, 1, items, tensor);
    (void)ember_node_ints(node, 0, items, MOST);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t tensor;
    int32_t sizes[MOST];
    ask_scalars(node);
    ask_lists(node, &tensor);
    ember_node_tensor(node, 0, &tensor);
    (void)ember_node_optional_tensor(node, 0, &tensor);
    ember_node_output(node, 0, 1, sizes, &tensor);
    ember_node_output_like(node, 0, &tensor, &tensor);
    ember_node_inout(node, 0, &tensor);
    ember_node_bind(node, 0, 1, sizes, &tensor);
    *(ember_slot_t **)state = ember_node_slot(node, 0);
    (void)ember_node_scratch(node, 1);
    ember_tensor_strides(&tensor, sizes);
    (void)ember_tensor_is_contiguous(&tensor);
    (void)ember_tensor_same_layout(&tensor, &tensor);
    (void)ember_tensor_same_shape(&tensor, &tensor);
    return ember_node_fail(node, EMBER_UNSUPPORTED, "bench: it computes nothing");
}

static int32_t run(void *state) {
    ember_slot_t *slot = *(ember_slot_t **)state;
    const int32_t sizes[] = {1};
    ember_slot_set_int(slot, 0);
    ember_slot_set_bool(slot, false);
    ember_slot_set_double(slot, 0);
    return ember_slot_resize(slot, 1, sizes);
}

extern const ember_kernel_t bench_kernel;
const ember_kernel_t bench_kernel = {prepare, run, sizeof(ember_slot_t *), NULL};
