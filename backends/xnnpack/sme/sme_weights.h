// SPDX-License-Identifier: Apache-2.0
// Constant weights of products in the layout of gemm.h, for kernels *_sme.
#ifndef EMBER_XNNPACK_SME_WEIGHTS_H
#define EMBER_XNNPACK_SME_WEIGHTS_H

#include "backends/xnnpack/graph/packing.h"
#include "gemm.h"

// Checks that weights (n, ..., k), or (k, n) with a flag, are of a type that products
// of this kind take, and packs them. Asks for scratch. `window`: of a convolution whose
// rows are not the pixels of its input, otherwise NULL.
EMBER_MUST_USE ember_status_t ember_xnn_sme_pack(ember_xnn_graph_t *graph,
                                                 ember_xnn_node_t *node,
                                                 ember_xnn_sme_kind_t kind,
                                                 const ember_xnn_window_t *window);

// Bytes of scratch for m rows of k, gathered from an image or not.
uint64_t ember_xnn_sme_scratch(ember_xnn_sme_kind_t kind, uint32_t m, uint32_t k,
                               bool gathered);

// Packs weights, or matrix b of a batch, as products of this kind read them. `scales`:
// bfloat16 (n, blocks), only for QD8_B4.
void ember_xnn_sme_pack_matrix(ember_xnn_sme_kind_t kind,
                               const ember_xnn_geometry_t *geometry,
                               const void *weights, const void *scales, void *to);

// sme_groups.c: the layout of QD8_B4, and whether it supports such blocks and scales,
// bfloat16 (n, blocks); NULL: they were packed.
extern const ember_xnn_layout_t ember_xnn_sme_groups;
bool ember_xnn_sme_groups_fit(const ember_xnn_geometry_t *geometry,
                              const uint16_t *scales);

// Whether it is one of few products, with n columns and k for a row or a window's taps.
bool ember_xnn_sme_few(const ember_xnn_window_t *window, uint32_t k, uint32_t n,
                       ember_xnn_sme_few_t *few);

// Bytes of scratch that it takes: two values for each column, the rows of a window and
// one of padding.
uint64_t ember_xnn_sme_few_scratch(const ember_xnn_sme_few_t *few, uint32_t n);

// Products of a sum.
uint32_t ember_xnn_sme_products(const ember_xnn_node_t *node);

#endif // EMBER_XNNPACK_SME_WEIGHTS_H
