// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Hexagon's vectors. Contract: lent_hvx.h.
#include "kernels/cadence/lent_hvx.h"

#include "kernels/cadence/lent_plain.h"
#include "kernels/cadence/real_hvx.h"
#include "kernels/cortex_m/worth_hvx.h"

ember_status_t ember_lent_hvx_prepare(ember_lent_hvx_t *s, const ember_conv_s8_t *conv,
                                      ember_node_t *node) {
    const ember_columns_form_hvx_t form = {.turned = false};

    s->conv = *conv;
    if (s->lent.depthwise || !ember_real_hvx_takes(conv->scales.scale) ||
        !ember_columns_hvx_pays(conv, ember_packets_of_conv(conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence convolution: depthwise, or small");
    }
    return ember_columns_hvx_prepare(&s->columns, node, conv, &form);
}

// One multiplier stands for the factors that the engine reads.
void ember_lent_hvx_run(const ember_lent_hvx_t *s) {
    static const int32_t none = 0;
    const ember_scales_s8_t *scales = &s->conv.scales;
    const ember_real_hvx_t real = ember_real_hvx(scales->scale, scales->inverse);
    ember_columns_hvx_t columns = s->columns;

    if (!ember_columns_hvx_aligned(&columns)) {
        ember_lent_plain_conv(&s->conv, false);
        return;
    }
    columns.terms.one = true;
    columns.terms.multipliers = &none;
    columns.terms.shifts = &none;
    ember_columns_hvx_run(&columns, &real.ending);
}
