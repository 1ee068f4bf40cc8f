// SPDX-License-Identifier: Apache-2.0
// Products of matrices with Hexagon's vectors. Contract: lent_products_hvx.h.
#include "kernels/cadence/lent_products_hvx.h"

#include "kernels/cadence/lent_products_plain.h"
#include "kernels/cadence/real_hvx.h"

ember_status_t ember_lent_products_hvx_prepare(ember_matmul_s8_hvx_t *s,
                                               ember_node_t *node) {
    if (!ember_real_hvx_takes(ember_matmul_s8_scale(&s->matmul))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence products: scale");
    }
    return ember_matmul_s8_hvx_prepare(s, node);
}

// Batches lie at addresses alike: rows that the engine takes as they are have a length
// for that.
void ember_lent_products_hvx_run(const ember_matmul_s8_hvx_t *s) {
    const ember_real_hvx_t real =
        ember_real_hvx(ember_matmul_s8_scale(&s->matmul), 1.0f, s->matmul.c_offset);

    if (!s->few && !ember_columns_hvx_aligned(&s->columns)) {
        ember_lent_products_plain(&s->matmul);
    } else {
        ember_matmul_s8_hvx_run(s, &real.ending);
    }
}
