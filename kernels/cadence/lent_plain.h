// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect by the plain C of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_PLAIN_H
#define EMBER_KERNELS_CADENCE_LENT_PLAIN_H

#include "kernels/cadence/lent.h"

typedef struct ember_lent_plain {
    ember_lent_t lent;
    ember_conv_s8_t conv;
} ember_lent_plain_t;

EMBER_MUST_USE ember_status_t ember_lent_plain_prepare(ember_lent_plain_t *s,
                                                       const ember_conv_s8_t *conv,
                                                       ember_node_t *node);
void ember_lent_plain_run(const ember_lent_plain_t *s);
void ember_lent_plain_conv(const ember_conv_s8_t *conv, bool depthwise);

#endif // EMBER_KERNELS_CADENCE_LENT_PLAIN_H
