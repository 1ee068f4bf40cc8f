// SPDX-License-Identifier: Apache-2.0
// Nodes that are matrix products by outer products: for kernels *_sme.
#ifndef EMBER_XNNPACK_SME_NODES_H
#define EMBER_XNNPACK_SME_NODES_H

#include "sme_weights.h"

// Checks of static int8, without what ember_xnn_type_qs8 keeps: packed weights replace
// it.
extern const ember_xnn_type_t ember_xnn_sme_qs8;

// The scales and rounding of the columns of a static int8 node.
ember_xnn_sme_static_t ember_xnn_sme_static_of(const ember_xnn_node_t *node);

ember_status_t ember_xnn_sme_linear_prepare(ember_xnn_graph_t *graph,
                                            ember_xnn_node_t *node,
                                            const ember_xnn_type_t *type,
                                            ember_xnn_sme_kind_t kind);
void ember_xnn_sme_linear_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind);

// Shape of convolutions of static int8.
ember_status_t ember_xnn_sme_conv_shape(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node);
ember_status_t ember_xnn_sme_conv_prepare(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node,
                                          const ember_xnn_type_t *type,
                                          ember_xnn_sme_kind_t kind);
void ember_xnn_sme_conv_run(const ember_xnn_graph_t *graph,
                            const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind);

// sme_matmul.c
ember_status_t ember_xnn_sme_matmul_shape(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node,
                                          ember_xnn_sme_kind_t kind);
ember_status_t ember_xnn_sme_matmul_prepare(ember_xnn_graph_t *graph,
                                            ember_xnn_node_t *node,
                                            const ember_xnn_type_t *type,
                                            ember_xnn_sme_kind_t kind);
void ember_xnn_sme_matmul_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind);

#endif // EMBER_XNNPACK_SME_NODES_H
