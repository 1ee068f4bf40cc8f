// SPDX-License-Identifier: Apache-2.0
// ember::cadence_conv2d_panels.out
#include "kernels/cadence/lent_panels.h"

static void compute(const ember_lent_panels_t *s) {
    ember_lent_panels_plain(&s->conv, ember_panels_s8_sum);
}

EMBER_LENT_IMAGE_KERNEL(cadence_conv2d_panels, ember_lent_panels_t,
                        ember_lent_panels_args, compute, ember_turn);
