// SPDX-License-Identifier: Apache-2.0
// Writing blocks picked by indices. Contract: index_put.h.
#include "kernels/movement/index_put.h"

enum { SELF, INDICES, VALUES, ACCUMULATE };

ember_status_t ember_index_put_prepare(ember_pick_t *pick, ember_node_t *node,
                                       const ember_tensor_t *out) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_pick_args_t args;
    ember_view_t whole, values;
    const ember_status_t status = ember_pick_list(&args, node, INDICES);

    if (status != EMBER_OK) {
        return status;
    }
    ember_view_tensor(&whole, out);
    ember_view_arg(&values, node, VALUES);
    pick->wrap = true;
    pick->write = true;
    pick->add = ember_node_bool(node, ACCUMULATE);
    const uint32_t rank = ember_pick_shape(&args, node, &whole, sizes);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_view_expand(&values, rank, sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "index_put: wrong shape of values");
    }
    return ember_pick_prepare(pick, node, &args, &whole, &values);
}
