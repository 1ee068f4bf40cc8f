// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduction/truth.h"

ember_status_t ember_reduce_named(ember_node_t *node, ember_reduce_t *state,
                                  const ember_reduce_ops_t *ops) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const bool whole = ember_node_kind(node, 1) == EMBER_TENSOR ||
                       ember_node_kind(node, 2) == EMBER_TENSOR;
    const bool none = ember_node_kind(node, 1) == EMBER_INT_LIST &&
                      ember_node_list_count(node, 1) == 0;
    const uint32_t dims = whole  ? (1u << x.rank) - 1u
                          : none ? 0
                                 : ember_reduce_dims(node, 1, x.rank);
    const bool keep = !whole && ember_node_bool(node, 2);
    return ember_reduce_prepare(node, state, ops, dims, keep,
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

void ember_truth_f32(ember_sum_t *sum, const void *x, uint32_t count) {
    const float *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0.0f ? EMBER_SEEN_ZERO : EMBER_SEEN_OTHER;
    }
}

void ember_truth_f64(ember_sum_t *sum, const void *x, uint32_t count) {
    const double *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0.0 ? EMBER_SEEN_ZERO : EMBER_SEEN_OTHER;
    }
}

void ember_truth_s64(ember_sum_t *sum, const void *x, uint32_t count) {
    const int64_t *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0 ? EMBER_SEEN_ZERO : EMBER_SEEN_OTHER;
    }
}
