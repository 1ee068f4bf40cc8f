// SPDX-License-Identifier: Apache-2.0
// How sums of products of matrices become outputs, with Helium. Contract:
// lent_products_mve.h.
#include "kernels/cadence/lent_products_mve.h"

#include "kernels/cadence/real_mve.h"

void ember_lent_products_end_mve(const ember_matmul_s8_t *s, const int32_t *sums,
                                 int32_t count, int8_t *c) {
    const ember_real_mve_t by = {ember_matmul_s8_scale(s), 1.0f, s->c_offset};
    ember_real_store_mve(&by, sums, count, c);
}
