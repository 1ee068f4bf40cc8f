// SPDX-License-Identifier: Apache-2.0
#include "table_hvx.h"

#include "elements_hvx.h"

enum { ENOUGH = XNN_HVX_TABLE + 128 }; // elements from which a table pays

ember_status_t ember_xnn_hvx_table(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                   const ember_xnnpack_kernel_t *plain) {
    const bool pays = node->out[0]->numel >= ENOUGH;
    return pays && xnn_types(node, XNN_QS8, XNN_QS8) ? plain->prepare(graph, node)
                                                     : EMBER_UNSUPPORTED;
}

void ember_xnn_hvx_table_run(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node,
                             const ember_xnnpack_kernel_t *plain) {
    const uint32_t count = node->out[0]->numel;
    int8_t numbers[2][XNN_HVX_TABLE];
    if (count < ENOUGH) {
        plain->run(graph, node);
        return;
    }
    ember_xnn_value_t in = *node->in[0], out = *node->out[0];
    ember_xnn_node_t all = *node;
    in.numel = out.numel = XNN_HVX_TABLE;
    in.data = numbers[0];
    out.data = numbers[1];
    all.in[0] = &in;
    all.out[0] = &out;
    xnn_hvx_all_bytes(numbers[0]);
    plain->run(graph, &all);
    const ember_table_hvx_t table = ember_table_hvx(numbers[1]);
    const int8_t *x = node->in[0]->constant;
    int8_t *y = node->out[0]->data;
    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        const HVX_Vector bytes = ember_load_left_hvx(x, left);
        ember_store_left_hvx(y, ember_looked_up_hvx(&table, bytes), left);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
}
