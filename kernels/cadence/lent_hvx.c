// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Hexagon's vectors. Contract: lent_hvx.h.
#include "kernels/cadence/lent_hvx.h"

#include "kernels/cadence/lent_plain.h"
#include "kernels/cadence/real_hvx.h"

ember_status_t ember_lent_hvx_prepare(ember_lent_hvx_t *s, const ember_conv_s8_t *conv,
                                      ember_node_t *node) {
    s->conv = *conv;
    if (!ember_real_hvx_takes(conv->scales.scale)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence convolution: scale");
    }
    return s->lent.depthwise ? ember_depthwise_hvx_prepare(&s->depthwise, node, 0)
                             : ember_columns_conv_hvx_prepare(&s->columns, node, false);
}

// One multiplier stands for the factors that the engine reads.
static void run_columns(const ember_columns_conv_hvx_t *s,
                        const ember_ending_hvx_t *ending) {
    static const int32_t none = 0;
    ember_columns_hvx_t columns = s->columns;

    if (!ember_columns_hvx_aligned(&columns)) {
        ember_lent_plain_conv(&s->conv, false);
        return;
    }
    columns.terms.one = true;
    columns.terms.multipliers = &none;
    columns.terms.shifts = &none;
    ember_columns_hvx_run(&columns, ending);
}

void ember_lent_hvx_run(const ember_lent_hvx_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const ember_real_hvx_t real = ember_real_hvx(scales->scale, scales->inverse);

    if (s->lent.depthwise) {
        ember_depthwise_hvx_run(&s->depthwise, &real.ending);
    } else {
        run_columns(&s->columns, &real.ending);
    }
}
