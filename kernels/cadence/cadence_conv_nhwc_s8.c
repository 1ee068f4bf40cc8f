// SPDX-License-Identifier: Apache-2.0
// Those of cadence_conv_nhwc that are convolutions of cortex_m, by its plain C.
#include "kernels/cadence/lent_plain.h"

EMBER_LENT_KERNEL(cadence_conv_nhwc_s8, ember_lent_plain_t, ember_lent_plain_prepare,
                  ember_lent_plain_run, ember_turn, true);
