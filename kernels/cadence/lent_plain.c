// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect in plain C. Contract: lent_plain.h.
#include "kernels/cadence/lent_plain.h"

#include "kernels/engine/int8/conv_s8_windows.h"

static inline int8_t ending(const ember_scales_s8_t *scales, int32_t f, uint32_t sum) {
    return ember_real_s8((int32_t)(sum + (uint32_t)scales->bias[f]), scales->scale,
                         scales->inverse, scales->zero_point);
}

ember_status_t ember_lent_plain_prepare(ember_lent_plain_t *s,
                                        const ember_conv_s8_t *conv,
                                        ember_node_t *node) {
    s->conv = *conv;
    return ember_node_status(node);
}

void ember_lent_plain_conv(const ember_conv_s8_t *conv, bool depthwise) {
    ember_conv_s8_windows(conv, depthwise, ending);
}

void ember_lent_plain_run(const ember_lent_plain_t *s) {
    ember_lent_plain_conv(&s->conv, s->lent.depthwise);
}
