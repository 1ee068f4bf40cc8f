// SPDX-License-Identifier: Apache-2.0
// Products of matrices with Hexagon's vectors. Contract: lent_products_hvx.h.
#include "kernels/cadence/lent_products_hvx.h"

#include "kernels/cadence/lent_products_plain.h"

ember_status_t ember_lent_products_hvx_prepare(ember_lent_products_hvx_t *s,
                                               ember_node_t *node) {
    const ember_matmul_s8_t *matmul = &s->products.matmul;
    const float scale = ember_matmul_s8_scale(matmul);

    if (!ember_real_hvx_takes(scale)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence products: scale");
    }
    s->real = ember_real_hvx(scale, 1.0f, matmul->c_offset);
    return ember_matmul_s8_hvx_prepare(&s->products, node);
}

// All batches have the same alignment: rows that the engine reads in place have a
// length that keeps it.
void ember_lent_products_hvx_run(const ember_lent_products_hvx_t *s) {
    const ember_real_ending_hvx_t ending = ember_real_ending_hvx(&s->real);
    const ember_matmul_s8_hvx_t *products = &s->products;

    if (!products->few && !ember_columns_hvx_aligned(&products->columns)) {
        ember_lent_products_plain(&products->matmul);
    } else {
        ember_matmul_s8_hvx_run(products, &ending.ending);
    }
}
